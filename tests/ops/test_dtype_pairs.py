"""Every operator in every pair of input and output dtype that it takes, rows short and long,
eager, hybridized and, where an attribute names a dtype, as a Symbol: values and gradients are those
of float64 within the rounding of the narrowest dtype.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.dtype import is_floating
from gluonish.core.errors import GluonishError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.graph.ir import variable
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import apply
from gluonish.symbol.symbol import Symbol
from gluonish_engine import Var
from tests.checking.values import spec_of
from tests.ops.dtype_trials import (
    DTYPE_ATTRIBUTES,
    Trial,
    exact_gradients,
    exact_outputs,
    names,
    trials,
)

# Relative to the largest element: the rounding of a few operations, of sums of 5,000 in the wide.
_TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-10}
# Sums of more elements round more often.
_MANY, _OFTEN = 10_000, 100
_SAMPLE = 300
# Well within what each dtype holds, so that squares of intermediate results are held, too.
_LARGEST = {"float16": 2.0**14, "int8": 128, "uint8": 256, "int32": 2**31, "bool": 2}


def _array(x: Any) -> NDArray:
    return NDArray(np.array(x, order="C"), spec_of(x), device_of(cpu()), Var())


def _head(y: Any, position: int) -> Any:
    if not is_floating(y.dtype):
        return None
    random = np.random.default_rng(position)
    return random.choice([-1.0, 0.5, 1.0, 2.0], y.shape).astype(y.dtype)


def _listed(made: Any) -> list[Any]:
    return list(made) if isinstance(made, list | tuple) else [made]


def _run(trial: Trial, call: Callable[..., Any]) -> tuple[list[Any], list[Any]]:
    """Return outputs and gradients, None for inputs without one."""
    inputs = [_array(x) for x in trial.arrays]
    floating = [x for x in inputs if is_floating(x._spec.dtype)]
    if trial.op.gradient is not None:
        for x in floating:
            x.attach_grad()
    with mx.autograd.record(train_mode=True):
        outputs = _listed(call(*inputs))
    made = [y.asnumpy() for y in outputs]
    heads = [_head(y, i) for i, y in enumerate(made)]
    tops = [y for y, h in zip(outputs, heads, strict=True) if h is not None]
    if not (floating and tops and trial.op.gradient is not None):
        return made, [None] * len(inputs)
    mx.autograd.backward(tops, [_array(h) for h in heads if h is not None])
    return made, [x.grad.asnumpy() if is_floating(x._spec.dtype) else None for x in inputs]


def _ways(trial: Trial) -> Iterator[tuple[str, Callable[..., Any]]]:
    op, attrs = trial.op, trial.attrs

    class Net(HybridBlock):
        def forward(self, *x: Any) -> Any:
            made = apply(op, x, attrs)
            return tuple(made) if isinstance(made, list) else made

    yield "eager", lambda *x: apply(op, x, attrs)
    net = Net()
    net.hybridize()
    yield "hybridized", net
    if any(op.schema.accepts(name) for name in DTYPE_ATTRIBUTES):
        yield "symbol", _symbol(trial)


def _symbol(trial: Trial) -> Callable[..., Any]:
    variables = [variable(f"x{i}", spec_of(x)) for i, x in enumerate(trial.arrays)]
    symbol = Symbol(_listed(apply(trial.op, variables, trial.attrs)))
    loaded = mx.sym.load_json(symbol.tojson(remove_amp_cast=False))
    inputs = [mx.sym.var(f"x{i}") for i in range(len(variables))]
    block = mx.gluon.SymbolBlock(loaded, inputs)
    return lambda *x: block(*x)


def _check(trial: Trial, what: str, got: Any, want: Any, kinds: Sequence[Any]) -> None:
    floats = [d for d in kinds if is_floating(d)]
    name = min(floats, key=lambda d: (d.itemsize, d.name)).name if floats else ""
    tolerance = _TOLERANCES.get(name, 0.0)
    if max(map(np.size, trial.arrays)) > _MANY:
        tolerance *= _OFTEN
    with np.errstate(all="ignore"):
        got, want = got.astype(np.float64), want.astype(got.dtype).astype(np.float64)
    sizes = np.abs(want[np.isfinite(want)])
    largest = float(sizes.max()) if sizes.size else 0.0
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol=tolerance * largest, err_msg=f"{what} of {trial}"
    )


def _is_held(exact: Any, kinds: Sequence[Any]) -> bool:
    """Whether dtypes hold what numbers there are; what becomes of the others is not asked here."""
    with np.errstate(all="ignore"):
        values = exact.astype(np.float64)
        finite = np.isfinite(values)
        largest = float(np.abs(values[finite]).max(initial=0.0))
    return all(largest < _LARGEST.get(d.name, 1e30) for d in kinds) and finite.all()


def check(trial: Trial) -> int:
    """Hold a call against float64 in every way, and return in how many."""
    try:
        want = exact_outputs(trial)
    except GluonishError:  # grown arrays may hold positions that are not there
        return 0
    gradients: list[Any] | None = None
    tried = 0
    for way, call in _ways(trial):
        outputs, found = _run(trial, call)
        kinds = [x.dtype for x in (*trial.arrays, *outputs)]
        if not all(_is_held(y, kinds) for y in want):
            return 0
        for i, (got, exact) in enumerate(zip(outputs, want, strict=True)):
            _check(trial, f"{way} output {i}", got, exact, kinds)
        if gradients is None and any(g is not None for g in found):
            gradients = exact_gradients(trial, [_head(y, i) for i, y in enumerate(outputs)])
        for i, (got, exact) in enumerate(zip(found, gradients or (), strict=False)):
            if got is not None and exact is not None and _is_held(exact, kinds):
                _check(trial, f"{way} gradient {i}", got, exact, kinds)
        tried += 1
    return tried


def test_sample_of_operators_dtypes_and_rows() -> None:
    random = np.random.default_rng(20)
    for name in random.choice(names(), _SAMPLE):
        found = list(trials(name))
        check(found[random.integers(len(found))])


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_all_dtypes_and_rows(name: str, record_property: Callable[[str, object], None]) -> None:
    tried = sum(check(trial) for trial in trials(name))
    if not tried:
        pytest.skip("no call has numbers that float64 and the other dtypes hold")
    record_property("calls held", tried)
