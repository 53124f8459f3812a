"""What all cells share: states, steps, unrolling, and blocks that unroll them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish import autograd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon import rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib import rnn as contrib
from gluonish.ndarray import NDArray, array

T, N, C = 4, 2, 3


def sample(dtype: str = "float32") -> NDArray:
    values = np.random.default_rng(0).standard_normal((N, T, C))
    return array(values, dtype=dtype)


def fill(name: str, values: NDArray) -> None:
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = array(wave * 0.4)


def filled(block: Any) -> Any:
    for parameter in block.collect_params().values():
        parameter.initialize(init=fill)
    return block


def stack() -> Any:
    cells = rnn.HybridSequentialRNNCell()
    cells.add(rnn.GRUCell(3))
    cells.add(rnn.DropoutCell(0.3))
    cells.add(rnn.ResidualCell(rnn.LSTMCell(3)))
    backward = rnn.ZoneoutCell(rnn.GRUCell(2), 0.2, 0.2)
    cells.add(rnn.BidirectionalCell(rnn.RNNCell(2), backward))
    cells.add(contrib.VariationalDropoutCell(rnn.LSTMCell(3), 0.1, 0.1, 0.1))
    cells.add(contrib.VariationalDropoutCell(rnn.LSTMCell(3), 0.1, 0, 0.1))
    return cells


CELLS: dict[str, Callable[[], Any]] = {
    "rnn": lambda: rnn.RNNCell(3),
    "lstm": lambda: rnn.LSTMCell(3),
    "gru": lambda: rnn.GRUCell(3),
    "lstmp": lambda: contrib.LSTMPCell(4, 3),
    "stack": stack,
}


class First(HybridBlock):
    """Unrolls a cell, in the style of 1.x."""

    def __init__(self, cell: Callable[[], Any]) -> None:
        super().__init__()
        with self.name_scope():
            self.cell = cell()

    def hybrid_forward(self, F: Any, x: Any, lengths: Any = None) -> Any:
        output, states = self.cell.unroll(T, x, merge_outputs=True, valid_length=lengths)
        return [output, *states]


class Second(HybridBlock):
    """Unrolls a cell, in the style of 2.0."""

    def __init__(self, cell: Callable[[], Any]) -> None:
        super().__init__()
        self.cell = cell()

    def forward(self, x: Any, *args: Any) -> Any:
        lengths = args[0] if args else None
        output, states = self.cell.unroll(T, x, merge_outputs=True, valid_length=lengths)
        return [output, *states]


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("numpy", [False, True])
@pytest.mark.parametrize("kind", [First, Second])
@pytest.mark.parametrize("name", CELLS)
def test_traced_unrolling_equals_the_imperative_one(
    name: str, kind: Any, numpy: bool, ragged: bool
) -> None:
    """In both styles, with arrays of both kinds."""
    found = []
    runs: list[Any] = [(First, False), (kind, False), (kind, True)]
    for net, hybridize in runs:
        block = filled(net(CELLS[name]))
        block.hybridize(active=hybridize)
        x, lengths = sample(), array([3, 2])
        if numpy and net is kind:
            x, lengths = x.as_np_ndarray(), lengths.as_np_ndarray()
        x.attach_grad()
        outputs: Any = ()
        for _ in range(2):
            with autograd.record(train_mode=False):
                outputs = block(x, lengths) if ragged else block(x)
                loss = (outputs[0] * outputs[0]).sum()
            loss.backward(train_mode=False)
        assert {type(y) for y in outputs} == {type(x)}
        arrays: list[Any] = [*outputs, x.grad]
        found.append([y.asnumpy() for y in arrays])
    for results in found[1:]:
        for a, b in zip(results, found[0], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru", "lstmp"])
def test_steps_of_a_hybridized_cell_are_those_of_an_unrolling(name: str) -> None:
    cell, x = filled(CELLS[name]()), sample()
    want, last = cell.unroll(T, x, merge_outputs=True)
    cell.hybridize()
    states = cell.begin_state(N)
    for t in range(T):
        output, states = cell(x[:, t], states)
        np.testing.assert_allclose(output.asnumpy(), want[:, t].asnumpy(), atol=1e-6)
    for a, b in zip(states, last, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("kind", [None, First, Second])
def test_cast_cells_unroll_in_their_dtype(dtype: str, kind: Any) -> None:
    cell: Any = filled(rnn.LSTMCell(3, input_size=C) if kind is None else kind(CELLS["lstm"]))
    cell.cast(dtype)
    if kind is None:
        output, states = cell.unroll(T, sample(dtype))
        assert {np.dtype(y.dtype) for y in (*output, *states)} == {np.dtype(dtype)}
        return
    cell.hybridize()
    assert {np.dtype(y.dtype) for y in cell(sample(dtype))} == {np.dtype(dtype)}


@pytest.mark.parametrize(
    ("given", "merge", "ragged", "kind"),
    [
        ("array", None, False, list),
        ("array", None, True, NDArray),
        ("list", None, False, list),
        ("list", None, True, NDArray),
        *((given, True, ragged, NDArray) for given in ("array", "list") for ragged in (0, 1)),
        *((given, False, ragged, list) for given in ("array", "list") for ragged in (0, 1)),
    ],
)
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("name", CELLS)
def test_outputs_are_merged_as_asked(
    name: str, layout: str, given: str, merge: bool | None, ragged: bool, kind: type
) -> None:
    cell = filled(CELLS[name]())
    if name == "stack" and merge is None and not ragged:
        kind = NDArray  # what a cell that drops as a whole gives
    x = sample() if layout == "NTC" else sample().swapaxes(0, 1)
    inputs = [sample()[:, t] for t in range(T)] if given == "list" else x
    lengths = array([T, 1]) if ragged else None
    output: Any = cell.unroll(T, inputs, None, layout, merge, lengths)[0]
    assert issubclass(type(output), kind)
    if isinstance(output, NDArray):
        assert output.shape == (*((N, T) if layout == "NTC" else (T, N)), 3)
    else:
        assert [y.shape for y in output] == [(N, 3)] * T


def test_one_step_is_a_sequence_too() -> None:
    cell = filled(rnn.GRUCell(3))
    output, _ = cell.unroll(1, sample()[:, :1])
    want, _ = cell(sample()[:, 0], cell.begin_state(N))
    np.testing.assert_array_equal(output[0].asnumpy(), want.asnumpy())


def test_gradients_do_not_come_from_behind_the_end() -> None:
    cell, x = filled(rnn.LSTMCell(3)), sample()
    x.attach_grad()
    with autograd.record():
        output, states = cell.unroll(T, x, merge_outputs=True, valid_length=array([2, 4]))
        loss = output.sum() + sum(s.sum() for s in states)
    loss.backward()
    gradient = x.grad.asnumpy()  # type: ignore[union-attr]  # it is attached
    assert not gradient[0, 2:].any()
    assert (gradient[0, :2] != 0).all()


def test_states_have_names_and_take_arguments() -> None:
    cell = rnn.LSTMCell(3, prefix="a_")
    assert [s.name for s in cell.begin_state(func=sym.zeros)] == [
        "a_begin_state_0",
        "a_begin_state_1",
    ]
    assert cell.begin_state(func=sym.zeros)[0].name == "a_begin_state_2"
    cell.reset()
    assert cell.begin_state(func=sym.zeros)[0].name == "a_begin_state_0"
    ones = cell.begin_state(2, func=nd.ones, dtype="float64")
    assert [(s.shape, s.dtype, s.sum().asscalar()) for s in ones] == [((2, 3), np.float64, 6)] * 2


def test_states_are_numpy_arrays_where_those_are_meant() -> None:
    with mx.util.np_array(True):
        assert type(rnn.GRUCell(3).begin_state(2)[0]) is mx.np.ndarray
        assert type(rnn.GRU(3).begin_state(2)[0]) is mx.np.ndarray
    assert type(rnn.GRUCell(3).begin_state(2)[0]) is NDArray


class Sum(rnn.RecurrentCell):
    """A cell of the user's own, in plain Python."""

    def state_info(self, batch_size: int = 0) -> Any:
        return [{"shape": (batch_size, C), "__layout__": "NC"}]

    def forward(self, inputs: Any, states: Any) -> Any:
        return inputs + states[0], [inputs + states[0]]


