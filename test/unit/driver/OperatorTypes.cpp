// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of operators and types.
#include "test/unit/driver/OperatorTypes.h"

#include <cmath>

namespace autotune::test {

namespace {

using Values = std::vector<double>;

bool isSigned(ElementType type) { return !isUnsigned(type); }
bool isWide(ElementType type) { return byteSize(type) >= 4; }
/// Types of most reductions and of matrix products: floats and integers of 32 and 64 bits.
bool isAccumulated(ElementType type) { return isFloat(type) || (isInteger(type) && isWide(type)); }

/// As stored: integers wrap around.
double stored(ElementType type, double value) {
  char bytes[8];
  if (isFloat(type)) {
    storeFloat(bytes, type, value);
    return loadFloat(bytes, type);
  }
  storeInt(bytes, type, static_cast<int64_t>(value));
  return type == ElementType::U64 ? static_cast<double>(static_cast<uint64_t>(loadInt(bytes, type)))
                                  : static_cast<double>(loadInt(bytes, type));
}

class Table {
public:
  explicit Table(ElementType type) : type(type) {
    // 3x4 operands, small enough for every type, with negative numbers where there are any.
    for (double value : {3.0, -2.0, 5.0, 0.0, -7.0, 1.0, 9.0, -4.0, 6.0, 2.0, -1.0, 8.0})
      a.push_back(number(value));
    for (double value : {2.0, 5.0, -3.0, 4.0, 2.0, -1.0, 9.0, 3.0, -5.0, 2.0, 7.0, 4.0})
      b.push_back(number(value));
    if (isFloat(type))
      for (size_t i = 0; i < 12; ++i) {
        a[i] += 0.25;
        b[i] -= 0.5;
      }
  }

  std::vector<TypedCase> cases;

  void elementwise();
  void floatFunctions();
  void movement();
  void indexing();
  void reductions();
  void contractions();
  void casts();

private:
  double number(double value) const {
    if (type == ElementType::Bool)
      return value > 2;
    return isSigned(type) ? value : std::abs(value);
  }
  TypedOperand operand(const Values &values) const { return {{type, {3, 4}, values}}; }
  TypedOperand ints(const Values &values) const {
    return {{ElementType::I64, {static_cast<int64_t>(values.size())}, values}, true};
  }
  TypedCase &add(const std::string &op, std::vector<TypedOperand> operands, ElementType result,
                 std::vector<int64_t> shape, Values values) {
    for (double &value : values)
      value = stored(result, value);
    cases.push_back({op, std::move(operands), {result, std::move(shape), std::move(values)}, nullptr, 1});
    return cases.back();
  }
  /// a and b element by element.
  template <typename Function>
  TypedCase &binary(const std::string &op, ElementType result, Function function) {
    Values values;
    for (size_t i = 0; i < 12; ++i)
      values.push_back(function(a[i], b[i]));
    return add(op, {operand(a), operand(b)}, result, {3, 4}, values);
  }
  template <typename Function>
  TypedCase &unary(const std::string &op, ElementType result, Function function) {
    Values values;
    for (double x : a)
      values.push_back(function(x));
    return add(op, {operand(a)}, result, {3, 4}, values);
  }
  template <typename Function> TypedCase &reduce(const std::string &op, Function function) {
    Values values;
    for (size_t row = 0; row < 3; ++row)
      values.push_back(function(Values(a.begin() + row * 4, a.begin() + row * 4 + 4)));
    return add(op, {operand(a), ints({1})}, type, {3, 1}, values);
  }

