// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewritings of this folder as passes. Graph passes run on @main of a model, kernel passes on one outlined kernel.
#ifndef AUTOTUNE_PASSES_PASSES_TD
#define AUTOTUNE_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"autotune-decompose", "::mlir::func::FuncOp"> {
  let summary = "Writes ideas that no kernel takes whole in linalg.";
  let description = [{
    Ideas are the ops of the autotune dialect and linalg.softmax. Transpositions of keys are composed with those that
    are there. Transpositions around an attention that stays whole become its orders of axes.

    ```mlir
    %y = autotune.layer_norm rms %x scale(%s : tensor<8xf32>) axes [1] epsilon 1.0e-5 : tensor<4x8xf32>
    ```
    ==>
    ```mlir
    %q = linalg.generic … ins(%x) outs(%zero) { … mulf, addf … } -> tensor<4xf32>          // squares summed
    %d = linalg.generic … ins(%q) outs(%e) { … mulf, addf, sqrt, divf … } -> tensor<4xf32>  // 1 / root of their mean
    %y = linalg.generic … ins(%x, %d, %s) outs(%f) { … mulf, mulf … } -> tensor<4x8xf32>
    ```

    Precondition: every tensor has a static shape.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def ExtractGraphPass : Pass<"autotune-extract-graph", "::mlir::ModuleOp"> {
  let summary = "Numbers the operators of a model; a partition refers to these numbers.";
  let description = [{
    Every operator gets its position in the function as the attribute `autotune.id`. Constants, empty tensors and the
    fills that start a reduction are no operators.

    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```
    ==>
    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.exp {autotune.id = 0 : i64} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```

    Preconditions: one block; every tensor has a static shape.
  }];
  let options = [
    Option<"remarks", "remarks", "bool", "false", "Say at each operator what the graph holds of it.">
  ];
}

def ApplyLayoutPass : Pass<"autotune-apply-layout", "::mlir::ModuleOp"> {
  let summary = "Rewrites operators into the blocked layouts of a partition and tags them with their subgraph.";
  let description = [{
    Channels are cut into blocks that become the innermost axis. Weights are packed here. Conversions stand only where
    a blocked value meets a plain operator. Channels beyond the last whole block are zero.

    ```mlir
    %y = linalg.conv_2d_nchw_fchw {autotune.id = 0 : i64}
           ins(%x, %w : tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>)
           outs(%fill : tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32>
    return %y : tensor<1x32x6x6xf32>
    ```
    ==> (block=8)
    ```mlir
    %p = tensor.expand_shape %x … : tensor<1x16x8x8xf32> into tensor<1x2x8x8x8xf32>
    %b = linalg.generic … ins(%p) …                                       // (1, 2, 8, 8, 8): block to the end
    %c = linalg.generic {autotune.subgraph = 0 : i64, …} ins(%b, %packed) // (n, oh, ow, ob, v | ib, kh, kw, ic)
    %t = linalg.generic … ins(%c) …
    %y = tensor.collapse_shape %t … into tensor<1x32x6x6xf32>
    return %y : tensor<1x32x6x6xf32>
    ```

    Under algorithm winograd2 or winograd4 a 3x3 convolution reads its filters through `autotune.winograd_filter`, whose
    operand holds their transforms.

    Preconditions: `autotune-extract-graph` ran; the partition names every operator once and has no cycle between
    subgraphs. An operator that cannot take its layout is an error.
  }];
  let options = [
    Option<"partition", "partition", "std::string", "\"\"", "YAML file of a partition.">,
    Option<"block", "block", "int", "0",
           "Without a file: every operator is a subgraph of its own; those that can, compute on blocks of so many "
           "channels.">,
    Option<"isa", "isa", "std::string", "\"avx2\"", "avx2 or avx512: decides the width of matrix panels.">
  ];
  let dependentDialects = ["::autotune::AutotuneDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlineKernelsPass : Pass<"autotune-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Moves each subgraph into a function of its own, called with the buffer that it writes.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %y = linalg.exp {autotune.subgraph = 0 : i64} ins(%x : …) outs(%e : …) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %y = call @kernel_0(%x, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @kernel_0(%x: tensor<4xf32>, %dest: tensor<4xf32>) -> tensor<4xf32> {
      %y = linalg.generic … ins(%x) outs(%dest) { … math.exp … }
      return %y : tensor<4xf32>
    }
    ```

    An operator without `autotune.subgraph` becomes a kernel by itself. Tails run over the loops of their root, in its
    order. Preconditions: a subgraph has at most one operator with a reduction, and one value that is used outside.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlaceBuffersPass : Pass<"autotune-place-buffers", "::mlir::ModuleOp"> {
  let summary = "Lets kernels write and read in place: interiors of padded buffers, parts of concatenations, slices.";
  let description = [{
    ```mlir
    %y = call @kernel_0(%x, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %p = tensor.pad %y low[1] high[1] { … 0.0 … } : tensor<4xf32> to tensor<6xf32>
    %z = call @kernel_1(%p, %f) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    ```
    ==>
    ```mlir
    %b = call @border(%e6) : (tensor<6xf32>) -> tensor<6xf32>                    // stores the zeros
    %p = call @kernel_0(%x, %b) : (tensor<4xf32>, tensor<6xf32>) -> tensor<6xf32> // inserts into [1, 5)
    %z = call @kernel_1(%p, %f) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    ```

    What is left in @main: constants, empty tensors, calls, reshapes, the return. Where a producer or a reader cannot
    work in place (a model input, a second padding, a reshape, a value returned twice), a copy kernel is added.
    Preconditions: `autotune-outline-kernels` ran; slices stand at constant offsets; paddings are constant and not
    negative.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SpreadRowsPass : Pass<"autotune-spread-rows", "::mlir::ModuleOp"> {
  let summary = "Moves the rows of matrices apart that are read side by side and would share few sets of the L1 cache.";
  let description = [{
    ```mlir
    %y = call @kernel_0(%x, %e) : (tensor<16x4xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
    %z = call @kernel_1(%y, %f) : (tensor<16x1024xf32>, tensor<16x8xf32>) -> tensor<16x8xf32> // a matrix product
    ```
    ==>
    ```mlir
    %y = call @kernel_0(%x, %g) : (tensor<16x4xf32>, tensor<16x1040xf32>) -> tensor<16x1040xf32> // inserts into [0, 1024)
    %z = call @kernel_1(%y, %f) : (tensor<16x1040xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
    ```

    Precondition: `autotune-place-buffers` ran.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TileKernelPass : Pass<"autotune-tile-kernel", "::mlir::func::FuncOp"> {
  let summary = "Gives a kernel the loops of a nest, with static tiles only, and chunks for threads.";
  let description = [{
    ```mlir
    func.func @kernel(%x: tensor<10xf32>, %dest: tensor<10xf32>) -> tensor<10xf32> {
      %y = linalg.generic … ins(%x) outs(%dest) { … }
      return %y : tensor<10xf32>
    }
    ```
    ==> (tiles=0:4)
    ```mlir
    func.func @kernel(%x: …, %dest: …, %begin: index, %end: index) -> tensor<10xf32> {
      %a = scf.for %i = %c0 to %c8 step %c4 iter_args(%d = %dest) -> tensor<10xf32> {
        …  linalg.generic … ins(%tile : tensor<4xf32>) …
      }
      … linalg.generic … ins(%rest : tensor<2xf32>) …
    }
    ```

    A kernel of one idea that is taken whole becomes its vectors at once.

    Preconditions: the kernel returns the one result of its last linalg op, possibly inserted into a larger buffer;
    producers can be computed on a tile. A nest that does not fit is an error.
  }];
  let options = [
    ListOption<"tiles", "tiles", "std::string", "Loops over parallel dims, outermost first, each DIM:STEP.">,
    ListOption<"reductions", "reductions", "std::string", "Loops over reduction dims, outermost first, each DIM:UNROLL.">,
    Option<"parallel", "parallel", "bool", "false", "The first loop runs over the chunks [begin, end).">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def VectorizeKernelPass : Pass<"autotune-vectorize-kernel", "::mlir::func::FuncOp"> {
  let summary = "Turns register tiles into vectors and keeps accumulators out of memory.";
  let description = [{
    ```mlir
    %r = scf.for %k = … iter_args(%acc = %tile) -> tensor<4x8xf32> {
      %n = linalg.generic … ins(%a, %b) outs(%acc) { … mulf, addf … } -> tensor<4x8xf32>
      scf.yield %n : tensor<4x8xf32>
    }
    ```
    ==>
    ```mlir
    %v = vector.transfer_read %tile … : tensor<4x8xf32>, vector<4x8xf32>
    %r = scf.for %k = … iter_args(%acc = %v) -> vector<4x8xf32> {
      … vector.contract or vector.outerproduct …
      scf.yield %n : vector<4x8xf32>
    }
    %w = vector.transfer_write %r, %tile …
    ```

    Precondition: `autotune-tile-kernel` ran. An op that the vectoriser refuses stays as it is and becomes scalar
    loops later.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerKernelPass : Pass<"autotune-lower-kernel", "::mlir::ModuleOp"> {
  let summary = "Bufferises the one kernel of a module and lowers it to the LLVM dialect.";
  let description = [{
    ```mlir
    func.func @k(%x: tensor<8xf32>, %dest: tensor<8xf32>, %begin: index, %end: index) -> tensor<8xf32> { … }
    ```
    ==>
    ```mlir
    llvm.func internal @kernel_body(%x: !llvm.ptr {llvm.noalias}, %dest: !llvm.ptr {llvm.noalias}, %begin: i64, %end: i64)
    llvm.func @kernel(%args: !llvm.ptr, %begin: i64, %end: i64)   // loads the addresses, calls the body
    ```

    Preconditions: one function, with a destination and the two chunk arguments last. Temporaries live on the stack,
    at most 256 KiB of them.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // AUTOTUNE_PASSES_PASSES_TD
