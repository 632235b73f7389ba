// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/Scalars.h"

#include "llvm/ADT/APFloat.h"

#include <cfloat>
#include <cstring>

namespace autotune::worker {

namespace {

template <typename T> double load(const std::byte *place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return static_cast<double>(value);
}

template <typename T> void store(std::byte *place, double number) {
  T value = static_cast<T>(number);
  std::memcpy(place, &value, sizeof(value));
}

double loadBf16(const std::byte *place) {
  uint16_t half;
  std::memcpy(&half, place, sizeof(half));
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Rounds towards zero: what is stored are random inputs, where half a unit does not matter.
void storeBf16(std::byte *place, double number) {
  float value = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint16_t half = static_cast<uint16_t>(bits >> 16);
  std::memcpy(place, &half, sizeof(half));
}

double loadF16(const std::byte *place) {
  uint16_t half;
  std::memcpy(&half, place, sizeof(half));
  llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, half));
  return value.convertToDouble();
}

void storeF16(std::byte *place, double number) {
  llvm::APFloat value(number);
  bool lost = false;
  value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &lost);
  auto half = static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
  std::memcpy(place, &half, sizeof(half));
}

template <typename T> ScalarType integer() { return {ScalarClass::Integer, sizeof(T), 0, load<T>, store<T>}; }

} // namespace

std::optional<ScalarType> scalarType(const std::string &dtype) {
  if (dtype == "f32")
    return ScalarType{ScalarClass::Float, 4, FLT_EPSILON, load<float>, store<float>};
  if (dtype == "f64")
    return ScalarType{ScalarClass::Float, 8, DBL_EPSILON, load<double>, store<double>};
  if (dtype == "f16")
    return ScalarType{ScalarClass::Float, 2, 0x1p-10, loadF16, storeF16};
  if (dtype == "bf16")
    return ScalarType{ScalarClass::Float, 2, 0x1p-7, loadBf16, storeBf16};
  if (dtype == "i8")
    return integer<int8_t>();
  if (dtype == "ui8")
    return integer<uint8_t>();
  if (dtype == "i16")
    return integer<int16_t>();
  if (dtype == "i32")
    return integer<int32_t>();
  if (dtype == "i64")
    return integer<int64_t>();
  if (dtype == "i1")
    return ScalarType{ScalarClass::Bool, 1, 0, load<uint8_t>, store<uint8_t>};
  return std::nullopt;
}

} // namespace autotune::worker
