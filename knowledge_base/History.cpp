// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The history in SQLite: one row a trial, texts of workloads kept once.
#include "knowledge_base/History.h"

#include "knowledge_base/Files.h"
#include "schedule/Errors.h"

#include "llvm/Support/Path.h"

#include <sqlite3.h>

using namespace autotune;

static constexpr int kHistoryVersion = 1;
static constexpr int kApplicationId = 0x4154554e; // "ATUN": tells our files from other programs' databases
static constexpr int kBusyTimeoutMs = 30000;      // far longer than any batch takes to write

static constexpr char kSchema[] = R"sql(
CREATE TABLE IF NOT EXISTS workload(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trial(
  id INTEGER PRIMARY KEY, workload TEXT NOT NULL REFERENCES workload(key), device TEXT NOT NULL,
  llvm TEXT NOT NULL, codegen INTEGER NOT NULL, schedule TEXT NOT NULL,
  median_ns REAL, spread_ns REAL, runs INTEGER, stage TEXT, reason TEXT,
  tool TEXT NOT NULL, date TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS trial_by_workload ON trial(workload, device);
)sql";

void History::Close::operator()(sqlite3 *database) const { sqlite3_close_v2(database); }

namespace {

/// A prepared statement. The first fault is kept; after it every step does nothing.
class Statement {
public:
  Statement(sqlite3 *database, llvm::StringRef sql) : database(database) {
    check(sqlite3_prepare_v2(database, sql.data(), int(sql.size()), &statement, nullptr));
  }
  Statement(const Statement &) = delete;
  ~Statement() { sqlite3_finalize(statement); }

  void bind(const std::string &value) {
    if (code == SQLITE_OK)
      check(sqlite3_bind_text(statement, ++bound, value.data(), int(value.size()), SQLITE_TRANSIENT));
  }
  void bind(int64_t value) {
    if (code == SQLITE_OK)
      check(sqlite3_bind_int64(statement, ++bound, value));
  }
  void bind(double value) {
    if (code == SQLITE_OK)
      check(sqlite3_bind_double(statement, ++bound, value));
  }
  void bindNull() { ++bound; }

  /// True while there are rows.
  bool step() {
    if (code != SQLITE_OK)
      return false;
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
      return true;
    if (result != SQLITE_DONE)
      check(result);
    return false;
  }
  /// Ready for other values.
  void reset() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    bound = 0;
  }

  bool isNull(int column) const { return sqlite3_column_type(statement, column) == SQLITE_NULL; }
  std::string text(int column) const {
    const auto *value = reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
    return value ? std::string(value, size_t(sqlite3_column_bytes(statement, column))) : std::string();
  }
  int64_t integer(int column) const { return sqlite3_column_int64(statement, column); }
  double real(int column) const { return sqlite3_column_double(statement, column); }

  llvm::Error takeError(llvm::StringRef path) const {
    if (code == SQLITE_OK)
      return llvm::Error::success();
    const char *advice = code == SQLITE_NOTADB || code == SQLITE_CORRUPT
                             ? ", expected a history; move it away to start a new one"
                             : "";
    return makeError("history {0}: {1}{2}", path, message, advice);
  }

private:
  void check(int result) {
    if (result == SQLITE_OK)
      return;
    code = result & 0xff; // the extended code has the primary one in its low byte
    message = sqlite3_errmsg(database);
  }

  sqlite3 *database;
  sqlite3_stmt *statement = nullptr;
  int code = SQLITE_OK, bound = 0;
  std::string message;
};

} // namespace

static llvm::Error execute(sqlite3 *database, llvm::StringRef path, llvm::StringRef sql) {
  Statement statement(database, sql);
  while (statement.step())
    ;
  return statement.takeError(path);
}

