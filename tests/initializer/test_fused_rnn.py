"""FusedRNN: which initializer fills which part of the packed vector."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import initializer as init
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer import FusedRNN, InitDesc
from gluonish.ndarray import NDArray


class Count(init.Initializer):
    """Fills the parts with 1, 2, 3, .. and remembers their names and shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[str, tuple[int, ...]]] = []

    def _init_weight(self, name: str, arr: NDArray) -> None:
        self.parts.append((str(name), arr.shape))
        arr[:] = len(self.parts)

    def _init_bias(self, name: str, arr: NDArray) -> None:
        self._init_weight(name, arr)


def filled(initializer: Any, size: int, name: str = "parameters_weight", **desc: Any) -> Any:
    values = nd.full((size,), -9)
    initializer(InitDesc(name, **desc), values)
    return values.asnumpy()


def test_parts_are_filled_gate_by_gate_weights_first() -> None:
    """The numbers that MXNet 1.9.1 gives, whose parts have these names in this order."""
    parts = Count()
    found = filled(FusedRNN(parts, 3, 1, "lstm", forget_bias=-1.0), 84)
    lengths = [6] * 4 + [9] * 4 + [3] * 8
    numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14]
    np.testing.assert_array_equal(found, np.repeat(numbers, lengths))
    words = ("i2h_i", "i2h_f", "i2h_c", "i2h_o", "h2h_i", "h2h_f", "h2h_c", "h2h_o")
    assert [name for name, _ in parts.parts] == [
        *(f"l0_{word}_weight" for word in words),
        *(f"l0_{word}_bias" for word in words if not word.endswith("f")),
    ]


def test_layers_and_directions_follow_each_other() -> None:
    parts = Count()
    found = filled(FusedRNN(parts, 3, 2, "rnn_tanh", bidirectional=True), 108)
    assert [name for name, _ in parts.parts[:5]] == [
        "l0_i2h_weight",
        "l0_h2h_weight",
        "r0_i2h_weight",
        "r0_h2h_weight",
        "l1_i2h_weight",
    ]
    assert [shape for _, shape in parts.parts[:5]] == [(3, 2), (3, 3), (3, 2), (3, 3), (3, 6)]
    assert [name for name, _ in parts.parts[-2:]] == ["r1_i2h_bias", "r1_h2h_bias"]
    np.testing.assert_array_equal(found[-6:], [15, 15, 15, 16, 16, 16])


def test_a_grus_gates_have_no_forget_bias() -> None:
    parts = Count()
    filled(FusedRNN(parts, 3, 1, "gru"), 63)
    assert [name for name, _ in parts.parts[:3]] == [
        "l0_i2h_r_weight",
        "l0_i2h_z_weight",
        "l0_i2h_o_weight",
    ]
    assert len(parts.parts) == 12


def test_without_an_initializer_the_whole_models_counts() -> None:
    found = filled(FusedRNN(None, 3, 1, "lstm"), 84, global_init=init.One())
    assert (found[:60] == 1).all()
    np.testing.assert_array_equal(found[60:], np.tile([0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0], 2))
    with pytest.raises(ArgumentError, match="an initializer for the slices of 'parameters_weight'"):
        filled(FusedRNN(None, 3, 1, "lstm"), 84)


def test_dumps_makes_an_equal_one() -> None:
    one = FusedRNN(init.Constant(0.5), 3, 2, "lstm", True, 2.0)
    assert one.dumps() == (
        '["fusedrnn", {"init": "[\\"constant\\", {\\"value\\": 0.5}]", "num_hidden": 3, '
        '"num_layers": 2, "mode": "lstm", "bidirectional": true, "forget_bias": 2.0}]'
    )
    assert init.create(one.dumps()) == one
    assert FusedRNN("one", 3, 1, "gru") == FusedRNN(init.One(), 3, 1, "gru")
    assert '"init": null' in FusedRNN(None, 3, 1, "lstm").dumps()


def test_a_variables_attribute_may_hold_it() -> None:
    attrs = {"__init__": FusedRNN(init.One(), 3, 1, "lstm", forget_bias=7.0).dumps()}
    values = nd.zeros((84,))
    init.Zero()(InitDesc("lstm_parameters", attrs), values)
    assert values.asnumpy().sum() == 60 + 6 * 7


@pytest.mark.parametrize("size", [7, 97, 60])
def test_other_lengths_are_refused(size: int) -> None:
    with pytest.raises(ArgumentError, match="a vector of 60 elements and 12 for each feature"):
        filled(FusedRNN("one", 3, 1, "lstm"), size)


def test_unknown_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected mode lstm, gru, rnn_tanh, rnn_relu, got 'x'"):
        FusedRNN("one", 3, 1, "x")
    with pytest.raises(ArgumentError, match="num_hidden and num_layers of 1 or more, got 0 and 1"):
        FusedRNN("one", 0, 1, "lstm")
    with pytest.raises(ArgumentTypeError, match="an Initializer, its name or None, got 5"):
        FusedRNN(5, 3, 1, "lstm")  # type: ignore[arg-type]
