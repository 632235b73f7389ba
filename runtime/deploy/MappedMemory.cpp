// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MappedMemory over mmap.
#include "runtime/deploy/MappedMemory.h"

#include "runtime/deploy/RuntimeError.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace autotune::deploy {

namespace {
constexpr size_t kHugePageBytes = size_t(2) << 20; // x86-64
}

MappedMemory MappedMemory::anonymous(size_t bytes, Pages pages) {
  MappedMemory memory;
  if (bytes == 0)
    return memory;
  bool huge = bytes >= kHugePageBytes;
  size_t mappedBytes = huge ? bytes + kHugePageBytes : bytes;
  void *mapping = MAP_FAILED;
  if (mappedBytes >= bytes)
    mapping = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
  if (mapping == MAP_FAILED)
    throw RuntimeError(AUTOTUNE_ERROR_MEMORY, "cannot allocate " + std::to_string(bytes) + " bytes");
  auto address = reinterpret_cast<uintptr_t>(mapping);
  if (huge) {
    address = (address + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
    // Advice only: without huge pages everything still works, a little slower.
    (void)madvise(reinterpret_cast<void *>(address), bytes,
                  pages == Pages::Huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  memory.mapping = mapping;
  memory.mappedBytes = mappedBytes;
  memory.begin = reinterpret_cast<std::byte *>(address);
  memory.bytes = bytes;
  return memory;
}

MappedMemory MappedMemory::file(int descriptor, uint64_t offset, size_t bytes, const char *path) {
  MappedMemory memory;
  if (bytes == 0)
    return memory;
  void *mapping = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, static_cast<off_t>(offset));
  if (mapping == MAP_FAILED)
    throw RuntimeError(AUTOTUNE_ERROR_FILE,
                       std::string(path) + ": cannot map the constants: " + std::strerror(errno));
  // Starts reading ahead, so that the first inference finds most pages in memory.
  (void)madvise(mapping, bytes, MADV_WILLNEED);
  memory.mapping = mapping;
  memory.mappedBytes = bytes;
  memory.begin = static_cast<std::byte *>(mapping);
  memory.bytes = bytes;
  return memory;
}

MappedMemory::MappedMemory(MappedMemory &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)), mappedBytes(std::exchange(other.mappedBytes, 0)),
      begin(std::exchange(other.begin, nullptr)), bytes(std::exchange(other.bytes, 0)) {}

MappedMemory &MappedMemory::operator=(MappedMemory &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mappedBytes, other.mappedBytes);
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  return *this;
}

void MappedMemory::makeReadOnly() {
  if (mapping)
    (void)mprotect(mapping, mappedBytes,
                   PROT_READ); // cannot fail for a mapping of ours, and nothing relies on it
}

MappedMemory::~MappedMemory() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

} // namespace autotune::deploy