static llvm::Expected<int64_t> queryInteger(sqlite3 *database, llvm::StringRef path, llvm::StringRef sql) {
  Statement statement(database, sql);
  int64_t value = statement.step() ? statement.integer(0) : 0;
  if (llvm::Error error = statement.takeError(path))
    return error;
  return value;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Makes the tables in a new file; refuses what is not ours.
static llvm::Error prepareSchema(sqlite3 *database, llvm::StringRef path) {
  llvm::Expected<int64_t> tables = queryInteger(database, path, "SELECT count(*) FROM sqlite_master");
  if (!tables)
    return tables.takeError();
  llvm::Expected<int64_t> application = queryInteger(database, path, "PRAGMA application_id");
  if (!application)
    return application.takeError();
  llvm::Expected<int64_t> version = queryInteger(database, path, "PRAGMA user_version");
  if (!version)
    return version.takeError();
  if (*tables > 0 && *application != kApplicationId)
    return makeError("history {0}: found a database of another program, expected a history", path);
  if (*tables > 0 && *version != kHistoryVersion)
    return makeError("history {0}: found version {1}, expected version {2}; move it away to start a new one",
                     path, *version, kHistoryVersion);
  if (*tables > 0)
    return llvm::Error::success();
  std::string marks =
      llvm::formatv("PRAGMA application_id={0}; PRAGMA user_version={1};", kApplicationId, kHistoryVersion);
  char *message = nullptr;
  std::string script = "BEGIN IMMEDIATE;" + std::string(kSchema) + marks + "COMMIT;";
  if (sqlite3_exec(database, script.c_str(), nullptr, nullptr, &message) == SQLITE_OK)
    return llvm::Error::success();
  std::string reason = message ? message : "unknown fault";
  sqlite3_free(message);
  sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
  return makeError("history {0}: {1}", path, reason);
}

llvm::Expected<History> History::open(llvm::StringRef path) {
  if (llvm::StringRef folder = llvm::sys::path::parent_path(path); !folder.empty())
    if (llvm::Error error = makeDirectory(folder.str()))
      return makeError("history {0}: {1}", path, llvm::toString(std::move(error)));
  sqlite3 *raw = nullptr;
  int code = sqlite3_open_v2(path.str().c_str(), &raw,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  History history(path.str(), raw);
  if (code != SQLITE_OK)
    return makeError("history {0}: {1}", path, raw ? sqlite3_errmsg(raw) : "out of memory");
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  if (llvm::Error error = prepareSchema(raw, path))
    return error;
  // A reader never waits for the writer; every commit reaches the disk, since a lost one is a measurement
  // repeated.
  for (llvm::StringRef sql : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"})
    if (llvm::Error error = execute(raw, path, sql))
      return error;
  return history;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void bindTrial(Statement &statement, const Trial &trial) {
  statement.bind(trial.workloadKey());
  statement.bind(trial.deviceKey);
  statement.bind(trial.codegen.llvm);
  statement.bind(trial.codegen.number);
  statement.bind(trial.schedule.text());
  if (const auto *timing = std::get_if<Timing>(&trial.outcome)) {
    statement.bind(timing->medianNs);
    statement.bind(timing->spreadNs);
    statement.bind(timing->runs);
    statement.bindNull();
    statement.bindNull();
  } else {
    const auto &failure = std::get<TrialFailure>(trial.outcome);
    statement.bindNull();
    statement.bindNull();
    statement.bindNull();
    statement.bind(failure.stage);
    statement.bind(failure.reason);
  }
  statement.bind(trial.toolVersion);
  statement.bind(trial.date);
}

static llvm::Error insertTrials(sqlite3 *database, llvm::StringRef path, llvm::ArrayRef<Trial> trials) {
  Statement workload(database, "INSERT OR IGNORE INTO workload VALUES(?,?)");
  Statement row(database,
                "INSERT INTO trial(workload,device,llvm,codegen,schedule,median_ns,spread_ns,runs,stage,"
                "reason,tool,date) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  for (const Trial &trial : trials) {
    workload.bind(trial.workloadKey());
    workload.bind(trial.workloadText);
    workload.step();
    workload.reset();
    bindTrial(row, trial);
    row.step();
    row.reset();
  }
  if (llvm::Error error = workload.takeError(path))
    return error;
  return row.takeError(path);
}

llvm::Error History::add(llvm::ArrayRef<Trial> trials) {
  if (trials.empty())
    return llvm::Error::success();
  if (llvm::Error error = execute(database.get(), path, "BEGIN IMMEDIATE"))
    return error;
  llvm::Error error = insertTrials(database.get(), path, trials);
  if (!error)
    error = execute(database.get(), path, "COMMIT");
  if (error && !sqlite3_get_autocommit(database.get()))
    sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return error;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string whereClause(const TrialFilter &filter) {
  std::string where = " WHERE 1";
  if (filter.workloadKey)
    where += " AND workload=?";
  if (filter.deviceKey)
    where += " AND device=?";
  if (filter.codegen)
    where += " AND llvm=? AND codegen=?";
  if (filter.measurementsOnly)
    where += " AND stage IS NULL";
  if (filter.newest)
    where += " ORDER BY id DESC LIMIT ?";
  return where;
}

static void bindFilter(Statement &statement, const TrialFilter &filter) {
  if (filter.workloadKey)
    statement.bind(*filter.workloadKey);
  if (filter.deviceKey)
    statement.bind(*filter.deviceKey);
  if (filter.codegen) {
    statement.bind(filter.codegen->llvm);
    statement.bind(filter.codegen->number);
  }
  if (filter.newest)
    statement.bind(*filter.newest);
}

static llvm::Expected<Trial> readTrial(const Statement &row, llvm::StringRef path) {
  llvm::Expected<Schedule> schedule = Schedule::parse(row.text(4));
  if (!schedule)
    return makeError("history {0}: trial {1}: {2}", path, row.integer(12),
                     llvm::toString(schedule.takeError()));
  Trial trial;
  trial.workloadText = row.text(0);
  trial.deviceKey = row.text(1);
  trial.codegen = {row.text(2), row.integer(3)};
  trial.schedule = std::move(*schedule);
  if (row.isNull(8))
    trial.outcome = Timing{row.real(5), row.real(6), row.integer(7)};
  else
    trial.outcome = TrialFailure{row.text(8), row.text(9)};
  trial.toolVersion = row.text(10);
  trial.date = row.text(11);
  return trial;
}

llvm::Expected<std::vector<Trial>> History::query(const TrialFilter &filter) const {
  std::string sql =
      "SELECT w.text,t.device,t.llvm,t.codegen,t.schedule,t.median_ns,t.spread_ns,t.runs,t.stage,"
      "t.reason,t.tool,t.date,t.id FROM (SELECT * FROM trial" +
      whereClause(filter) + ") t JOIN workload w ON w.key=t.workload ORDER BY t.id";
  Statement statement(database.get(), sql);
  bindFilter(statement, filter);
  std::vector<Trial> trials;
  while (statement.step()) {
    llvm::Expected<Trial> trial = readTrial(statement, path);
    if (!trial)
      return trial.takeError();
    trials.push_back(std::move(*trial));
  }
  if (llvm::Error error = statement.takeError(path))
    return error;
  return trials;
}

llvm::Expected<int64_t> History::count(const TrialFilter &filter) const {
  Statement statement(database.get(),
                      "SELECT count(*) FROM (SELECT id FROM trial" + whereClause(filter) + ")");
  bindFilter(statement, filter);
  int64_t rows = statement.step() ? statement.integer(0) : 0;
  if (llvm::Error error = statement.takeError(path))
    return error;
  return rows;
}

llvm::Expected<std::vector<TrialCount>> History::summary() const {
  Statement statement(database.get(), R"sql(
    SELECT ifnull(stage,''), CASE WHEN instr(reason,char(10)) THEN substr(reason,1,instr(reason,char(10))-1)
           ELSE ifnull(reason,'') END AS line, count(*) AS n
    FROM trial GROUP BY stage, line ORDER BY stage IS NOT NULL, n DESC, stage, line)sql");
  std::vector<TrialCount> counts;
  while (statement.step())
    counts.push_back({statement.text(0), statement.text(1), statement.integer(2)});
  if (llvm::Error error = statement.takeError(path))
    return error;
  return counts;
}
