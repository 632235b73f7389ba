// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lookup and durable writes of records.
#include "knowledge_base/Repository.h"

#include "knowledge_base/DeviceMatch.h"
#include "knowledge_base/Files.h"
#include "schedule/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cmath>

using namespace autotune;
namespace fs = llvm::sys::fs;

static constexpr int kRepositoryFormat = 1;
static constexpr llvm::StringLiteral kFormatLine = "format: ";

static std::string join(llvm::StringRef first, llvm::StringRef second) {
  llvm::SmallString<256> path = first;
  llvm::sys::path::append(path, second);
  return path.str().str();
}

/// Visible entries of a directory, sorted; none if it cannot be read.
static std::vector<std::string> entries(llvm::StringRef directory) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code))
    if (llvm::StringRef name = llvm::sys::path::filename(entry->path()); !name.starts_with("."))
      names.push_back(name.str());
  llvm::sort(names);
  return names;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static llvm::Error checkFormat(const std::string &file, llvm::StringRef text) {
  llvm::StringRef line = text.split('\n').first.rtrim('\r');
  int format = 0;
  if (!line.starts_with(kFormatLine) || line.drop_front(kFormatLine.size()).getAsInteger(10, format))
    return makeError("{0}: line 1: found '{1}', expected 'format: {2}'", file, line.take_front(80),
                     kRepositoryFormat);
  if (format != kRepositoryFormat)
    return makeError("{0}: found format {1}, expected format {2} (made by another version of autotune?)",
                     file, format, kRepositoryFormat);
  return llvm::Error::success();
}

static llvm::Error createRepository(const std::string &root, const std::string &file,
                                    const OpenOptions &options) {
  if (llvm::Error error = makeDirectory(root))
    return error;
  llvm::Expected<FileLock> lock = FileLock::acquire(file);
  if (!lock)
    return lock.takeError();
  if (fs::exists(file))
    return llvm::Error::success();
  if (llvm::Error error = writeFile(join(root, ".gitignore"), "*.lock\n*.tmp\n"))
    return error;
  return writeFile(file, llvm::formatv("{0}{1}\ncreated_by: autotune {2}\n", kFormatLine, kRepositoryFormat,
                                       options.toolVersion)
                             .str());
}

/// Said before a search begins, not when its winner is to be stored.
static llvm::Error checkWritable(const std::string &root, const std::string &file) {
  llvm::Expected<FileLock> lock = FileLock::acquire(file);
  if (!lock)
    return lock.takeError();
  std::error_code code;
  for (fs::recursive_directory_iterator entry(root, code), end; !code && entry != end;
       entry.increment(code)) {
    llvm::StringRef name = llvm::sys::path::filename(entry->path());
    if (name.starts_with("."))
      entry.no_push();
    else if (fs::is_directory(entry->path()) && !fs::can_write(entry->path()))
      return makeError("cannot write in {0}", entry->path());
  }
  return llvm::Error::success();
}

llvm::Expected<Repository> Repository::open(llvm::StringRef directory, const OpenOptions &options) {
  std::string root = directory.str(), file = join(root, "repository.yaml");
  if (fs::exists(root) && !fs::is_directory(root))
    return makeError("repository {0}: found a file, expected a directory", root);
  if (!fs::exists(file) && options.create)
    if (llvm::Error error = createRepository(root, file, options))
      return makeError("repository {0}: {1}", root, llvm::toString(std::move(error)));
  llvm::Expected<std::optional<std::string>> text = readFile(file);
  if (!text)
    return makeError("{0}: {1}", file, llvm::toString(text.takeError()));
  if (!*text)
    return makeError("repository {0}: found no repository.yaml, expected a repository", root);
  if (llvm::Error error = checkFormat(file, **text))
    return error;
  if (options.create)
    if (llvm::Error error = checkWritable(root, file))
      return makeError("repository {0}: {1}", root, llvm::toString(std::move(error)));
  return Repository(std::move(root));
}

