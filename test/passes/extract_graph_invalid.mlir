// RUN: autotune-opt %s --autotune-extract-graph -split-input-file -verify-diagnostics

// expected-error @+1 {{expected a function @main with a body}}
module {
  func.func @other() {
    return
  }
}

// -----

// expected-error @+1 {{expected a function @main with a body}}
module {
  func.func private @main(tensor<4xf32>) -> tensor<4xf32>
}
