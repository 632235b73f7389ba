// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exp(x) = 2^n exp(r) with |r| <= ln 2 / 2: a polynomial, and n added to the exponent as an integer.

#include "passes/ExpPolynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

using namespace mlir;

namespace autotune {
namespace {

constexpr unsigned kBenefit = 100;

constexpr float kLog2E = 1.44269504F;
// ln 2 in two parts (Cody and Waite): n times the first is exact.
constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
// 1.5 * 2^23: adding it rounds to an integer, which then stands in the low bits.
constexpr float kRounder = 12582912.0F;
constexpr int kMantissaBits = 23;
// (exp(r) - 1 - r) / r^2, least squares on 2000 Chebyshev nodes in double precision, reweighted until the
// largest relative error of exp stopped falling: 3.1e-9.
constexpr float kCoefficients[] = {0.49999994F, 0.166665211F, 0.041668389F, 0.00836871658F, 0.00138145988F};
// Beyond these, results overflow, or are below the least normal number.
constexpr float kGreatest = 88.7228394F, kLeast = -87.3365479F;

class ExpByExponent : public OpRewritePattern<math::ExpOp> {
public:
  ExpByExponent(MLIRContext *context) : OpRewritePattern(context, kBenefit) {}

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto shaped = dyn_cast<ShapedType>(type);
    auto constant = [&](TypedAttr scalar) -> Value {
      if (shaped)
        return b.create<arith::ConstantOp>(
            DenseElementsAttr::get(shaped.clone(scalar.getType()), Attribute(scalar)));
      return b.create<arith::ConstantOp>(scalar);
    };
    auto number = [&](float value) { return constant(b.getF32FloatAttr(value)); };
    Type bits = shaped ? Type(shaped.clone(b.getI32Type())) : Type(b.getI32Type());

    Value x = op.getOperand();
    Value rounded = b.create<math::FmaOp>(x, number(kLog2E), number(kRounder));
    Value n = b.create<arith::SubFOp>(rounded, number(kRounder));
    Value r = b.create<math::FmaOp>(n, number(-kLn2High), x);
    r = b.create<math::FmaOp>(n, number(-kLn2Low), r);
    Value sum = number(kCoefficients[std::size(kCoefficients) - 1]);
    for (float coefficient : llvm::reverse(ArrayRef<float>(kCoefficients).drop_back()))
      sum = b.create<math::FmaOp>(sum, r, number(coefficient));
    sum = b.create<math::FmaOp>(b.create<arith::MulFOp>(r, r), sum, r);
    sum = b.create<arith::AddFOp>(sum, number(1));
    // The rounder has no bits of its own where n stands; of NaN nothing is left after the shift, and NaN
    // stays.
    Value exponent = b.create<arith::ShLIOp>(b.create<arith::BitcastOp>(bits, rounded),
                                             constant(b.getI32IntegerAttr(kMantissaBits)));
    Value scaled = b.create<arith::AddIOp>(b.create<arith::BitcastOp>(bits, sum), exponent);
    Value result = b.create<arith::BitcastOp>(type, scaled);
    // Infinity for what is greater, NaN for NaN.
    Value above = b.create<arith::MulFOp>(x, number(std::numeric_limits<float>::infinity()));
    Value isAbove = b.create<arith::CmpFOp>(arith::CmpFPredicate::UGT, x, number(kGreatest));
    Value isBelow = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, number(kLeast));
    result = b.create<arith::SelectOp>(isAbove, above, result);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isBelow, number(0), result);
    return success();
  }
};

} // namespace

void populateExpPolynomialPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpByExponent>(patterns.getContext());
}

} // namespace autotune
