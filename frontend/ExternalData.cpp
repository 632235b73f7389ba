// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps files of weights, with path, offset and length checked.
#include "frontend/ExternalData.h"

#include "frontend/OnnxProto.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace autotune {

namespace {

llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// The fields of TensorProto.external_data; others ("checksum", …) do not matter here.
struct Location {
  std::string path;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

llvm::Expected<Location> locationOf(const onnx::TensorProto &proto) {
  Location location;
  for (const auto &entry : proto.external_data()) {
    uint64_t number = 0;
    bool isNumber = !llvm::StringRef(entry.value()).getAsInteger(10, number);
    if (entry.key() == "location")
      location.path = entry.value();
    else if ((entry.key() == "offset" || entry.key() == "length") && !isNumber)
      return error("external " + entry.key() + " '" + entry.value() + "' is not a number");
    else if (entry.key() == "offset")
      location.offset = number;
    else if (entry.key() == "length")
      location.length = number;
  }
  if (location.path.empty())
    return error("names no external file");
  return location;
}

bool namesParent(llvm::StringRef path) {
  return llvm::is_contained(llvm::make_range(llvm::sys::path::begin(path), llvm::sys::path::end(path)), "..");
}

bool isInside(llvm::StringRef file, llvm::StringRef folder) {
  return file.consume_front(folder) && (folder.ends_with("/") || file.starts_with("/"));
}

} // namespace

llvm::Expected<std::shared_ptr<llvm::MemoryBuffer>> ExternalData::open(const std::string &location) {
  auto known = files.find(location);
  if (known != files.end())
    return known->second;
  auto outside = [&] { return error("external file '" + location + "' is outside the model's folder"); };
  auto failed = [&](std::error_code code) {
    return error("external file '" + location + "': " + code.message());
  };
  // The name would be cut at a zero byte, behind the back of the checks.
  if (llvm::sys::path::is_absolute(location) || namesParent(location) ||
      location.find('\0') != std::string::npos)
    return outside();
  llvm::SmallString<256> path(folder), realFolder, realFile;
  llvm::sys::path::append(path, location);
  if (std::error_code code = llvm::sys::fs::real_path(folder, realFolder))
    return failed(code);
  if (std::error_code code = llvm::sys::fs::real_path(path, realFile))
    return failed(code);
  if (!isInside(realFile, realFolder))
    return outside();
  // A pipe or a device could block for ever.
  if (!llvm::sys::fs::is_regular_file(realFile))
    return error("external file '" + location + "' is not a regular file");
  auto buffer = llvm::MemoryBuffer::getFile(realFile, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failed(buffer.getError());
  return files[location] = std::shared_ptr<llvm::MemoryBuffer>(std::move(*buffer));
}

llvm::Expected<ConstantTensor> ExternalData::read(const onnx::TensorProto &proto, ElementType type,
                                                  llvm::ArrayRef<int64_t> shape, int64_t bytes) {
  llvm::Expected<Location> location = locationOf(proto);
  if (!location)
    return location.takeError();
  if (location->length && *location->length != static_cast<uint64_t>(bytes))
    return error("external length is " + llvm::Twine(*location->length) + " bytes, its shape needs " +
                 llvm::Twine(bytes));
  auto file = open(location->path);
  if (!file)
    return file.takeError();
  uint64_t size = (*file)->getBufferSize();
  if (location->offset > size || size - location->offset < static_cast<uint64_t>(bytes))
    return error("external file '" + location->path + "' has " + llvm::Twine(size) + " bytes, needed are " +
                 llvm::Twine(bytes) + " at offset " + llvm::Twine(location->offset));
  total += bytes;
  llvm::ArrayRef<char> data((*file)->getBufferStart() + location->offset, bytes);
  return ConstantTensor::shared(type, shape, data, *file);
}

} // namespace autotune
