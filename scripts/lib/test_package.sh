#!/usr/bin/env bash
# Whether the package's extras can be installed: pip asks for everything they need. ./scripts/test has made
# the environment. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

exec .venvs/dev/bin/python -m pytest -m matrix tests/test_package.py "$@"
