// RUN: autotune-opt %s --autotune-decompose --split-input-file -verify-diagnostics

func.func @axes(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{has axis 2, expected 0 to 1}}
  %y = autotune.layer_norm %x axes [2] epsilon 1.0e-5 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @order(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{has axes that are not sorted or repeat}}
  %y = autotune.layer_norm %x axes [1, 0] epsilon 1.0e-5 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @none(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{has no axes, expected at least one}}
  %y = autotune.layer_norm %x axes [] epsilon 1.0e-5 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @bias(%x: tensor<2x8xf32>, %b: tensor<4xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{bias is 'tensor<4xf32>', expected one that broadcasts to 'tensor<2x8xf32>'}}
  %y = autotune.layer_norm %x bias(%b : tensor<4xf32>) axes [1] epsilon 1.0e-5 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @depth(%q: tensor<3x4xf32>, %k: tensor<6x5xf32>, %v: tensor<6x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{has query 3x4, key 6x5 and value 6x4, expected [rows, depth], [columns, depth] and [columns, width]}}
  %y = autotune.attention %q, %k, %v scale 1.0
     : tensor<3x4xf32>, tensor<6x5xf32>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @heads(%q: tensor<3x3x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<3x3x4xf32> {
  // expected-error @+1 {{has query 3x3x4 and key or value 2x6x4, expected equal batches (heads may divide those of query)}}
  %y = autotune.attention %q, %k, %v scale 1.0
     : tensor<3x3x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32> -> tensor<3x3x4xf32>
  return %y : tensor<3x3x4xf32>
}

// -----

func.func @ranks(%q: tensor<1x3x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{has operands of ranks 3, 2 and 2, expected one rank of 2 or more}}
  %y = autotune.attention %q, %k, %v scale 1.0
     : tensor<1x3x4xf32>, tensor<6x4xf32>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @result(%q: tensor<3x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<3x6xf32> {
  // expected-error @+1 {{has the result 'tensor<3x6xf32>', expected the shape 3x4}}
  %y = autotune.attention %q, %k, %v scale 1.0
     : tensor<3x4xf32>, tensor<6x4xf32>, tensor<6x4xf32> -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// -----

func.func @types(%q: tensor<3x4xf32>, %k: tensor<6x4xf16>, %v: tensor<6x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{expects query, key, value and result of one element type}}
  %y = autotune.attention %q, %k, %v scale 1.0
     : tensor<3x4xf32>, tensor<6x4xf16>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @bias_shape(%q: tensor<3x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>, %b: tensor<3xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{has the bias 'tensor<3xf32>', expected one that broadcasts to the scores 3x6}}
  %y = autotune.attention %q, %k, %v bias(%b : tensor<3xf32>) scale 1.0
     : tensor<3x4xf32>, tensor<6x4xf32>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @bias_type(%q: tensor<3x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>, %b: tensor<6xf16>) -> tensor<3x4xf32> {
  // expected-error @+1 {{has a bias of 'f16', expected 'f32'}}
  %y = autotune.attention %q, %k, %v bias(%b : tensor<6xf16>) scale 1.0
     : tensor<3x4xf32>, tensor<6x4xf32>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @fill(%q: tensor<3x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{has a fill, but neither a mask nor causal}}
  %y = autotune.attention %q, %k, %v scale 1.0 fill -1.0
     : tensor<3x4xf32>, tensor<6x4xf32>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
