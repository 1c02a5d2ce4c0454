#!/usr/bin/env bash
# Makes .venvs/ray: a virtual environment with Ray Data in it, and toolwire installed from this checkout.
# Running it again is quick: what is there already stays.
#
#   scripts/lib/install_ray.sh [--no-toolwire] [EXTRA PIP REQUIREMENTS ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

RAY_VERSION="${TOOLWIRE_RAY_VERSION:-2.60.0}"
VENV="${TOOLWIRE_RAY_VENV:-.venvs/ray}"

make_venv
if ! installed ray "$RAY_VERSION"; then
    say "installing Ray Data $RAY_VERSION"
    pip_install "ray[data]==$RAY_VERSION" aiohttp
fi
install_rest "$@"
