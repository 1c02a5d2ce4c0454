# Shared by the scripts; source it. What installs works on the virtual environment $VENV.

say() { printf '\033[36m==>\033[0m %s\n' "$*" >&2; }

has_gpu() { command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; }

make_venv() {
    [ -x "$VENV/bin/python" ] && return
    say "making the virtual environment $VENV"
    "${PYTHON:-python3}" -m venv "$VENV"
}

pip_install() { "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2; }

installed() { # NAME VERSION: is exactly this version (build suffix aside) in the environment?
    "$VENV/bin/python" - "$1" "$2" <<'PY' >/dev/null 2>&1
import sys
from importlib.metadata import version
sys.exit(version(sys.argv[1]).split("+")[0] != sys.argv[2])
PY
}

install_toolwire() { # from this checkout, which is the working folder
    say "installing toolwire from this checkout"
    # From a copy: a build in place leaves files behind that the next build would pick up.
    local copy
    copy="$(mktemp -d)"
    cp -R parsers chat_templates pyproject.toml README.md LICENSE "$copy"
    pip_install "$copy" # with its dependencies, where any is missing
    pip_install --force-reinstall --no-deps "$copy"
    rm -rf "$copy"
}