  ElementType type;
  Values a, b;
};

void Table::elementwise() {
  bool isBool = type == ElementType::Bool, isInt = isInteger(type);
  auto truncated = [&](double x, double y) { return isInt ? std::trunc(x / y) : x / y; };
  binary("Equal", ElementType::Bool, [](double x, double y) { return x == y; });
  if (isBool) {
    binary("And", type, [](double x, double y) { return x && y; });
    binary("Or", type, [](double x, double y) { return x || y; });
    binary("Xor", type, [](double x, double y) { return (x != 0) != (y != 0); });
    unary("Not", type, [](double x) { return !x; });
    return;
  }
  binary("Add", type, [](double x, double y) { return x + y; });
  binary("Sub", type, [](double x, double y) { return x - y; });
  binary("Mul", type, [](double x, double y) { return x * y; });
  binary("Div", type, truncated);
  binary("Max", type, [](double x, double y) { return std::max(x, y); });
  binary("Min", type, [](double x, double y) { return std::min(x, y); });
  binary("Less", ElementType::Bool, [](double x, double y) { return x < y; });
  binary("LessOrEqual", ElementType::Bool, [](double x, double y) { return x <= y; });
  binary("Greater", ElementType::Bool, [](double x, double y) { return x > y; });
  binary("GreaterOrEqual", ElementType::Bool, [](double x, double y) { return x >= y; });
  binary("Mod", type, [](double x, double y) { return std::fmod(x, y); }).attributes = [](KnownModel &model) {
    model.attribute("fmod", int64_t(1));
  };
  if (isInt)
    binary("Mod", type, [](double x, double y) { return x - y * std::floor(x / y); });
  unary("Abs", type, [](double x) { return std::abs(x); });
  unary("Sign", type, [](double x) { return (x > 0) - (x < 0); });
  auto shrunk = [&](double x) { return x < -2 ? x + 1 : x > 2 ? x - 1 : 0; };
  unary("Shrink", type, shrunk).attributes = [](KnownModel &model) {
    model.attribute("lambd", 2.0f).attribute("bias", 1.0f);
  };
  TypedOperand low{{type, {}, {number(1)}}}, high{{type, {}, {number(6)}}};
  unary("Clip", type, [](double x) { return std::min(std::max(x, 1.0), 6.0); }).operands = {operand(a), low,
                                                                                            high};
  if (isSigned(type)) {
    unary("Neg", type, [](double x) { return -x; });
    unary("Relu", type, [](double x) { return std::max(x, 0.0); });
  }
  if (isAccumulated(type)) {
    binary("PRelu", type, [](double x, double y) { return x < 0 ? x * y : x; });
    Values squares, two(12, 2);
    for (double x : a)
      squares.push_back(x * x);
    if (isFloat(type) || isSigned(type))
      add("Pow", {operand(a), operand(two)}, type, {3, 4}, squares);
  }
  if (isInt) {
    binary("BitwiseAnd", type, [](double x, double y) { return double(int64_t(x) & int64_t(y)); });
    binary("BitwiseOr", type, [](double x, double y) { return double(int64_t(x) | int64_t(y)); });
    binary("BitwiseXor", type, [](double x, double y) { return double(int64_t(x) ^ int64_t(y)); });
    unary("BitwiseNot", type, [](double x) { return double(~int64_t(x)); });
  }
  if (isInt && isUnsigned(type)) {
    binary("BitShift", type, [](double x, double y) { return x * std::pow(2, y); }).attributes =
        [](KnownModel &model) { model.attribute("direction", std::string("LEFT")); };
    binary("BitShift", type, [](double x, double y) { return std::floor(x / std::pow(2, y)); }).attributes =
        [](KnownModel &model) { model.attribute("direction", std::string("RIGHT")); };
  }
}

void Table::floatFunctions() {
  if (!isFloat(type))
    return;
  binary("Sum", type, [](double x, double y) { return x + y; });
  binary("Mean", type, [](double x, double y) { return (x + y) / 2; });
  unary("Ceil", type, [](double x) { return std::ceil(x); });
  unary("Floor", type, [](double x) { return std::floor(x); });
  unary("Round", type, [](double x) { return std::nearbyint(x); });
  unary("Exp", type, [](double x) { return std::exp(x); }).tolerance = 4;
  unary("Sigmoid", type, [](double x) { return 1 / (1 + std::exp(-x)); }).tolerance = 4;
  unary("Tanh", type, [](double x) { return std::tanh(x); }).tolerance = 4;
  unary("Erf", type, [](double x) { return std::erf(x); }).tolerance = 4;
  unary("Sin", type, [](double x) { return std::sin(x); }).tolerance = 4;
  unary("Cos", type, [](double x) { return std::cos(x); }).tolerance = 4;
  unary("Tan", type, [](double x) { return std::tan(x); }).tolerance = 16;
  unary("Sinh", type, [](double x) { return std::sinh(x); }).tolerance = 4;
  unary("Cosh", type, [](double x) { return std::cosh(x); }).tolerance = 4;
  unary("Atan", type, [](double x) { return std::atan(x); }).tolerance = 4;
  unary("Asinh", type, [](double x) { return std::asinh(x); }).tolerance = 4;
  unary("Reciprocal", type, [](double x) { return 1 / x; });
  unary("Softplus", type, [](double x) { return std::log1p(std::exp(x)); }).tolerance = 4;
  unary("Softsign", type, [](double x) { return x / (1 + std::abs(x)); }).tolerance = 4;
  unary("Mish", type, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }).tolerance = 4;
  unary("LeakyRelu", type, [](double x) { return x < 0 ? 0.125 * x : x; }).attributes =
      [](KnownModel &model) { model.attribute("alpha", 0.125f); };
  unary("Elu", type, [](double x) { return x < 0 ? std::expm1(x) : x; }).tolerance = 4;
  unary("HardSwish", type, [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }).tolerance =
      4;
  unary("HardSigmoid", type, [](double x) {
    return std::min(std::max(0.25 * x + 0.5, 0.0), 1.0);
  }).attributes = [](KnownModel &model) { model.attribute("alpha", 0.25f); };
  unary("IsNaN", ElementType::Bool, [](double) { return 0; });
  Values positive, roots, logarithms, areas;
  for (double x : a) {
    positive.push_back(std::abs(x));
    roots.push_back(std::sqrt(std::abs(x)));
    logarithms.push_back(std::log(std::abs(x)));
  }
  add("Sqrt", {operand(positive)}, type, {3, 4}, roots);
  add("Log", {operand(positive)}, type, {3, 4}, logarithms).tolerance = 4;
  Values fractions;
  for (double x : a)
    fractions.push_back(stored(type, x / 16));
  for (double x : fractions)
    areas.push_back(std::acos(x));
  add("Acos", {operand(fractions)}, type, {3, 4}, areas).tolerance = 4;
  Values softmax;
  for (size_t i = 0; i < 12; ++i) {
    double sum = 0;
    for (size_t k = i / 4 * 4; k < i / 4 * 4 + 4; ++k)
      sum += std::exp(a[k]);
    softmax.push_back(std::exp(a[i]) / sum);
  }
  add("Softmax", {operand(a)}, type, {3, 4}, softmax).tolerance = 4;
}

void Table::movement() {
  Values transposed, doubled = a, sliced, expanded, padded(20), upper = a, gathered;
  for (size_t i = 0; i < 12; ++i)
    transposed.push_back(a[i % 3 * 4 + i / 3]);
  doubled.insert(doubled.end(), b.begin(), b.end());
  for (size_t row = 0; row < 3; ++row) {
    sliced.insert(sliced.end(), {a[row * 4 + 3], a[row * 4 + 1]});
    for (size_t column = 0; column < 4; ++column)
      padded[(row + 1) * 4 + column] = a[row * 4 + column];
  }
  Values row(a.begin(), a.begin() + 4);
  for (int i = 0; i < 3; ++i)
    expanded.insert(expanded.end(), row.begin(), row.end());
  add("Transpose", {operand(a)}, type, {4, 3}, transposed);
  add("Identity", {operand(a)}, type, {3, 4}, a);
  add("Reshape", {operand(a), ints({2, 6})}, type, {2, 6}, a);
  add("Concat", {operand(a), operand(b)}, type, {6, 4}, doubled).attributes = [](KnownModel &model) {
    model.attribute("axis", int64_t(0));
  };
  add("Slice", {operand(a), ints({3}), ints({0}), ints({1}), ints({-2})}, type, {3, 2}, sliced);
  add("Expand", {{{type, {1, 4}, row}}, ints({3, 4})}, type, {3, 4}, expanded);
  add("Tile", {{{type, {1, 4}, row}}, ints({3, 1})}, type, {3, 4}, expanded);
  add("Pad", {operand(a), ints({1, 0, 1, 0})}, type, {5, 4}, padded);
  for (size_t i = 0; i < 12; ++i)
    if (i % 4 < i / 4)
      upper[i] = 0;
  add("Trilu", {operand(a)}, type, {3, 4}, upper);
  Values chosen;
  for (size_t i = 0; i < 12; ++i)
    chosen.push_back(i % 3 ? a[i] : b[i]);
  TypedOperand condition{{ElementType::Bool, {3, 4}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1}}};
  add("Where", {condition, operand(a), operand(b)}, type, {3, 4}, chosen);
  // [1,4,1,3] -> [1,1,2,6]
  Values depth;
  for (size_t i = 0; i < 12; ++i) {
    size_t y = i / 6, x = i % 6;
    depth.push_back(a[(y * 2 + x % 2) * 3 + x / 2]);
  }
  add("DepthToSpace", {{{type, {1, 4, 1, 3}, a}}}, type, {1, 1, 2, 6}, depth).attributes =
      [](KnownModel &model) { model.attribute("blocksize", int64_t(2)); };
}

