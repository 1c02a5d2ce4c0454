#!/usr/bin/env bash
# The tests with verl and TRL: installs them and toolwire into .venvs/rollouts and runs them there, with the
# small model's tokenizer. What follows goes to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/lib/install_rollouts.sh gguf httpx openai pytest
unset PYTHONDONTWRITEBYTECODE
exec .venvs/rollouts/bin/python -m pytest --confcutdir=tests/engines -p no:cacheprovider \
    -W ignore::DeprecationWarning -W ignore::FutureWarning -W ignore::UserWarning tests/engines/rollouts "$@"
