#!/usr/bin/env bash
# Servers of several processes, and routers in front of servers: installs vLLM, SGLang, smg and toolwire into
# .venvs/ and runs these tests there, one server after the other. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

# Each of an engine's many processes would compile again what it imports.
unset PYTHONDONTWRITEBYTECODE
run() { # ENGINE FILE ... : in the engine's environment
    local engine="$1"
    shift
    ".venvs/$engine/bin/python" -m pytest --confcutdir=tests/engines -p no:cacheprovider \
        -W ignore::DeprecationWarning -W ignore::UserWarning "$@"
}

scripts/lib/install_vllm.sh anthropic gguf openai psutil pytest "$SMG"
run vllm tests/engines/scale/test_vllm_processes.py "$@"
scripts/lib/install_sglang.sh anthropic httpx openai psutil pytest
run sglang tests/engines/scale/test_sglang_processes.py "$@"
