"""What the site is made of, without building it: every public name, operator and page is there."""

import ast
import inspect
import json
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="needs the extra docs")

import gluonish as mx
from gluonish.core.schema import REQUIRED
from gluonish_site import operators, pages, reference, tutorials
from gluonish_site.docstrings import escaped, rst_of, summary, types_of
from gluonish_site.namespaces import (
    GROUPS,
    Names,
    full,
    has_identity,
    is_absent,
    operator_of,
    resolve,
)

ROOT = Path(__file__).resolve().parents[2]


@cache
def names() -> Names:
    return Names()


@cache
def site() -> dict[str, str]:
    """All pages of the site by file name."""
    made = (pages.texts(ROOT), tutorials.texts(ROOT))
    return {
        **made[0],
        **made[1],
        **reference.texts(names()),
        **operators.texts(names()),
    }


def described(text: str) -> set[str]:
    """The full names that a page describes or lists for the search."""
    found = set(re.findall(r"^\.\. py:\w+:: (mx[\w.]*)", text, re.MULTILINE))
    block = r"^\.\. gluonish-names::\n\n((?:   .*\n)+)"
    for lines in re.findall(block, text, re.MULTILINE):
        found |= {line.split()[1] for line in lines.splitlines()}
    return found


def reached(module: ModuleType, seen: dict[str, ModuleType]) -> dict[str, ModuleType]:
    """Collect the modules that lists of public names lead to."""
    for name in getattr(module, "__all__", ()):
        value: Any = getattr(module, name, None)
        ours = inspect.ismodule(value) and value.__name__.startswith("gluonish")
        if ours and value.__name__ not in seen:
            seen[value.__name__] = value
            reached(value, seen)
    return seen


def test_what_public_lists_lead_to_is_described() -> None:
    """Whatever module a class or function is reached through, it has an entry somewhere."""
    modules = reached(mx, {})
    assert len(modules) > 100
    left = set()
    for module in modules.values():
        for name in getattr(module, "__all__", ()):
            value: Any = None if name.startswith("_") else getattr(module, name)
            if has_identity(value) and operator_of(value) is None and not names().describes(value):
                left.add(f"{module.__name__}.{name}")
    foreign = "gluonish.contrib.onnx.onnx2mx."  # a class of the package onnx, or its stand-in
    assert {name for name in left if not name.startswith(foreign)} == set()


def test_every_public_name_is_described_or_listed() -> None:
    found = set[str]().union(*map(described, site().values()))
    wanted = {
        full(namespace, name)
        for namespace, listed in names().by_namespace.items()
        for name in listed
    }
    assert len(wanted) > 2300
    assert not wanted - found


def test_every_name_of_a_namespace_is_in_its_lists() -> None:
    for namespace, listed in names().by_namespace.items():
        module = resolve(namespace)
        public = {name for name in getattr(module, "__all__", ()) if not name.startswith("_")}
        values = {name for name in public if not inspect.ismodule(getattr(module, name))}
        assert values <= set(listed), namespace


def test_every_operator_with_a_function_has_a_page_with_all_its_arguments() -> None:
    assert len(names().registered) > 350
    for name, op in names().registered.items():
        text = site()[f"{names().pages[name]}.rst"]
        for argument, attribute in op.schema.attributes.items():
            if argument != op.variadic:
                row = re.search(
                    rf"^   ``{argument}`` \u2502 .* \u2502 (.*) \u2502", text, re.MULTILINE
                )
                assert row is not None, (name, argument)
                assert (row[1] == "required") == (attribute.default is REQUIRED)
        for array in op.inputs if op.variadic is None else ("*data",):
            assert f"``{array}``" in text
        assert "Gradient" in text


def test_arguments_of_an_operator_mean_what_they_mean_for_it() -> None:
    """Not what the name means in most operators."""
    text = site()["reference/operators/Convolution.rst"]
    assert "Maximum workspace of cuDNN" in text
    assert "Filters (num\\_filter" in text or "Filters (num_filter" in text


def test_pages_of_operators_differ_where_case_does_not_count() -> None:
    files = [page.lower() for page in names().pages.values()]
    assert len(set(files)) == len(files) == len(names().registered)