class Scale(rnn.HybridRecurrentCell):
    """A cell of the user's own in the style of 1.x."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = self.params.get("scale", shape=(C,), init="one")

    def state_info(self, batch_size: int = 0) -> Any:
        return [{"shape": (batch_size, C), "__layout__": "NC"}]

    def hybrid_forward(self, F: Any, x: Any, states: Any, scale: Any) -> Any:
        total = F.broadcast_mul(x, scale) + states[0]
        return total, [total]


class Shift(rnn.HybridRecurrentCell):
    """A cell of the user's own in the style of 2.0."""

    def state_info(self, batch_size: int = 0) -> Any:
        return [{"shape": (batch_size, C), "__layout__": "NC"}]

    def forward(self, inputs: Any, states: Any) -> Any:
        return inputs + states[0], [inputs + states[0]]


@pytest.mark.parametrize("kind", [Sum, Scale, Shift])
def test_a_users_cell_is_unrolled(kind: Any) -> None:
    cell, x = kind(), sample()
    cell.initialize()
    for _ in range(2):
        output, states = cell.unroll(T, x, merge_outputs=True)
        np.testing.assert_allclose(output.asnumpy(), x.asnumpy().cumsum(1), atol=1e-5)
        np.testing.assert_array_equal(states[0].asnumpy(), output[:, -1].asnumpy())
        cell.hybridize()
    assert kind.__mro__[1].__name__.endswith("RecurrentCell")
    assert getattr(kind, "has_hybrid_forward", False) == (kind is Scale)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.unroll(3, sample()), r"expected inputs with 3 steps along axis 1, got shape"),
        (lambda c: c.unroll(3, [nd.ones((2, 3))] * 2), "expected a list of 3 steps, got one of 2"),
        (lambda c: c.unroll(T, sample(), layout="NC"), "expected a layout with T and N"),
        (lambda c: c.unroll(T, sym.Group([sym.var("a"), sym.var("b")])), "Symbol with one output"),
        (lambda c: c(nd.ones((2, 3)), []), "expected 1 states, got 0"),
        (lambda c: rnn.GRUCell(0)(sample(), []), "expected sizes of 1 or more, got hidden_size 0"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call(filled(rnn.GRUCell(3)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.unroll(3, 5), "expected inputs to be an array or a list of arrays, got int"),
        (
            lambda c: c(nd.ones((2, 3)), nd.ones((2, 3))),
            "expected a list of 1 states, got one array",
        ),
    ],
)
def test_what_is_something_else_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        call(filled(rnn.GRUCell(3)))


