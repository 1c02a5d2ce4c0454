#!/usr/bin/env bash
# The tests of the SGLang plugin: installs SGLang and toolwire into .venvs/sglang and runs them
# there, against SGLang's own classes and against real servers. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/lib/install_sglang.sh anthropic httpx httpx2 purgatory pytest pytest-xdist tenacity
# Each of SGLang's many processes would compile all of it again.
unset PYTHONDONTWRITEBYTECODE
# Only the engine tests' own settings count here, and no toolwire but the installed one.
run() { # Where what is asked for leaves no test of a kind, that is no failure.
    local code=0
    .venvs/sglang/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider --durations=20 \
        -W ignore::DeprecationWarning -W ignore::UserWarning "$@" || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 5 ]
}
run tests/engines/sglang --contract -n 2 "$@"
# Every style and format through a real server takes nine minutes: ./scripts/matrix sglang-0.5.23 has it.
run tests/engines/sglang --servers --ignore=tests/engines/sglang/test_served.py "$@"
# Several HTTP workers in front of several engines. Workers by themselves: ./scripts/matrix scale.
run tests/engines/scale/test_sglang_processes.py -m short "$@"
