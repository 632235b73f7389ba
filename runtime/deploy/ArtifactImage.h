// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact file opened and checked: its code loaded, its constants mapped.
#pragma once

#include "runtime/deploy/Artifact.h"
#include "runtime/deploy/MappedMemory.h"

#include <memory>
#include <string>

namespace autotune::deploy {

class ArtifactImage {
public:
  /// Checks sizes, trailer, ELF headers and the checksum of the code before any of it is loaded. With
  /// `verifyConstants` all constants are read too. Throws RuntimeError with the path in front.
  ArtifactImage(const std::string &path, bool verifyConstants);

  /// The exported description; its ABI version is ours, its pointers are not null.
  const AutotuneArtifact &description() const { return *artifact; }
  const MappedMemory &constants() const { return constantMemory; }

private:
  struct LibraryCloser {
    void operator()(void *handle) const;
  };
  /// Closed after the library: see `load`.
  struct Descriptor {
    Descriptor() = default;
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor();
    int number = -1;
  };
  void load(const std::string &path);

  MappedMemory constantMemory;
  Descriptor descriptor;
  std::unique_ptr<void, LibraryCloser> library;
  const AutotuneArtifact *artifact = nullptr;
};

} // namespace autotune::deploy
