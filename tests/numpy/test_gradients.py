"""Gradients of every function of np that has one: central differences in float64, to order 1.

Calls are those of tests/golden/np2_calls.py; each is evaluated eagerly and hybridized.
"""

from typing import Any

import numpy
import pytest

import gluonish as mx
from gluonish import numpy as np
from tests.golden.np2_calls import CALLS
from tests.numpy.test_golden_calls2 import HOST, UNTRACED, Call, arrays, evaluate, named, parts_of

STEP = 1e-6
# Functions whose result has no gradient by any argument: of bool, of integers, new arrays, indices.
NO_GRADIENT = {
    *("all", "any", "sometrue", "argmax", "argmin", "argsort", "bincount", "histogram", "nonzero"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
    *("bitwise_invert", "bitwise_not", "invert", "gcd", "lcm", "equal", "not_equal", "greater"),
    *("greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor"),
    *("logical_not", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "unique"),
    *("unique_inverse", "unique_values", "diag_indices_from", "tril_indices", "triu_indices"),
    *("arange", "array", "asarray", "blackman", "empty", "empty_like", "eye", "full", "hamming"),
    *("full_like", "hanning", "identity", "indices", "linspace", "logspace", "ones", "ones_like"),
    *("isclose", "tri", "zeros", "zeros_like", "linalg.eig", "linalg.eigvals"),
}
# In place of the first call of a function, which has a kink or no arrays of floats.
OTHER_CALLS = {
    "ediff1d": "np.ediff1d(v, w, v)",
    "full": "np.full((2, 3), v)",
    "take": "np.take(v, j)",
    "repeat": "np.repeat(v, 2)",
    "ldexp": "np.ldexp(a, j)",
    "nan_to_num": "np.nan_to_num(a)",
    "nanmax": "np.nanmax(a, axis=0)",
    "nanmin": "np.nanmin(a, axis=0)",
    "nanprod": "np.nanprod(p, axis=0)",
    "nansum": "np.nansum(a, axis=0)",
    "nanstd": "np.nanstd(a, axis=1)",
    "nanvar": "np.nanvar(a, axis=1)",
    "clip": "np.clip(a, -1, 1)",
    "insert": "np.insert(v, 1, w)",
    # of symmetric matrices, of which they read one triangle
    "linalg.cholesky": "np.linalg.cholesky(x + x.T)",
    "linalg.eigh": "np.linalg.eigh(x + x.T)[0]",
    "linalg.eigvalsh": "np.linalg.eigvalsh(x + x.T)",
    "linalg.tensorsolve": "np.linalg.tensorsolve(y, x[:, :2].reshape(6))",
}
DIFFERENTIABLE = [name for name in CALLS if name not in HOST | NO_GRADIENT]


def call_of(name: str) -> str:
    return OTHER_CALLS.get(name) or CALLS[name][0]


def doubles() -> dict[str, Any]:
    return {
        name: x.astype("float64") if x.dtype == "float32" else x for name, x in arrays().items()
    }


def weighted(answer: Any) -> Any:
    """Return the sum of all elements, each times a weight of its own."""
    total: Any = 0
    for part in answer if isinstance(answer, list | tuple) else [answer]:
        weights = numpy.cos(numpy.arange(part.size)).reshape(part.shape)
        total = total + (part * np.array(weights, dtype="float64")).sum()
    return total


def differences(call: str, given: dict[str, Any], name: str) -> Any:
    """Return the central differences of a call's weighted sum by an array."""
    values = given[name].asnumpy()
    found = numpy.zeros(values.shape)
    for place in numpy.ndindex(values.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = values.copy()
            moved[place] += step
            known = {**given, name: np.array(moved, dtype="float64")}
            ends.append(float(weighted(evaluate(call, given=known))))
        found[place] = (ends[0] - ends[1]) / (2 * STEP)
    return found


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient_is_that_of_central_differences(name: str, hybridized: bool) -> None:
    call = call_of(name)
    given = doubles()
    names = named(call)
    by = [n for n in names if given[n].dtype == "float64"]
    assert by, call
    for n in by:
        given[n].attach_grad()
    block = Call(call, names)
    if hybridized and not any(text in call for text in UNTRACED):
        block.hybridize()
    with mx.util.np_shape(), mx.util.np_array(), mx.autograd.record():
        total = weighted(block(*[given[n] for n in names]))
    total.backward()
    for n in by:
        expected = differences(call, doubles(), n)
        numpy.testing.assert_allclose(
            given[n].grad.asnumpy(), expected, rtol=1e-5, atol=1e-7, err_msg=f"{call} by {n}"
        )


@pytest.mark.parametrize("name", sorted(NO_GRADIENT))
def test_function_without_a_gradient_leaves_it_zero(name: str) -> None:
    call = call_of(name)
    given = doubles()
    by = [given[n] for n in named(call) if given[n].dtype == "float64"]
    for x in by:
        x.attach_grad()
    with mx.autograd.record():
        answer = evaluate(call, given=given)
        total = sum(x.sum().astype("float64") for x in by) * 0
        parts = answer if isinstance(answer, list | tuple) else [answer]
        for part in parts:
            total = total + part.astype("float64").sum() * 0
    if by:
        total.backward()
    assert all((x.grad.asnumpy() == 0).all() for x in by)
    assert parts_of(answer)