std::string Repository::path(llvm::StringRef deviceKey, llvm::StringRef name) const {
  return join(join(root, deviceKey), name);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

std::vector<std::string> Repository::deviceKeys() const {
  std::vector<std::string> keys = entries(root);
  llvm::erase_if(keys, [&](const std::string &name) { return !fs::is_directory(join(root, name)); });
  return keys;
}

llvm::Expected<std::optional<Device>> Repository::findDevice(llvm::StringRef deviceKey) const {
  std::string file = path(deviceKey, "device.yaml");
  llvm::Expected<std::optional<std::string>> text = readFile(file);
  if (!text)
    return makeError("{0}: {1}", file, llvm::toString(text.takeError()));
  if (!*text)
    return std::nullopt;
  llvm::Expected<Device> device = parseDevice(**text);
  if (!device)
    return makeError("{0}: {1}", file, llvm::toString(device.takeError()));
  if (device->key() != deviceKey)
    return makeError("{0}: found the description of {1}, expected that of {2}", file, device->key(),
                     deviceKey);
  return *device;
}

llvm::Error Repository::putDevice(const Device &device) {
  std::string folder = join(root, device.key()), file = join(folder, "device.yaml");
  if (llvm::Error error = makeDirectory(folder))
    return error;
  llvm::Expected<FileLock> lock = FileLock::acquire(file);
  if (!lock)
    return lock.takeError();
  llvm::Expected<std::optional<Device>> stored = findDevice(device.key());
  if (!stored) {
    llvm::consumeError(stored.takeError()); // broken: written anew
    return writeFile(file, deviceText(device));
  }
  // One that differs in cores or L3 describes the machine of the first records and stays.
  bool addsPeaks = *stored && device.peaks && !(*stored)->peaks &&
                   compareDevices(**stored, device).kind == DeviceMatchKind::Exact;
  if (*stored && !addsPeaks)
    return llvm::Error::success();
  return writeFile(file, deviceText(device));
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Reads a record and checks that it belongs where it lies. Errors do not name the file: callers do.
template <typename Record>
static llvm::Expected<std::optional<Record>> readRecord(const std::string &file, llvm::StringRef deviceKey) {
  llvm::Expected<std::optional<std::string>> text = readFile(file);
  if (!text)
    return text.takeError();
  if (!*text)
    return std::nullopt;
  llvm::Expected<Record> record = parseRecord<Record>(**text);
  if (!record)
    return record.takeError();
  if (record->deviceKey != deviceKey)
    return makeError("found a record of device {0}, expected {1}", record->deviceKey, deviceKey);
  std::string expected = recordFileName(*record);
  if (llvm::sys::path::filename(file) != expected)
    return makeError("found a record whose key gives {0}, expected the name of the file", expected);
  return std::move(*record);
}

template <typename Record>
llvm::Expected<std::optional<Record>> Repository::find(llvm::StringRef deviceKey, llvm::StringRef name,
                                                       llvm::StringRef key) const {
  std::string file = join(path(deviceKey, Record::kFolder), fileNamePart(name) + "-" + key.str() + ".yaml");
  llvm::Expected<std::optional<Record>> record = readRecord<Record>(file, deviceKey);
  if (!record)
    return makeError("{0}: {1}", file, llvm::toString(record.takeError()));
  return record;
}

/// A record that would not be read back must not be written: a NaN, a schedule with an odd name, …
template <typename Record> static llvm::Error checkReadable(const Record &record, const std::string &text) {
  llvm::Expected<Record> back = parseRecord<Record>(text);
  if (!back)
    return makeError("record {0}: cannot be stored: {1}", recordFileName(record),
                     llvm::toString(back.takeError()));
  if (!(*back == record))
    return makeError("record {0}: cannot be stored: its text reads back as another record",
                     recordFileName(record));
  return llvm::Error::success();
}

template <typename Record> llvm::Expected<PutResult> Repository::put(const Record &record) {
  std::string text = recordText(record);
  if (llvm::Error error = checkReadable(record, text))
    return error;
  std::string folder = path(record.deviceKey, Record::kFolder), file = join(folder, recordFileName(record));
  if (llvm::Error error = makeDirectory(folder))
    return error;
  llvm::Expected<FileLock> lock = FileLock::acquire(file);
  if (!lock)
    return lock.takeError();
  PutResult result = PutResult::Added;
  llvm::Expected<std::optional<Record>> stored = readRecord<Record>(file, record.deviceKey);
  if (!stored)
    llvm::consumeError(stored.takeError()); // broken: as if absent
  else if (*stored && isBetter(**stored, record))
    return PutResult::Kept;
  else if (*stored)
    result = PutResult::Improved;
  if (llvm::Error error = writeFile(file, text))
    return error;
  std::lock_guard guard(cache->mutex);
  cache->families.clear();
  return result;
}

template <typename Record>
static void listFolder(const Repository &repository, const std::string &deviceKey,
                       std::vector<StoredRecord> &records, std::vector<Diagnostic> &diagnostics) {
  std::string folder = join(deviceKey, Record::kFolder);
  for (const std::string &name : entries(join(repository.directory(), folder))) {
    std::string relative = join(folder, name);
    llvm::Expected<std::optional<Record>> record =
        readRecord<Record>(join(repository.directory(), relative), deviceKey);
    if (!record)
      diagnostics.push_back({relative, llvm::toString(record.takeError())});
    else if (*record)
      records.push_back({relative, std::move(**record)});
  }
}

std::vector<StoredRecord> Repository::list(std::vector<Diagnostic> &diagnostics) const {
  std::vector<StoredRecord> records;
  for (const std::string &deviceKey : deviceKeys()) {
    listFolder<ModelRecord>(*this, deviceKey, records, diagnostics);
    listFolder<OperatorRecord>(*this, deviceKey, records, diagnostics);
    listFolder<SubgraphRecord>(*this, deviceKey, records, diagnostics);
  }
  return records;
}

//===----------------------------------------------------------------------===//
// Near records
//===----------------------------------------------------------------------===//

/// nullopt: of another family, whose schedules say nothing about this one.
static std::optional<double> distance(const Workload &left, const Workload &right) {
  if (left.kind != right.kind || left.opClass != right.opClass || left.numerics != right.numerics ||
      left.dims.size() != right.dims.size() || left.inputs.size() != right.inputs.size() ||
      left.output.dtype != right.output.dtype)
    return std::nullopt;
  for (auto [mine, theirs] : llvm::zip(left.inputs, right.inputs))
    if (mine.dtype != theirs.dtype)
      return std::nullopt;
  double sum = std::abs(std::log2(double(left.threads) / right.threads));
  for (auto [mine, theirs] : llvm::zip(left.dims, right.dims)) {
    if (mine.reduction != theirs.reduction)
      return std::nullopt;
    sum += std::abs(std::log2(double(mine.extent) / double(theirs.extent)));
  }
  return sum;
}

Repository::Cache::Family Repository::readFamily(llvm::StringRef deviceKey, llvm::StringRef kind) const {
  Cache::Family family;
  std::string folder = path(deviceKey, OperatorRecord::kFolder), prefix = fileNamePart(kind) + "-";
  for (const std::string &name : entries(folder)) {
    if (!llvm::StringRef(name).starts_with(prefix))
      continue;
    llvm::Expected<std::optional<OperatorRecord>> record =
        readRecord<OperatorRecord>(join(folder, name), deviceKey);
    if (!record)
      family.diagnostics.push_back(
          {join(join(deviceKey, OperatorRecord::kFolder), name), llvm::toString(record.takeError())});
    else if (*record)
      family.records.push_back(std::move(**record));
  }
  return family;
}

std::vector<NearRecord> Repository::findNear(llvm::StringRef deviceKey, const Workload &workload,
                                             size_t count, std::vector<Diagnostic> &diagnostics) const {
  std::lock_guard guard(cache->mutex);
  std::string name = join(deviceKey, workload.kind);
  auto entry = cache->families.find(name);
  if (entry == cache->families.end()) {
    entry = cache->families.emplace(name, readFamily(deviceKey, workload.kind)).first;
    llvm::append_range(diagnostics, entry->second.diagnostics); // once a run, however many lookups follow
  }
  std::vector<NearRecord> found;
  std::string key = workload.key();
  for (const OperatorRecord &record : entry->second.records) {
    llvm::Expected<Workload> other = record.workload();
    if (!other) {
      llvm::consumeError(other.takeError());
      continue;
    }
    if (std::optional<double> apart = distance(workload, *other); apart && other->key() != key)
      found.push_back({record, *apart});
  }
  llvm::sort(found, [](const NearRecord &a, const NearRecord &b) {
    return a.distance != b.distance ? a.distance < b.distance : a.record.key() < b.record.key();
  });
  if (found.size() > count)
    found.resize(count);
  return found;
}

template llvm::Expected<std::optional<OperatorRecord>> Repository::find(llvm::StringRef, llvm::StringRef,
                                                                        llvm::StringRef) const;
template llvm::Expected<std::optional<SubgraphRecord>> Repository::find(llvm::StringRef, llvm::StringRef,
                                                                        llvm::StringRef) const;
template llvm::Expected<std::optional<ModelRecord>> Repository::find(llvm::StringRef, llvm::StringRef,
                                                                     llvm::StringRef) const;
template llvm::Expected<PutResult> Repository::put(const OperatorRecord &);
template llvm::Expected<PutResult> Repository::put(const SubgraphRecord &);
template llvm::Expected<PutResult> Repository::put(const ModelRecord &);
