"""Every function under which MXNet shows an operator, with its first golden case."""

import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.spec import Spec
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.absent import ABSENT
from gluonish.ops.registry import Operator, apply, find_operator
from gluonish_engine import Var
from tests.golden.case import Case, load_cases

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDED: dict[str, Any] = json.loads((GOLDEN / "operators.json").read_text(encoding="utf-8"))
SHOWN = [(name, face) for name in sorted(RECORDED) for face in RECORDED[name].get("exposed") or ()]
CASES: dict[str, Case] = {}
for _path in sorted((GOLDEN / "cases").glob("*.py")):
    for _case in load_cases(_path):
        if not _case.invalid:
            CASES.setdefault(_case.op, _case)

# Python functions of the face with arguments of their own; they have tests of their own.
OWN = ("np.", "npx.", "nd.random.", "sym.random.", "nd.sparse.", "sym.sparse.")


def _array(x: Any) -> NDArray:
    return NDArray(np.array(x, order="C"), Spec(x.shape, x.dtype), device_of(cpu()), Var())


def _results(made: Any) -> list[Any]:
    return [y.asnumpy() for y in (made if isinstance(made, list | tuple) else [made])]


def _call(function: Any, op: Operator, case: Case, arrays: list[Any], attrs: Any) -> Any:
    """Call with arrays one by one, or by name where one in between is left out."""
    if op.variadic is not None or len(arrays) == len(op.inputs):
        return function(*arrays, **case.attrs)
    named = dict(zip(op.input_names(attrs), arrays, strict=True))
    return function(**named, **case.attrs)


def _symbolic(function: Any, op: Operator, case: Case, attrs: Any) -> list[Any]:
    arrays = [_array(x) for x in case.arrays()]
    names = [f"x{i}" for i in range(len(arrays))]
    symbol = _call(function, op, case, list(map(mx.sym.var, names)), attrs)
    given = dict(zip(names, arrays, strict=True))
    states = {name: given.pop(name) for name in symbol.list_auxiliary_states() if name in given}
    with mx.autograd.train_mode() if case.train else mx.autograd.predict_mode():
        return _results(symbol.bind(mx.cpu(), given, aux_states=states).forward(case.train))


@pytest.mark.parametrize(("name", "face"), SHOWN, ids=[face for _, face in SHOWN])
def test_function_of_a_face_is_the_operator(name: str, face: str) -> None:
    function = attrgetter(face)(mx)
    assert callable(function)
    if name in ABSENT or face.startswith(OWN) or name not in CASES:
        return
    case, op = CASES[name], find_operator(name)
    arrays = [_array(x) for x in case.arrays()]
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(arrays) // op.per_arg)
    attrs = op.schema.parse(op.name, given)
    mx.random.seed(3)
    with mx.autograd.train_mode() if case.train else mx.autograd.predict_mode():
        want = _results(apply(op, arrays, attrs) if arrays else source(op, attrs, cpu()))
        mx.random.seed(3)
        if face.startswith("sym."):
            got = _symbolic(function, op, case, attrs)
        else:
            given_arrays = [_array(x) for x in case.arrays()]
            got = _results(_call(function, op, case, given_arrays, attrs))
    for a, b in zip(got, want, strict=False):
        np.testing.assert_allclose(
            a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-6, err_msg=face
        )
