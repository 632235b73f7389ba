# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the command line promises without compiling much.
source "$(dirname "$0")/cases.sh"

mnist=$MODELS/mnist_8/model.onnx

expect 0 --version
expect_stdout autotune
expect 0 --help
for command in tune compile run bench check profile repository device operators; do expect_stdout "$command"; done

# The printed configuration is a configuration, and gives itself back.
expect 0 tune "$mnist" --print-config --mode=operator --budget 90s --ops MatMul,conv1 --repository "$WORK/a b"
cp stdout printed.yaml
expect 0 tune "$mnist" --print-config --config printed.yaml
cmp stdout printed.yaml || fail "the printed configuration does not round-trip"
expect_stdout 'mode: [operator]'
expect_stdout 'time: 90s'

# The default command is tune.
expect 0 "$mnist" --print-config
expect_stdout 'mode: [subgraph, operator]'

# The partition is the same on every run, and can be given back.
expect 0 tune "$mnist" --print-partition --repository "$WORK/repository"
cp stdout partition.yaml
expect 0 tune "$mnist" --print-partition --repository "$WORK/repository"
cmp stdout partition.yaml || fail "the partition differs between two runs"
expect 0 tune "$mnist" --print-partition --partition partition.yaml --repository "$WORK/repository"
cmp stdout partition.yaml || fail "the partition does not round-trip"
printf 'nonsense: [1\n' >broken.yaml
expect_error 1 broken.yaml tune "$mnist" --print-partition --partition broken.yaml

# A dry run says what would be done and writes nothing.
expect 0 tune "$mnist" --dry-run --repository "$WORK/dry" --output "$WORK/dry.tuned"
expect_absent "$WORK/dry"
expect_absent "$WORK/dry.tuned"

# Memory is said when compiling.
expect 0 compile "$mnist" -o mnist.so --threads 1 --repository "$WORK/repository"
expect_stdout 'mnist.so: memory: arena '
expect_stdout ' of intermediate tensors, constants '

# What becomes of denormals is part of the compiled model.
grep -qaF '"denormals":"flushed"' mnist.so || fail "expected that denormals are flushed by default"
expect 0 compile "$mnist" -o strict.so --threads 1 --numerics strict --repository "$WORK/repository"
grep -qaF '"denormals":"kept"' strict.so || fail "expected that strict numerics keep denormals"

# A profile of a model and of a library: the same kernels, a table, JSON and a trace.
for program in "$mnist" mnist.so; do
  expect 0 profile "$program" --threads 1 --seconds 0.01 --rows 2 --json profile.json --trace trace.json --repository "$WORK/repository"
  expect_stdout "$program: median "
  expect_stdout 'memory: arena '
  expect_stdout 'more kernels; --rows 0 shows all'
  expect_stdout ' model     conv '
  expect_json profile.json 'd["schema_version"] == 1 and d["threads"] == 1 and d["runs"] >= 5 and d["peak_gflops_per_s"] > 0'
  expect_json profile.json '0 < d["memory"]["arena_bytes"] <= d["memory"]["tensor_bytes"] and d["memory"]["constants_bytes"] > 0'
  expect_json profile.json 'sum(k["calls"] for k in d["kernels"]) == len(d["steps"])'
  expect_json profile.json 'abs(sum(k["percent"] for k in d["kernels"]) - 100) < 1e-6'
  expect_json profile.json 'd["kernels"] == sorted(d["kernels"], key=lambda k: -k["ms"])'
  expect_json profile.json 'any(k["kind"] == "conv" and k["schedule"] and k["shapes"] and k["flops"] > 0 for k in d["kernels"])'
  expect_json trace.json 'sum(e["ph"] == "X" and e["dur"] >= 0 for e in d["traceEvents"]) >= 5'
done

expect 0 device --json
cp stdout device.json
expect_json device.json 'd["schema_version"] == 1 and d["key"] and d["cores"] >= 1'
echo passed
