# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A model of 3x3 convolutions: algorithms are part of the partition, are measured, recorded and found again.
source "$(dirname "$0")/cases.sh"

folder=$MODELS/ultraface_RFB_320
model=$folder/model.onnx
# Its narrow convolutions fill blocks of eight channels only, whatever the machine could do.
flags="--threads 1 --isa avx2 --repository $WORK/repository --progress=off"

expect 0 tune --print-partition "$model" --isa avx2 --repository "$WORK/empty"
expect_stdout "algorithm: winograd"
cp "$WORK/stdout" partition.yaml
expect 0 tune --print-partition "$model" --isa avx2 --repository "$WORK/empty" --numerics strict
expect_no_stdout "algorithm: winograd"

# Every algorithm computes the same, on any instruction set.
for algorithm in direct winograd2 winograd4; do
  sed "s/algorithm: winograd./algorithm: $algorithm/" partition.yaml >"$algorithm.yaml"
  isa=avx2
  [ $algorithm = winograd4 ] && isa=native
  expect 0 compile "$model" --partition "$WORK/$algorithm.yaml" --isa $isa --repository "$WORK/empty" -o "$WORK/$algorithm.so"
  expect 0 check "$algorithm.so" --reference "$folder"
done

# One that a convolution cannot have is refused by name.
sed '0,/algorithm: direct/s//algorithm: winograd4/' partition.yaml >impossible.yaml
expect_error 1 "winograd4" compile "$model" --isa avx2 --partition "$WORK/impossible.yaml" --repository "$WORK/empty" -o "$WORK/impossible.so"

expect_error 1 "numerics strict" compile "$model" --isa avx2 --partition "$WORK/winograd4.yaml" --numerics strict -o "$WORK/strict.so"

# Alternatives are measured and recorded.
expect 0 tune "$model" $flags --mode=subgraph --trials 40 --output regions
expect_json regions/result.json 'any(e["kind"] == "conv" and e["lookup"] == "search" for e in d["subgraphs"])'
expect 0 repository explain "$WORK/repository" "$model" --threads 1 --isa avx2
expect_stdout "conv '"

# No schedule of a Winograd kernel is wrong.
expect 0 tune "$model" $flags --mode=operator --partition "$WORK/winograd4.yaml" --trials 16 --ops conv --output tuned
expect_json tuned/result.json 'd["measurements"] > 0 and not any(f["stage"] == "check" for f in d["failures"])'
expect 0 check tuned/model.so --reference "$folder"
echo passed
