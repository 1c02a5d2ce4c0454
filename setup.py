"""Compiles the core where a wheel is built; everything else about the package is in pyproject.toml.

mypyc turns the core's Python into C: the same files, about twice as quick. Where there is no C
compiler, or Python's headers are missing, the wheel has just the Python files, and works the same.
Only wheels are compiled: an editable install reads the Python files as they are. TOOLWIRE_COMPILE=0
leaves it out, TOOLWIRE_COMPILE=1 makes a failure to compile an error.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

#: Data, not machinery: what others look into, as they may into any dataclass.
INTERPRETED = {"__init__.py", "backtracking.py", "shapes.py", "spec.py"}
#: What every token passes through behind the core, in an engine.
STREAMS = ("sglang_results", "sglang_stream", "unchecked", "vllm_messages", "vllm_stream")
WISH = os.environ.get("TOOLWIRE_COMPILE", "")


def extensions() -> list:
    """The core's modules, as C. The package's folder has another name than the package, and mypyc
    goes by folders, so it gets a copy."""
    from mypyc.build import mypycify

    folder = Path("build", "core")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree("parsers", folder / "toolwire")
    package = folder / "toolwire"
    core = [path for path in (package / "core").rglob("*.py") if path.name not in INTERPRETED]
    paths = sorted(map(str, [*core, *(package / "engines" / f"{name}.py" for name in STREAMS)]))
    flags = ["--config-file=", "--ignore-missing-imports"]
    found = mypycify([*flags, *paths], opt_level="2", debug_level="0", group_name="toolwire")
    for extension in found:  # a warning of a compiler that mypyc does not know is no reason to stop
        extension.extra_compile_args = [
            flag for flag in extension.extra_compile_args if flag not in ("-Werror", "/WX")
        ]
    return found


class BuildAll(build_ext):
    """All of the modules or none: half of them would not fit together."""

    def run(self) -> None:
        try:
            super().run()
        except (BaseError, CCompilerError, OSError) as error:
            if WISH == "1":
                raise
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            say_interpreted(error)


def compiled() -> list:
    """What to compile, where that is wanted and possible."""
    if "bdist_wheel" not in sys.argv or WISH == "0":
        return []
    try:
        return extensions()
    except (ImportError, SystemExit) as error:  # mypyc is not there, or does not take the code
        if WISH == "1":
            raise
        say_interpreted(error)
        return []


def say_interpreted(reason: BaseException) -> None:
    print(f"The core was not compiled ({reason}); its Python files are used as they are.")


setup(ext_modules=compiled(), cmdclass={"build_ext": BuildAll})
