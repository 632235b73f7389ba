// RUN: autotune-opt %s --split-input-file -verify-diagnostics

func.func @input(%x: tensor<9x2x1x63xf32>, %r: tensor<1x16x64xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has an input of shape 9x2x1x63, expected [steps, batch, 1 or 2, multiple of 4]}}
  %y = autotune.recurrence lstm %x, %r activations ["sigmoid", "tanh", "tanh"]
     : tensor<9x2x1x63xf32>, tensor<1x16x64xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @weight(%x: tensor<9x2x1x64xf32>, %r: tensor<1x64x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has a weight of shape 1x64x16, expected 1x16x64}}
  %y = autotune.recurrence lstm %x, %r activations ["sigmoid", "tanh", "tanh"]
     : tensor<9x2x1x64xf32>, tensor<1x64x16xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @blocks(%x: tensor<9x2x1x20xf32>, %r: tensor<1x1x20x1x8xf32>) -> tensor<9x1x2x20xf32> {
  // expected-error @+1 {{has a weight of shape 1x1x20x1x8, expected 1x3x20x1x8}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh"]
     : tensor<9x2x1x20xf32>, tensor<1x1x20x1x8xf32> -> tensor<9x1x2x20xf32>
  return %y : tensor<9x1x2x20xf32>
}

// -----

func.func @result(%x: tensor<9x2x1x16xf32>, %r: tensor<1x16x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has a result of shape 9x1x2x16, expected 10x1x2x16}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh"] {keeps_state}
     : tensor<9x2x1x16xf32>, tensor<1x16x16xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @element(%x: tensor<9x2x1x16xf32>, %r: tensor<1x16x16xf64>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has a weight of 'f64', expected 'f32'}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh"]
     : tensor<9x2x1x16xf32>, tensor<1x16x16xf64> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @count(%x: tensor<9x2x1x16xf32>, %r: tensor<1x16x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has 2 activations, expected 1 and as many alphas and betas, if any}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh", "tanh"]
     : tensor<9x2x1x16xf32>, tensor<1x16x16xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @name(%x: tensor<9x2x1x16xf32>, %r: tensor<1x16x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has the unknown activation 'swish'}}
  %y = autotune.recurrence rnn %x, %r activations ["swish"]
     : tensor<9x2x1x16xf32>, tensor<1x16x16xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @reverse(%x: tensor<9x2x2x16xf32>, %r: tensor<2x16x16xf32>) -> tensor<9x2x2x16xf32> {
  // expected-error @+1 {{is reverse in two directions, expected one}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh"] {reverse}
     : tensor<9x2x2x16xf32>, tensor<2x16x16xf32> -> tensor<9x2x2x16xf32>
  return %y : tensor<9x2x2x16xf32>
}

// -----

func.func @cell(%x: tensor<9x2x1x16xf32>, %r: tensor<1x16x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has a cell state, peepholes or coupled gates, expected them of lstm only}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh"] {couples_input_forget}
     : tensor<9x2x1x16xf32>, tensor<1x16x16xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @linear(%x: tensor<9x2x1x16xf32>, %r: tensor<1x16x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{is linear before the reset, expected that of gru only}}
  %y = autotune.recurrence rnn %x, %r activations ["tanh"] {linear_before_reset}
     : tensor<9x2x1x16xf32>, tensor<1x16x16xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}

// -----

func.func @bias(%x: tensor<9x2x1x48xf32>, %r: tensor<1x16x48xf32>, %b: tensor<1x16xf32>) -> tensor<9x1x2x16xf32> {
  // expected-error @+1 {{has a bias of the state, expected one only where gru is linear before the reset}}
  %y = autotune.recurrence gru %x, %r state_bias(%b : tensor<1x16xf32>) activations ["sigmoid", "tanh"]
     : tensor<9x2x1x48xf32>, tensor<1x16x48xf32> -> tensor<9x1x2x16xf32>
  return %y : tensor<9x1x2x16xf32>
}
