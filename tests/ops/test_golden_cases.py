"""Every case of tests/golden/cases, eager, traced and reloaded from JSON, against MXNet 1.9.1.

tests/golden/make_cases.py has stored MXNet's results; tests/golden/case.py says what a case is.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.dtype import is_floating
from gluonish.core.errors import GluonishError, public_name
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.core.spec import Spec
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.ir import Value, variable
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Operator, apply, find_operator
from gluonish.symbol.symbol import Symbol
from gluonish_engine import Var
from tests.checking.check_operator import check_operator
from tests.golden.case import Case, load_cases

FOLDER = Path(__file__).parents[1] / "golden" / "cases"
# Float results by dtype: the round-off of a chain of a few operations.
TOLERANCES = {"float16": (1e-2, 1e-3), "float32": (2e-5, 5e-6), "float64": (1e-10, 1e-12)}


class Entry(NamedTuple):
    """A case and where its results are stored."""

    family: str
    case: Case

    def __repr__(self) -> str:
        return f"{self.family}-{self.case.key}"


ENTRIES = [
    Entry(path.stem, case) for path in sorted(FOLDER.glob("*.py")) for case in load_cases(path)
]
VALID = [entry for entry in ENTRIES if not entry.case.invalid]
FIRST = {entry.case.op: entry for entry in reversed(VALID) if not entry.case.random}
CHECKED = [entry for entry in FIRST.values() if entry.case.check is not False]


@pytest.fixture(autouse=True)
def _rules(request: pytest.FixtureRequest) -> Iterator[None]:
    params = getattr(request.node, "callspec", None)
    entry = None if params is None else params.params.get("entry")
    before = follow_mxnet(entry is not None and entry.case.mxnet_rules)
    yield
    follow_mxnet(before)


@cache
def _stored(family: str) -> dict[str, dict[str, Any]]:
    results: dict[str, dict[str, Any]] = {}
    with np.load(FOLDER / f"{family}.npz") as file:
        for name in file.files:
            key, _, part = name.partition("|")
            results.setdefault(key, {})[part] = file[name]
    return results


def _golden(entry: Entry) -> dict[str, Any]:
    """Return MXNet's results, or what NumPy gives where MXNet's are wrong."""
    case = entry.case
    if not case.wrong:
        return _stored(entry.family)[case.key]
    if case.expected is None:
        return {}
    made = case.expected(*case.arrays())
    outputs = made if isinstance(made, list | tuple) else [made]
    return {f"out{i}": np.asarray(y) for i, y in enumerate(outputs)}


def _array(x: Any) -> NDArray:
    return NDArray(np.array(x, order="C"), Spec(x.shape, x.dtype), device_of(cpu()), Var())


def _parsed(case: Case, count: int) -> tuple[Operator, dict[str, Any]]:
    op = find_operator(case.op)
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, count)
    return op, op.schema.parse(op.name, given)


def _call(case: Case, inputs: Sequence[NDArray]) -> list[NDArray]:
    op, attrs = _parsed(case, len(inputs))
    mx.random.seed(7)
    made = apply(op, inputs, attrs) if inputs else source(op, attrs, cpu())
    return made if isinstance(made, list) else [made]


def _compare(case: Case, got: Any, want: Any, what: str) -> None:
    assert got.shape == want.shape, f"{what}: {got.shape} is not {want.shape}"
    assert got.dtype == want.dtype, f"{what}: {got.dtype} is not {want.dtype}"
    floats = [x.dtype for x in case.arrays() if x.dtype.kind == "f"] + [want.dtype]
    rtol, atol = TOLERANCES.get(min(floats, key=lambda dtype: dtype.itemsize).name, (0.0, 0.0))
    if want.dtype.kind != "f":
        rtol = atol = 0.0
    np.testing.assert_allclose(
        got,
        want,
        rtol=rtol if case.rtol is None else case.rtol,
        atol=atol if case.atol is None else case.atol,
        err_msg=what,
    )


@pytest.mark.parametrize("entry", VALID, ids=repr)
def test_results_and_gradients_are_those_of_mxnet(entry: Entry) -> None:
    case, golden = entry.case, _golden(entry)
    inputs = [_array(x) for x in case.arrays()]
    wanted = [int(name[4:]) for name in golden if name.startswith("grad")]
    for i in wanted:
        inputs[i].attach_grad()
    with mx.autograd.record(train_mode=case.train):
        outputs = _call(case, inputs)
    if case.random:
        specs = [f"{y._spec.dtype.name}{y._spec.shape}" for y in outputs]
        assert specs == [str(golden[f"out{i}.spec"]) for i in range(len(outputs))]
        return
    for i, y in enumerate(outputs):
        if f"out{i}" in golden:
            _compare(case, y.asnumpy(), golden[f"out{i}"], f"output {i}")
    for name in golden:
        if name.startswith("moved"):
            _compare(case, inputs[int(name[5:])].asnumpy(), golden[name], name)
    if wanted:
        _backward(case, outputs)
        for i in wanted:
            gradient = inputs[i].grad
            assert gradient is not None
            _compare(case, gradient.asnumpy(), golden[f"grad{i}"], f"gradient {i}")


def _backward(case: Case, outputs: Sequence[NDArray]) -> None:
    tops = [y for y in outputs if is_floating(y._spec.dtype)]
    heads = [
        _array(case.head(i, y._spec.shape, y._spec.dtype))
        for i, y in enumerate(outputs)
        if is_floating(y._spec.dtype)
    ]
    mx.autograd.backward(tops, heads)


def _call_and_wait(case: Case) -> None:
    """Call, and wait for the outputs: what is wrong with values shows when they are there."""
    for y in _call(case, [_array(x) for x in case.arrays()]):
        y.wait_to_read()


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.case.invalid], ids=repr)
def test_invalid_call_is_refused_by_name(entry: Entry) -> None:
    case = entry.case
    op = find_operator(case.op)
    with pytest.raises(GluonishError) as raised:
        _call_and_wait(case)
    assert any(public_name(name) in str(raised.value) for name in (case.op, op.name, *op.aliases))


def _graph_outputs(variables: Sequence[Any], values: Sequence[Value], entry: Entry) -> list[Any]:
    graph = CachedGraph([v.node for v in variables], values)
    mx.random.seed(7)
    with mx.autograd.train_mode() if entry.case.train else mx.autograd.predict_mode():
        return [y.asnumpy() for y in graph([_array(x) for x in entry.case.arrays()])]


@pytest.mark.parametrize("entry", VALID, ids=repr)
def test_traced_and_reloaded_equal_eager(entry: Entry) -> None:
    case = entry.case
    arrays = case.arrays()
    op, attrs = _parsed(case, len(arrays))
    if op.measure is not None or not arrays:
        pytest.skip("has no plan: its shape depends on values" if arrays else "has no inputs")
    with mx.autograd.train_mode() if case.train else mx.autograd.predict_mode():
        eager = [y.asnumpy() for y in _call(case, [_array(x) for x in arrays])]
    variables = [variable(f"x{i}", Spec(x.shape, x.dtype)) for i, x in enumerate(arrays)]
    made = apply(op, variables, attrs)
    values = made if isinstance(made, list) else [made]
    traced = _graph_outputs(variables, values, entry)
    loaded = mx.sym.load_json(Symbol(values).tojson(remove_amp_cast=False))
    by_name = {node.name: Value(node) for node in loaded._variables()}
    reloaded = _graph_outputs([by_name[f"x{i}"] for i in range(len(arrays))], loaded._values, entry)
    for others in (traced, reloaded):
        for got, want in zip(others, eager, strict=True):
            _compare(case, got, want, "graph")


@pytest.mark.parametrize("entry", CHECKED, ids=repr)
def test_operator_is_what_its_definition_says(entry: Entry) -> None:
    case = entry.case
    options = {} if case.check is None else case.check
    if not case.inputs:
        options = {"differentiable": False, **options}
    check_operator(case.op, case.arrays(), case.attrs, **{"train": case.train, **options})
