// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device keys and detection.
#include "schedule/Device.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;

TEST(Device, KeyNamesVendorFamilyModelIsaAndPrivateCaches) {
  Device device{"AuthenticAMD", 25, 1, Isa::Avx2, 32 << 10, 512 << 10, 32 << 20, 2, std::nullopt};
  EXPECT_EQ(device.key(), "amd-25-1-avx2-l1_32k-l2_512k");
  device.cores = 64;
  device.l3Bytes = 0;
  device.peaks = DevicePeaks{92, 300, 150, 20, 5000};
  EXPECT_EQ(device.key(), "amd-25-1-avx2-l1_32k-l2_512k");
  device.isa = Isa::Avx512;
  device.vendor = "GenuineIntel";
  EXPECT_EQ(device.key(), "intel-25-1-avx512-l1_32k-l2_512k");
}

TEST(Device, KeyOfAnUnknownVendorIsALegalFolderName) {
  Device device;
  device.vendor = "../ Vendor\n";
  EXPECT_EQ(device.key(), "vendor-0-0-avx2-l1_0k-l2_0k");
}

TEST(Device, ThisMachineIsDetectedWithTheIsaAskedFor) {
  llvm::Expected<Device> device = detectDevice(Isa::Avx2);
  ASSERT_TRUE(bool(device)) << messageOf(std::move(device));
  EXPECT_EQ(device->isa, Isa::Avx2);
  EXPECT_EQ(device->vendor.size(), 12u);
  EXPECT_GT(device->family, 0);
  EXPECT_GE(device->cores, 1);
  EXPECT_GE(device->l1Bytes, 8 << 10);
  EXPECT_GE(device->l2Bytes, device->l1Bytes);
}

TEST(Device, AWiderIsaThanTheMachinesIsAnError) {
  llvm::Expected<Device> widest = detectDevice();
  ASSERT_TRUE(bool(widest)) << messageOf(std::move(widest));
  if (widest->isa == Isa::Avx512)
    GTEST_SKIP() << "this machine has AVX-512: no wider set to ask for";
  EXPECT_THAT(messageOf(detectDevice(Isa::Avx512)), testing::HasSubstr("expected avx512"));
}
