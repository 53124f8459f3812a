"""What a user keeps of blocks with memory of their own is never overwritten by later calls."""

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.engine import use_engine
from gluonish.gluon import nn, rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray.ndarray import NDArray

pytestmark = pytest.mark.slow

CALLS = 400
THREADS = 6
TIMEOUT_S = 90
ENGINES = ("NaiveEngine", "ThreadedEnginePerDevice")
FLAGS = {
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
}
Array = np.ndarray[Any, Any]
WEIGHT_OUTPUT = 6  # that of `Passing` that is the parameter's own array


class Passing(HybridBlock):
    """Gives its input and its parameter on, as they are, as views, and computed."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(6, in_units=6, flatten=False)
        self.weight = self.params.get("weight", shape=(6,))

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        y = self.dense(x)
        halves = F.split(y, num_outputs=2, axis=1)
        reshaped = F.reshape(y, shape=(-1, 3))
        return [x, y, reshaped, *halves, F.identity(x), weight, weight * 2, F.zeros_like(weight), y]


class Residual(HybridBlock):
    """Computes in place where it can: sums, activations, normalization, softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(6, in_units=6, activation="relu", flatten=False)
        self.norm = nn.LayerNorm(in_channels=6)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.norm(x + self.first(x))
        return [F.softmax(y), F.tanh(y + 1) * 2, y]


