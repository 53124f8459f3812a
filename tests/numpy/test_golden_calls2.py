"""Every function of np answers as MXNet 2.0.0b1 did, eagerly and hybridized, by the rules of 2.0.

Where it refused a call that gluonish takes, NumPy's answer in float64 is expected. `DIFFERENT` has
the calls that NumPy answers otherwise than MXNet did; gluonish follows NumPy there.
"""

import gzip
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gluonish as mx
from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.errors import GluonishError
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy import fallback
from tests.golden.np2_calls import CALLS, DEFAULTS, more_inputs
from tests.golden.np_face_calls import inputs

GOLDEN = Path(__file__).parents[1] / "golden" / "np2.json.gz"
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-6}
# What MXNet 2.0.0b1 answers otherwise, and why gluonish does not.
DIFFERENT = {
    "np.diff(a, prepend=0)": "MXNet leaves out a prepended 0",
    "np.linalg.trace(t)": "MXNet takes the first two axes, NumPy 2 the last two",
    "np.linalg.matrix_norm(t, ord=1)": "MXNet reduces other axes than those of its arguments",
    "64:np.arange(3.5)": "MXNet rounds floats to int64",
    "64:np.arange(0, 1, 0.25)": "MXNet rounds floats to int64",
    **dict.fromkeys(
        ("64:np.tri(3)", "64:np.tri(3, 2)", "64:np.tri(2, 3, 1)"), "MXNet's is float32 here alone"
    ),
    **dict.fromkeys(
        ("np.histogram2d(v, w, bins=2)", "np.histogramdd(a.T, bins=2)"),
        "edges have the dtype of the samples since NumPy 2",
    ),
    **dict.fromkeys(
        ("np.nanpercentile(n[:2], 50)", "np.nanquantile(n[:2], 0.5)"),
        "the result has the dtype of the array since NumPy 2",
    ),
}
# Calls that MXNet and NumPy refuse, or that NumPy has under another name.
WITHOUT_NUMPY = {"np.ldexp(i, p[0])", "np.ldexp(h, p)", "np.ldexp(d, p)"}
# Functions that have no call: those of files, settings and devices, and what NumPy has removed.
ELSEWHERE = {
    *("from_dlpack", "genfromtxt", "set_printoptions", "linalg", "random"),
    *("mirr", "npv", "pmt", "ppmt", "pv", "rate"),
    *("finfo", "iinfo", "dtype", "ndarray"),
    # of the array API standard, tested with it: tests/numpy/array_api
    *("astype", "cumulative_prod", "cumulative_sum", "isdtype", "matrix_transpose"),
    *("unique_counts", "unstack", "vecdot", "linalg.vecdot"),
}


@pytest.fixture(scope="module")
def stored() -> Any:
    return json.loads(gzip.decompress(GOLDEN.read_bytes()))


@pytest.fixture
def rules_of_2() -> Iterator[None]:
    before = follow_mxnet(Rules.MXNET2)
    yield
    follow_mxnet(before)


def arrays(module: Any = np) -> dict[str, Any]:
    given = {**inputs(), **more_inputs()}
    return {name: module.array(value, dtype=value.dtype) for name, value in given.items()}


def changers(module: Any) -> dict[str, Any]:
    """Return functions that change an array and return it, by name."""

    def put_diagonal(array: Any, value: Any) -> Any:
        module.fill_diagonal(array, value)
        return array

    def put(array: Any, key: Any, value: Any) -> Any:
        array[key] = value
        return array

    def inplace(array: Any, operator: str, value: Any) -> Any:
        exec(f"array {operator} value")
        return array

    return {"put_diagonal": put_diagonal, "put": put, "inplace": inplace}


def evaluate(call: str, module: Any = np, given: Any = None) -> Any:
    given = arrays(module) if given is None else given
    return eval(call, {"np": module, "npx": npx, "numpy": numpy, **changers(module), **given})


def parts_of(answer: Any) -> list[Any]:
    listed = list(answer) if isinstance(answer, list | tuple) else [answer]
    return [x.asnumpy() if isinstance(x, NDArray) else x for x in listed]


def check_part(found: Any, expected: list[Any], call: str) -> None:
    dtype, shape, values = expected
    if dtype in ("object", "str"):
        assert str(found) == values[0], call
        return
    if isinstance(found, numpy.ndarray):
        assert (found.dtype.name, list(found.shape)) == (dtype, shape), call
    tolerance = TOLERANCE.get(dtype, 0)
    flat = numpy.asarray(found).reshape(-1)
    wanted = numpy.asarray(values, numpy.float64 if dtype in TOLERANCE else None)
    numpy.testing.assert_allclose(flat, wanted, rtol=tolerance, atol=tolerance, err_msg=call)


def check(found: list[Any], expected: list[Any], call: str) -> None:
    assert len(found) == len(expected), call
    for x, part in zip(found, expected, strict=True):
        check_part(x, part, call)


