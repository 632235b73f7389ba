#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# From a bare Debian 12 to a tuned model: installs packages, builds, tunes a bundled model and prints before and after.
#   scripts/quickstart.sh [MODEL.onnx [BUDGET]]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

bundled="$root/test/models/ppocr_v2_cls"
model=${1:-$bundled/model.onnx}
budget=${2:-40s}
shapes=()
[ "$model" = "$bundled/model.onnx" ] && shapes=(--input-shape x=1x3x48x192)

install_packages
build_preset release autotune autotune_runtime

out="$root/build/quickstart"
mkdir -p "$out"
autotune="$root/build/release/bin/autotune"
set -x
"$autotune" --mode=subgraph,operator "$model" "${shapes[@]}" --budget "$budget" --repository "$out/repository" --output "$out/tuned" </dev/null
{ set +x; } 2>/dev/null
if [ "$model" = "$bundled/model.onnx" ]; then
  set -x
  "$autotune" check "$out"/tuned/*.so --reference "$bundled" </dev/null
  { set +x; } 2>/dev/null
fi
echo "results: $out/tuned/result.json, records: $out/repository"