def convolutional() -> HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, padding=1, in_channels=2), nn.BatchNorm(in_channels=4))
    net.add(nn.Activation("relu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(5))
    return net


NETWORKS: dict[str, tuple[Callable[[], HybridBlock], tuple[int, ...]]] = {
    "passing": (Passing, (6,)),
    "residual": (Residual, (6,)),
    "convolutional": (convolutional, (2, 8, 8)),
    "lstm": (lambda: rnn.LSTM(6, layout="NTC", input_size=4), (5, 4)),
}


def _listed(made: Any) -> list[NDArray]:
    return list(made) if isinstance(made, list | tuple) else [made]


class Player:
    """A block, one that computes the same imperatively, and what was kept of the former.

    Args:
        name: Of the network.
        flags: What it is hybridized with.
    """

    def __init__(self, name: str, flags: dict[str, bool]) -> None:
        self.make, self.shape = NETWORKS[name]
        self.plain = self.make()
        self.plain.initialize(mx.init.Normal(0.5))
        self.plain(nd.zeros((2, *self.shape)))
        self.block = self.make()
        self.block.initialize()
        self.block(nd.zeros((2, *self.shape)))
        theirs = self.plain._collect_params_with_prefix()
        for key, parameter in self.block._collect_params_with_prefix().items():
            parameter.set_data(theirs[key].data())
        self.block.hybridize(**flags)

    def drawn(self, draws: random.Random) -> Array:
        """Draw an input of one of a few batch sizes."""
        batch = draws.choice([1, 2, 2, 3, 5])
        generator = np.random.default_rng(draws.getrandbits(32))
        return generator.standard_normal((batch, *self.shape)).astype(np.float32)

    def expected(self, values: Array, record: bool) -> tuple[list[Array], Array]:
        """Return copies of the outputs and of the gradient of the input."""
        outputs, gradient = self._run(self.plain, values, record)
        if record:
            outputs[-1].backward()
        return [y.asnumpy().copy() for y in outputs], gradient.asnumpy().copy()

    def called(self, values: Array, record: bool) -> tuple[list[NDArray], NDArray]:
        """Return the outputs, when recorded a loss behind them, and where the gradient will be."""
        return self._run(self.block, values, record)

    def _run(
        self, block: HybridBlock, values: Array, record: bool
    ) -> tuple[list[NDArray], NDArray]:
        x = nd.array(values)
        x.attach_grad()
        if not record:
            return _listed(block(x)), x.grad
        with autograd.record(train_mode=False):
            outputs = _listed(block(x))
            return [*outputs, nd.add_n(*[(y * y).sum() for y in outputs])], x.grad


class Kept:
    """What a user keeps, in one of many forms, and what it must hold for ever."""

    FORMS: Sequence[Callable[[NDArray], Any]] = (
        lambda y: y,
        lambda y: y,
        lambda y: y[0:1],
        lambda y: y.reshape((-1,)),
        lambda y: y.detach(),
        lambda y: y.asnumpy(),
        lambda y: np.from_dlpack(y),
        lambda y: y.as_in_context(mx.cpu()),
        lambda y: [y, y.detach()[0]][1],
    )

    def __init__(self, draws: random.Random) -> None:
        self._draws = draws
        self._kept: list[tuple[Callable[[Any], Any], Any, Array]] = []
        self.count = 0

    def keep(self, outputs: list[NDArray], expected: list[Array]) -> None:
        """Keep some outputs; drop some that were kept before."""
        for y, want in zip(outputs, expected, strict=True):
            form = self._draws.choice(self.FORMS)
            if self._draws.random() < 0.6:
                with autograd.pause():
                    self._kept.append((form, form(y), want))
        while len(self._kept) > 60:
            self._check(self._kept.pop(self._draws.randrange(len(self._kept))))

    def check(self) -> None:
        for entry in self._kept:
            self._check(entry)

    def _check(self, entry: tuple[Callable[[Any], Any], Any, Array]) -> None:
        form, kept, want = entry
        found = kept.asnumpy() if isinstance(kept, NDArray) else np.asarray(kept)
        wanted = form(nd.array(want))
        shown = wanted.asnumpy() if isinstance(wanted, NDArray) else np.asarray(wanted)
        np.testing.assert_allclose(found, shown, rtol=1e-4, atol=1e-5)
        self.count += 1


def play(players: list[Player], draws: random.Random, record: bool) -> int:
    """Call the blocks in a random order; return how many kept arrays were looked at."""
    kept = Kept(draws)
    unfinished: list[tuple[NDArray, NDArray, Array]] = []
    gradients: list[tuple[NDArray, Array]] = []
    for _ in range(CALLS):
        player = draws.choice(players)
        values = player.drawn(draws)
        wanted, gradient = player.expected(values, record)
        outputs, into = player.called(values, record)
        kept.keep(outputs, wanted)
        if record:
            unfinished.append((outputs[-1], into, gradient))
            draws.shuffle(unfinished)
        while len(unfinished) > draws.randrange(6):
            loss, into, gradient = unfinished.pop()
            if draws.random() < 0.8:  # the rest never has a backward pass
                loss.backward()
                gradients.append((into, gradient))
        del outputs
    kept.check()
    for into, gradient in gradients:
        np.testing.assert_allclose(into.asnumpy(), gradient, rtol=1e-3, atol=1e-4)
    return kept.count + len(gradients)


@pytest.mark.parametrize("record", [False, True], ids=["inference", "recorded"])
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_stay_over_later_calls(
    name: str, engine: str, flags: str, record: bool, record_property: Callable[[str, object], None]
) -> None:
    with use_engine(engine):
        looked_at = play([Player(name, FLAGS[flags])], random.Random(name), record)
    record_property("kept", looked_at)
    assert looked_at > CALLS / 2


@pytest.mark.parametrize("record", [False, True], ids=["inference", "recorded"])
@pytest.mark.parametrize("flags", FLAGS)
def test_outputs_of_several_blocks_stay(
    flags: str, record: bool, record_property: Callable[[str, object], None]
) -> None:
    players = [Player(name, FLAGS[flags]) for name in [*NETWORKS, *NETWORKS]]
    looked_at = play(players, random.Random(5), record)
    record_property("kept", looked_at)
    assert looked_at > CALLS / 2


@pytest.mark.parametrize("record", [False, True], ids=["inference", "recorded"])
def test_outputs_of_threads_that_share_blocks_stay(
    record: bool, record_property: Callable[[str, object], None]
) -> None:
    players = [Player(name, FLAGS["static_alloc"]) for name in NETWORKS]
    for player in players:  # gradients of parameters would be written by all threads at once
        for block in (player.block, player.plain):
            block.collect_params().setattr("grad_req", "null")
    begin = Barrier(THREADS, timeout=TIMEOUT_S)

    def job(number: int) -> int:
        begin.wait()
        return play(players, random.Random(number), record)

    with ThreadPoolExecutor(THREADS) as pool:
        looked_at = sum(pool.map(job, range(THREADS), timeout=TIMEOUT_S))
    record_property("kept", looked_at)
    assert looked_at > THREADS * CALLS / 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_written_into_an_output_reaches_no_other_call(name: str, engine: str) -> None:
    draws = random.Random(name)
    with use_engine(engine):
        player = Player(name, FLAGS["static_shape"])
        kept = Kept(draws)
        for _ in range(CALLS):
            values = player.drawn(draws)
            wanted, _ = player.expected(values, record=False)
            outputs, _ = player.called(values, record=False)
            kept.keep([y.copy() for y in outputs], wanted)
            for number, y in enumerate(outputs):
                if number != WEIGHT_OUTPUT:
                    y[:] = float("nan")
        kept.check()


@pytest.mark.parametrize("flags", FLAGS)
def test_output_that_is_the_next_input_stays(flags: str) -> None:
    player = Player("residual", FLAGS[flags])
    x = nd.array(np.random.default_rng(0).standard_normal((3, 6)).astype(np.float32))
    y, states, wanted = x, [], []
    for _ in range(CALLS):
        y = player.block(y)[1]
        x = player.plain(x)[1]
        states.append(y)
        wanted.append(x)
    for found, want in zip(states, wanted, strict=True):
        np.testing.assert_allclose(found.asnumpy(), want.asnumpy(), rtol=1e-2, atol=1e-3)
