// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory straight from the kernel: zeroed anonymous memory with huge pages, or a read-only part of a file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace autotune::deploy {

/// What anonymous memory of 2 MiB and more asks for.
enum class Pages {
  Huge,  // what arenas use
  Small, // what the mapped constants of a file have
};

/// Owns one mapping. Moves, never copies.
class MappedMemory {
public:
  MappedMemory() = default;
  /// Zeroed memory. From 2 MiB on it starts on a huge page and asks for the kind of pages given; below, on a page.
  /// Throws RuntimeError (AUTOTUNE_ERROR_MEMORY).
  static MappedMemory anonymous(size_t bytes, Pages pages = Pages::Huge);
  /// `bytes` of the file from `offset` (a multiple of the page size), private and read only. `path` is for
  /// messages. Throws RuntimeError (AUTOTUNE_ERROR_FILE).
  static MappedMemory file(int descriptor, uint64_t offset, size_t bytes, const char *path);

  MappedMemory(MappedMemory &&other) noexcept;
  MappedMemory &operator=(MappedMemory &&other) noexcept;
  MappedMemory(const MappedMemory &) = delete;
  MappedMemory &operator=(const MappedMemory &) = delete;
  ~MappedMemory();

  /// From now on a write is a segmentation fault.
  void makeReadOnly();

  /// Null if empty.
  std::byte *data() const { return begin; }
  size_t size() const { return bytes; }

private:
  void *mapping = nullptr;
  size_t mappedBytes = 0;
  std::byte *begin = nullptr;
  size_t bytes = 0;
};

} // namespace autotune::deploy
