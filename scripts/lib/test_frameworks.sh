#!/usr/bin/env bash
# The short tests of what loads toolwire by itself: Ray Data, Ray Serve, verl and TRL, on top of the vLLM and the
# toolwire in .venvs/vllm, which scripts/lib/install_vllm.sh makes. All of their tests, each in an environment of
# its own: ./scripts/matrix ray rollouts ray-serve. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/lib/install_frameworks.sh
unset PYTHONDONTWRITEBYTECODE
export RAY_USAGE_STATS_ENABLED=0
exec .venvs/frameworks/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider --durations=10 \
    -W ignore::DeprecationWarning -W ignore::FutureWarning -W ignore::UserWarning \
    -m short tests/engines/ray tests/engines/ray_serve tests/engines/rollouts "$@"
