// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps for the scalar ops of arith, math, linalg.index and tensor.extract.
#include "frontend/ScalarProgram.h"

#include "frontend/ImportContext.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace autotune {

namespace {

using Step = ScalarProgram::Step;
using Indices = llvm::ArrayRef<int64_t>;
using Runner = void (*)(const Step &, Slot *, Indices);

double rounded(double value, ElementType type) {
  if (type == ElementType::F64)
    return value;
  if (type == ElementType::F32)
    return static_cast<float>(value);
  char bytes[8];
  storeFloat(bytes, type, value);
  return loadFloat(bytes, type);
}

int64_t wrapped(int64_t value, ElementType type) {
  if (type == ElementType::Bool)
    return value & 1;
  char bytes[8];
  storeInt(bytes, type, value);
  return loadInt(bytes, type);
}

/// The bits of a sign-extended integer as an unsigned number of its width.
uint64_t zeroExtended(int64_t value, ElementType type) {
  unsigned bits = type == ElementType::Bool ? 1 : 8 * byteSize(type);
  return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

template <auto function> void unaryFloat(const Step &s, Slot *slots, Indices) {
  slots[s.result].number = rounded(function(slots[s.operands[0]].number), s.type);
}

template <auto function> void binaryFloat(const Step &s, Slot *slots, Indices) {
  slots[s.result].number = rounded(function(slots[s.operands[0]].number, slots[s.operands[1]].number), s.type);
}

template <auto function> void binaryInt(const Step &s, Slot *slots, Indices) {
  slots[s.result].integer = wrapped(function(slots[s.operands[0]].integer, slots[s.operands[1]].integer), s.type);
}

template <auto function> void binaryUnsigned(const Step &s, Slot *slots, Indices) {
  uint64_t a = zeroExtended(slots[s.operands[0]].integer, s.type);
  uint64_t b = zeroExtended(slots[s.operands[1]].integer, s.type);
  slots[s.result].integer = wrapped(static_cast<int64_t>(function(a, b)), s.type);
}

double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }
// Wrapping arithmetic is done unsigned: signed overflow is undefined.
int64_t addWrapping(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
int64_t subWrapping(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
int64_t mulWrapping(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
int64_t divSigned(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? subWrapping(0, a) : a / b; }
int64_t remSigned(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
uint64_t divUnsigned(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }
uint64_t remUnsigned(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }
uint64_t shiftLeft(uint64_t a, uint64_t b) { return b > 63 ? 0 : a << b; }
uint64_t shiftRight(uint64_t a, uint64_t b) { return b > 63 ? 0 : a >> b; }

int64_t powerOf(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base = mulWrapping(base, base))
    if (exponent & 1)
      result = mulWrapping(result, base);
  return result;
}

void compareFloats(const Step &s, Slot *slots, Indices) {
  double a = slots[s.operands[0]].number, b = slots[s.operands[1]].number;
  bool unordered = std::isnan(a) || std::isnan(b);
  using P = mlir::arith::CmpFPredicate;
  bool result = false;
  switch (static_cast<P>(s.detail)) {
  case P::OEQ:
    result = a == b;
    break;
  case P::OLT:
    result = a < b;
    break;
  case P::OLE:
    result = a <= b;
    break;
  case P::OGT:
    result = a > b;
    break;
  case P::OGE:
    result = a >= b;
    break;
  case P::UNE:
    result = unordered || a != b;
    break;
  case P::UNO:
    result = unordered;
    break;
  default:
    break;
  }
  slots[s.result].integer = result;
}

bool knownPredicate(mlir::arith::CmpFPredicate predicate) {
  using P = mlir::arith::CmpFPredicate;
  return llvm::is_contained({P::OEQ, P::OLT, P::OLE, P::OGT, P::OGE, P::UNE, P::UNO}, predicate);
}

void compareInts(const Step &s, Slot *slots, Indices) {
  int64_t a = slots[s.operands[0]].integer, b = slots[s.operands[1]].integer;
  uint64_t ua = zeroExtended(a, s.operandType), ub = zeroExtended(b, s.operandType);
  using P = mlir::arith::CmpIPredicate;
  auto choose = [&]() -> bool {
    switch (static_cast<P>(s.detail)) {
    case P::eq:
      return a == b;
    case P::ne:
      return a != b;
    case P::slt:
      return a < b;
    case P::sle:
      return a <= b;
    case P::sgt:
      return a > b;
    case P::sge:
      return a >= b;
    case P::ult:
      return ua < ub;
    case P::ule:
      return ua <= ub;
    case P::ugt:
      return ua > ub;
    default:
      return ua >= ub;
    }
  };
  slots[s.result].integer = choose();
}

void select(const Step &s, Slot *slots, Indices) {
  slots[s.result] = slots[slots[s.operands[0]].integer ? s.operands[1] : s.operands[2]];
}

void floatToFloat(const Step &s, Slot *slots, Indices) {
  slots[s.result].number = rounded(slots[s.operands[0]].number, s.type);
}

void signedToFloat(const Step &s, Slot *slots, Indices) {
  slots[s.result].number = rounded(static_cast<double>(slots[s.operands[0]].integer), s.type);
}

void unsignedToFloat(const Step &s, Slot *slots, Indices) {
  double value = static_cast<double>(zeroExtended(slots[s.operands[0]].integer, s.operandType));
  slots[s.result].number = rounded(value, s.type);
}

/// What x86 does: the least integer when the value does not fit.
void floatToSigned(const Step &s, Slot *slots, Indices) {
  double value = slots[s.operands[0]].number;
  bool fits = value >= -0x1p63 && value < 0x1p63;
  slots[s.result].integer = wrapped(fits ? static_cast<int64_t>(value) : INT64_MIN, s.type);
}

void floatToUnsigned(const Step &s, Slot *slots, Indices) {
  double value = slots[s.operands[0]].number;
  bool fits = value > -1 && value < 0x1p64;
  slots[s.result].integer = wrapped(fits ? static_cast<int64_t>(static_cast<uint64_t>(value)) : INT64_MIN, s.type);
}

void copyInt(const Step &s, Slot *slots, Indices) {
  slots[s.result].integer = wrapped(slots[s.operands[0]].integer, s.type);
}

void zeroExtend(const Step &s, Slot *slots, Indices) {
  uint64_t value = zeroExtended(slots[s.operands[0]].integer, s.operandType);
  slots[s.result].integer = wrapped(static_cast<int64_t>(value), s.type);
}

void absoluteInt(const Step &s, Slot *slots, Indices) {
  int64_t value = slots[s.operands[0]].integer;
  slots[s.result].integer = wrapped(value < 0 ? subWrapping(0, value) : value, s.type);
}

void loopIndex(const Step &s, Slot *slots, Indices indices) { slots[s.result].integer = indices[s.detail]; }

void load(const char *bytes, ElementType type, Slot &slot) {
  if (isFloat(type))
    slot.number = loadFloat(bytes, type);
  else
    slot.integer = loadInt(bytes, type);
}

void extract(const Step &s, Slot *slots, Indices) {
  int64_t position = 0;
  for (auto [operand, dim] : llvm::zip(s.operands, s.tensor->shape()))
    position = position * dim + slots[operand].integer;
  load(s.tensor->element(position), s.type, slots[s.result]);
}

template <typename Op> bool is(mlir::Operation &op) { return mlir::isa<Op>(op); }

struct Rule {
  bool (*matches)(mlir::Operation &);
  Runner run;
};

// A lambda each: the functions of <cmath> are overloaded.
#define AUTOTUNE_FLOAT(function) unaryFloat<[](double x) -> double { return function(x); }>

constexpr Rule kRules[] = {
    {is<mlir::arith::AddFOp>, binaryFloat<[](double a, double b) { return a + b; }>},
    {is<mlir::arith::SubFOp>, binaryFloat<[](double a, double b) { return a - b; }>},
    {is<mlir::arith::MulFOp>, binaryFloat<[](double a, double b) { return a * b; }>},
    {is<mlir::arith::DivFOp>, binaryFloat<[](double a, double b) { return a / b; }>},
    {is<mlir::arith::RemFOp>, binaryFloat<[](double a, double b) { return std::fmod(a, b); }>},
    {is<mlir::arith::MaximumFOp>, binaryFloat<maximum>},
    {is<mlir::arith::MinimumFOp>, binaryFloat<minimum>},
    {is<mlir::arith::NegFOp>, AUTOTUNE_FLOAT(-)},
    {is<mlir::arith::AddIOp>, binaryInt<addWrapping>},
    {is<mlir::arith::SubIOp>, binaryInt<subWrapping>},
    {is<mlir::arith::MulIOp>, binaryInt<mulWrapping>},
    {is<mlir::arith::DivSIOp>, binaryInt<divSigned>},
    {is<mlir::arith::RemSIOp>, binaryInt<remSigned>},
    {is<mlir::arith::DivUIOp>, binaryUnsigned<divUnsigned>},
    {is<mlir::arith::RemUIOp>, binaryUnsigned<remUnsigned>},
    {is<mlir::arith::MaxSIOp>, binaryInt<[](int64_t a, int64_t b) { return std::max(a, b); }>},
    {is<mlir::arith::MinSIOp>, binaryInt<[](int64_t a, int64_t b) { return std::min(a, b); }>},
    {is<mlir::arith::MaxUIOp>, binaryUnsigned<[](uint64_t a, uint64_t b) { return std::max(a, b); }>},
    {is<mlir::arith::MinUIOp>, binaryUnsigned<[](uint64_t a, uint64_t b) { return std::min(a, b); }>},
    {is<mlir::arith::AndIOp>, binaryInt<[](int64_t a, int64_t b) { return a & b; }>},
    {is<mlir::arith::OrIOp>, binaryInt<[](int64_t a, int64_t b) { return a | b; }>},
    {is<mlir::arith::XOrIOp>, binaryInt<[](int64_t a, int64_t b) { return a ^ b; }>},
    {is<mlir::arith::ShLIOp>, binaryUnsigned<shiftLeft>},
    {is<mlir::arith::ShRUIOp>, binaryUnsigned<shiftRight>},
    {is<mlir::arith::CmpFOp>, compareFloats},
    {is<mlir::arith::CmpIOp>, compareInts},
    {is<mlir::arith::SelectOp>, select},
    {is<mlir::arith::ExtFOp>, floatToFloat},
    {is<mlir::arith::TruncFOp>, floatToFloat},
    {is<mlir::arith::SIToFPOp>, signedToFloat},
    {is<mlir::arith::UIToFPOp>, unsignedToFloat},
    {is<mlir::arith::FPToSIOp>, floatToSigned},
    {is<mlir::arith::FPToUIOp>, floatToUnsigned},
    {is<mlir::arith::ExtSIOp>, copyInt},
    {is<mlir::arith::TruncIOp>, copyInt},
    {is<mlir::arith::IndexCastOp>, copyInt},
    {is<mlir::arith::ExtUIOp>, zeroExtend},
    {is<mlir::math::AbsIOp>, absoluteInt},
    {is<mlir::math::IPowIOp>, binaryInt<powerOf>},
    {is<mlir::math::PowFOp>, binaryFloat<[](double a, double b) { return std::pow(a, b); }>},
    {is<mlir::math::AbsFOp>, AUTOTUNE_FLOAT(std::fabs)},
    {is<mlir::math::CeilOp>, AUTOTUNE_FLOAT(std::ceil)},
    {is<mlir::math::FloorOp>, AUTOTUNE_FLOAT(std::floor)},
    {is<mlir::math::RoundEvenOp>, AUTOTUNE_FLOAT(std::nearbyint)},
    {is<mlir::math::SqrtOp>, AUTOTUNE_FLOAT(std::sqrt)},
    {is<mlir::math::ExpOp>, AUTOTUNE_FLOAT(std::exp)},
    {is<mlir::math::ExpM1Op>, AUTOTUNE_FLOAT(std::expm1)},
    {is<mlir::math::LogOp>, AUTOTUNE_FLOAT(std::log)},
    {is<mlir::math::Log1pOp>, AUTOTUNE_FLOAT(std::log1p)},
    {is<mlir::math::ErfOp>, AUTOTUNE_FLOAT(std::erf)},
    {is<mlir::math::TanhOp>, AUTOTUNE_FLOAT(std::tanh)},
    {is<mlir::math::SinOp>, AUTOTUNE_FLOAT(std::sin)},
    {is<mlir::math::CosOp>, AUTOTUNE_FLOAT(std::cos)},
    {is<mlir::math::TanOp>, AUTOTUNE_FLOAT(std::tan)},
    {is<mlir::math::AsinOp>, AUTOTUNE_FLOAT(std::asin)},
    {is<mlir::math::AcosOp>, AUTOTUNE_FLOAT(std::acos)},
    {is<mlir::math::AtanOp>, AUTOTUNE_FLOAT(std::atan)},
    {is<mlir::math::SinhOp>, AUTOTUNE_FLOAT(std::sinh)},
    {is<mlir::math::CoshOp>, AUTOTUNE_FLOAT(std::cosh)},
    {is<mlir::math::AsinhOp>, AUTOTUNE_FLOAT(std::asinh)},
    {is<mlir::math::AcoshOp>, AUTOTUNE_FLOAT(std::acosh)},
    {is<mlir::math::AtanhOp>, AUTOTUNE_FLOAT(std::atanh)},
};

#undef AUTOTUNE_FLOAT

std::optional<ElementType> scalarType(mlir::Type type) {
  if (type.isIndex())
    return ElementType::I64;
  if (!type.isIntOrFloat())
    return std::nullopt;
  return fromMlirType(type);
}

} // namespace

unsigned ScalarProgram::slotOf(mlir::Value value) {
  auto [it, added] = numbering.try_emplace(value, slots.size());
  if (added)
    slots.push_back(Slot{.integer = 0});
  return it->second;
}

bool ScalarProgram::add(mlir::Operation &op, const TensorLookup &tensors) {
  if (mlir::isa<mlir::linalg::YieldOp>(op)) {
    for (mlir::Value value : op.getOperands())
      yields.emplace_back(slotOf(value), *scalarType(value.getType()));
    return true;
  }
  std::optional<ElementType> type = op.getNumResults() == 1 ? scalarType(op.getResult(0).getType()) : std::nullopt;
  if (!type)
    return false;
  if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op)) {
    unsigned slot = slotOf(constant);
    if (auto number = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()))
      slots[slot].number = rounded(number.getValueAsDouble(), *type);
    else
      slots[slot].integer = wrapped(mlir::cast<mlir::IntegerAttr>(constant.getValue()).getValue().getSExtValue(), *type);
    return true;
  }
  Step step{nullptr, 0, {}, *type, *type, 0, nullptr};
  mlir::ValueRange operands = op.getOperands();
  if (auto index = mlir::dyn_cast<mlir::linalg::IndexOp>(op)) {
    step.run = loopIndex;
    step.detail = index.getDim();
  } else if (auto read = mlir::dyn_cast<mlir::tensor::ExtractOp>(op)) {
    step.run = extract;
    step.tensor = tensors(read.getTensor());
    operands = read.getIndices();
    if (!step.tensor)
      return false;
  } else {
    const Rule *rule = llvm::find_if(kRules, [&](const Rule &r) { return r.matches(op); });
    if (rule == std::end(kRules))
      return false;
    step.run = rule->run;
    step.operandType = *scalarType(operands[0].getType());
  }
  if (auto compare = mlir::dyn_cast<mlir::arith::CmpIOp>(op))
    step.detail = static_cast<int64_t>(compare.getPredicate());
  if (auto compare = mlir::dyn_cast<mlir::arith::CmpFOp>(op)) {
    step.detail = static_cast<int64_t>(compare.getPredicate());
    if (!knownPredicate(compare.getPredicate()))
      return false;
  }
  for (mlir::Value operand : operands)
    step.operands.push_back(slotOf(operand));
  step.result = slotOf(op.getResult(0));
  steps.push_back(std::move(step));
  return true;
}

std::optional<ScalarProgram> ScalarProgram::compile(mlir::Block &body, const TensorLookup &tensors) {
  ScalarProgram program;
  for (mlir::BlockArgument argument : body.getArguments()) {
    std::optional<ElementType> type = scalarType(argument.getType());
    if (!type)
      return std::nullopt;
    program.slotOf(argument);
    program.argumentTypes.push_back(*type);
  }
  for (mlir::Operation &op : body)
    if (!program.add(op, tensors))
      return std::nullopt;
  // Scalars from outside the body have a slot but no value.
  for (auto [value, slot] : program.numbering)
    if (value.getParentBlock() != &body)
      return std::nullopt;
  return program;
}

void ScalarProgram::setArgument(size_t index, const char *bytes) { load(bytes, argumentTypes[index], slots[index]); }

void ScalarProgram::run(llvm::ArrayRef<int64_t> loopIndices) {
  for (const Step &step : steps)
    step.run(step, slots.data(), loopIndices);
}

void ScalarProgram::storeResult(size_t index, char *bytes) const {
  auto [slot, type] = yields[index];
  if (isFloat(type))
    storeFloat(bytes, type, slots[slot].number);
  else
    storeInt(bytes, type, slots[slot].integer);
}

} // namespace autotune
