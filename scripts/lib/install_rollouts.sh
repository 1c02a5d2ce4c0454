#!/usr/bin/env bash
# Makes .venvs/rollouts: verl and TRL, as they load toolwire's parsers, and toolwire installed from this
# checkout. Running it again is quick: what is there already stays.
#
#   scripts/lib/install_rollouts.sh [--no-toolwire] [EXTRA PIP REQUIREMENTS ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

VERL_VERSION="${TOOLWIRE_VERL_VERSION:-0.9.1}"
TRL_VERSION="${TOOLWIRE_TRL_VERSION:-1.16.0}"
TORCH_VERSION="${TOOLWIRE_TORCH_VERSION:-2.13.0}"
VENV="${TOOLWIRE_ROLLOUTS_VENV:-.venvs/rollouts}"

# Their own requirements name packages for training on GPUs, and verl an older transformers than TRL can use:
# this is what importing their parsers takes.
NEEDS=(
    "torch==$TORCH_VERSION" "ray==2.60.0" "tensordict>=0.8,<=0.10" "transformers>=5.13" accelerate aiohttp
    cachetools codetiming datasets dill fastapi hydra-core jinja2 jmespath msgspec numpy packaging pandas
    pillow psutil pyarrow pyzmq regex torchdata uvicorn
)

make_venv
if ! installed verl "$VERL_VERSION" || ! installed trl "$TRL_VERSION"; then
    say "installing torch $TORCH_VERSION and what verl and TRL import (a few minutes)"
    pip_install --no-compile "${NEEDS[@]}"
    say "installing verl $VERL_VERSION and TRL $TRL_VERSION"
    pip_install --no-compile --no-deps "verl==$VERL_VERSION" "trl==$TRL_VERSION"
fi
install_rest "$@"