def check_by_numpy(call: str) -> None:
    """Check the values of a call by NumPy's, if both take it."""
    try:
        found = parts_of(evaluate(call))
    except GluonishError:
        return
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = parts_of(evaluate(call, numpy))
        except (AttributeError, TypeError, ValueError):
            assert call in WITHOUT_NUMPY, call
            return
    for x, y in zip(found, expected, strict=True):
        wide = [numpy.asarray(part, numpy.float64) for part in (x, y)]
        numpy.testing.assert_allclose(*wide, rtol=1e-2, atol=1e-2, err_msg=call)


def is_function(value: Any) -> bool:
    is_scalar_type = isinstance(value, type) and issubclass(value, numpy.generic)
    return callable(value) and not is_scalar_type


def public_functions() -> set[str]:
    """Return the names of all functions of ``np`` and ``np.linalg``."""
    own = {name for name in np.__all__ if is_function(getattr(np, name))}
    return own | {f"linalg.{name}" for name in np.linalg.__all__}


def test_every_function_has_a_call_or_a_reason() -> None:
    assert public_functions() - ELSEWHERE == set(CALLS) - {"operators"}


@pytest.mark.usefixtures("rules_of_2")
@pytest.mark.parametrize("name", CALLS)
def test_values_are_those_of_mxnet(name: str, stored: Any) -> None:
    for call in CALLS[name]:
        kind, *parts = stored[call]
        if kind in ("error", "crash") or call in DIFFERENT:
            check_by_numpy(call)
            continue
        answer = evaluate(call)
        if kind in ("list", "tuple"):
            assert type(answer).__name__ == kind, call
        check(parts_of(answer), parts, call)


@pytest.mark.usefixtures("rules_of_2")
@pytest.mark.parametrize("call", DEFAULTS)
def test_values_of_numpys_default_dtypes_are_those_of_mxnet(call: str, stored: Any) -> None:
    kind, *parts = stored[f"64:{call}"]
    if kind in ("error", "crash") or f"64:{call}" in DIFFERENT:
        return
    given = arrays()
    with mx.util.np_default_dtype():
        check(parts_of(evaluate(call, given=given)), parts, call)


# With gluonish's own rules these differ from MXNet 2.0, see gluonish.core.mxnet_rules.
OWN_RULES = {
    *("np.array", "np.asarray"),
    *("np.mean", "a.mean", "i.mean"),
    "a.sort",
    *("np.std", "np.var", "np.average", "i.std", "i.var"),  # of integers
}


@pytest.mark.parametrize("name", CALLS)
def test_values_with_gluonish_rules_are_the_same(name: str, stored: Any) -> None:
    for call in CALLS[name]:
        kind, *parts = stored[call]
        refused = kind in ("error", "crash") or call in DIFFERENT
        if not refused and call.partition("(")[0] not in OWN_RULES:
            check(parts_of(evaluate(call)), parts, call)


class Call(mx.gluon.HybridBlock):
    """A block that evaluates a call."""

    def __init__(self, call: str, names: list[str]) -> None:
        super().__init__()
        self.call = call
        self.names = names

    def forward(self, *given: Any) -> Any:
        found = evaluate(self.call, given=dict(zip(self.names, given, strict=True)))
        return list(found) if isinstance(found, list | tuple) else found


def named(call: str) -> list[str]:
    """Return the names of the arrays in a call."""
    return [n for n in arrays() if re.search(rf"(?<![\w.'\"]){n}\b(?! ?=[^=])", call)]


# What cannot be traced: functions of NumPy on the host, results that depend on values, numbers
# instead of arrays, and changes of arguments.
HOST = {
    *fallback.__all__,
    *("linalg.cond", "linalg.lstsq", "linalg.matrix_rank"),
    *("linalg.qr", "unravel_index", "fill_diagonal", "shape", "can_cast"),
    *("may_share_memory", "shares_memory", "result_type", "operators", "unique_all"),
}
UNTRACED = ("out=", "numpy.array", "([d", "numpy.linalg", "matmul(i", "[i]", "insert(")


@pytest.mark.usefixtures("rules_of_2")
@pytest.mark.parametrize("name", [name for name in CALLS if name not in HOST])
def test_hybridized_values_are_those_of_mxnet(name: str, stored: Any) -> None:
    for call in CALLS[name]:
        kind, *parts = stored[call]
        names = named(call)
        refused = kind in ("error", "crash", "number") or call in DIFFERENT
        if refused or not names or any(text in call for text in UNTRACED):
            continue
        given = arrays()
        block = Call(call, names)
        block.hybridize()
        with mx.util.np_shape(), mx.util.np_array():
            for _ in range(2):
                answer = block(*[given[name] for name in names])
                check(parts_of(answer), parts, f"hybridized {call}")
