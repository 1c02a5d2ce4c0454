"""Finds the packages in parsers/, and compiles the core where a wheel is built; everything else is in
pyproject.toml.

mypyc turns the core's Python into C: the same files, about twice as quick. Where there is no C
compiler, or Python's headers are missing, the wheel has just the Python files, and works the same.
Only wheels are compiled: an editable install reads the Python files as they are. TOOLWIRE_COMPILE=0
leaves it out, TOOLWIRE_COMPILE=1 makes a failure to compile an error.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

#: What every token passes through: the machine, what reads each shape, and the engines' streams.
COMPILED = (
    "events.py",
    "schema/*.py",
    "core/*.py",
    "shapes/*/*.py",
    "engines/model_construct.py",
    "engines/*/messages.py",
    "engines/*/results.py",
    "engines/*/stream.py",
)
#: Data, not machinery: what others look into, as they may into any dataclass.
INTERPRETED = {
    "__init__.py",
    "backtracking.py",
    "channels.py",
    "format.py",
    "layout.py",
    "reasoning.py",
    "samples.py",
    "shape.py",
    # What no token passes through: a shape's data, and its other facets.
    "arguments.py",
    "constrain.py",
    "find.py",
    "infer.py",
    "tag.py",
    "types.py",
    "write.py",
}
WISH = os.environ.get("TOOLWIRE_COMPILE", "")


def extensions() -> list:
    """The core's modules, as C. The package's folder has another name than the package, and mypyc
    goes by folders, so it gets a copy."""
    from mypyc.build import mypycify

    folder = Path("build", "core")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree("parsers", folder / "toolwire")
    package = folder / "toolwire"
    found = [path for pattern in COMPILED for path in package.glob(pattern)]
    paths = sorted(str(path) for path in found if path.name not in INTERPRETED)
    flags = ["--config-file=", "--ignore-missing-imports"]
    modules = mypycify([*flags, *paths], opt_level="2", debug_level="0", group_name="toolwire")
    for (
        extension
    ) in modules:  # a warning of a compiler that mypyc does not know is no reason to stop
        extension.extra_compile_args = [
            flag for flag in extension.extra_compile_args if flag not in ("-Werror", "/WX")
        ]
    return modules


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


setup(
    packages=[
        "toolwire",
        *(f"toolwire.{name}" for name in find_packages("parsers")),
        "toolwire.chat_templates",
    ],
    ext_modules=compiled(),
    cmdclass={"build_ext": BuildAll},
)
