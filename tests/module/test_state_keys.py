"""States of a Module go on on other devices, with and without a store, as without a break."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.svrg_optimization.svrg_module import SVRGModule
from gluonish.core.errors import FileFormatError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.lr_scheduler import CosineScheduler, FactorScheduler
from gluonish.module.state_keys import devices_of, keyed
from gluonish.optimizer.states import dump_states, load_states, pack_state

# Sums of exact numbers do not depend on how a batch is divided.
X = np.random.default_rng(0).integers(-8, 9, (6, 4, 3)) / 8
WEIGHTS = {
    "fc_weight": np.random.default_rng(1).standard_normal((2, 3)),
    "fc_bias": np.array([0.5, -0.5]),
}
WAYS: list[tuple[int, str | None]] = [(1, "local"), (2, "local"), (2, "device"), (1, None)]


def made(
    devices: int, kvstore: str | None, weights: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    kind, more = options.pop("kind", mx.mod.Module), {}
    if kind is SVRGModule:
        more["update_freq"] = 2
    contexts = [mx.cpu(i) for i in range(devices)]
    module = kind(mx.sym.MakeLoss(out), label_names=None, context=contexts, **more)
    module.bind([("data", (4, 3))])
    module.init_params()
    arrays = {name: mx.nd.array(x) for name, x in (weights or WEIGHTS).items()}
    module.set_params(arrays, {})
    optimizer, schedule = options.pop("optimizer", "adam"), options.pop("schedule", None)
    settings: dict[str, Any] = {"rescale_grad": 1.0, "learning_rate": 0.1} | options
    if schedule is not None:
        settings["lr_scheduler"] = schedule()
    module.init_optimizer(kvstore, optimizer, settings)
    return module


def go(module: Any, steps: Sequence[int]) -> Any:
    for step in steps:
        module.forward_backward(mx.io.DataBatch([mx.nd.array(X[step])], []))
        module.update()
    return module


def weights_of(module: Any) -> dict[str, Any]:
    return {name: x.asnumpy() for name, x in module.get_params()[0].items()}


def check_resumed(path: Path, first: Any, second: Any, **options: Any) -> None:
    whole = go(made(1, "local", **options), range(6))
    before = go(made(*first, **options), range(3))
    before.save_optimizer_states(path / "a.states")
    after = made(second[0], second[1], weights_of(before), **options)
    after.load_optimizer_states(path / "a.states")
    assert after._optimizer.num_update == 3
    go(after, range(3, 6))
    assert after._optimizer.num_update == 6
    for name, on_devices in zip(after._param_names, after._exec_group.param_arrays, strict=True):
        for array in on_devices:
            np.testing.assert_array_equal(array.asnumpy(), weights_of(whole)[name])


@pytest.mark.parametrize(("first", "second"), list(product(WAYS, WAYS)))
def test_adam_goes_on_as_without_a_break(tmp_path: Path, first: Any, second: Any) -> None:
    check_resumed(tmp_path, first, second)


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": "nadam"},
        {"optimizer": "lars", "momentum": 0.9, "schedule": lambda: FactorScheduler(2, 0.5)},
        {"optimizer": "lbsgd", "momentum": 0.9, "batch_scale": 2},
        {"optimizer": "sgd", "schedule": lambda: FactorScheduler(2, 0.5)},
        {"optimizer": "sgd", "schedule": lambda: CosineScheduler(3, 0.1, 0.01)},
        {"kind": SVRGModule},
    ],
)
def test_what_optimizers_keep_beside_states_goes_on(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    for first, second in (WAYS[:2], WAYS[1::-1], (WAYS[1], WAYS[3])):
        check_resumed(tmp_path, first, second, **options)


@pytest.mark.parametrize("devices", [(2, 1), (1, 2), (2, 3), (4, 2)])
@pytest.mark.parametrize("mxnet", [False, True])
def test_states_of_more_or_fewer_devices_without_a_store_are_those_of_their_weights(
    tmp_path: Path, devices: tuple[int, int], mxnet: bool
) -> None:
    """MXNet's files do not tell how many devices their numbers are of; shapes do."""
    before, after = made(devices[0], None), made(devices[1], None)
    go(before, range(2))
    states = before._updater.states
    if mxnet:
        packed = {key: pack_state(state) for key, state in states.items()}
        (tmp_path / "a.states").write_bytes(dump_states(packed))
    else:
        before.save_optimizer_states(tmp_path / "a.states")
    after.load_optimizer_states(tmp_path / "a.states")
    go(after, [2])
    after.load_optimizer_states(tmp_path / "a.states")
    for weight, device in product(range(2), range(devices[1])):
        same = device if device < devices[0] else 0
        found = after._updater.states.adopted[weight * devices[1] + device]
        for x, y in zip(found, states[weight * devices[0] + same], strict=True):
            np.testing.assert_array_equal(x.asnumpy(), y.asnumpy())
    assert after._optimizer.num_update == (1 if mxnet else 2)


