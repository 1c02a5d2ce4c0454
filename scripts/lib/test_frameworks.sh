#!/usr/bin/env bash
# The short tests of what loads toolwire by itself: Ray Data, Ray Serve, verl and TRL, on top of the vLLM and the
# toolwire in .venvs/vllm, which scripts/lib/install_vllm.sh makes. All of their tests, each in an environment of
# its own: ./scripts/matrix ray rollouts ray-serve. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/lib/install_frameworks.sh
unset PYTHONDONTWRITEBYTECODE
# Whether a token stands in somebody's home from another time is nothing to these clusters, and none is left.
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled
run() { # Where what is asked for leaves no test of a kind, that is no failure.
    local code=0
    .venvs/frameworks/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider --durations=10 \
        -W ignore::DeprecationWarning -W ignore::FutureWarning -W ignore::UserWarning -m short "$@" || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 5 ]
}
run tests/engines/ray tests/engines/rollouts "$@"
run tests/engines/ray_serve "$@" # by itself: it starts a cluster of its own
