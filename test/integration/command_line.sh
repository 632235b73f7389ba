# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the command line promises without compiling much.
source "$(dirname "$0")/cases.sh"

mnist=$MODELS/mnist_8/model.onnx

expect 0 --version
expect_stdout autotune
expect 0 --help
for command in tune compile run bench check repository device operators; do expect_stdout "$command"; done

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

expect 0 device --json
cp stdout device.json
expect_json device.json 'd["schema_version"] == 1 and d["key"] and d["cores"] >= 1'
echo passed
