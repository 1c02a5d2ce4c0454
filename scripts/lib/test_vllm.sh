#!/usr/bin/env bash
# The tests of the vLLM plugin: installs vLLM and toolwire into .venvs/vllm and runs them there,
# against vLLM's own classes and against real servers. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

scripts/lib/install_vllm.sh anthropic gguf httpx2 hypothesis jsonschema openai psutil purgatory pytest \
    pytest-xdist tenacity "$SMG"
# Each of vLLM's many processes would compile again what it imports.
unset PYTHONDONTWRITEBYTECODE
# Only the engine tests' own settings count here, and no toolwire but the installed one.
run() { # Where what is asked for leaves no test of a kind, that is no failure.
    local code=0
    .venvs/vllm/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider --durations=20 \
        "$@" || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 5 ]
}
run tests/engines/vllm --contract -n 2 "$@"
# Every style and format through a real server takes minutes: ./scripts/matrix vllm-0.32.0 has it.
run tests/engines/vllm --servers --ignore=tests/engines/vllm/test_served.py "$@"
# Several API servers in front of several engines. Each by itself, and a router: ./scripts/matrix scale.
run tests/engines/scale/test_vllm_processes.py -m short "$@"