void Table::indexing() {
  TypedOperand rows{{ElementType::I64, {2}, {2, -3}}}, columns{{ElementType::I32, {3, 1}, {1, -1, 0}}};
  Values gathered(a.begin() + 8, a.begin() + 12), picked = {a[1], a[7], a[8]}, scattered = a;
  gathered.insert(gathered.end(), a.begin(), a.begin() + 4);
  add("Gather", {operand(a), rows}, type, {2, 4}, gathered);
  auto lastAxis = [](KnownModel &model) { model.attribute("axis", int64_t(1)); };
  add("GatherElements", {operand(a), columns}, type, {3, 1}, picked).attributes = lastAxis;
  TypedOperand points{{ElementType::I64, {2, 2}, {0, 3, 2, 1}}};
  add("GatherND", {operand(a), points}, type, {2}, {a[3], a[9]});
  Values updates = {b[0], b[1], b[2]};
  scattered[1] = b[0];
  scattered[7] = b[1];
  scattered[8] = b[2];
  add("ScatterElements", {operand(a), columns, {{type, {3, 1}, updates}}}, type, {3, 4}, scattered)
      .attributes = lastAxis;
  Values atPoints = a;
  atPoints[3] = b[0];
  atPoints[9] = b[1];
  add("ScatterND", {operand(a), points, {{type, {2}, {b[0], b[1]}}}}, type, {3, 4}, atPoints);
  TypedOperand classes{{ElementType::I64, {2}, {1, -1}}};
  Values oneHot = {b[0], b[1], b[0], b[0], b[0], b[1]};
  add("OneHot", {classes, ints({3}), {{type, {2}, {b[0], b[1]}}}}, type, {2, 3}, oneHot);
  if (type == ElementType::Bool)
    return;
  Values arguments, least, cumulated;
  for (size_t row = 0; row < 3; ++row) {
    auto begin = a.begin() + row * 4;
    arguments.push_back(std::max_element(begin, begin + 4) - begin);
    least.push_back(std::min_element(begin, begin + 4) - begin);
  }
  add("ArgMax", {operand(a)}, ElementType::I64, {3, 1}, arguments).attributes = lastAxis;
  add("ArgMin", {operand(a)}, ElementType::I64, {3, 1}, least).attributes = lastAxis;
  Values top;
  for (size_t row = 0; row < 3; ++row) {
    Values sorted(a.begin() + row * 4, a.begin() + row * 4 + 4);
    std::sort(sorted.rbegin(), sorted.rend());
    top.insert(top.end(), sorted.begin(), sorted.begin() + 2);
  }
  add("TopK", {operand(a), ints({2})}, type, {3, 2}, top);
  for (size_t i = 0; i < 12; ++i)
    cumulated.push_back(a[i] + (i % 4 ? cumulated[i - 1] : 0));
  if (isAccumulated(type))
    add("CumSum", {operand(a), ints({1})}, type, {3, 4}, cumulated);
}

