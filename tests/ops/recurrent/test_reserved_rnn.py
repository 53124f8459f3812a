"""_reserved_rnn is RNN, whatever its reserve holds beside the mask of dropout."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.ops.recurrent.layout import dims_of
from gluonish.ops.recurrent.reserved_rnn import RESERVED_RNN, mask_size
from gluonish.ops.recurrent.rnn import RNN
from gluonish.ops.registry import apply
from tests.ops.recurrent.test_fused_rnn import CASES, call

MORE = 17  # elements of a reserve behind the mask


def _arrays(given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    front, parts, attrs = call(given)
    flat = np.concatenate([part.reshape(-1) for part in parts])
    arrays = [front[0], flat, *front[1:]]
    return arrays, RESERVED_RNN.schema.parse("_reserved_rnn", attrs)


def _run(given: dict[str, Any], name: str, reserve: int | None = None) -> list[Any]:
    """Return outputs and gradients."""
    arrays, attrs = _arrays(given)
    placed = [mx.nd.array(x, dtype=x.dtype) for x in arrays]
    for x in placed:
        if x.dtype == np.float32:
            x.attach_grad()
    own = {k: v for k, v in attrs.items() if k != "reserve" or name == "_reserved_rnn"}
    if reserve is not None:
        own["reserve"] = reserve
    mx.random.seed(3)
    with mx.autograd.record(train_mode=reserve != 0):
        op = RESERVED_RNN if name == "_reserved_rnn" else RNN
        found = apply(op, tuple(placed), own)
        found = found if isinstance(found, list) else [found]
        loss = sum((y * y).sum() for y in found)
    loss.backward()
    return [x.asnumpy() for x in (*found, *(x.grad for x in placed if x.dtype == np.float32))]


@pytest.mark.parametrize("given", CASES, ids=str)
def test_results_are_those_of_rnn(given: dict[str, Any]) -> None:
    arrays, attrs = _arrays(given)
    size = mask_size(dims_of(arrays[0].shape, attrs))
    for got, want in zip(
        _run(given, "_reserved_rnn", size + MORE), _run(given, "RNN"), strict=True
    ):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("given", [case for case in CASES if "p" not in case], ids=str)
def test_gradient_needs_no_reserve(given: dict[str, Any]) -> None:
    for got, want in zip(_run(given, "_reserved_rnn", 0), _run(given, "RNN"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_hidden_output_has_the_size_that_was_asked_for() -> None:
    arrays, attrs = _arrays(CASES[2])
    specs = [Spec(x.shape, x.dtype) for x in arrays]
    assert RESERVED_RNN.infer(*specs, **{**attrs, "reserve": 5})[-1] == Spec((5,), FLOAT32)
