"""Calls of every function of ``nd`` that are wrong: one error at the call, by operator and argument.

Each starts from the operator's first golden case, which is right.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import Context, cpu
from gluonish.core.device import device_of
from gluonish.core.errors import DeviceError, GluonishError
from gluonish.core.spec import Spec
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Operator
from gluonish_engine import Var
from tests.golden.case import Case
from tests.ops.fuzz_draws import OPERATORS, valid_cases

CALLS = [(op, valid_cases()[op.name][0]) for op in OPERATORS if op.name in valid_cases()]
WITH_ARRAYS = [(op, case) for op, case in CALLS if case.inputs]
NO_ARRAYS: list[Any] = [[1.0, 2.0], "x", np.ones(2, np.float32), 1.5, {}, object()]


def _array(x: Any, context: Context | None = None) -> NDArray:
    held = np.array(x, order="C")
    return NDArray(held, Spec(x.shape, x.dtype), device_of(context or cpu()), Var())


def _named(op: Operator, case: Case, arrays: Sequence[Any]) -> dict[str, Any]:
    """Return arrays by name: positions shift where attributes leave inputs out."""
    attrs = op.schema.parse(op.name, case.attrs)
    return dict(zip(op.input_names(attrs), arrays, strict=True))


def _call(op: Operator, case: Case, arrays: Sequence[Any], **more: Any) -> Any:
    function: Callable[..., Any] = getattr(mx.nd, op.name)
    if op.variadic is None:
        return function(**_named(op, case, arrays), **case.attrs, **more)
    attrs = {name: value for name, value in case.attrs.items() if name != op.variadic}
    return function(*arrays, **attrs, **more)


def _refused(op: Operator, *words: str) -> Any:
    """Expect one error that names the operator and has the words."""
    names = "|".join(map(_escaped, (op.name, *op.aliases)))
    return pytest.raises(GluonishError, match=rf"^(?:{names}):.*" + ".*".join(words))


def _escaped(name: str) -> str:
    return name.replace(".", r"\.")


def _with_ids(calls: list[tuple[Operator, Case]]) -> Any:
    return pytest.mark.parametrize(("op", "case"), calls, ids=[op.name for op, _ in calls])


@_with_ids(CALLS)
def test_unknown_attribute_is_refused(op: Operator, case: Case) -> None:
    with _refused(op, "no_such_word"):
        _call(op, case, [_array(x) for x in case.arrays()], no_such_word=1)


@_with_ids(CALLS)
def test_too_many_arguments_are_refused(op: Operator, case: Case) -> None:
    if op.variadic is not None:
        pytest.skip("takes any number of arrays")
    slots = len(op.inputs) + len(op.schema.attributes)
    with _refused(op, "expected at most"):
        getattr(mx.nd, op.name)(*[_array(np.ones(2, np.float32))] * (slots + 1))


@_with_ids(WITH_ARRAYS)
def test_missing_array_is_refused_by_name(op: Operator, case: Case) -> None:
    arrays: list[Any] = [_array(x) for x in case.arrays()]
    if op.variadic is not None:
        with _refused(op, "at least one array"):
            _call(op, case, [])
        return
    for i, name in enumerate(_named(op, case, arrays)):
        with _refused(op, name):
            _call(op, case, [*arrays[:i], None, *arrays[i + 1 :]])


@_with_ids(WITH_ARRAYS)
def test_what_is_no_array_is_refused_by_name(op: Operator, case: Case) -> None:
    arrays: list[Any] = [_array(x) for x in case.arrays()]
    for wrong in NO_ARRAYS:
        for i in range(len(arrays)):
            with _refused(op, type(wrong).__name__):
                _call(op, case, [*arrays[:i], wrong, *arrays[i + 1 :]])


@_with_ids(WITH_ARRAYS)
def test_arrays_of_two_devices_are_refused(op: Operator, case: Case) -> None:
    arrays = case.arrays()
    for i in range(1, len(arrays)):
        contexts = [cpu(1 if j == i else 0) for j in range(len(arrays))]
        given = [_array(x, context) for x, context in zip(arrays, contexts, strict=True)]
        with pytest.raises(DeviceError, match=r"expected arrays on one device, got cpu\(0\)"):
            _call(op, case, given)
