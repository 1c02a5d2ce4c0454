#!/usr/bin/env bash
# Makes .venvs/ray-serve: Ray Serve LLM with the vLLM that it pins, and toolwire installed from this checkout.
# Running it again is quick: what is there already stays.
#
#   scripts/lib/install_ray_serve.sh [--no-toolwire] [EXTRA PIP REQUIREMENTS ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

RAY_VERSION="${TOOLWIRE_RAY_VERSION:-2.60.0}"
export TOOLWIRE_VLLM_VERSION="${TOOLWIRE_RAY_VLLM_VERSION:-0.29.0}"
export TOOLWIRE_VLLM_VENV="${TOOLWIRE_RAY_SERVE_VENV:-.venvs/ray-serve}"
VENV="$TOOLWIRE_VLLM_VENV"

scripts/lib/install_vllm.sh --no-toolwire
if ! installed ray "$RAY_VERSION"; then
    # "ray[llm]" asks for vLLM's build for GPUs: these are the other things that its serving imports.
    say "installing Ray Serve $RAY_VERSION"
    pip_install --no-compile "ray[serve]==$RAY_VERSION" hf_transfer jsonref pandas pyarrow
fi
install_rest "$@"
