# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Everything that can be wrong outside gives one clear line, the right exit code and no file.
source "$(dirname "$0")/cases.sh"

mnist=$MODELS/mnist_8/model.onnx
dynamic=$MODELS/ppocr_v2_cls/model.onnx
out=$WORK/out

# Models.
head -c 20000 "$mnist" >truncated.onnx
head -c 30000 "$AUTOTUNE" | tail -c 9000 >random.onnx
: >empty_file.onnx
printf '\x08\x08\x42\x04\x0a\x00\x10\x0d\x3a\x03\x12\x01g' >empty_graph.onnx
mkdir folder.onnx
for command in "compile -o $out.so" "tune --output $out --repository $WORK/repository"; do
  for model in missing.onnx folder.onnx truncated.onnx random.onnx empty_file.onnx empty_graph.onnx; do
    expect_error 1 "$model" ${command%% *} "$model" ${command#* }
  done
  expect_error 1 "x" ${command%% *} "$dynamic" ${command#* }
  expect_error 1 "nosuch" ${command%% *} "$mnist" ${command#* } --input-shape nosuch=1x3
  expect_error 1 "Input3" ${command%% *} "$mnist" ${command#* } --input-shape Input3=1x28x28
  expect_error 2 "Input3=1xa" ${command%% *} "$mnist" ${command#* } --input-shape Input3=1xa
done
for model in missing.so random.onnx; do
  cp "$model" other.so 2>/dev/null || true
  expect_error 1 "$model" bench "$model"
done
expect_error 1 other.so bench other.so

# Modes and configuration.
expect_error 2 operater tune "$mnist" --output "$out" --mode=subgraph,operater
printf 'mode: [subgraph, fast]\n' >mode.yaml
expect_error 1 fast tune "$mnist" --output "$out" --config mode.yaml
printf 'budget:\n  trails: 4\n' >key.yaml
expect_error 1 "key.yaml:2: unknown key \`budget.trails\`; the nearest known key is \`budget.trials\`" tune "$mnist" --output "$out" --config key.yaml
printf 'budget:\n  trials: many\n' >type.yaml
expect_error 1 "type.yaml:2: key \`budget.trials\`: found \`many\`" tune "$mnist" --output "$out" --config type.yaml
expect_error 1 missing.yaml tune "$mnist" --output "$out" --config missing.yaml

expect_error 1 NoSuchOperator tune "$mnist" --output "$WORK/ops.tuned" --repository "$WORK/ops" --mode=operator --ops NoSuchOperator

# The command line.
expect_error 2 "" tune
expect_error 2 "--no-such-flag" tune "$mnist" --no-such-flag
expect_error 2 "the nearest command is \`profile\`" profil "$mnist"
expect_error 2 "model is required" profile
expect_error 1 missing.onnx profile missing.onnx
expect_error 1 random.onnx profile random.onnx
expect_error 2 "--rows" profile "$mnist" --rows -1
expect_error 2 "--seconds" profile "$mnist" --seconds -1
expect_error 2 "--seconds" bench "$mnist" --seconds -1
expect_error 2 "--threads" compile "$mnist" -o "$out.so" --threads two

# Places that cannot be written. A file in the way stops even root.
: >file
expect_error 1 "file/repository" tune "$mnist" --output "$out" --repository file/repository --trials 2
expect_error 1 "file/out" tune "$mnist" --output file/out --repository "$WORK/repository" --trials 2
expect_error 1 "file/out.so" compile "$mnist" -o file/out.so --repository "$WORK/repository"
expect_error 1 "file" compile "$mnist" -o "$out.so" --repository file
expect_error 1 "nowhere" repository list nowhere

# More memory than the process may have is refused before it is taken, at any size. A sanitizer needs all address space.
if ! nm "$AUTOTUNE" 2>/dev/null | grep -q __asan_init; then
  for command in bench profile "tune --trials 1 --output $WORK/large.tuned --repository $WORK/repository"; do
    ( ulimit -v 1300000; expect_error 1 "an inference needs " ${command%% *} "$MODELS/ppocr_v2_cls/model.onnx" --input-shape x=1x3x6000x6000 $(grep -o ' .*' <<<"$command" || true) )
  done
fi
for shape in 1x3x320000x320000 1x3x2147483648x2147483648 1x3x4611686018427387904x64; do
  expect_error 1 "x" bench "$MODELS/ppocr_v2_cls/model.onnx" --input-shape x=$shape
done

# Tensors.
expect_error 1 nowhere run "$mnist" --inputs nowhere --output "$out"
expect_error 1 nowhere check "$mnist" --reference nowhere
mkdir wrong && cp "$MODELS/mnist_8/"* wrong/ && head -c 200 wrong/input_0.npy >short && mv short wrong/input_0.npy
expect_error 1 input_0.npy run "$mnist" --inputs wrong --output "$out"

expect_absent "$out"
expect_absent "$out.so"
echo passed
