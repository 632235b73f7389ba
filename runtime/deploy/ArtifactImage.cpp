// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens an artifact: a truncated or foreign file must be an error here, since the dynamic linker would crash
// on it.
#include "runtime/deploy/ArtifactImage.h"

#include "runtime/deploy/RuntimeError.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace autotune::deploy {

namespace {

/// An open file and what messages call it.
class InputFile {
public:
  explicit InputFile(const std::string &path) : name(path) {
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      throw RuntimeError(AUTOTUNE_ERROR_FILE, path + ": cannot open: " + std::strerror(errno));
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(descriptor);
      throw RuntimeError(AUTOTUNE_ERROR_FILE, path + ": not a regular file, expected a compiled model");
    }
    bytes = static_cast<uint64_t>(status.st_size);
  }
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile() { close(descriptor); }

  void read(void *target, size_t count, uint64_t offset) const {
    ssize_t got = pread(descriptor, target, count, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(count))
      throw RuntimeError(AUTOTUNE_ERROR_FILE, name + ": cannot read " + std::to_string(count) + " bytes at " +
                                                  std::to_string(offset));
  }
  [[noreturn]] void fail(const std::string &why) const {
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT, name + ": " + why);
  }

  std::string name;
  int descriptor = -1;
  uint64_t bytes = 0;
};

AutotuneTrailer readTrailer(const InputFile &file) {
  AutotuneTrailer trailer;
  if (file.bytes < sizeof(Elf64_Ehdr) + sizeof(trailer))
    file.fail("only " + std::to_string(file.bytes) + " bytes long, not a compiled model");
  file.read(&trailer, sizeof(trailer), file.bytes - sizeof(trailer));
  if (std::memcmp(trailer.magic, AUTOTUNE_TRAILER_MAGIC, sizeof(trailer.magic)) != 0)
    file.fail("no trailer at the end: not a compiled model, one of another version, or truncated");
  if (trailer.constantsOffset % AUTOTUNE_CONSTANTS_ALIGNMENT != 0)
    file.fail("damaged: constants at " + std::to_string(trailer.constantsOffset) +
              ", expected a multiple of " + std::to_string(AUTOTUNE_CONSTANTS_ALIGNMENT));
  uint64_t payload = file.bytes - sizeof(trailer);
  if (trailer.constantsOffset > payload || trailer.constantsBytes != payload - trailer.constantsOffset)
    file.fail("damaged: " + std::to_string(trailer.constantsBytes) + " bytes of constants at " +
              std::to_string(trailer.constantsOffset) + " do not end at the trailer at " +
              std::to_string(payload));
  return trailer;
}

/// Every loadable segment must lie before the constants: reading past the end of a mapped file is a bus
/// error.
void checkElf(const InputFile &file, uint64_t imageBytes) {
  Elf64_Ehdr header;
  if (imageBytes < sizeof(header))
    file.fail("damaged: no room for an ELF header");
  file.read(&header, sizeof(header), 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN)
    file.fail("not a 64-bit ELF shared object");
  if (header.e_machine != EM_X86_64)
    file.fail("code for ELF machine " + std::to_string(header.e_machine) + ", expected " +
              std::to_string(EM_X86_64) + " (x86-64)");
  uint64_t tableBytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phoff > imageBytes ||
      tableBytes > imageBytes - header.e_phoff)
    file.fail("damaged: bad ELF program header table");
  std::vector<Elf64_Phdr> table(header.e_phnum);
  file.read(table.data(), tableBytes, header.e_phoff);
  for (const Elf64_Phdr &segment : table)
    if (segment.p_type != PT_GNU_STACK &&
        (segment.p_offset > imageBytes || segment.p_filesz > imageBytes - segment.p_offset))
      file.fail("damaged: an ELF segment ends behind the code");
}

void checkChecksum(const InputFile &file, const char *what, const MappedMemory &part, uint64_t expected) {
  uint64_t found = XXH3_64bits(part.data(), part.size());
  if (found != expected)
    file.fail(std::string("damaged: checksum of the ") + what + " is " + std::to_string(found) +
              ", expected " + std::to_string(expected));
}

} // namespace

ArtifactImage::Descriptor::~Descriptor() {
  if (number >= 0)
    close(number);
}

void ArtifactImage::LibraryCloser::operator()(void *handle) const { dlclose(handle); }

ArtifactImage::ArtifactImage(const std::string &path, bool verifyConstants) {
  InputFile file(path);
  AutotuneTrailer trailer = readTrailer(file);
  checkElf(file, trailer.constantsOffset);
  // The dynamic linker trusts what it reads: damaged code is found here or crashes there.
  if (trailer.codeChecksum != 0)
    checkChecksum(file, "code", MappedMemory::file(file.descriptor, 0, trailer.constantsOffset, path.c_str()),
                  trailer.codeChecksum);
  constantMemory =
      MappedMemory::file(file.descriptor, trailer.constantsOffset, trailer.constantsBytes, path.c_str());
  if (verifyConstants)
    checkChecksum(file, "constants", constantMemory, trailer.checksum);
  descriptor.number = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0);
  if (descriptor.number < 0)
    throw RuntimeError(AUTOTUNE_ERROR_FILE, path + ": " + std::strerror(errno));
  load(path);
}

void ArtifactImage::load(const std::string &path) {
  // The dynamic linker takes a name that it has seen for the library that it knows, even when the file behind it was
  // replaced. The descriptor's name is our own as long as the descriptor is open, and it is this very file.
  std::string name = "/proc/self/fd/" + std::to_string(descriptor.number);
  library.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) {
    const char *reason = dlerror();
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT, path + ": cannot load the code: " + std::string(reason ? reason : ""));
  }
  artifact = static_cast<const AutotuneArtifact *>(dlsym(library.get(), AUTOTUNE_ARTIFACT_SYMBOL));
  if (!artifact)
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT, path + ": no symbol '" AUTOTUNE_ARTIFACT_SYMBOL "'");
  if (artifact->abiVersion != AUTOTUNE_ABI_VERSION)
    throw RuntimeError(AUTOTUNE_ERROR_VERSION,
                       path + ": ABI version " + std::to_string(artifact->abiVersion) +
                           ", this runtime has " + std::to_string(AUTOTUNE_ABI_VERSION) +
                           "; compile the model again");
  if (!artifact->manifest || (artifact->kernelCount > 0 && !artifact->kernels))
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT, path + ": a description without manifest or kernels");
}

} // namespace autotune::deploy
