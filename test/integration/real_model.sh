# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A model of a folder given from outside against its reference outputs: untuned, and with TUNE_BUDGET set also tuned.
source "$(dirname "$0")/cases.sh"

folder=$1
# `sr` decides which branch of silero_vad runs, and with it the shapes.
flags=()
[ "$(basename "$folder")" = silero_vad_v5 ] && flags=(--input-value sr=16000)

expect 0 check "$folder/model.onnx" --reference "$folder" --threads 1 --repository "$WORK/empty" "${flags[@]}"
cat stdout
if [ -n "${TUNE_BUDGET:-}" ]; then
  shapes=$("$PYTHON" - "$folder/manifest.json" <<'PY'
import json, sys
for tensor in json.load(open(sys.argv[1]))["inputs"]:
    print("--input-shape", tensor["name"] + "=" + ("x".join(map(str, tensor["shape"])) or "scalar"))
PY
  )
  expect 0 tune "$folder/model.onnx" $shapes "${flags[@]}" --threads 1 --budget "$TUNE_BUDGET" --output tuned --repository repository
  cat stdout
  expect 0 check tuned/model.so --reference "$folder"
  cat stdout
fi
echo passed
