#!/usr/bin/env bash
# Makes .venvs/sglang: a virtual environment with SGLang in it, and toolwire installed from this
# checkout. Running it again is quick: what is there already stays.
#
# SGLang has no build for CPUs. Without a GPU this installs SGLang's Python code with just what the
# server needs, and makes up for the two packages that exist for CUDA only. Good for tests, where
# every line of SGLang's server and parsers is the real one; not for serving.
#
#   scripts/lib/install_sglang.sh [--no-toolwire] [EXTRA PIP REQUIREMENTS ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

SGLANG_VERSION="${TOOLWIRE_SGLANG_VERSION:-0.5.23}"
TORCH_VERSION="${TOOLWIRE_TORCH_VERSION:-2.13.0}"
VENV="${TOOLWIRE_SGLANG_VENV:-.venvs/sglang}"

site_packages() { "$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# SGLang's own requirements name CUDA packages, so what its server imports is listed here instead.
SERVER_NEEDS=(
    transformers==5.19.0 tokenizers==0.23.2 xgrammar==0.2.7 openai==2.8.0 openai-harmony==0.0.4
    orjson psutil pybase64 requests pillow starlette msgspec pyzmq tqdm IPython pydantic aiohttp
    partial_json_parser regex packaging numpy fastapi uvicorn uvloop python-multipart dill einops
    jsonschema setproctitle prometheus-client sentencepiece==0.2.1 compressed-tensors==0.18.0 gguf
    soundfile==0.13.1 setuptools
)

install_cpu_parts() {
    local done_mark="$VENV/sglang-$SGLANG_VERSION-torch-$TORCH_VERSION"
    [ -e "$done_mark" ] && return
    say "installing torch $TORCH_VERSION and what SGLang's server needs (a few minutes)"
    # Python compiles what it imports, when it does: far less than what is installed.
    pip_install --no-compile "torch==$TORCH_VERSION" "${SERVER_NEEDS[@]}"
    say "installing SGLang $SGLANG_VERSION"
    pip_install --no-compile --no-deps "sglang==$SGLANG_VERSION" torchvision==0.28.0
    patch_torchvision
    stand_in_for_sgl_kernel
    touch "$done_mark"
}

# Its CUDA operators can't load, and these two modules do nothing but describe them to torch.
patch_torchvision() {
    sed -i -e '/^ *_meta_registrations,$/d' -e '/^ *_autograd_registrations,$/d' \
        "$(site_packages)/torchvision/__init__.py"
}

# The GPU kernels: SGLang imports names from here even where it never calls them. It has no
# submodules, so SGLang's own ways round a missing kernel are taken.
stand_in_for_sgl_kernel() {
    cat >"$(site_packages)/sgl_kernel.py" <<'PY'
"""Stands in for the GPU package `sgl_kernel` on a machine without one: it can only be imported."""

__version__ = "0.0.0"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def kernel(*args, **kwargs):
        raise RuntimeError(f"sgl_kernel.{name} needs a GPU.")

    kernel.__name__ = name
    return kernel
PY
}

make_venv
if has_gpu; then install_release sglang "$SGLANG_VERSION"; else install_cpu_parts; fi
install_rest "$@"
