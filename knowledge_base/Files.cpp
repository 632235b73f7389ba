// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// POSIX durability: temporary file, fsync, rename, fsync of the directory.
#include "knowledge_base/Files.h"

#include "schedule/Errors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace autotune;

// A record is a few kilobytes, a model record of the largest graphs below a megabyte.
static constexpr uint64_t kMaxFileBytes = 64 << 20;

static llvm::Error systemError(const char *what, llvm::StringRef path, int code) {
  return makeError("cannot {0} {1}: {2}", what, path, std::generic_category().message(code));
}

llvm::Expected<std::optional<std::string>> autotune::readFile(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status)) {
    if (code == std::errc::no_such_file_or_directory)
      return std::nullopt;
    return makeError("cannot be read: {0}", code.message());
  }
  // Asked before opening: opening a pipe would wait for its writer.
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return makeError("found something that is no regular file, expected a file");
  if (status.getSize() > kMaxFileBytes)
    return makeError("found {0} bytes, expected at most {1}", status.getSize(), kMaxFileBytes);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (buffer)
    return buffer.get()->getBuffer().str();
  if (buffer.getError() == std::errc::no_such_file_or_directory)
    return std::nullopt;
  return makeError("cannot be read: {0}", buffer.getError().message());
}

/// A name in the same directory that readers ignore.
static std::string hiddenName(llvm::StringRef path, llvm::StringRef suffix) {
  llvm::SmallString<256> hidden = llvm::sys::path::parent_path(path);
  llvm::sys::path::append(hidden, "." + llvm::sys::path::filename(path) + suffix);
  return hidden.str().str();
}

static llvm::Error syncDirectory(llvm::StringRef path) {
  std::string directory = path.empty() ? "." : path.str();
  int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError("open", directory, errno);
  // Some file systems cannot sync a directory and say EINVAL: nothing more can be done there.
  int code = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return code ? systemError("sync", directory, code) : llvm::Error::success();
}

/// Returns 0 or the errno of the first step that failed.
static int writeAndSync(int descriptor, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return errno;
    text = text.drop_front(size_t(std::max<ssize_t>(written, 0)));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

llvm::Error autotune::writeFile(const std::string &path, llvm::StringRef text) {
  std::string temporary = hiddenName(path, ".tmp");
  int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemError("write", path, errno);
  int code = writeAndSync(descriptor, text);
  if (::close(descriptor) != 0 && code == 0)
    code = errno;
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
    code = errno;
  if (code != 0) {
    ::unlink(temporary.c_str());
    return systemError("write", path, code);
  }
  return syncDirectory(llvm::sys::path::parent_path(path));
}

llvm::Error autotune::makeDirectory(const std::string &path) {
  if (llvm::sys::fs::is_directory(path))
    return llvm::Error::success();
  std::string parent = llvm::sys::path::parent_path(path).str();
  if (!parent.empty())
    if (llvm::Error error = makeDirectory(parent))
      return error;
  // Another process may have made it in the meantime.
  if (::mkdir(path.c_str(), 0777) != 0 && !(errno == EEXIST && llvm::sys::fs::is_directory(path)))
    return systemError("make directory", path, errno);
  return syncDirectory(parent);
}

llvm::Expected<FileLock> FileLock::acquire(const std::string &path) {
  std::string lockPath = hiddenName(path, ".lock");
  while (true) {
    int descriptor = ::open(lockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
      return systemError("write", path, errno);
    int code = 0;
    while (::flock(descriptor, LOCK_EX) != 0 && (code = errno) == EINTR)
      code = 0;
    if (code != 0) {
      ::close(descriptor);
      return systemError("lock", lockPath, code);
    }
    // The holder before us deletes the file: if the name now means another file or none, ours locks nothing.
    struct stat mine{}, named{};
    if (::fstat(descriptor, &mine) == 0 && ::stat(lockPath.c_str(), &named) == 0 &&
        mine.st_ino == named.st_ino && mine.st_dev == named.st_dev)
      return FileLock(std::move(lockPath), descriptor);
    ::close(descriptor);
  }
}

FileLock::~FileLock() {
  if (descriptor < 0)
    return;
  ::unlink(lockPath.c_str());
  ::close(descriptor);
}
