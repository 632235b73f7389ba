// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Detects the device with cpuid and hwloc.
#include "schedule/Device.h"

#include "schedule/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cpuid.h>
#include <cstring>
#include <hwloc.h>
#include <memory>

using namespace autotune;

llvm::StringRef autotune::isaName(Isa isa) { return isa == Isa::Avx512 ? "avx512" : "avx2"; }

static std::string shortVendor(llvm::StringRef vendor) {
  if (vendor == "AuthenticAMD")
    return "amd";
  if (vendor == "GenuineIntel")
    return "intel";
  std::string word;
  for (char c : vendor)
    if (llvm::isAlnum(c))
      word += llvm::toLower(c);
  return word.empty() ? "unknown" : word;
}

std::string Device::key() const {
  return llvm::formatv("{0}-{1}-{2}-{3}-l1_{4}k-l2_{5}k", shortVendor(vendor), family, model, isaName(isa),
                       l1Bytes / 1024, l2Bytes / 1024);
}

/// Vendor, family and model as the vendors' manuals define them (extended fields added where they count).
static llvm::Error readCpuid(Device &device) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
    return makeError("device: found no cpuid, expected an x86-64 processor");
  char vendor[12];
  std::memcpy(vendor, &ebx, 4);
  std::memcpy(vendor + 4, &edx, 4);
  std::memcpy(vendor + 8, &ecx, 4);
  device.vendor.assign(vendor, sizeof(vendor));
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    return makeError("device: found no cpuid leaf 1, expected an x86-64 processor");
  device.family = (eax >> 8) & 0xf;
  device.model = (eax >> 4) & 0xf;
  if (device.family == 0xf || device.family == 0x6)
    device.model += ((eax >> 16) & 0xf) << 4;
  if (device.family == 0xf)
    device.family += (eax >> 20) & 0xff;
  return llvm::Error::success();
}

static llvm::Expected<Isa> chooseIsa(std::optional<Isa> wanted) {
  // LLVM's list already leaves out what the operating system does not save (xgetbv).
  llvm::StringMap<bool> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features[feature.getKey()] = feature.getValue();
  auto has = [&](std::initializer_list<const char *> names) {
    return llvm::all_of(names, [&](const char *name) { return features.lookup(name); });
  };
  bool avx512 = has({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  bool avx2 = has({"avx2", "fma"});
  if (!avx2)
    return makeError("device: found a processor without AVX2 and FMA, expected avx2 or avx512");
  if (wanted == Isa::Avx512 && !avx512)
    return makeError("device: found a processor with avx2, expected avx512 (F, BW, DQ and VL) as asked for");
  return wanted.value_or(avx512 ? Isa::Avx512 : Isa::Avx2);
}

/// The smallest cache of one kind: on a machine with two kinds of core a tile must fit either.
static int64_t smallestCache(hwloc_topology_t topology, hwloc_obj_type_t type) {
  int64_t smallest = 0;
  for (hwloc_obj_t cache = nullptr; (cache = hwloc_get_next_obj_by_type(topology, type, cache));) {
    int64_t size = cache->attr->cache.size;
    if (size > 0 && (smallest == 0 || size < smallest))
      smallest = size;
  }
  return smallest;
}

static llvm::Error readTopology(Device &device) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return makeError("device: hwloc cannot start");
  std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0)
    return makeError("device: hwloc cannot read this machine's topology");
  device.cores = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE));
  device.l1Bytes = smallestCache(raw, HWLOC_OBJ_L1CACHE);
  device.l2Bytes = smallestCache(raw, HWLOC_OBJ_L2CACHE);
  device.l3Bytes = smallestCache(raw, HWLOC_OBJ_L3CACHE);
  if (device.l1Bytes == 0 || device.l2Bytes == 0)
    return makeError("device: found L1 of {0} and L2 of {1} bytes, expected both caches to be known to hwloc",
                     device.l1Bytes, device.l2Bytes);
  return llvm::Error::success();
}

llvm::Expected<Device> autotune::detectDevice(std::optional<Isa> isa) {
  Device device;
  if (llvm::Error error = readCpuid(device))
    return error;
  llvm::Expected<Isa> chosen = chooseIsa(isa);
  if (!chosen)
    return chosen.takeError();
  device.isa = *chosen;
  if (llvm::Error error = readTopology(device))
    return error;
  return device;
}
