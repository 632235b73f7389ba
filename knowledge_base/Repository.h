// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A directory of records, one file each: the shippable knowledge base. The format is
// docs/repository_format.md.
#pragma once

#include "knowledge_base/Record.h"
#include "schedule/Device.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// A file that was skipped: where, and what was found and expected.
struct Diagnostic {
  std::string file, message;
};

enum class PutResult {
  Added,    // there was none (or a broken one, which is replaced)
  Improved, // the stored one was worse
  Kept,     // the stored one is better or the same; nothing was written
};

struct OpenOptions {
  bool create = false;     // to be written to: made if absent, refused if not writable
  std::string toolVersion; // written to a new repository.yaml
};

/// A record of the same class with other extents.
struct NearRecord {
  OperatorRecord record;
  double distance = 0; // sum over loops of |log2 of the ratio of the extents|, and of the thread counts
};

/// A record and its file, relative to the repository.
struct StoredRecord {
  std::string file;
  AnyRecord record;
};

/// Safe for use by several threads and several processes at once.
class Repository {
public:
  /// Errors: absent (unless `create`), not a directory, unwritable (if `create`), other format version.
  static llvm::Expected<Repository> open(llvm::StringRef directory, const OpenOptions &options = {});

  const std::string &directory() const { return root; }

  /// Writes <device-key>/device.yaml if there is none that can be read, or if it lacks peaks that `device`
  /// has.
  llvm::Error putDevice(const Device &device);
  /// The device of a folder. nullopt: no such folder or file. Error: broken.
  llvm::Expected<std::optional<Device>> findDevice(llvm::StringRef deviceKey) const;
  /// Names of the device folders, sorted.
  std::vector<std::string> deviceKeys() const;

  /// nullopt: absent. Error: the file is there but broken (to be reported, counted and treated as a miss).
  /// `key` is the hash of the record's `keyText`, `name` its `name`.
  template <typename Record>
  llvm::Expected<std::optional<Record>> find(llvm::StringRef deviceKey, llvm::StringRef name,
                                             llvm::StringRef key) const;
  llvm::Expected<std::optional<OperatorRecord>> findOperator(llvm::StringRef deviceKey,
                                                             const Workload &workload) const {
    return find<OperatorRecord>(deviceKey, workload.kind, workload.key());
  }

  /// Up to `count` operator records of the same kind with the same loops, operand types and numerics but
  /// other extents, nearest first. Broken files are added to `diagnostics` and skipped.
  std::vector<NearRecord> findNear(llvm::StringRef deviceKey, const Workload &workload, size_t count,
                                   std::vector<Diagnostic> &diagnostics) const;

  /// Keeps the better of the stored and the given record, under a lock of this key. On an error the stored
  /// one is untouched.
  template <typename Record> llvm::Expected<PutResult> put(const Record &record);

  /// Every record, sorted by file. Broken files are added to `diagnostics` and skipped.
  std::vector<StoredRecord> list(std::vector<Diagnostic> &diagnostics) const;

private:
  explicit Repository(std::string root) : root(std::move(root)), cache(std::make_unique<Cache>()) {}

  /// Operator records by "<device>/<kind>", read once: near lookups of one run ask for the same files again.
  struct Cache {
    std::mutex mutex;
    struct Family {
      std::vector<OperatorRecord> records;
      std::vector<Diagnostic> diagnostics;
    };
    std::map<std::string, Family> families;
  };

  std::string path(llvm::StringRef deviceKey, llvm::StringRef name) const;
  Cache::Family readFamily(llvm::StringRef deviceKey, llvm::StringRef kind) const;

  std::string root;
  std::unique_ptr<Cache> cache;
};

} // namespace autotune
