// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas that linalg has no op for. Each can be written in linalg, which is what happens unless a kernel takes it whole.
#ifndef AUTOTUNE_DIALECT_AUTOTUNEOPS_TD
#define AUTOTUNE_DIALECT_AUTOTUNEOPS_TD

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Autotune_Dialect : Dialect {
  let name = "autotune";
  let cppNamespace = "::autotune";
  let summary = "Ideas of neural networks as single ops on static tensors.";
  let description = [{
    Exporters write an idea in many ways, passes want to see it in one. The ops are pure, work on ranked static tensors
    of floats and implement `linalg::AggregatedOpInterface`: `decomposeOperation` gives the same values in linalg.
    Sums over 16-bit floats are kept in f32.

    Attributes of the passes (`autotune.id`, `autotune.subgraph`, …) share the prefix and may stand on any op.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def Autotune_FloatTensor : StaticShapeTensorOf<[F16, BF16, F32, F64]>;
def Autotune_BoolTensor : StaticShapeTensorOf<[I1]>;

def Autotune_RecurrentCell
    : I32EnumAttr<"RecurrentCell", "What a unit of a recurrence computes.",
                  [I32EnumAttrCase<"Rnn", 0, "rnn">, I32EnumAttrCase<"Gru", 1, "gru">,
                   I32EnumAttrCase<"Lstm", 2, "lstm">]> {
  let cppNamespace = "::autotune";
}

class Autotune_Op<string mnemonic, list<Trait> traits = []>
    : Op<Autotune_Dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>], traits)> {
  let hasVerifier = 1;
}

def Autotune_AttentionOp : Autotune_Op<"attention", [AttrSizedOperandSegments]> {
  let summary = "Softmax(query * transposed key * scale + bias) * value, over the columns that may be read.";
  let description = [{
    query is [batch…, rows, depth], key [batch…, columns, depth], value [batch…, columns, width], the result
    [batch…, rows, width]. The last batch dimension (heads) of key and value may divide that of query: each of their
    heads then serves as many neighbouring heads of query.

    Bias and mask broadcast to the scores [batch…, rows, columns], aligned at the last dimension. The bias is added to
    the scaled scores. Where the mask is false, `fill` takes the place of the score; with `causal = n`, `fill` is added
    to the scores of row i beyond column i + n. It is minus infinity unless given.

    An operand or the result may be stored with its axes in another order: axis i of what is described above is axis
    `order[i]` of the tensor. `query_order = array<i64: 0, 2, 1, 3>` reads heads out of [batch, rows, heads, depth].

    ```mlir
    %y = autotune.attention %q, %k, %v bias(%b : tensor<1x1x8x8xf32>) scale 0.125
       : tensor<2x4x8x64xf32>, tensor<2x4x8x64xf32>, tensor<2x4x8x64xf32> -> tensor<2x4x8x64xf32>
    ```
  }];
  let arguments = (ins Autotune_FloatTensor:$query, Autotune_FloatTensor:$key, Autotune_FloatTensor:$value,
                       Optional<Autotune_FloatTensor>:$bias, Optional<Autotune_BoolTensor>:$mask, F64Attr:$scale,
                       OptionalAttr<I64Attr>:$causal, OptionalAttr<F64Attr>:$fill,
                       OptionalAttr<DenseI64ArrayAttr>:$query_order, OptionalAttr<DenseI64ArrayAttr>:$key_order,
                       OptionalAttr<DenseI64ArrayAttr>:$value_order, OptionalAttr<DenseI64ArrayAttr>:$result_order);
  let results = (outs Autotune_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` `(` $bias^ `:` type($bias) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)?
    `scale` $scale (`causal` $causal^)? (`fill` $fill^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The value of `fill`, given or not.
    double getFillValue();
    /// Shapes with the axes in the order of the description.
    llvm::SmallVector<int64_t> getQueryShape();
    llvm::SmallVector<int64_t> getKeyShape();
    llvm::SmallVector<int64_t> getValueShape();
  }];
}

def Autotune_LayerNormOp
    : Autotune_Op<"layer_norm", [AttrSizedOperandSegments, AllTypesMatch<["input", "result"]>]> {
  let summary = "(input - mean) / sqrt(variance + epsilon) * scale + bias over some axes.";
  let description = [{
    Mean and variance are those of the elements along `axes`, which are sorted. With `rms` the mean is taken as 0: the
    input is divided by the root of its mean square. Scale and bias broadcast to the input, aligned at the last
    dimension. 16-bit inputs are normalised in f32, rounded, and then scaled and shifted in their own type.

    ```mlir
    %y = autotune.layer_norm %x scale(%s : tensor<64xf32>) bias(%b : tensor<64xf32>) axes [2] epsilon 1.0e-5
       : tensor<1x8x64xf32>
    ```
  }];
  let arguments = (ins Autotune_FloatTensor:$input, Optional<Autotune_FloatTensor>:$scale,
                       Optional<Autotune_FloatTensor>:$bias, DenseI64ArrayAttr:$axes, F64Attr:$epsilon,
                       UnitAttr:$rms);
  let results = (outs Autotune_FloatTensor:$result);
  let assemblyFormat = [{
    (`rms` $rms^)? $input (`scale` `(` $scale^ `:` type($scale) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    `axes` $axes `epsilon` $epsilon attr-dict `:` type($input)
  }];
}

def Autotune_RecurrenceOp : Autotune_Op<"recurrence", [AttrSizedOperandSegments]> {
  let summary = "All steps of an LSTM, a GRU or a plain recurrent network whose inputs are projected already.";
  let description = [{
    input is [steps, batch, directions, gates * hidden]: the product of all inputs with their weights, biases included.
    Gates stand in the order of ONNX: i, o, f, c of `lstm` (4), z, r, h of `gru` (3), the only one of `rnn`. Of two
    directions the second runs backwards in time; `reverse` makes the only one run backwards.

    weight multiplies the state: [directions, hidden, gates * hidden], or in blocks of v units, as they are read:
    [directions, blocks, hidden, gates, v]. Block b holds the units from b * v on; the last one ends with the last unit,
    and where it shares units with the block before it, its numbers count.

    The result is [steps, directions, batch, hidden] with the hidden state after each step. With
    `keeps_state` further positions of the first axis follow: the last hidden state and, of `lstm`, the last cell state.
    States before the first step (`hidden`, `cell`: [directions, batch, hidden]) are zero unless given.

    - `state_bias` [directions, hidden] is added to the product of the state for gate h of `gru` with
      `linear_before_reset`, where the reset multiplies that product instead of the state.
    - `peepholes` [directions, 3 * hidden] are those of i, o, f of `lstm`; `couples_input_forget` makes f of it 1 - i.
    - `lengths` [batch] is the number of steps of each sequence: beyond, states stay and the hidden state shown is 0.
    - `activations` are f, g, h in ONNX's names and lower case, with their `alphas` and `betas`. `clip` bounds what
      f and g read.

    ```mlir
    %y = autotune.recurrence lstm %x, %r activations ["sigmoid", "tanh", "tanh"]
       : tensor<9x2x1x64xf32>, tensor<1x16x64xf32> -> tensor<9x1x2x16xf32>
    ```
  }];
  let arguments = (ins Autotune_RecurrentCell:$kind, Autotune_FloatTensor:$input, Autotune_FloatTensor:$weight,
                       Optional<Autotune_FloatTensor>:$state_bias, Optional<Autotune_FloatTensor>:$initial_hidden,
                       Optional<Autotune_FloatTensor>:$initial_cell, Optional<Autotune_FloatTensor>:$peepholes,
                       Optional<StaticShapeTensorOf<[I32, I64]>>:$lengths, StrArrayAttr:$activations,
                       OptionalAttr<DenseF64ArrayAttr>:$alphas, OptionalAttr<DenseF64ArrayAttr>:$betas,
                       OptionalAttr<F64Attr>:$clip, UnitAttr:$reverse, UnitAttr:$linear_before_reset,
                       UnitAttr:$couples_input_forget, UnitAttr:$keeps_state);
  let results = (outs Autotune_FloatTensor:$result);
  let assemblyFormat = [{
    $kind $input `,` $weight (`state_bias` `(` $state_bias^ `:` type($state_bias) `)`)?
    (`hidden` `(` $initial_hidden^ `:` type($initial_hidden) `)`)? (`cell` `(` $initial_cell^ `:` type($initial_cell) `)`)?
    (`peepholes` `(` $peepholes^ `:` type($peepholes) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `activations` $activations attr-dict `:` type($input) `,` type($weight) `->` type($result)
  }];
  let extraClassDeclaration = [{
    int64_t getSteps();
    int64_t getBatch();
    int64_t getDirections();
    int64_t getHidden();
    int64_t getGates();
    /// Units of a block of the weight; 0 when it is not in blocks.
    int64_t getBlock();
    /// The same values in linalg with a loop over the steps: code that does not grow with them.
    llvm::SmallVector<mlir::Value> decomposeIntoLoop(mlir::OpBuilder &builder);
  }];
}

def Autotune_WinogradFilterOp : Autotune_Op<"winograd_filter"> {
  let summary = "The 3x3 filters of a convolution whose transforms for minimal filtering are given.";
  let description = [{
    `transformed` is [O, (m + 2)^2, I, v]: G g G^T of every filter g for tiles of m x m outputs, in rows, for blocks of v
    output channels: the order in which they are multiplied. The result is [O, I / c, 3, 3, c, v], the layout in which a convolution over blocked channels reads
    its filters. A kernel that takes the op whole multiplies the transforms and never computes the result.

    ```mlir
    %w = autotune.winograd_filter %u outputs 4 : tensor<2x36x32x16xf32> -> tensor<2x2x3x3x16x16xf32>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[F32]>:$transformed, I64Attr:$outputs);
  let results = (outs StaticShapeTensorOf<[F32]>:$filter);
  let assemblyFormat = "$transformed `outputs` $outputs attr-dict `:` type($transformed) `->` type($filter)";
}

#endif // AUTOTUNE_DIALECT_AUTOTUNEOPS_TD
