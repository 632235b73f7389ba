#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by the other scripts: installs what is missing and builds a preset. Works as root, with sudo, and without a terminal.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

install_packages() {
  local wanted missing=() package
  wanted=$(grep -v '^#' "$root/scripts/packages.txt")
  for package in $wanted; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "missing packages: ${missing[*]}; run as root or install sudo" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -q </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
}

# build_preset NAME [TARGET…]: configures build/NAME and builds everything, or the targets.
build_preset() {
  local preset=$1
  shift
  cd "$root"
  cmake --preset "$preset" </dev/null
  cmake --build --preset "$preset" ${1:+--target "$@"} </dev/null
}
