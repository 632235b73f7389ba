// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy format, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "frontend/ConstantTensor.h"
#include "frontend/TensorFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune {

namespace {

constexpr llvm::StringLiteral kMagic("\x93NUMPY");

llvm::Error error(llvm::StringRef path, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s: %s", path.str().c_str(), message.str().c_str());
}

struct Header {
  std::string description;
  bool fortranOrder = false;
  Shape shape;
};

/// The text after `'key':` in the header's Python dictionary; nothing when the key is missing.
std::optional<llvm::StringRef> valueOf(llvm::StringRef dictionary, llvm::StringRef key) {
  size_t at = dictionary.find(("'" + key + "'").str());
  if (at == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef rest = dictionary.drop_front(at + key.size() + 2).ltrim();
  if (!rest.consume_front(":"))
    return std::nullopt;
  return rest.ltrim();
}

std::optional<Header> parseDictionary(llvm::StringRef dictionary) {
  auto description = valueOf(dictionary, "descr");
  auto order = valueOf(dictionary, "fortran_order");
  auto shape = valueOf(dictionary, "shape");
  if (!description || !order || !shape || !description->consume_front("'") || !shape->consume_front("("))
    return std::nullopt;
  Header header;
  header.description = description->take_until([](char c) { return c == '\''; }).str();
  header.fortranOrder = order->starts_with("True");
  llvm::StringRef dims = shape->take_until([](char c) { return c == ')'; });
  while (!dims.trim().empty()) {
    auto [dim, rest] = dims.split(',');
    int64_t size;
    if (dim.trim().getAsInteger(10, size))
      return std::nullopt;
    header.shape.push_back(size);
    dims = rest;
  }
  return header;
}

/// Splits a file into its header and its data.
llvm::Expected<std::pair<Header, llvm::StringRef>> parse(llvm::StringRef path, llvm::StringRef bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 10)
    return error(path, "not a .npy file");
  unsigned version = static_cast<unsigned char>(bytes[6]);
  size_t prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.size() < prefix)
    return error(path, ".npy version " + llvm::Twine(version) + ", expected 1, 2 or 3");
  const char *lengthField = bytes.data() + 8;
  size_t length = version == 1 ? llvm::support::endian::read16le(lengthField)
                               : llvm::support::endian::read32le(lengthField);
  if (bytes.size() - prefix < length)
    return error(path, "truncated header");
  std::optional<Header> header = parseDictionary(bytes.substr(prefix, length));
  if (!header)
    return error(path, "the .npy header is not understood");
  return std::make_pair(std::move(*header), bytes.drop_front(prefix + length));
}

} // namespace

llvm::Expected<HostTensor> readNpy(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error(path, buffer.getError().message());
  auto parsed = parse(path, (*buffer)->getBuffer());
  if (!parsed)
    return parsed.takeError();
  auto &[header, data] = *parsed;
  std::optional<ElementType> type = elementTypeFromNumpy(header.description);
  if (!type)
    return error(path, "elements of type '" + header.description + "' are not supported");
  std::optional<int64_t> bytes = checkedByteCount(header.shape, *type);
  if (!bytes || data.size() != static_cast<size_t>(*bytes))
    return error(path, "holds " + llvm::Twine(data.size()) + " bytes of data, its header says " +
                           (bytes ? llvm::Twine(*bytes) : llvm::Twine("an impossible shape")));
  HostTensor tensor;
  tensor.dtype = spelling(*type).str();
  tensor.shape.assign(header.shape.begin(), header.shape.end());
  llvm::ArrayRef<char> raw(data.data(), data.size());
  if (header.fortranOrder && header.shape.size() > 1) {
    // Column-major data is the row-major data of the transposed tensor.
    Shape reversed(llvm::reverse(header.shape));
    auto axes = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, reversed.size())));
    ConstantTensor turned = ConstantTensor::view(*type, reversed, raw).transposed(axes);
    for (int64_t i = 0, e = turned.size(); i < e; ++i)
      tensor.bytes.insert(tensor.bytes.end(), turned.element(i), turned.element(i) + byteSize(*type));
  } else {
    tensor.bytes.assign(raw.begin(), raw.end());
  }
  return tensor;
}

llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor) {
  std::optional<ElementType> type = elementTypeFromSpelling(tensor.dtype);
  if (!type)
    return error(path, "cannot write elements of type '" + tensor.dtype + "'");
  llvm::StringRef description = *type == ElementType::BF16 ? "<u2" : numpyDescription(*type);
  std::string header = "{'descr': '" + description.str() + "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.shape)
    header += std::to_string(dim) + ", ";
  // "(3,)" and "()", but "(2, 3)": a comma after the last of several is allowed in Python, too.
  header = llvm::StringRef(header).rtrim(' ').str() + "), }";
  // Magic, version and length take 10 bytes; the data starts on a multiple of 64.
  size_t total = llvm::alignTo(10 + header.size() + 1, 64);
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return error(path, code.message());
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  stream << kMagic << '\x01' << '\0' << llvm::StringRef(length, 2) << header;
  stream.write(tensor.bytes.data(), tensor.bytes.size());
  stream.close();
  if (!stream.has_error())
    return llvm::Error::success();
  code = stream.error();
  stream.clear_error();
  return error(path, code.message());
}

} // namespace autotune
