#!/usr/bin/env bash
# The tests with Ray Data: installs Ray and toolwire into .venvs/ray and runs them there, on a cluster of two
# nodes on this machine. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/lib/common.sh

scripts/lib/install_ray.sh httpx jsonschema openai pytest zstandard "${S3_SERVER[@]}"
unset PYTHONDONTWRITEBYTECODE
# Whether a token stands in somebody's home from another time is nothing to these clusters, and none is left.
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled
exec .venvs/ray/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider \
    -W ignore::DeprecationWarning -W ignore::FutureWarning tests/engines/ray "$@"
