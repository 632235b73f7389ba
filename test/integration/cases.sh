# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by each case: runs the program and says what differs from what is expected.
set -euo pipefail
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
# Nothing may leak in from or out to the user's own history.
export XDG_DATA_HOME=$WORK/data

fail() {
  echo "FAILED: $1" >&2
  echo "--- stdout" >&2; cat "$WORK/stdout" >&2 2>/dev/null || true
  echo "--- stderr" >&2; cat "$WORK/stderr" >&2 2>/dev/null || true
  exit 1
}

# expect CODE ARGUMENTS…: runs autotune, keeps both outputs, compares the exit code.
expect() {
  local wanted=$1 code=0
  shift
  "$AUTOTUNE" "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || fail "autotune $*: exit code $code, expected $wanted"
}

# expect_error CODE TEXT ARGUMENTS…: fails with one line on stderr that holds TEXT, and nothing on stdout.
expect_error() {
  local wanted=$1 text=$2
  shift 2
  expect "$wanted" "$@"
  [ "$(wc -l <"$WORK/stderr")" -eq 1 ] || fail "autotune $*: expected one line on stderr"
  grep -q '^autotune: error: ' "$WORK/stderr" || fail "autotune $*: expected a line that starts with 'autotune: error:'"
  grep -qF -- "$text" "$WORK/stderr" || fail "autotune $*: expected '$text' on stderr"
  [ ! -s "$WORK/stdout" ] || fail "autotune $*: expected nothing on stdout"
}

expect_stdout() { grep -qF -- "$1" "$WORK/stdout" || fail "expected '$1' on stdout"; }
expect_no_stdout() { ! grep -qF -- "$1" "$WORK/stdout" || fail "expected no '$1' on stdout"; }
expect_stderr() { grep -qF -- "$1" "$WORK/stderr" || fail "expected '$1' on stderr"; }
expect_absent() { [ ! -e "$1" ] || fail "$1 exists, expected that nothing was written"; }
expect_file() { [ -f "$1" ] || fail "$1 is missing"; }

# expect_json FILE EXPRESSION: a Python expression over the parsed file `d`.
expect_json() {
  "$PYTHON" -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
    { cat "$1" >&2; fail "$1: expected $2"; }
}

# The flags that bind the dynamic dimensions of a bundled model.
shapes_of() { [ "$1" = ppocr_v2_cls ] && echo "--input-shape x=1x3x48x192" || true; }
