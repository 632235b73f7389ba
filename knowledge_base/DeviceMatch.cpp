// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparison and text form of devices.
#include "knowledge_base/DeviceMatch.h"

#include "knowledge_base/Fields.h"
#include "schedule/Errors.h"

using namespace autotune;

static constexpr llvm::StringLiteral kIsaNames[] = {"avx2", "avx512"};

namespace autotune {

template <typename A> void fields(A &archive, DevicePeaks &peaks) {
  archive.field("fma_gflops", peaks.fmaGflops);
  archive.field("l1_gbs", peaks.l1GBs);
  archive.field("l2_gbs", peaks.l2GBs);
  archive.field("memory_gbs", peaks.memoryGBs);
  archive.field("fork_join_ns", peaks.forkJoinNs);
}

template <typename A> void fields(A &archive, Device &device) {
  archive.tag("format", "1");
  archive.field("vendor", device.vendor);
  archive.field("family", device.family);
  archive.field("model", device.model);
  archive.choice("isa", device.isa, kIsaNames);
  archive.field("l1_bytes", device.l1Bytes);
  archive.field("l2_bytes", device.l2Bytes);
  archive.field("l3_bytes", device.l3Bytes);
  archive.field("cores", device.cores);
}

} // namespace autotune

std::string autotune::deviceText(const Device &device) {
  Device copy = device;
  FieldWriter writer;
  fields(writer, copy);
  if (copy.peaks)
    writer.group("peaks", *copy.peaks);
  return writer.text();
}

llvm::Expected<Device> autotune::parseDevice(llvm::StringRef text) {
  Device device;
  try {
    FieldReader reader(YAML::Load(text.str()));
    fields(reader, device);
    if (reader.has("peaks"))
      reader.group("peaks", device.peaks.emplace());
    reader.finish();
  } catch (const std::exception &fault) {
    return makeError("{0}", fault.what());
  }
  return device;
}

DeviceMatch autotune::compareDevices(const Device &record, const Device &here) {
  auto differ = [](DeviceMatchKind kind, const char *field, const auto &theirs, const auto &ours) {
    return DeviceMatch{kind, llvm::formatv("{0}: {1} in the record, {2} here", field, theirs, ours)};
  };
  auto miss = [&](const char *field, const auto &theirs, const auto &ours) {
    return differ(DeviceMatchKind::Miss, field, theirs, ours);
  };
  if (record.vendor != here.vendor)
    return miss("vendor", record.vendor, here.vendor);
  if (record.family != here.family)
    return miss("family", record.family, here.family);
  if (record.model != here.model)
    return miss("model", record.model, here.model);
  if (record.isa != here.isa)
    return miss("isa", isaName(record.isa), isaName(here.isa));
  if (record.l1Bytes != here.l1Bytes)
    return miss("l1_bytes", record.l1Bytes, here.l1Bytes);
  if (record.l2Bytes != here.l2Bytes)
    return miss("l2_bytes", record.l2Bytes, here.l2Bytes);
  if (record.cores != here.cores)
    return differ(DeviceMatchKind::Compatible, "cores", record.cores, here.cores);
  if (record.l3Bytes != here.l3Bytes)
    return differ(DeviceMatchKind::Compatible, "l3_bytes", record.l3Bytes, here.l3Bytes);
  return {};
}
