#!/usr/bin/env bash
# Makes .venvs/frameworks: Ray, verl and TRL on top of what .venvs/vllm has already (vLLM, torch, transformers,
# and toolwire), for the short tests of them: half a minute, where environments of their own take many.
# Running it again is quick: what is there already stays.
#
#   scripts/lib/install_frameworks.sh [EXTRA PIP REQUIREMENTS ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

RAY_VERSION="${TOOLWIRE_RAY_VERSION:-2.60.0}"
VENV=.venvs/frameworks
BELOW="${TOOLWIRE_VLLM_VENV:-.venvs/vllm}"

packages() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

make_venv
# Python looks there, and so does pip, which then brings only what is missing.
packages "$BELOW" >"$(packages "$VENV")/below.pth"
if ! installed ray "$RAY_VERSION"; then
    say "installing Ray Data and Ray Serve $RAY_VERSION"
    pip_install --no-compile "ray[data,serve]==$RAY_VERSION" aiohttp hf_transfer jsonref "${S3_SERVER[@]}"
fi
TOOLWIRE_ROLLOUTS_VENV="$VENV" scripts/lib/install_rollouts.sh --no-toolwire "$@"
