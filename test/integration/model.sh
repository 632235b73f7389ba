# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One bundled model from ONNX to a library that runs by itself, checked against its reference outputs.
source "$(dirname "$0")/cases.sh"

name=$1
folder=$MODELS/$name
shapes=$(shapes_of "$name")

for threads in 1 2; do
  expect 0 check "$folder/model.onnx" --reference "$folder" --threads $threads --repository "$WORK/empty"
  expect 0 compile "$folder/model.onnx" $shapes -o "$WORK/$threads.so" --threads $threads --repository "$WORK/empty"
  expect 0 check "$WORK/$threads.so" --reference "$folder"
done
expect_absent "$WORK/empty"

# The given inputs bind dynamic dimensions.
expect 0 run "$folder/model.onnx" --inputs "$folder" --output "$WORK/from_model"
expect 0 run "$WORK/1.so" --inputs "$folder" --output "$WORK/from_library"
expect_file from_library/output_0.npy
expect_json from_library/manifest.json 'd["outputs"][0]["file"] == "output_0.npy" and d["outputs"][0]["dtype"] == "float32"'
cmp from_model/manifest.json from_library/manifest.json || fail "model and library disagree about their outputs"
input=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["inputs"][0]["name"])' "$folder/manifest.json")
expect 0 run "$WORK/1.so" --input "$input=$folder/input_0.npy" --output "$WORK/by_name"
cmp by_name/output_0.npy from_library/output_0.npy || fail "inputs by name and by folder disagree"

# A reference that does not fit is a failed check, not bad input.
mkdir other && cp "$folder"/* other/
"$PYTHON" - other/output_0.npy <<'PY'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-4:] = struct.pack("<f", struct.unpack("<f", data[-4:])[0] + 100.0)
open(sys.argv[1], "wb").write(data)
PY
expect 4 check "$WORK/1.so" --reference "$WORK/other"

expect 0 bench "$WORK/1.so" --json bench.json
expect_json bench.json 'd["schema_version"] == 1 and d["threads"] == 1 and d["runs"] > 0'
expect_json bench.json '0 < d["latency_ms"]["min"] <= d["latency_ms"]["median"] <= d["latency_ms"]["p90"]'

# The library needs no compiler.
! ldd "$WORK/1.so" | grep -qiE 'llvm|mlir' || fail "the compiled model links LLVM"
! ldd "$(dirname "$AUTOTUNE")"/../lib/libautotune_runtime.so | grep -qiE 'llvm|mlir' || fail "the runtime links LLVM"

# A record is asked for and there is none.
expect_error 4 "" compile "$folder/model.onnx" $shapes -o "$WORK/hits.so" --repository "$WORK/empty" --require-hits
expect_absent hits.so
echo passed
