# Shared by the scripts; source it.

say() { printf '\033[36m==>\033[0m %s\n' "$*" >&2; }

has_gpu() { command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; }