void Table::reductions() {
  bool extremes = type != ElementType::Bool && (isAccumulated(type) || byteSize(type) == 1);
  if (extremes) {
    reduce("ReduceMax", [](Values x) { return *std::max_element(x.begin(), x.end()); });
    reduce("ReduceMin", [](Values x) { return *std::min_element(x.begin(), x.end()); });
  }
  if (!isAccumulated(type))
    return;
  auto folded = [](double start, auto function) {
    return [=](Values x) {
      double result = start;
      for (double value : x)
        result = function(result, value);
      return result;
    };
  };
  auto sum = folded(0, [](double x, double y) { return x + y; });
  auto squares = folded(0, [](double x, double y) { return x + y * y; });
  auto magnitudes = folded(0, [](double x, double y) { return x + std::abs(y); });
  bool isInt = isInteger(type);
  reduce("ReduceSum", sum);
  reduce("ReduceProd", folded(1, [](double x, double y) { return x * y; }));
  reduce("ReduceMean", [=](Values x) { return isInt ? std::trunc(sum(x) / 4) : sum(x) / 4; });
  reduce("ReduceL1", magnitudes);
  reduce("ReduceL2",
         [=](Values x) { return isInt ? std::trunc(std::sqrt(squares(x))) : std::sqrt(squares(x)); });
  reduce("ReduceSumSquare", squares);
  // The sum of exponentials is positive for every type.
  reduce("ReduceLogSumExp", [=](Values x) {
    double total = 0;
    for (double value : x)
      total += std::exp(value);
    return isInt ? std::trunc(std::log(total)) : std::log(total);
  }).tolerance = 4;
}

