"""The double of cuDNN's front end has no name and no argument that the front end lacks."""

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy.cudnn_graph import DTYPES, FUNCTIONS, Problem, _Graph
from gluonish.kernels.cupy.libraries import load_front_end
from tests.kernels.cupy import cudnn_double
from tests.kernels.cupy.cudnn_tensors import DataType, Tensor
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.make_cudnn_surface import overloads

SURFACE: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent / "cudnn_surface.json").read_text(encoding="utf-8")
)
OWN = {"at", "layouts", "nbytes", "dtype"}  # the double's, which nobody else asks for


def _methods(kind: type) -> dict[str, Any]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: f for name, f in found if name not in OWN and not name.startswith("__")}


def _fits(function: Any, forms: list[list[str]]) -> bool:
    """Whether some form has all the parameters; nameless ones in the same number."""
    known = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    if any(parameter.kind is parameter.POSITIONAL_ONLY for parameter in known):
        names = [f"arg{i}" for i in range(len(known))]
        return names in forms
    return any({p.name for p in known} <= set(form) for form in forms)


@pytest.mark.parametrize(("listed", "kind"), [("pygraph", cudnn_double._Graph), ("tensor", Tensor)])
def test_methods_are_those_of_the_front_end(listed: str, kind: type) -> None:
    known = SURFACE["classes"][listed]
    inside = {"_after", "_convolve", "_fuse", "_made", "_then", "_by_role", "_launch", "_attend"}
    methods = {name: f for name, f in _methods(kind).items() if name not in inside}
    assert len(methods) >= 6
    for name, function in methods.items():
        assert name in known, name
        assert _fits(function, known[name]), name


def test_functions_and_errors_are_those_of_the_front_end() -> None:
    module = cudnn_double.make(Machine())
    for name in ("create_handle", "destroy_handle", "set_stream", "backend_version"):
        assert _fits(getattr(module, name), SURFACE["functions"][name]), name
    assert [name for name in vars(module) if name.endswith("Error")] == SURFACE["errors"]
    options = inspect.signature(cudnn_double._Graph.__init__).parameters.keys()
    (form,) = SURFACE["classes"]["pygraph"]["__init__"]
    assert set(options) - {"self", "front_end"} <= set(form)


@pytest.mark.parametrize(
    ("listed", "kind"),
    [
        ("data_type", DataType),
        ("heur_mode", cudnn_double.Mode),
        ("numerical_note", cudnn_double.Note),
    ],
)
def test_members_are_those_of_the_front_end(listed: str, kind: Any) -> None:
    assert {member.name for member in kind} <= set(SURFACE["enums"][listed])


def test_forms_are_read_from_docstrings() -> None:
    doc = (
        "f(*args, **kwargs)\nOverloaded function.\n\n"
        "1. f(self: m.g, x: list[int] = [1, 2], kind: m.k = <k.NONE: 0>) -> m.t\n\n"
        "2. f(self: m.g, pairs: dict[int, list[int]]) -> None\n"
    )
    assert overloads("f", doc) == [["x", "kind"], ["pairs"]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", ["forward", "bias", "data", "weight", *FUNCTIONS])
def test_the_front_end_takes_our_graphs(dtype: Any, last: bool, kind: str) -> None:
    try:
        front_end = load_front_end(13)
    except (DeviceError, ImportError) as error:
        pytest.skip(f"needs the front end of cuDNN, but no GPU: {error}")
    problem = Problem(
        kind=kind if kind in ("data", "weight") else "forward",
        dtype=np.dtype(dtype),
        data=(2, 4, 6, 5),
        weight=(6, 2, 3, 2),
        out=(2, 6, 3, 4),
        stride=(2, 1),
        dilate=(),
        pad=(1, 0),
        last=last,
        has_bias=kind == "bias" or kind in FUNCTIONS,
        has_addend=kind in FUNCTIONS,
        activation=(kind, 0.5) if kind in FUNCTIONS else None,
        aligned=False,
        tensor_cores=True,
        limit=None,
    )
    graph = _Graph(front_end, None, problem)  # type: ignore[arg-type]  # a graph needs none
    graph.fill()
    graph.raw.validate()
