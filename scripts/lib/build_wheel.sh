#!/usr/bin/env bash
# Prints the path of a wheel of this checkout, with its core compiled. The tests and the benchmarks are
# about that one, so it is an error if it can't be. TOOLWIRE_COMPILE=0 makes one in plain Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

export TOOLWIRE_COMPILE="${TOOLWIRE_COMPILE:-1}"
VENV=.venvs/dev build_wheel
