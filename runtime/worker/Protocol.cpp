// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines of the worker protocol through llvm::json. Each struct names its members once in `fields`, for
// both ways.
#include "runtime/worker/Protocol.h"

#include "schedule/Errors.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune::worker {

namespace json = llvm::json;

namespace {

constexpr const char *kRoles[] = {"input", "weight", "output"};
constexpr const char *kChecks[] = {"exact", "elementwise", "reduction", "contraction"};

/// Writes members into an object.
class Writer {
public:
  json::Object object;

  void operator()(const char *key, const std::string &value) { object[key] = json::fixUTF8(value); }
  void operator()(const char *key, int value) { object[key] = static_cast<int64_t>(value); }
  void operator()(const char *key, int64_t value) { object[key] = value; }
  void operator()(const char *key, double value) { object[key] = value; }
  void operator()(const char *key, ArgRole value) { object[key] = kRoles[static_cast<int>(value)]; }
  void operator()(const char *key, CheckKind value) { object[key] = kChecks[static_cast<int>(value)]; }
  void operator()(const char *key, const std::optional<std::string> &value) {
    if (value)
      (*this)(key, *value);
  }
  template <typename T> void operator()(const char *key, const std::vector<T> &values) {
    json::Array array;
    for (const T &value : values)
      array.push_back(write(value));
    object[key] = std::move(array);
  }
  template <typename T> void operator()(const char *key, const T &value) { object[key] = write(value); }

  template <typename T> static json::Object write(const T &value) {
    Writer writer;
    fields(const_cast<T &>(value), writer);
    return std::move(writer.object);
  }
};

/// Reads members from an object; the first one that is missing or wrong is kept as `fault`.
class Reader {
public:
  Reader(const json::Object &object, std::string &fault) : object(object), fault(fault) {}

  void operator()(const char *key, std::string &value) {
    if (auto found = object.getString(key))
      value = found->str();
    else
      miss(key);
  }
  void operator()(const char *key, std::optional<std::string> &value) {
    if (auto found = object.getString(key))
      value = found->str();
  }
  void operator()(const char *key, int64_t &value) {
    if (auto found = object.getInteger(key))
      value = *found;
    else
      miss(key);
  }
  void operator()(const char *key, int &value) {
    int64_t wide = 0;
    (*this)(key, wide);
    value = static_cast<int>(wide);
  }
  void operator()(const char *key, double &value) {
    if (auto found = object.getNumber(key))
      value = *found;
    else
      miss(key);
  }
  void operator()(const char *key, ArgRole &value) { word(key, kRoles, value); }
  void operator()(const char *key, CheckKind &value) { word(key, kChecks, value); }
  template <typename T> void operator()(const char *key, std::vector<T> &values) {
    const json::Array *array = object.getArray(key);
    if (!array)
      return miss(key);
    for (const json::Value &element : *array)
      if (const json::Object *inner = element.getAsObject()) {
        Reader reader(*inner, fault);
        fields(values.emplace_back(), reader);
      } else {
        miss(key);
      }
  }
  template <typename T> void operator()(const char *key, T &value) {
    const json::Object *inner = object.getObject(key);
    if (!inner)
      return miss(key);
    Reader reader(*inner, fault);
    fields(value, reader);
  }

private:
  void miss(const char *key) {
    if (fault.empty())
      fault = std::string("'") + key + "' is missing or of the wrong type";
  }
  template <typename Enum, size_t N> void word(const char *key, const char *const (&names)[N], Enum &value) {
    auto found = object.getString(key);
    for (size_t i = 0; found && i < N; ++i)
      if (*found == names[i]) {
        value = static_cast<Enum>(i);
        return;
      }
    miss(key);
  }

