#!/usr/bin/env bash
# Ray Serve LLM on this machine, with vLLM's replicas: installs it and toolwire into .venvs/ray-serve and runs
# these tests there. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/lib/install_ray_serve.sh anthropic gguf openai psutil pytest
unset PYTHONDONTWRITEBYTECODE
# Whether a token stands in somebody's home from another time is nothing to these clusters, and none is left.
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled
exec .venvs/ray-serve/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider \
    -W ignore::DeprecationWarning -W ignore::UserWarning -W ignore::FutureWarning tests/engines/ray_serve "$@"
