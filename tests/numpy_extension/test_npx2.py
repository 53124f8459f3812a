"""Every function of npx answers as MXNet 2.0.0b1's: values, dtypes, gradients, hybridized too."""

import re
from pathlib import Path
from typing import Any

import numpy
import pytest

from gluonish import autograd, gluon
from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.numpy_extension.operators import NAMES
from gluonish.ops.registry import all_names
from tests.golden.npx2_calls import CALLS, ELSEWHERE, GRADIENTS, WRONG_GRADIENTS, inputs

GOLDEN = Path(__file__).parents[1] / "golden" / "npx2.npz"
EVERY = [call for calls in CALLS.values() for call in calls]
# Functions of gluonish's own, tested with their operators.
OWN = {
    *("add_rms_norm", "cross_entropy", "geglu", "linear_cross_entropy", "rms_norm"),
    *("rotary_embedding", "scaled_dot_product_attention", "swiglu", "weight_only_dense"),
}
# Functions of the environment: devices, files, settings.
SURROUNDINGS = {
    *("Context", "Device", "cpu", "cpu_pinned", "current_context", "current_device", "gpu"),
    *("get_cuda_compute_capability", "gpu_memory_info", "image", "is_np_array"),
    *("is_np_default_dtype", "is_np_shape", "load", "num_gpus", "random", "reset_np", "save"),
    *("savez", "set_np", "set_np_default_dtype", "waitall"),
}
TOLERANCE = {"float16": 5e-3, "float32": 2e-5, "float64": 1e-6}
# The result has another order than MXNet's, is drawn at random, or depends on values.
UNTRACEABLE = ("npx.nonzero", "npx.while_loop", "npx.constraint_check", "npx.scalar_poisson")


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    with numpy.load(GOLDEN) as file:
        return dict(file)


def arrays() -> dict[str, Any]:
    return {name: np.array(value, dtype=value.dtype) for name, value in inputs().items()}


def leaves(answer: Any) -> list[Any]:
    if isinstance(answer, list | tuple):
        return [leaf for item in answer for leaf in leaves(item)]
    return [answer]


def named(call: str, given: dict[str, Any]) -> list[str]:
    return [name for name in given if re.search(rf"(?<![\w.]){name}\b(?! ?=[^=])", call)]


def weighted(answer: Any) -> Any:
    total: Any = 0
    for leaf in leaves(answer):
        weights = numpy.cos(numpy.arange(leaf.size)).reshape(leaf.shape).astype(leaf.dtype)
        finite = np.where(np.isfinite(leaf), leaf, 0)
        total = total + (finite * np.array(weights, dtype=leaf.dtype)).sum()
    return total


def check_close(found: Any, expected: Any) -> None:
    assert type(found) is np.ndarray
    values = found.asnumpy()
    assert values.dtype == expected.dtype
    assert values.shape == expected.shape
    tolerance = TOLERANCE.get(expected.dtype.name, 0)
    numpy.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)


def test_every_function_is_called_or_named() -> None:
    functions = {name for name in NAMES if NAMES[name] in all_names()} | set(npx.__all__)
    assert functions - SURROUNDINGS - OWN == set(CALLS) | set(ELSEWHERE)
    assert {name for name, calls in CALLS.items() if not calls} <= set(ELSEWHERE)


@pytest.mark.parametrize("call", EVERY)
def test_values_are_those_of_mxnet(call: str, stored: dict[str, Any]) -> None:
    key = stored["calls"].tolist().index(call)
    answer = leaves(eval(call, {"np": np, "npx": npx, **arrays()}))
    assert len(answer) == stored[f"{key}.n"]
    for place, part in enumerate(answer):
        check_close(part, stored[f"{key}.{place}"])


class Call(gluon.HybridBlock):
    """A block that evaluates a call."""

    def __init__(self, call: str, names: list[str]) -> None:
        super().__init__()
        self.call = call
        self.names = names

    def forward(self, *given: Any) -> Any:
        known = dict(zip(self.names, given, strict=True))
        return leaves(eval(self.call, {"np": np, "npx": npx, **known}))


@pytest.mark.parametrize("call", [call for call in EVERY if not call.startswith(UNTRACEABLE)])
def test_hybridized_values_are_those_of_mxnet(call: str, stored: dict[str, Any]) -> None:
    key = stored["calls"].tolist().index(call)
    given = arrays()
    names = named(call, given)
    block = Call(call, names)
    block.hybridize()
    for _ in range(2):
        answer = leaves(block(*[given[name] for name in names]))
        assert len(answer) == stored[f"{key}.n"]
        for place, part in enumerate(answer):
            check_close(part, stored[f"{key}.{place}"])


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients_are_those_of_mxnet(call: str, hybridized: bool, stored: dict[str, Any]) -> None:
    key = stored["calls"].tolist().index(call)
    given = arrays()
    names = named(call, given)
    expected = {name: stored[f"g.{key}.{name}"] for name in names if f"g.{key}.{name}" in stored}
    if not expected or (hybridized and call.startswith(UNTRACEABLE)):
        pytest.skip("MXNet has no gradient, or the call cannot be traced")
    for name in expected:
        given[name].attach_grad()
    block = Call(call, names)
    if hybridized:
        block.hybridize()
    with autograd.record():
        total = weighted(block(*[given[name] for name in names]))
    total.backward()
    for name, gradient in expected.items():
        numpy.testing.assert_allclose(
            given[name].grad.asnumpy(), gradient, rtol=1e-3, atol=1e-4, err_msg=name
        )


@pytest.mark.parametrize("call", WRONG_GRADIENTS)
def test_gradients_that_mxnet_gets_wrong_are_those_of_central_differences(call: str) -> None:
    given = {
        name: np.array(value, dtype="float64" if value.dtype == "float32" else value.dtype)
        for name, value in inputs().items()
    }
    names = [name for name in named(call, given) if given[name].dtype == "float64"]
    for name in names:
        given[name].attach_grad()
    with autograd.record():
        total = weighted(eval(call, {"np": np, "npx": npx, **given}))
    total.backward()
    for name in names:
        values = given[name].asnumpy()
        expected = numpy.zeros(values.shape)
        for place in numpy.ndindex(values.shape):
            ends = []
            for shift in (1e-5, -1e-5):
                moved = values.copy()
                moved[place] += shift
                known = {"np": np, "npx": npx, **given, name: np.array(moved, dtype="float64")}
                ends.append(weighted(eval(call, known)).item())
            expected[place] = (ends[0] - ends[1]) / 2e-5
        found = given[name].grad.asnumpy()
        numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
