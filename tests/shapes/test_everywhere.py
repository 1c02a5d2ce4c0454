"""A new shape is forgotten nowhere: each place that has to know it fails here, and says what to do.

docs/adding-a-shape.md has the same list, in the order in which it is best gone through.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
import toolwire
from toolwire import Format, get_format, list_formats, parse, shapes
from toolwire.core.shape import Shape
from toolwire.formats.registry import BUILT_IN

from ..core.generate import delimiters
from ..formats.laid_out import WAYS
from ..support import filled
from ..writers import WRITERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "parsers"
FOLDERS = sorted(path.parent.name for path in (PACKAGE / "shapes").glob("*/__init__.py"))
each_shape = pytest.mark.parametrize("shape", shapes.ALL, ids=lambda shape: shape.__name__)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_is_a_shape_that_is_known(folder: str) -> None:
    module = importlib.import_module(f"toolwire.shapes.{folder}")
    own = [
        found
        for found in vars(module).values()
        if inspect.isclass(found) and found is not Shape and issubclass(found, Shape)
        if found.__module__ == module.__name__
    ]
    assert [shape.kind() for shape in own] == [folder], "a folder is named after its one shape"
    assert set(own) <= set(shapes.ALL)


@each_shape
def test_the_room_has_it(shape: type[Shape]) -> None:
    assert getattr(shapes, shape.__name__) is shape


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_package_has_what_the_room_shows(folder: str) -> None:
    module = importlib.import_module(f"toolwire.shapes.{folder}")
    for name in set(vars(module)) & set(shapes.__all__) - {"Shape"}:
        assert getattr(toolwire, name) is getattr(shapes, name), f"export {name} in __init__.py"


@each_shape
def test_people_are_shown_what_it_looks_like(shape: type[Shape]) -> None:
    assert shape.looks, f"give {shape.__name__} a `looks`: a call in one line, for `new-format`"


@each_shape
def test_formats_of_it_are_made_up(shape: type[Shape]) -> None:
    """… with a layout. (Those without are in tests/formats/generate.py, and tested there.)"""
    around = any(get_format(name).wrappers for name in formats_of(shape))
    assert not around or shape in WAYS, f"add {shape.__name__} to WAYS in tests/formats/laid_out.py"


def formats_of(shape: type[Shape]) -> list[str]:
    return [name for name in list_formats() if type(get_format(name).shape) is shape]


@each_shape
def test_it_has_a_format(shape: type[Shape]) -> None:
    assert formats_of(shape), (
        f"no format has the shape {shape.__name__}: add one in parsers/formats"
    )


@pytest.mark.parametrize("format", list_formats())
def test_tests_know_all_of_its_delimiters(format: str) -> None:
    """Every tag that a call is written with is one of those that broken texts are made of."""
    spec = get_format(format)
    rest = WRITERS[format]([("f", {"k": "v", "l": "w"})])
    for mark in sorted(delimiters(spec), key=len, reverse=True):
        rest = rest.replace(mark, " ")
    unknown = re.findall(r"<[^<>]*>", rest)
    shape = type(spec.shape).__name__
    assert not unknown, f"{shape}.inner_delimiters does not have what {unknown[0]} begins with"


def marked(spec: Format) -> bool:
    """Whether calls are known by what stands around them, whatever they look like."""
    return (
        bool(spec.wrappers) and not spec.channels and not getattr(spec.shape, "name_is_key", False)
    )


@pytest.mark.parametrize("format", [name for name in list_formats() if marked(get_format(name))])
def test_a_model_that_falls_back_to_json_is_read(format: str) -> None:
    spec = get_format(format)
    begin = [wrapper.open[0] for wrapper in spec.wrappers]
    end = [wrapper.close[0] for wrapper in spec.wrappers[::-1] if wrapper.close]
    call = '{"name": "f", "arguments": {"k": "v"}}'
    message = parse(format, "".join(filled(mark, "") for mark in [*begin, call, *end]))
    found = [(call.name, call.load()) for call in message.tool_calls]
    assert (found, message.content) == ([("f", {"k": "v"})], None), (
        f"let the reader of {type(spec.shape).__name__} ask that of a field `drift` first"
    )


@pytest.mark.parametrize("path", sorted((PACKAGE / "formats").glob("*.py")), ids=lambda p: p.stem)
def test_every_file_of_formats_is_registered(path: Path) -> None:
    if not re.search(r"^FORMATS\b", path.read_text(encoding="utf-8"), re.MULTILINE):
        return
    module = importlib.import_module(f"toolwire.formats.{path.stem}")
    missing = [spec.name for spec in module.FORMATS if spec.name not in BUILT_IN]
    assert not missing, f"add {path.stem} to the files of formats in parsers/formats/registry.py"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_reads_it_is_compiled(folder: str) -> None:
    """A token passes through the reader and its own modules: in a wheel all of them are C."""
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    interpreted = setup.partition("INTERPRETED = {")[2].partition("}")[0]
    tree = ast.parse((PACKAGE / "shapes" / folder / "read.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            assert f'"{node.module}.py"' not in interpreted, "a name of what is not compiled"
