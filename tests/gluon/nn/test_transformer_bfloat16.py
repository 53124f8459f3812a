"""The encoder layer in bfloat16 is as exact as PyTorch's (golden file with PyTorch's errors)."""

from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon import nn
from tests.gluon.nn.test_transformer_golden import our_name

with np.load(Path(__file__).parents[2] / "golden" / "transformer_bfloat16.npz") as stored:
    GOLDEN = dict(stored)
UNITS, HIDDEN, HEADS = 64, 128, 4
CASES = sorted(name.split("/")[0] for name in GOLDEN if name.endswith("error/out"))
WEIGHTS = [name.removeprefix("p/") for name in GOLDEN if name.startswith("p/")]
_MOST = 1.5  # of PyTorch's error


def _array(name: str, dtype: str) -> Any:
    exact = GOLDEN[name].view(ml_dtypes.bfloat16).astype(np.float32)
    return mx.nd.array(exact).astype(dtype)


def _results(case: str, dtype: str, hybridized: bool) -> dict[str, np.ndarray[Any, Any]]:
    """Return the result and all gradients, by PyTorch's names."""
    order, activation = case.split()
    options: dict[str, Any] = {"activation": activation, "norm_first": order == "pre"}
    net = nn.TransformerEncoderLayer(UNITS, HIDDEN, HEADS, 0.0, **options)
    net.initialize()
    net.cast(dtype)
    net.hybridize(hybridized)
    x = _array("x", dtype)
    net(x)
    parameters = net._collect_params_with_prefix()
    ours = {name: parameters[our_name("encoder", name)] for name in WEIGHTS}
    for name, parameter in ours.items():
        parameter.set_data(_array(f"p/{name}", dtype))
    x.attach_grad()
    with mx.autograd.record():
        out = net(x)
    out.backward(_array("heads", dtype))
    found = {"out": out, "x": x.grad, **{name: p.grad() for name, p in ours.items()}}
    return {name: value.asnumpy().astype(np.float64) for name, value in found.items()}


@cache
def _exact(case: str) -> dict[str, np.ndarray[Any, Any]]:
    return _results(case, "float64", False)


def test_errors_of_all_gradients_are_known() -> None:
    for case in CASES:
        assert _exact(case).keys() == {"out", "x", *WEIGHTS}
        np.testing.assert_allclose(_exact(case)["out"], GOLDEN[f"{case}/out"], rtol=0, atol=1e-6)


def _errors(case: str, hybridized: bool) -> dict[str, float]:
    """Return our errors divided by PyTorch's."""
    found, errors = _results(case, "bfloat16", hybridized), {}
    for name, exact in _exact(case).items():
        own = np.sqrt(((found[name] - exact) ** 2).mean() / (exact**2).mean())
        errors[name] = float(own / GOLDEN[f"{case}/error/{name}"])
    return errors


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_bfloat16_is_as_exact_as_in_pytorch(case: str, hybridized: bool) -> None:
    errors = _errors(case, hybridized)
    large = {name: errors[name] for name in errors if _exact(case)[name].ndim > 1}
    assert max(large.values()) <= _MOST, large


@pytest.mark.parametrize("hybridized", [False, True])
def test_gradients_of_vectors_are_as_exact_as_in_pytorch(hybridized: bool) -> None:
    # Over all cases: of 64 numbers in one case, the error of either side is more or less by half
    # for other roundings elsewhere (it varies by a tenth to a fifth over seeds).
    every = [_errors(case, hybridized) for case in CASES]
    vectors = [name for name in every[0] if _exact(CASES[0])[name].ndim == 1]
    means = {name: np.sqrt(np.mean([found[name] ** 2 for found in every])) for name in vectors}
    assert max(means.values()) <= _MOST, means
