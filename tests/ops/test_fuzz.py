"""Random arrays and attributes at every operator: a result, or one error that names it.

Each draw goes through the attributes' schema, inference, the reference kernel and the gradient
rule; then through the eager call with the default engine and its tape. What comes out must be of
the inferred shapes and dtypes and be filled by the kernel: it runs over two different fillings of
its memory. Refusals must be errors of ours that name an operator, and the same in both ways.
"""

import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from gluonish import autograd
from gluonish.core import errors
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.dtype import is_floating
from gluonish.core.errors import GluonishError, public_name
from gluonish.core.spec import MOST_ELEMENTS, Spec
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Operator, apply
from gluonish.ops.support.composite import input_gradients
from gluonish_engine import Var
from tests.checking.values import ArrayValue, runtime_attrs, spec_of
from tests.ops.fuzz_draws import OPERATORS, Draw, draw

# Draws for each operator; a long run sets it in the environment.
DRAWS = int(os.environ.get("GLUONISH_FUZZ_DRAWS", "40"))
_LARGE = 1 << 26  # bytes of outputs that a test does not make
_REPORTED = 4  # failures of one operator
_TAME = 1e4  # elements from which on another order of operations gives another result
# Of fast kernels against the reference, relative to the largest element: round-off of sums.
_TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-3, "float64": 1e-6}


class _TooLarge(Exception):
    """A call is right and asks for more memory than this test has."""


class _Result(NamedTuple):
    """What the reference makes of a call."""

    outputs: list[Any]
    inputs: list[Any]  # as the call leaves them
    gradients: list[Any] | None  # None where there is none; all None where the rule refuses


def _fill(
    op: Operator, arrays: list[Any], attrs: Mapping[str, Any], byte: int
) -> tuple[list[Any], list[Any]]:
    """Run the reference kernel over memory that holds one byte everywhere."""
    runtime = runtime_attrs(op, attrs)
    given = [x.copy() if i in op.mutated_inputs(attrs) else x for i, x in enumerate(arrays)]
    specs = op.infer(*map(spec_of, given), **attrs)
    if op.measure is not None:
        shapes = op.measure(np, *given, **runtime)
        specs = tuple(Spec(tuple(s), spec.dtype) for s, spec in zip(shapes, specs, strict=True))
    assert all(n >= 0 for spec in specs for n in spec.shape), f"unknown extents: {specs}"
    assert all(spec.size <= MOST_ELEMENTS for spec in specs), f"asked for too much: {specs}"
    if sum(spec.nbytes for spec in specs) >= _LARGE:
        raise _TooLarge
    outputs = [np.empty(spec.shape, spec.dtype) for spec in specs]
    for out in outputs:
        out.reshape(-1).view(np.uint8)[...] = byte
    with np.errstate(all="ignore"):
        op.kernel(np, outputs[0] if op.single else tuple(outputs), *given, **runtime)
    return outputs, given


def _same(a: Any, b: Any) -> bool:
    with np.errstate(all="ignore"):
        return np.array_equal(
            a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)
        ) or np.array_equal(a.astype(np.float64), b.astype(np.float64), equal_nan=True)


def _gradients(
    op: Operator, arrays: list[Any], attrs: Mapping[str, Any], outputs: Any
) -> list[Any] | None:
    shown = op.num_visible(attrs)
    heads = [
        ArrayValue(np.ones_like(y)) if i < shown and is_floating(y.dtype) else None
        for i, y in enumerate(outputs)
    ]
    wanted = [is_floating(x.dtype) for x in arrays]
    if op.gradient is None or not any(wanted) or not any(h is not None for h in heads):
        return None
    values, results = [ArrayValue(x) for x in arrays], [ArrayValue(y) for y in outputs]
    with np.errstate(all="ignore"):
        found = input_gradients(op, heads, values, results, runtime_attrs(op, attrs), wanted)
    for x, g in zip(arrays, found, strict=True):
        if g is not None:
            assert g.shape == x.shape, f"gradient {g.shape} of {x.shape}"
            assert g.dtype == x.dtype, f"gradient {g.dtype} of {x.dtype}"
    return [None if g is None else g.array for g in found]


def _reference(op: Operator, arrays: list[Any], attrs: Mapping[str, Any]) -> _Result:
    outputs, inputs = _fill(op, arrays, attrs, 0xFF)
    again, _ = _fill(op, arrays, attrs, 0x01)
    for i, (a, b) in enumerate(zip(outputs, again, strict=True)):
        filled = i in op.workspaces or _same(a, b)
        assert filled, f"output {i} is not filled, or not by the inputs alone"
    try:
        gradients = _gradients(op, arrays, attrs, outputs)
    except GluonishError:
        gradients = [None] * len(arrays)
    return _Result(outputs, inputs, gradients)


def _array(x: Any) -> NDArray:
    return NDArray(np.array(x, order="C"), Spec(x.shape, x.dtype), device_of(cpu()), Var())


