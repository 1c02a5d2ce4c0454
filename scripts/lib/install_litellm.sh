#!/usr/bin/env bash
# Makes .venvs/litellm: LiteLLM's proxy, which benchmarks/gateway.py measures beside the gateway. It pins
# much that others need newer, so it has an environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

VENV="${TOOLWIRE_LITELLM_VENV:-.venvs/litellm}"
make_venv
[ -x "$VENV/bin/litellm" ] || { say "installing LiteLLM's proxy"; pip_install 'litellm[proxy]'; }
