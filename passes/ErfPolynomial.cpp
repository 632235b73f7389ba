// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two polynomials, both computed: below 1 in the square, from 1 to 3.925 around the middle; beyond, erf is 1.

#include "passes/ErfPolynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace autotune {
namespace {

constexpr unsigned kBenefit = 100;

// Least squares on 600 and 1000 Chebyshev nodes in double precision, reweighted until the largest relative
// error (below 1) and absolute error (from 1 on) stopped falling: 1.2e-9 and 2.9e-8. The constant term of the
// second is one unit larger, so that the end of the interval is exactly 1 and nothing is beyond it.
constexpr float kBorder = 1, kEnd = 3.925F, kMiddle = 2.46250010F;
constexpr float kBelow[] = {1.12837911F,    -0.37612626F,     0.112835854F,   -0.0268538129F,
                            0.00518832775F, -0.000801019429F, 7.85386292e-05F};
constexpr float kAbove[] = {0.999503314F,    0.00262369774F,   -0.00646238308F, 0.0097343605F,
                            -0.00982013624F, 0.00675328542F,   -0.00295533543F, 0.000469890743F,
                            0.000384335348F, -0.000300357729F, 5.23745402e-05F, 2.51433212e-05F,
                            -9.12719952e-06F};

class ErfInTwoParts : public OpRewritePattern<math::ErfOp> {
public:
  ErfInTwoParts(MLIRContext *context) : OpRewritePattern(context, kBenefit) {}

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](float value) -> Value {
      TypedAttr scalar = b.getF32FloatAttr(value);
      if (auto shaped = dyn_cast<ShapedType>(type))
        return b.create<arith::ConstantOp>(DenseElementsAttr::get(shaped, Attribute(scalar)));
      return b.create<arith::ConstantOp>(scalar);
    };
    auto polynomial = [&](ArrayRef<float> coefficients, Value x) {
      Value sum = number(coefficients.back());
      for (float coefficient : llvm::reverse(coefficients.drop_back()))
        sum = b.create<math::FmaOp>(sum, x, number(coefficient));
      return sum;
    };
    Value x = op.getOperand(), size = b.create<math::AbsFOp>(x);
    Value below = b.create<arith::MulFOp>(polynomial(kBelow, b.create<arith::MulFOp>(x, x)), x);
    // Not a minimum: NaN is not greater and stays.
    Value end = number(kEnd);
    Value isBeyond = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, size, end);
    Value inside = b.create<arith::SelectOp>(isBeyond, end, size);
    Value above = polynomial(kAbove, b.create<arith::SubFOp>(inside, number(kMiddle)));
    Value isBelow = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, size, number(kBorder));
    Value withSign = b.create<math::CopySignOp>(above, x);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isBelow, below, withSign);
    return success();
  }
};

} // namespace

void populateErfPolynomialPatterns(RewritePatternSet &patterns) {
  patterns.add<ErfInTwoParts>(patterns.getContext());
}

} // namespace autotune
