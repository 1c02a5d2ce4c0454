# Shared by the scripts; source it. What installs works on the virtual environment $VENV.

# A real S3 server for tests.
S3_SERVER=("moto[s3]>=5" flask flask-cors)
# The router that is tested in front of servers.
SMG="smg==${TOOLWIRE_SMG_VERSION:-1.13.0}"

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

WHEEL_SOURCES=(parsers chat_templates pyproject.toml setup.py README.md LICENSE)

# Prints the path of a wheel of this checkout, which is the working folder, for $VENV's Python. It takes
# minutes to compile, so it is kept under the name of what it was made of, and who asks for it while it is
# being made waits.
build_wheel() {
    mkdir -p .venvs/wheels
    (
        if command -v flock >/dev/null; then flock 9; fi
        build_wheel_alone
    ) 9>.venvs/wheels/lock
}

build_wheel_alone() {
    local version digest folder copy
    version="$("$VENV/bin/python" -c 'import sys; print(sys.implementation.cache_tag)')"
    if [ "${TOOLWIRE_COMPILE:-}" = 0 ]; then version=plain; fi
    digest="$(find "${WHEEL_SOURCES[@]}" -type f ! -path '*/__pycache__/*' -print0 | LC_ALL=C sort -z |
        xargs -0 sha256sum | sha256sum | cut -c1-16)"
    folder=".venvs/wheels/$version-$digest"
    if [ ! -d "$folder" ]; then
        say "building toolwire from this checkout (some minutes: its core is compiled)"
        rm -rf .venvs/wheels/"$version"-*
        # From a copy: a build in place leaves files behind that the next build would pick up.
        copy="$(mktemp -d)"
        cp -R "${WHEEL_SOURCES[@]}" "$copy"
        # What failed, or was ended from outside, leaves no folder that looks finished.
        "$VENV/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
            --wheel-dir "$copy/wheel" "$copy" >&2 || { rm -rf "$copy"; return 1; }
        mv "$copy/wheel" "$folder"
        rm -rf "$copy"
    fi
    echo "$folder"/*.whl
}

install_toolwire() { # from this checkout
    local wheel
    wheel="$(build_wheel)" || return 1
    say "installing $(basename "$wheel")"
    pip_install "$wheel" # with its dependencies, where any is missing
    pip_install --force-reinstall --no-deps "$wheel"
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