def test_functions_that_say_what_to_use_instead_are_listed_as_such() -> None:
    text = site()["reference/sym.contrib.rst"]
    absent = [
        name for name, value in names().by_namespace["sym.contrib"].items() if is_absent(value)
    ]
    assert absent
    section = text.partition("Not available\n")[2]
    for name in absent:
        assert f"``{name}``" in section


def links_of(name: str) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", site()[name]):
        if "://" not in target and not target.startswith(("#", "mailto:")):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(name), target.split("#")[0]))


def test_links_between_pages_lead_to_pages_of_the_site() -> None:
    there = {*site(), *pages.pictures(ROOT)}
    count = 0
    for name in site():
        if name.endswith(".md"):
            targets = set(links_of(name))
            assert targets <= there, (name, targets - there)
            count += len(targets)
    assert count > 100


def test_every_page_is_in_the_navigation_or_says_that_it_is_not() -> None:
    listed = set()
    for name, text in site().items():
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            listed |= {
                posixpath.normpath(posixpath.join(posixpath.dirname(name), line))
                for line in tree.splitlines()
                if line and not line.startswith(":")
            }
        for tree in re.findall(r"\.\. toctree::\n   :hidden:\n\n((?:   .*\n)+)", text):
            listed |= {
                posixpath.join(posixpath.dirname(name), x.strip()) for x in tree.splitlines()
            }
    for name, text in site().items():
        page = posixpath.splitext(name)[0]
        assert page in listed or page == "index" or "orphan:" in text[:30], name


def cells(name: str) -> list[dict[str, Any]]:
    notebook = json.loads(site()[f"tutorials/{name}.ipynb"])
    assert isinstance(notebook["cells"], list)
    return notebook["cells"]


TUTORIALS = sorted(path.stem for path in (ROOT / "tutorials").glob("*.py"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_the_code_of_a_tutorial_is_all_in_its_notebook(name: str) -> None:
    source = (ROOT / "tutorials" / f"{name}.py").read_text("utf-8")
    code = "\n".join(cell["source"] for cell in cells(name) if cell["cell_type"] == "code")
    expected = ast.parse(source)
    assert ast.dump(ast.parse(code)) == ast.dump(ast.Module(expected.body[1:], []))
    first = cells(name)[0]
    assert first["cell_type"] == "markdown"
    assert first["source"].startswith("# ")


def test_text_is_escaped_where_it_is_no_literal() -> None:
    assert escaped("a * b, c_ and |d|") == "a \\* b, c\\_ and \\|d\\|"
    assert escaped("``a * b`` and `Block`", {"Block": "mx.gluon.Block"}.get) == (
        "``a * b`` and :py:obj:`Block <mx.gluon.Block>`"
    )
    assert escaped("`unknown`") == "``unknown``"
    program = ">>> a * b\n2 * 3\n\nc * d"
    assert escaped(program) == ">>> a * b\n2 * 3\n\nc \\* d"


def test_sections_of_a_docstring_become_lists() -> None:
    doc = "Add.\n\nArgs:\n    x: A number.\n\nReturns:\n    A pair: sum and rest.\n"
    doc += "\nRaises:\n    OSError: Never."
    text = "\n".join(rst_of(doc, "function", "f", lambda _: None))
    assert "**x** -- A number." in text
    assert ":returns: A pair: sum and rest." in text
    assert "**OSError** -- Never." in text
    assert summary(doc) == "Add."


def test_parameters_have_their_types() -> None:
    def function(units: int, name: str | None = None, other: Any = None) -> None:
        """Do it.

        Args:
            units: Number.
            name: Text.
            other: Anything.
        """

    assert types_of(function) == {"units": "int", "name": "str | None"}
    text = "\n".join(rst_of(function.__doc__, "function", "f", lambda _: None, types_of(function)))
    assert "**units** (*int*) -- Number." in text
    assert "**other** -- Anything." in text


def test_every_namespace_is_in_one_group() -> None:
    listed = [namespace for group in GROUPS.values() for namespace in group]
    assert len(set(listed)) == len(listed)


def test_texts_that_an_argument_may_be_are_code() -> None:
    page = site()["reference/operators/softmax.rst"]
    assert "``'float16'``, ``'float32'``, ``'float64'`` or None" in page
