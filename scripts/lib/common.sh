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

install_release() { # NAME VERSION: as the registry has it, for a machine with a GPU
    installed "$1" "$2" && return
    say "installing $1 $2 (several GB)"
    pip_install "$1==$2"
}

install_toolwire() { # from this checkout, which is the working folder
    say "installing toolwire from this checkout"
    # From a copy: a build in place leaves files behind that the next build would pick up.
    local copy
    copy="$(mktemp -d)"
    cp -R parsers chat_templates pyproject.toml README.md LICENSE "$copy"
    "$VENV/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
        --wheel-dir "$copy" "$copy" >&2
    pip_install "$copy"/*.whl # with its dependencies, where any is missing
    pip_install --force-reinstall --no-deps "$copy"/*.whl
    rm -rf "$copy"
}

install_rest() { # [--no-toolwire] [EXTRA PIP REQUIREMENTS ...]: what comes after an engine
    local with_toolwire=yes
    if [ "${1:-}" = "--no-toolwire" ]; then with_toolwire=no; shift; fi
    if [ "$#" -gt 0 ]; then
        say "installing $*"
        pip_install "$@"
    fi
    if [ "$with_toolwire" = yes ]; then install_toolwire; fi
}
