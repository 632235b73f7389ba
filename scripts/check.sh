#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what is missing, builds and runs every test. The closing line of ctest says how many passed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages
build_preset release
# One test at a time: some measure, and would disturb each other.
ctest --test-dir "$root/build/release" --output-on-failure --no-tests=error "$@" </dev/null