void Table::contractions() {
  if (!isAccumulated(type))
    return;
  Values turned, product(9);
  for (size_t i = 0; i < 12; ++i)
    turned.push_back(b[i % 3 * 4 + i / 3]);
  for (size_t i = 0; i < 9; ++i)
    for (size_t k = 0; k < 4; ++k)
      product[i] += a[i / 3 * 4 + k] * b[i % 3 * 4 + k];
  add("MatMul", {operand(a), {{type, {4, 3}, turned}}}, type, {3, 3}, product);
  add("Gemm", {operand(a), operand(b)}, type, {3, 3}, product).attributes = [](KnownModel &model) {
    model.attribute("transB", int64_t(1));
  };
  add("Einsum", {operand(a), operand(b)}, type, {3, 3}, product).attributes = [](KnownModel &model) {
    model.attribute("equation", std::string("ik,jk->ij"));
  };
  if (!isFloat(type))
    return;
  // One channel of 3x4 by a filter of 2x2.
  Values filter = {1, -0.5, 2, 0.25}, convolved, averaged;
  for (size_t i = 0; i < 6; ++i) {
    double sum = 0, mean = 0;
    for (size_t k = 0; k < 4; ++k) {
      double x = a[(i / 3 + k / 2) * 4 + i % 3 + k % 2];
      sum += x * filter[k];
      mean += x / 4;
    }
    convolved.push_back(sum);
    averaged.push_back(mean);
  }
  TypedOperand image{{type, {1, 1, 3, 4}, a}};
  add("Conv", {image, {{type, {1, 1, 2, 2}, filter}}}, type, {1, 1, 2, 3}, convolved);
  add("AveragePool", {image}, type, {1, 1, 2, 3}, averaged).attributes = [](KnownModel &model) {
    model.integers("kernel_shape", {2, 2});
  };
}

void Table::casts() {
  for (ElementType to : allElementTypes()) {
    int64_t code = onnxDataType(to);
    Values values;
    for (double x : a) {
      // Floats are cut to integers; a negative number has no value in an unsigned type.
      double number = isFloat(type) && isUnsigned(to) ? std::abs(x) : x;
      values.push_back(to == ElementType::Bool ? number != 0 : isFloat(to) ? number : std::trunc(number));
    }
    Values from = a;
    if (isFloat(type) && isUnsigned(to))
      for (double &x : from)
        x = std::abs(x);
    add("Cast", {operand(from)}, to, {3, 4}, values).attributes = [code](KnownModel &model) {
      model.attribute("to", code);
    };
  }
  bool pools = isFloat(type) || byteSize(type) == 1;
  if (type == ElementType::Bool || !pools)
    return;
  Values greatest;
  for (size_t i = 0; i < 6; ++i) {
    size_t at = i / 3 * 4 + i % 3;
    greatest.push_back(std::max(std::max(a[at], a[at + 1]), std::max(a[at + 4], a[at + 5])));
  }
  add("MaxPool", {{{type, {1, 1, 3, 4}, a}}}, type, {1, 1, 2, 3}, greatest).attributes =
      [](KnownModel &model) { model.integers("kernel_shape", {2, 2}); };
}

} // namespace

std::vector<TypedCase> casesOf(ElementType type) {
  Table table(type);
  table.elementwise();
  table.floatFunctions();
  table.movement();
  table.indexing();
  table.reductions();
  table.contractions();
  table.casts();
  return std::move(table.cases);
}

std::vector<ElementType> allElementTypes() {
  return {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::I8,
          ElementType::I16, ElementType::I32,  ElementType::I64, ElementType::U8,  ElementType::U16,
          ElementType::U32, ElementType::U64,  ElementType::Bool};
}

double toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 1e-3;
  case ElementType::BF16:
    return 8e-3;
  case ElementType::F64:
    return 1e-12;
  default:
    return 1e-6;
  }
}

} // namespace autotune::test