def test_after_a_load_states_have_the_keys_of_the_file_and_ours(tmp_path: Path) -> None:
    stored, alone = go(made(2, "local"), [0]), go(made(1, None), [0])
    stored.save_optimizer_states(tmp_path / "named.states")
    alone.save_optimizer_states(tmp_path / "numbered.states")
    stored.load_optimizer_states(tmp_path / "numbered.states")
    states = stored._kvstore._updater.states
    assert list(states) == [0, 1]
    assert states["fc_weight"] is states[0]
    alone.load_optimizer_states(tmp_path / "named.states")
    states = alone._updater.states
    assert sorted(states) == ["fc_bias", "fc_weight"]
    assert states[0] is states["fc_weight"]
    go(alone, [1])
    assert sorted(alone._updater.states) == [0, 1]


def test_a_bucket_goes_on_with_the_states_of_all(tmp_path: Path) -> None:
    def network(key: int) -> Any:
        out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        return mx.sym.MakeLoss(out * key), ("data",), None

    def bucketing(devices: int) -> Any:
        contexts = [mx.cpu(i) for i in range(devices)]
        module = mx.mod.BucketingModule(network, default_bucket_key=2, context=contexts)
        module.bind([mx.io.DataDesc("data", (4, 3))])
        module.init_params(mx.init.One())
        module.init_optimizer(None if devices > 1 else "local", "adam")
        return module

    before, after = bucketing(2), bucketing(1)
    for module in (before, after):
        for key in (2, 1):
            described = [mx.io.DataDesc("data", (4, 3))]
            batch = mx.io.DataBatch([mx.nd.ones((4, 3))], [], bucket_key=key)
            batch.provide_data, batch.provide_label = described, None
            module.forward_backward(batch)
            module.update()
        if module is before:
            module._curr_module.save_optimizer_states(str(tmp_path / "a.states"))
            after._curr_module.load_optimizer_states(str(tmp_path / "a.states"))
    assert after._curr_module._optimizer._index_update_count == {0: 4, 1: 4}


def test_under_the_name_mxnet_counts_begin_anew(tmp_path: Path) -> None:
    """Programs for MXNet shorten their schedules by the epochs that were done."""
    path = tmp_path / "a.states"
    before, after = go(made(1, "local"), range(3)), made(1, "local")
    follow_mxnet()
    try:
        before.save_optimizer_states(path)
        assert load_states(path.read_bytes()).progress is None
        follow_mxnet(False)
        before.save_optimizer_states(path)
        follow_mxnet()
        after.load_optimizer_states(path)
    finally:
        follow_mxnet(False)
    assert after._optimizer.num_update == 0
    assert set(after._updater.states) == {0, 1}


def test_states_of_a_module_are_read_without_a_module(tmp_path: Path) -> None:
    go(made(1, "local"), [0]).save_optimizer_states(tmp_path / "a.states")
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    updater.set_states((tmp_path / "a.states").read_bytes())
    assert sorted(updater.states) == [0, 1]


@pytest.mark.parametrize(
    "progress",
    [{}, 3, {"weights": {}}, {"num_update": 1, "devices": 1, "weights": {0: {"count": "x"}}}],
)
def test_counts_that_are_none_are_refused(progress: Any) -> None:
    data = dump_states({"gluonish.progress": progress})
    with pytest.raises(FileFormatError, match="expected counts of updates, got"):
        load_states(data)


def test_numbers_tell_the_devices_by_shapes_and_by_who_is_trained() -> None:
    names, x, y = ["a", "b", "c", "d"], mx.nd.ones(2), mx.nd.ones(3)
    four = dict.fromkeys(range(4), x)
    assert devices_of(four, names, 1, {}) == 1
    assert devices_of(four, names, 2, {}) == 2
    assert devices_of(four, names, 1, dict.fromkeys(names, (2,))) == 1
    assert devices_of(four, names, 1, {"a": (2,), "b": (2,), "c": None, "d": None}) == 2
    assert devices_of({0: x, 1: x, 2: y, 3: y}, names, 1, {"a": (2,), "b": (3,)}) == 2
    assert devices_of({0: (x, y)}, names, 3, {"a": (2,)}) == 1
    assert devices_of({"a": x}, names, 3, {}) == 3
    assert devices_of({40: x}, names, 3, {}) == 3


def test_keys_that_are_no_weights_stay() -> None:
    assert keyed({0: 1, "a": 2, "z": 3, 9: 4}, ["b"], 1, None, lambda x: x) == {
        "b": 1,
        "a": 2,
        "z": 3,
        9: 4,
    }
