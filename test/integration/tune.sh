# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tuning with very few trials: records, results, and a second run that measures nothing.
source "$(dirname "$0")/cases.sh"

folder=$MODELS/ppocr_v2_cls
model=$folder/model.onnx
shapes=$(shapes_of ppocr_v2_cls)
flags="$shapes --threads 1 --repository $WORK/repository --progress=off"

expect 0 tune --mode=subgraph,operator "$model" $flags --trials 12 --output first
expect_json first/result.json 'd["schema_version"] == 1 and d["modes"] == ["subgraph", "operator"]'
expect_json first/result.json '0 < d["memory"]["arena_bytes"] <= d["memory"]["tensor_bytes"] and d["memory"]["constants_bytes"] > 0'
expect_json first/result.json '0 < d["measurements"] <= 12 and d["untuned_ms"] > 0 and d["tuned_ms"] > 0'
expect_json first/result.json 'd["tuned_ms"] <= d["untuned_ms"] * 1.001'
expect_json first/result.json 'd["untuned_source"] == "measured" and d["tuning_seconds"] > 0 and d["verifications"] > 0'
expect_json first/result.json 'len(d["operators"]) > 10 and len(d["subgraphs"]) > 0 and len(d["device"]["key"]) > 0'
expect_json first/result.json 'abs(d["speedup"] - d["untuned_ms"] / d["tuned_ms"]) < 0.01'
expect_file first/model.so
expect 0 check first/model.so --reference "$folder"

expect 0 repository list "$WORK/repository"
expect_stdout model
expect 0 repository explain "$WORK/repository" "$model" $shapes --threads 1
expect_stdout exact

# Everything that has a record is found again.
expect 0 tune "$model" $flags --trials 200 --output full
expect 0 tune "$model" $flags --output second
expect_json second/result.json 'd["measurements"] == 0 and d["lookup"]["exact"] > 0'

expect 0 compile "$model" $shapes --threads 1 --repository "$WORK/repository" --require-hits -o "$WORK/hits.so"
expect 0 check hits.so --reference "$folder"

# A record that is garbage is reported, counted and skipped; the others still serve.
record=$(ls "$WORK"/repository/*/operator/*.yaml | head -1)
whole=$(ls "$WORK"/repository/*/model/*.yaml)
echo garbage >"$record"
echo garbage >"$whole"
expect 0 compile "$model" $shapes --threads 1 --repository "$WORK/repository" -o "$WORK/garbage.so"
expect_stderr "$(basename "$record")"
expect_stderr "$(basename "$whole")"
[ "$(wc -l <stderr)" -eq 2 ] || fail "expected one line about each of two records"
expect 0 check garbage.so --reference "$folder"
echo passed