@pytest.mark.parametrize("kind", [rnn.RecurrentCell, rnn.HybridRecurrentCell])
def test_a_class_must_say_what_its_steps_and_states_are(kind: Any) -> None:
    with pytest.raises(NotSupportedError, match=r"defines state_info\(batch_size\)"):
        kind().begin_state(2)
    with pytest.raises(NotSupportedError, match="expected a class that defines"):
        kind()(nd.ones((2, 3)), [])


def test_parameters_begin_as_their_initializers_say() -> None:
    options: dict[str, Any] = {
        "i2h_weight_initializer": "one",
        "h2h_weight_initializer": mx.init.Constant(2),
    }
    cells = (rnn.RNNCell(2, input_size=3, **options), rnn.LSTMCell(2, input_size=3, **options))
    for cell in (*cells, rnn.GRUCell(2, input_size=3, **options, h2h_bias_initializer="ones")):
        cell.initialize()
        values = [p.data().asnumpy() for p in cell.collect_params().values()]
        assert [v.max() for v in values] == [1, 2, 0, isinstance(cell, rnn.GRUCell)]


def test_cells_share_parameters() -> None:
    one = rnn.LSTMCell(3, prefix="a_")
    two = rnn.LSTMCell(3, prefix="b_", params=one.params)
    assert list(two.collect_params().values()) == list(one.collect_params().values())
