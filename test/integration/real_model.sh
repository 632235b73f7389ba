# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A model of a folder given from outside against its reference outputs: untuned, and with TUNE_BUDGET set also tuned.
source "$(dirname "$0")/cases.sh"

folder=$1
# `sr` decides which branch of silero_vad runs, and with it the shapes.
flags=()
reference=$folder
[ "$(basename "$folder")" = silero_vad_v5 ] && flags=(--input-value sr=16000)

# Its output is a dequantised integer, which a compiled model no longer knows.
quantum=()
[ "$(basename "$folder")" = micro_kws_m_static_qdq ] && quantum=(--quantum 0.0039215689)

# The given outputs of two models are further from the exact ones than the standard allows (see docs/accuracy.md): what
# counts is the exact result.
case "$(basename "$folder")" in
mlsd_tiny_320 | ppocr_v4_det)
  if ! "$PYTHON" -c 'import numpy, onnx'; then
    echo "skipped: Python has no numpy or onnx to compute exact outputs with"
    exit 77
  fi
  reference=$WORK/exact
  "$PYTHON" "$(dirname "$0")/evaluate_in_double.py" "$folder" "$reference"
  ;;
esac

expect 0 check "$folder/model.onnx" --reference "$reference" --threads 1 --repository "$WORK/empty" "${flags[@]}"
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
  expect 0 check tuned/model.so --reference "$reference" "${quantum[@]}"
  cat stdout
fi
echo passed
