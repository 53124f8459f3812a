import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gluonish as mx
from gluonish.ops.frontend import docstring_of
from gluonish.ops.help.common import meaning
from gluonish.ops.registry import absent_names, find_operator

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
RECORDED = json.loads((GOLDEN / "operators.json").read_text(encoding="utf-8"))
FACES = {
    "np": mx.np,
    "np.linalg": mx.np.linalg,
    "np.random": mx.np.random,
    "npx": mx.npx,
    "npx.image": mx.npx.image,
    "npx.random": mx.npx.random,
    "nd.contrib": mx.nd.contrib,
    "nd.image": mx.nd.image,
    "nd.linalg": mx.nd.linalg,
    "nd.random": mx.nd.random,
    "nd.sparse": mx.nd.sparse,
    "sym.contrib": mx.sym.contrib,
    "sym.random": mx.sym.random,
    "sym.sparse": mx.sym.sparse,
}
REFUSALS = ("Not supported:", "Not available:", "Refused:")

recorded_names = pytest.mark.parametrize(
    "name", sorted({find_operator(name).name for name in RECORDED if name not in absent_names()})
)


def functions_of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what a user finds in a face: its own names where it lists them."""
    own = {name for name, value in vars(module).items() if not inspect.ismodule(value)}
    made = set(dir(module)) - own
    for name in sorted(made | set(vars(module).get("__all__", ()))):
        value = getattr(module, name)
        if callable(value) and not (inspect.isclass(value) or name.startswith("_")):
            yield name, value


@recorded_names
def test_docstring_says_the_shapes(name: str) -> None:
    assert "\n\nShapes: " in docstring_of(find_operator(name))


@recorded_names
def test_docstring_begins_with_a_short_sentence(name: str) -> None:
    first = docstring_of(find_operator(name)).split("\n\n")[0]
    assert first.count("\n") < 2
    assert first.endswith((".", ":"))


@recorded_names
def test_docstring_names_every_argument_once(name: str) -> None:
    op = find_operator(name)
    documented = docstring_of(op).split("\nArgs:\n")[1].split("\n\n")[0].splitlines()
    inputs = ("data",) if op.variadic is not None else op.inputs
    wanted = [*inputs, *op.schema.attributes]
    first_lines = [line for line in documented if not line.startswith(" " * 8)]
    assert [line.split(":")[0].strip() for line in first_lines] == wanted


@recorded_names
def test_lines_of_a_docstring_fit_a_terminal(name: str) -> None:
    text = docstring_of(find_operator(name)).split("\nArgs:\n")[0]
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("face", sorted(FACES))
def test_functions_of_a_face_say_their_arguments(face: str) -> None:
    missing = []
    for name, function in functions_of(FACES[face]):
        doc = inspect.getdoc(function) or ""
        takes = inspect.signature(function).parameters
        if not doc.startswith(REFUSALS) and (not doc or (takes and "Args:" not in doc)):
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("face", sorted(FACES))
def test_functions_of_a_face_document_what_they_take(face: str) -> None:
    wrong = {}
    for name, function in functions_of(FACES[face]):
        doc = inspect.getdoc(function) or ""
        if doc.startswith(REFUSALS) or "Args:" not in doc:
            continue
        section = doc.split("Args:\n")[1].split("\n\n")[0]
        said = [line.split(":")[0].strip() for line in section.splitlines() if line[4:5] != " "]
        words = {word.strip("`* ") for entry in said for word in entry.split(",")}
        strange = words - set(inspect.signature(function).parameters)
        if strange:
            wrong[name] = strange
    assert wrong == {}


def test_overwritten_input_is_said_to_change() -> None:
    entry = "    mom: Momentum of the optimizer, with the weight's shape; modified in place.\n"
    assert entry in docstring_of(find_operator("sgd_mom_update"))


def test_arguments_of_operators_are_explained() -> None:
    """Those of subgraphs and of hardware that is gone are not for people."""
    bare = {"_NDArray", "_Native", "_cond", "_foreach", "_while_loop"}
    untold, total = [], 0
    for name in sorted(
        {find_operator(name).name for name in RECORDED if name not in absent_names()}
    ):
        op = find_operator(name)
        if name.startswith("_backward") or name in bare:
            continue
        arguments = [(text, True) for text in (() if op.variadic is not None else op.inputs)]
        arguments += [(text, False) for text in op.schema.attributes if text != op.variadic]
        total += len(arguments)
        untold += [
            f"{name}.{text}"
            for text, is_input in arguments
            if meaning(name, text, is_input=is_input) is None
        ]
    assert len(untold) < total / 100, untold


def test_help_says_what_the_arguments_of_a_window_are() -> None:
    text = docstring_of(find_operator("Pooling"))
    assert "kernel: Size of the window along each spatial axis; a tuple of ints" in text


def test_elementwise_operator_of_several_arrays_says_whether_they_broadcast() -> None:
    assert "broadcast to the output's" in docstring_of(find_operator("broadcast_add"))
    assert "inputs and output all the same" in docstring_of(find_operator("add_n"))


def test_default_that_is_a_word_is_quoted() -> None:
    assert "default 'corner'." in docstring_of(find_operator("_contrib_box_nms"))
