"""Training that goes on from a file equals training without a break, bit for bit, on any devices.

Gradients are exact and divided by the number of devices, a power of two: their sum is the same.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon import Parameter, Trainer
from gluonish.lr_scheduler import CosineScheduler, FactorScheduler, MultiFactorScheduler
from gluonish.optimizer import SGD, Adam, Nadam, Optimizer, get_updater

SHAPES = [(2, 3), (3,), (4,)]
RANDOM = np.random.default_rng(0)
GRADIENTS = [[RANDOM.integers(-8, 9, s) / 8 for s in SHAPES] for _ in range(6)]
INITIAL = [RANDOM.standard_normal(s) for s in SHAPES]
# SGLD's noise is each device's own; Test counts nothing, and is no optimizer of a program's.
NAMES = sorted(
    set(Optimizer.opt_registry) - {"sgld", "test", "sometimes", "muon"}
)  # Muon refuses biases
SETTINGS: dict[str, dict[str, Any]] = {
    name: {"momentum": 0.9} for name in ("sgd", "nag", "signum", "lars", "dcasgd")
} | {"lbsgd": {"momentum": 0.9, "batch_scale": 2}}
MOVES = [((2, 3), (0, 1)), ((3, 1), (0, 1)), ((5,), (0, 1)), ((0, 1), (3,)), ((0, 1), (4, 0, 5, 1))]

Devices = Sequence[int]


class Run:
    """Parameters on some devices, and their trainer."""

    def __init__(self, devices: Devices, weights: Sequence[Any], **options: Any) -> None:
        self.devices, self.parameters = [mx.cpu(i) for i in devices], []
        for i, values in enumerate(weights):
            parameter = Parameter(f"p{i}_weight", shape=values.shape, dtype=options["dtype"])
            parameter.initialize(ctx=self.devices)
            parameter.set_data(mx.nd.array(values, dtype=options["dtype"]))
            self.parameters.append(parameter)
        optimizer, settings = options["optimizer"], dict(options["settings"])
        if options["scheduler"] is not None:
            settings["lr_scheduler"] = options["scheduler"]()
            settings["learning_rate"] = 0.1
        self.trainer = Trainer(
            self.parameters, optimizer, settings, options["kvstore"], None, options["update"]
        )

    def go(self, steps: Iterable[int], without: Sequence[int] = ()) -> None:
        """Take steps; the second parameter has no gradient in some of them."""
        for step in steps:
            losses = []
            with mx.autograd.record():
                for device in self.devices:
                    for i, parameter in enumerate(self.parameters):
                        if i != 1 or step not in without:
                            slope = GRADIENTS[step][i] / len(self.devices)
                            x = mx.nd.array(slope, device, parameter.dtype)
                            losses.append((parameter.data(device) * x).sum())
            mx.autograd.backward(losses)
            self.trainer.step(1, ignore_stale_grad=True)

    def weights(self, device: Any) -> list[Any]:
        return [parameter.data(device).asnumpy() for parameter in self.parameters]


def check_resumed(
    path: Path,
    optimizer: str,
    move: tuple[Devices, Devices],
    kvstore: str | None,
    update: bool | None,
    scheduler: Callable[[], Any] | None = None,
    dtype: str = "float32",
    without: Sequence[int] = (),
    **settings: Any,
) -> None:
    options: dict[str, Any] = {
        "optimizer": optimizer,
        "settings": SETTINGS.get(optimizer, {}) | settings,
        "kvstore": kvstore,
        "update": update,
        "scheduler": scheduler,
        "dtype": dtype,
    }
    whole = Run([0], INITIAL, **options | {"update": None})
    whole.go(range(6), without)
    before = Run(move[0], INITIAL, **options)
    before.go(range(3), without)
    before.trainer.save_states(path / "a.states")
    after = Run(move[1], before.weights(before.devices[0]), **options)
    after.trainer.load_states(path / "a.states")
    assert after.trainer.optimizer.num_update == 3
    counts = after.trainer.optimizer._index_update_count
    assert counts == {0: 3, 1: 3 - sum(step < 3 for step in without), 2: 3}
    after.go(range(3, 6), without)
    assert after.trainer.learning_rate == whole.trainer.learning_rate
    for device in after.devices:
        for found, expected in zip(after.weights(device), whole.weights(mx.cpu(0)), strict=True):
            np.testing.assert_array_equal(found, expected, f"{move} {kvstore} {update} {device}")


@pytest.mark.parametrize("optimizer", NAMES)
def test_every_optimizer_goes_on_with_its_counts_on_other_devices(
    tmp_path: Path, optimizer: str
) -> None:
    for update in (True, False):
        for move in MOVES[::2]:
            schedule = lambda: FactorScheduler(2, 0.5, base_lr=0.1)  # noqa: E731
            check_resumed(tmp_path, optimizer, move, "device", update, schedule)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("update", [True, False, None])
@pytest.mark.parametrize("optimizer", ["adam", "nadam"])
def test_stores_of_all_kinds_go_on(
    tmp_path: Path, optimizer: str, update: bool | None, move: tuple[Devices, Devices]
) -> None:
    for kvstore in ("device", "local"):
        check_resumed(tmp_path, optimizer, move, kvstore, update)


@pytest.mark.parametrize("move", [((5,), (0,)), ((0,), (7,))])
def test_without_a_store_one_device_goes_on_on_another(
    tmp_path: Path, move: tuple[Devices, Devices]
) -> None:
    for optimizer in ("adam", "nadam", "lars", "lbsgd"):
        check_resumed(tmp_path, optimizer, move, None, None)


@pytest.mark.parametrize(
    "scheduler",
    [
        lambda: MultiFactorScheduler([2, 4], 0.5, base_lr=0.1),
        lambda: CosineScheduler(5, 0.1, warmup_steps=2),
        lambda: lambda count: 0.1 / (1 + count),
    ],
)
@pytest.mark.parametrize("optimizer", ["adam", "lars", "lbsgd"])
def test_schedules_go_on(tmp_path: Path, optimizer: str, scheduler: Callable[[], Any]) -> None:
    for update in (True, False):
        check_resumed(tmp_path, optimizer, ((3, 1), (0, 1)), "device", update, scheduler)


@pytest.mark.parametrize("optimizer", ["adam", "nadam", "lars", "sgd"])
@pytest.mark.parametrize("update", [True, False])
def test_float32_copies_of_16_bit_weights_go_on(
    tmp_path: Path, optimizer: str, update: bool
) -> None:
    move = ((2, 3), (0, 1))
    check_resumed(
        tmp_path, optimizer, move, "device", update, dtype="float16", multi_precision=True
    )


@pytest.mark.parametrize("update", [True, False])
def test_a_weight_that_had_no_gradient_lately_goes_on_with_its_own_count_and_rate(
    tmp_path: Path, update: bool
) -> None:
    schedule = lambda: MultiFactorScheduler([1], 0.5, base_lr=0.1)  # noqa: E731
    for optimizer in ("lars", "adam"):
        check_resumed(
            tmp_path, optimizer, ((2, 3), (0, 1)), "device", update, schedule, without=(1, 2)
        )


@pytest.mark.parametrize("optimizer", ["lars", "lbsgd", "nadam"])
def test_two_devices_that_update_themselves_stay_equal_to_one(optimizer: str) -> None:
    options: dict[str, Any] = {
        "optimizer": optimizer,
        "settings": SETTINGS.get(optimizer, {}),
        "kvstore": "device",
        "update": False,
        "scheduler": lambda: lambda count: 0.1 / (1 + count),
        "dtype": "float32",
    }
    one, two = Run([0], INITIAL, **options), Run([0, 1], INITIAL, **options)
    for run in (one, two):
        run.go(range(5))
    for device in two.devices:
        for found, expected in zip(two.weights(device), one.weights(mx.cpu(0)), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_store_whose_weights_move_counts_on() -> None:
    """MXNet's stores keep a weight where it was first; here it goes to its gradients' device."""
    stay, move = mx.kv.create("device"), mx.kv.create("device")
    for store in (stay, move):
        store.init(0, mx.nd.ones(2))
        store.set_optimizer(Adam(learning_rate=0.1))
        for step in range(4):
            device = mx.cpu(step % 2 + 1 if store is move else 0)
            store.push(0, mx.nd.array([1.0, step], device))
    found = [mx.nd.zeros(2) for _ in range(2)]
    for store, out in zip((stay, move), found, strict=True):
        store.pull(0, out)
    np.testing.assert_array_equal(found[0].asnumpy(), found[1].asnumpy())


@pytest.mark.parametrize("kind", [Adam, Nadam, SGD])
def test_an_updater_on_another_device_counts_on(kind: type[Optimizer]) -> None:
    """The way of programs that have no Trainer."""
    first = get_updater(kind())
    for _ in range(3):
        first(0, mx.nd.ones(2, mx.cpu(4)), mx.nd.ones(2, mx.cpu(4)))
    second = get_updater(kind())
    second.set_states(first.get_states(dump_optimizer=True))
    for device in (mx.cpu(0), mx.cpu(6)):
        second.optimizer._set_current_context(device.device_id)
        assert second.optimizer._index_update_count == {0: 3}
    second(0, mx.nd.ones(2, mx.cpu(6)), mx.nd.ones(2, mx.cpu(6)))
    assert second.optimizer.num_update == 4
