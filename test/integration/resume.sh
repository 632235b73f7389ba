# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# kill -9 in the middle loses the measurement in flight and nothing else; Ctrl-C keeps everything and says 130.
source "$(dirname "$0")/cases.sh"

model=$MODELS/mnist_8/model.onnx
flags="--threads 1 --repository $WORK/repository --history $WORK/history.db --progress=off --output $WORK/out"

count_trials() {
  "$PYTHON" -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT COUNT(*) FROM trial").fetchone()[0])' \
    "$WORK/history.db" 2>/dev/null || echo 0
}

start() { setsid "$AUTOTUNE" tune "$model" $flags --trials 400 >stdout 2>stderr </dev/null & pid=$!; }
wait_for_trials() {
  local wanted=$1
  for _ in $(seq 6000); do
    [ "$(count_trials)" -ge "$wanted" ] && return 0
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.05
  done
  fail "no measurement was stored"
}

start
wait_for_trials 5
kill -9 -- "-$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
kept=$(count_trials)
[ "$kept" -ge 5 ] || fail "only $kept measurements survived"
if [ -d repository ]; then
  expect 0 repository list "$WORK/repository"
  [ ! -s stderr ] || fail "broken records after kill -9"
fi

start
wait_for_trials $((kept + 5))
code=0
kill -INT "$pid" 2>/dev/null && { wait "$pid" || code=$?; [ "$code" -eq 130 ] || [ "$code" -eq 0 ] || fail "Ctrl-C: exit code $code, expected 130"; }
[ "$(count_trials)" -ge "$kept" ] || fail "measurements were lost"

expect 0 tune "$model" $flags --trials 20
expect_file out/result.json
expect 0 repository list "$WORK/repository"
[ ! -s stderr ] || fail "broken records after resuming"
leftovers=$(find "$WORK/repository" "$WORK/out" -type f ! -name '*.yaml' ! -name '*.json' ! -name '*.so' ! -name '*.lock' ! -name .gitignore | wc -l)
[ "$leftovers" -eq 0 ] || fail "$(find "$WORK/repository" "$WORK/out" -type f)"
echo passed
