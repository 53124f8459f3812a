"""_fused_rnn is RNN on separate parameters, with all its gradients."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.recurrent.fused_rnn import param_shapes
from gluonish.ops.recurrent.layout import dims_of
from gluonish.ops.recurrent.rnn import RNN
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

CASES: tuple[dict[str, Any], ...] = (
    {"mode": "lstm", "num_layers": 2, "p": 0.4},
    {"mode": "lstm", "num_layers": 1, "bidirectional": True, "projection_size": 2},
    {"mode": "gru", "num_layers": 2, "bidirectional": True},
    {"mode": "gru", "num_layers": 1, "use_sequence_length": True},
    {"mode": "rnn_tanh", "num_layers": 3, "state_outputs": False},
)


def call(given: dict[str, Any]) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Arrays in front of the parameters, the parameters, and the attributes."""
    attrs = {"state_size": 3, "state_outputs": True, **given}
    dims = dims_of((4, 2, 5), RNN.schema.parse("RNN", attrs))
    random = np.random.default_rng(9)

    def normal(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.6).astype(np.float32)

    runs = dims.layers * dims.directions
    front = [normal(4, 2, 5), normal(runs, 2, dims.width)]
    if dims.mode == "lstm":
        front.append(normal(runs, 2, 3))
    if attrs.get("use_sequence_length"):
        front.append(np.array([4, 2], np.int32))
    return front, [normal(*shape) for shape in param_shapes(dims)], attrs


@pytest.mark.parametrize("given", CASES, ids=str)
def test_results_are_those_of_the_joined_parameters(given: dict[str, Any]) -> None:
    front, parts, attrs = call(given)
    flat = np.concatenate([part.reshape(-1) for part in parts])
    want = run_operator("RNN", front[0], flat, *front[1:], **attrs)
    wrt = [i for i, x in enumerate((*front, *parts)) if x.dtype == np.float32]
    check_operator("_fused_rnn", [*front, *parts], attrs, want, wrt=wrt, half_tolerance=3e-2)


def test_parameters_of_other_shapes_are_refused() -> None:
    front, parts, attrs = call(CASES[2])
    parts[0] = parts[0].T.copy()
    with pytest.raises(OperatorError, match=r"_fused_rnn: expected parameters float32\(9, 5\)"):
        run_operator("_fused_rnn", *front, *parts, **attrs)