  const json::Object &object;
  std::string &fault;
};

template <typename F> void fields(KernelArg &arg, F &field) {
  field("role", arg.role);
  field("dtype", arg.dtype);
  field("winograd_outputs", arg.winogradOutputs);
  field("winograd_filters", arg.winogradFilters);
  field("scale", arg.scale);
  field("bytes", arg.bytes);
}
template <typename F> void fields(CheckPolicy &policy, F &field) {
  field("kind", policy.kind);
  field("reduction_size", policy.reductionSize);
}
template <typename F> void fields(KernelTask &task, F &field) {
  field("id", task.id);
  field("kernel", task.kernel);
  field("workload", task.workload);
  field("reference_schedule", task.referenceSchedule);
  field("args", task.args);
  field("check", task.check);
  field("threads", task.threads);
  field("streamed_weight_bytes", task.streamedWeightBytes);
}
template <typename F> void fields(BuiltKernel &kernel, F &field) {
  field("path", kernel.path);
  field("symbol", kernel.symbol);
  field("chunks", kernel.chunks);
}
template <typename F> void fields(TimingLimits &limits, F &field) {
  field("min_samples", limits.minSamples);
  field("max_samples", limits.maxSamples);
  field("budget_ns", limits.budgetNs);
  field("slow_ns", limits.slowNs);
}
template <typename F> void fields(BuildRequest &request, F &field) {
  field("kernel", request.kernel);
  field("workload", request.workload);
  field("schedule", request.schedule);
  field("path", request.path);
}
template <typename F> void fields(PrepareRequest &request, F &field) {
  field("task", request.task);
  field("reference", request.reference);
}
template <typename F> void fields(MeasureRequest &request, F &field) {
  field("kernel", request.kernel);
  field("limits", request.limits);
}
template <typename F> void fields(ConfirmRequest &request, F &field) {
  field("first", request.first);
  field("second", request.second);
  field("pairs", request.pairs);
}
template <typename F> void fields(Prepared &, F &) {}
template <typename F> void fields(Timing &timing, F &field) {
  field("median_ns", timing.medianNs);
  field("mad_ns", timing.madNs);
  field("samples", timing.samples);
}
template <typename F> void fields(CheckMetrics &metrics, F &field) {
  field("max_error", metrics.maxError);
  field("bound_share", metrics.boundShare);
}
template <typename F> void fields(PairedTiming &timing, F &field) {
  field("ratio", timing.ratio);
  field("low", timing.low);
  field("high", timing.high);
  field("first", timing.first);
  field("second", timing.second);
  field("check", timing.check);
}
template <typename F> void fields(WorkerFailure &failure, F &field) {
  field("stage", failure.stage);
  field("reason", failure.reason);
}

// The member that tells which alternative a line holds, in the order of the variants.
constexpr const char *kRequestNames[] = {"build", "prepare", "measure", "confirm"};
constexpr const char *kReplyNames[] = {"built", "prepared", "timing", "paired_timing", "failure"};

template <typename Variant, size_t N>
std::string encodeAs(const Variant &value, const char *const (&names)[N]) {
  static_assert(std::variant_size_v<Variant> == N);
  json::Object line;
  line[names[value.index()]] =
      std::visit([](const auto &alternative) { return Writer::write(alternative); }, value);
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(line));
  return text;
}

template <typename Variant, size_t I = 0, size_t N>
llvm::Expected<Variant> decodeAs(const json::Object &line, const char *const (&names)[N]) {
  if constexpr (I == N) {
    return makeError("worker protocol: a line of no known kind");
  } else {
    const json::Object *inner = line.getObject(names[I]);
    if (!inner)
      return decodeAs<Variant, I + 1>(line, names);
    std::variant_alternative_t<I, Variant> value;
    std::string fault;
    Reader reader(*inner, fault);
    fields(value, reader);
    if (!fault.empty())
      return makeError("worker protocol: {0}: {1}", names[I], fault);
    return Variant(std::move(value));
  }
}

template <typename Variant, size_t N>
llvm::Expected<Variant> parseAs(llvm::StringRef line, const char *const (&names)[N]) {
  llvm::Expected<json::Value> value = json::parse(line);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError("worker protocol: a line that is no JSON object");
  return decodeAs<Variant>(*object, names);
}

} // namespace

std::string encode(const Request &request) { return encodeAs(request, kRequestNames); }
std::string encode(const Reply &reply) { return encodeAs(reply, kReplyNames); }
llvm::Expected<Request> decodeRequest(llvm::StringRef line) { return parseAs<Request>(line, kRequestNames); }
llvm::Expected<Reply> decodeReply(llvm::StringRef line) { return parseAs<Reply>(line, kReplyNames); }

} // namespace autotune::worker