def _eager(op: Operator, arrays: list[Any], attrs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Call the operator on arrays while recording, and wait: inputs and visible outputs."""
    inputs = [_array(x) for x in arrays]
    for i, x in enumerate(inputs):
        if is_floating(x._spec.dtype) and i not in op.mutated_inputs(attrs):
            x.attach_grad()
    with autograd.record():
        made = apply(op, inputs, attrs) if inputs else source(op, attrs, cpu())
    outputs = made if isinstance(made, list) else [made]
    for y in outputs:
        y.wait_to_read()
    return inputs, outputs


def _near(got: Any, want: Any, what: str) -> None:
    """Compare with the tolerance of sums; where the reference overflows anything goes."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype), f"{what}: {got.dtype}{got.shape}"
    if _same(got, want):
        return
    assert is_floating(want.dtype), f"{what}: {got} is not {want}"
    a, b = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(b)
    if not finite.all():
        return
    scale = max(1.0, float(np.abs(b).max()))
    worst = float(np.abs(a - b).max()) / scale
    assert worst <= _TOLERANCES[want.dtype.name], f"{what}: {got} is not {want}"


def _tame(arrays: Sequence[Any]) -> bool:
    """Whether all elements are of a size with which no formula overflows or cancels to nothing."""
    floats = [x.astype(np.float64) for x in arrays if is_floating(x.dtype)]
    return all(bool((np.abs(x) < _TAME).all()) for x in floats)


def _compare(op: Operator, reference: _Result, inputs: Sequence[Any], outputs: Any) -> None:
    """Hold an eager call, and the gradients that its tape gives, to the reference."""
    random = op.random is not False or not _tame(reference.inputs)
    for i, (y, want) in enumerate(zip(outputs, reference.outputs, strict=False)):
        _near(want if random else y.asnumpy(), want, f"eager output {i}")
        assert y._spec == spec_of(want), f"eager output {i}: {y._spec}"
    if random:
        return
    for i, (x, want) in enumerate(zip(inputs, reference.inputs, strict=True)):
        _near(x.asnumpy(), want, f"eager input {i}")


def _backward(op: Operator, reference: _Result, inputs: Sequence[Any], outputs: Any) -> None:
    tops = [y for y in outputs if is_floating(y._spec.dtype) and y._edge is not None]
    if not tops:
        return
    autograd.backward(tops)
    for i, x in enumerate(inputs):
        if x.grad is not None:
            got = x.grad.asnumpy()
            assert got.shape == x.shape
            want = None if reference.gradients is None else reference.gradients[i]
            if want is not None and op.random is False and _tame(reference.inputs):
                _near(got, want, f"eager gradient {i}")


def _named(op: Operator, error: GluonishError) -> None:
    """Check that an error names the operator."""
    names = map(public_name, (op.name, *op.aliases))
    said = str(error)
    assert any(name in said for name in names), f"the error does not name it: {said}"


def _intended(error: GluonishError) -> None:
    """Check that an error is not what the engine makes of one that a kernel did not expect."""
    causes = re.findall(r"failed with (\w+)", str(error))
    assert all(word in errors.__all__ for word in causes), str(error)


def _tried(function: Callable[..., Any], *args: Any) -> tuple[Any, GluonishError | None]:
    """Call a function: its result, or its refusal."""
    try:
        return function(*args), None
    except GluonishError as error:
        return None, error


def _check(op: Operator, call: Draw) -> None:
    """Make one call in every way."""
    arrays, given = call
    if op.variadic is not None:
        given.setdefault(op.variadic, len(arrays) // op.per_arg)
    attrs, refusal = _tried(op.schema.parse, op.name, given)
    if refusal is not None:
        _named(op, refusal)
        return
    if op.variadic is None:
        arrays = arrays[: len(op.input_names(attrs))]
    try:
        reference, refusal = _tried(_reference, op, arrays, attrs)
    except _TooLarge:
        return
    eager, same = _tried(_eager, op, arrays, attrs)
    if refusal is not None:
        assert same is not None, f"the eager call does not refuse: {refusal}"
        _named(op, refusal)
    if same is not None:
        assert refusal is not None, f"the eager call refuses: {same}"
        _named(op, same)
        _intended(same)
        return
    if attrs.get("init_output", True):  # else the result depends on what new memory holds
        _compare(op, reference, *eager)
    _, failure = _tried(_backward, op, reference, *eager)
    if failure is not None:
        _intended(failure)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_every_call_gives_a_result_or_an_error_of_ours(op: Operator) -> None:
    failures = []
    for i in range(DRAWS):
        call = draw(op, np.random.default_rng((i, zlib.crc32(op.name.encode()))))
        text = repr(call)
        try:
            _check(op, call)
        except Exception as error:
            failures.append(f"draw {i}: {op.name}{text}: {error!r}")
    assert not failures, "\n".join([f"{len(failures)} draws fail", *failures[:_REPORTED]])
