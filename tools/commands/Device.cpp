// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune device`: what the tool sees and measures of this machine, and how noisy it is.
#include "tools/Command.h"
#include "tools/ConfigFlags.h"
#include "tools/MeasureDevice.h"
#include "tools/Target.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

llvm::json::Object toJson(const Device &device, const DevicePeaks &peaks, const DeviceNoise &noise) {
  return llvm::json::Object{
      {"schema_version", 1},
      {"key", device.key()},
      {"vendor", device.vendor},
      {"family", device.family},
      {"model", device.model},
      {"isa", isaName(device.isa)},
      {"cores", device.cores},
      {"l1_bytes", device.l1Bytes},
      {"l2_bytes", device.l2Bytes},
      {"l3_bytes", device.l3Bytes},
      {"peaks", llvm::json::Object{{"fma_gflops", peaks.fmaGflops},
                                   {"l1_gbs", peaks.l1GBs},
                                   {"l2_gbs", peaks.l2GBs},
                                   {"memory_gbs", peaks.memoryGBs},
                                   {"fork_join_ns", peaks.forkJoinNs}}},
      {"noise",
       llvm::json::Object{{"spread_percent", noise.spreadPercent}, {"p90_percent", noise.p90Percent}}},
  };
}

void print(const Device &device, int threads, const DevicePeaks &peaks, const DeviceNoise &noise) {
  llvm::raw_ostream &out = llvm::outs();
  out << llvm::formatv("device           {0}\n", device.key());
  out << llvm::formatv("processor        {0}, family {1}, model {2}, code for {3}\n", device.vendor,
                       device.family, device.model, isaName(device.isa));
  out << llvm::formatv("cores            {0} physical\n", device.cores);
  out << llvm::formatv("caches           L1 {0} KiB, L2 {1} KiB, L3 {2} KiB\n", device.l1Bytes >> 10,
                       device.l2Bytes >> 10, device.l3Bytes >> 10);
  out << llvm::formatv("f32 FMA peak     {0:f1} GFLOP/s, one core\n", peaks.fmaGflops);
  out << llvm::formatv("read bandwidth   L1 {0:f0}, L2 {1:f0}, memory {2:f1} GB/s, one core\n", peaks.l1GBs,
                       peaks.l2GBs, peaks.memoryGBs);
  out << llvm::formatv("parallel step    {0:f0} ns, {1} threads\n", peaks.forkJoinNs, threads);
  out << llvm::formatv("noise            spread {0:f2} %, the slowest tenth {1:f2} % above the median\n",
                       noise.spreadPercent, noise.p90Percent);
}

class DeviceCommand : public Command {
public:
  llvm::StringRef name() const override { return "device"; }
  llvm::StringRef purpose() const override {
    return "Shows what the tool sees and measures of this machine, and how noisy it is.";
  }
  void declare(CLI::App &app) override {
    flags.declare(app, {"target.isa", "target.threads"});
    app.add_flag("--json", json, "print JSON");
  }
  llvm::Error run() override {
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    llvm::Expected<Device> device = targetDevice(config->target);
    if (!device)
      return device.takeError();
    int threads = targetThreads(config->target, *device);
    DevicePeaks peaks = measurePeaks(*device, threads);
    DeviceNoise noise = measureNoise(*device);
    if (json)
      llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(toJson(*device, peaks, noise)));
    else
      print(*device, threads, peaks, noise);
    return llvm::Error::success();
  }

private:
  ConfigFlags flags;
  bool json = false;
};

} // namespace

std::unique_ptr<Command> makeDeviceCommand() { return std::make_unique<DeviceCommand>(); }

} // namespace autotune
