#!/usr/bin/env bash
# Prints the path of a wheel of this checkout, with its core compiled. The tests and the benchmarks are
# about that one, so it is an error if it can't be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

VENV=.venvs/dev TOOLWIRE_COMPILE=1 build_wheel
