#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# scripts/benchmark.sh operators [FLAGS]: single operators against the roofline, and against oneDNN where it is installed.
# scripts/benchmark.sh winograd [FLAGS]: Winograd's algorithm against our own direct kernels.
# scripts/benchmark.sh runtime [FLAGS]: what calls, steps, threads and loading cost.
# scripts/benchmark.sh models [MODEL…]: whole models against ONNX Runtime, which npm fetches, at one and two threads; by
# default the bundled models and those beside the project. Tables and JSON land in build/benchmarks.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

results=$root/build/benchmarks
bin=$root/build/release/bin
what=${1:-}
shift || true
case $what in
operators)
  install_packages
  build_preset release autotune-bench-operators
  exec "$bin/autotune-bench-operators" --output "$results" "$@"
  ;;
winograd)
  install_packages
  build_preset release autotune-bench-operators
  exec "$bin/autotune-bench-operators" --against direct --output "$results" "$@"
  ;;
runtime)
  install_packages
  build_preset release autotune-bench-runtime
  exec "$bin/autotune-bench-runtime" --output "$results" "$@"
  ;;
models)
  install_packages
  build_preset release autotune autotune-bench-runner
  # Its install script would fetch GPU libraries.
  [ -d "$root/build/ort/node_modules" ] ||
    npm install --prefix "$root/build/ort" --ignore-scripts --no-audit --no-fund onnxruntime-node@1.30.0
  models=("$@")
  [ ${#models[@]} -gt 0 ] ||
    for file in "$root"/test/models/*/model.onnx "$root"/../shared/models/*/model.onnx; do
      [ -f "$file" ] && models+=("$(dirname "$file")")
    done
  exec node "$root/benchmarks/models.mjs" --ort "$root/build/ort" --bin "$bin" --threads 1,2 --output "$results" "${models[@]}"
  ;;
*)
  echo "usage: $0 operators [FLAGS] | winograd [FLAGS] | runtime [FLAGS] | models [MODEL…]" >&2
  exit 2
  ;;
esac
