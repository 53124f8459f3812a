"""Trainer: one device and several, with and without updates in the store, states, errors."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.autograd import backward as run_backward
from gluonish.autograd import record
from gluonish.core.config import MXNET_UPDATE_ON_KVSTORE
from gluonish.core.context import Context, cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeferredInitializationError,
    FileFormatError,
    NotSupportedError,
    ParameterError,
)
from gluonish.gluon.parameter import Parameter, ParameterDict, register_path
from gluonish.gluon.trainer import StaleGradientError, Trainer
from gluonish.initializer import Constant
from gluonish.kvstore import KVStore, KVStoreBase
from gluonish.lr_scheduler import FactorScheduler
from gluonish.ndarray import NDArray, array
from gluonish.optimizer import SGD, Adam

ONE = [cpu(0)]
TWO = [cpu(0), cpu(1)]


def parameters(contexts: list[Context], **shapes: Any) -> ParameterDict:
    made = ParameterDict()
    for name, shape in (shapes or {"w": (2, 3), "b": (2,)}).items():
        made.get(name, shape=shape, init=Constant(0.5), allow_deferred_init=True)
    made.initialize(ctx=contexts)
    return made


def backward(params: ParameterDict, batches: list[np.ndarray], names: str = "wb") -> None:
    """Leave gradients of sum((x w + b)^2); ``names`` says what the loss depends on."""
    for context, batch in zip(params["w"].list_ctx(), batches, strict=False):
        x = array(batch, ctx=context)
        with record():
            w, b = params["w"].data(context), params["b"].data(context)
            scaled = x * w.sum(axis=0) if "w" in names else x
            y = scaled.sum(axis=1, keepdims=True)
            z = y + b.reshape((1, 2)) if "b" in names else y
            loss = (z * z).sum()
        run_backward([loss])


def batches(count: int, split: int = 1) -> list[list[np.ndarray]]:
    rng = np.random.default_rng(7)
    return [np.split(rng.uniform(-1, 1, (4, 3)).astype("float32"), split) for _ in range(count)]


def train(contexts: list[Context], steps: int = 3, **kwargs: Any) -> dict[str, np.ndarray]:
    params = parameters(contexts)
    arguments = {"optimizer": "sgd", "optimizer_params": {"learning_rate": 0.05, "momentum": 0.9}}
    trainer = Trainer(params, **{**arguments, **kwargs})
    for parts in batches(steps, len(contexts)):
        backward(params, parts)
        trainer.step(4)
    for param in params.values():
        first, *others = [x.asnumpy() for x in param.list_data()]
        for other in others:
            np.testing.assert_array_equal(first, other)
    return {name: param.data(contexts[0]).asnumpy() for name, param in params.items()}


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "nag"])
@pytest.mark.parametrize("kvstore", ["device", "local"])
@pytest.mark.parametrize("update_on_kvstore", [True, False])
def test_two_devices_equal_one(optimizer: str, kvstore: str, update_on_kvstore: bool) -> None:
    kwargs = {"optimizer": optimizer, "optimizer_params": {"learning_rate": 0.05, "wd": 0.01}}
    one = train(ONE, **kwargs)
    two = train(TWO, kvstore=kvstore, update_on_kvstore=update_on_kvstore, **kwargs)
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, rtol=1e-5, atol=1e-6)


def test_runs_repeat_exactly() -> None:
    first, second = train(TWO), train(TWO)
    for name, value in first.items():
        np.testing.assert_array_equal(second[name], value)


def test_step_divides_by_the_batch_size() -> None:
    params = parameters(ONE, w=(1,))
    trainer = Trainer(params, "sgd", {"learning_rate": 1.0, "rescale_grad": 2.0})
    with record():
        loss = params["w"].data() * 8.0
    run_backward([loss])
    trainer.step(4)
    assert trainer.optimizer.rescale_grad == 0.5
    assert params["w"].data().asnumpy()[0] == 0.5 - 4.0


def test_parameters_of_a_dict_are_sorted_by_name() -> None:
    params = parameters(ONE, z=(1,), a=(2,), m=(3,))
    names = [param.name for param in Trainer(params, "sgd")._params]
    assert names == ["a", "m", "z"]
    assert [p.name for p in Trainer(dict(params.items()), "sgd")._params] == names
    assert [p.name for p in Trainer(list(params.values()), "sgd")._params] == ["z", "a", "m"]


def test_parameters_with_one_name_are_kept_apart() -> None:
    same = [Parameter("w", shape=(1,)), Parameter("w", shape=(1,))]
    for param in same:
        param.initialize(Constant(1.0))
    trainer = Trainer(same, "sgd", {"learning_rate": 1.0})
    with record():
        loss = same[0].data() * 2.0 + same[1].data() * 3.0
    run_backward([loss])
    trainer.step(1)
    assert [p.data().asnumpy()[0] for p in same] == [-1.0, -2.0]


def test_states_skip_parameters_without_gradient() -> None:
    params = parameters(ONE)
    params["b"].grad_req = "null"
    trainer = Trainer(params, "sgd", {"momentum": 0.9})
    (parts,) = batches(1)
    backward(params, parts)
    trainer.step(1)
    assert set(trainer._updaters[0].states) == {1}
    assert params["b"].data().asnumpy().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_parameters_bring_their_multipliers(contexts: list[Context]) -> None:
    params = parameters(contexts)
    params["w"].lr_mult = 0.0
    trainer = Trainer(params, "sgd", {"learning_rate": 0.5})
    (parts,) = batches(1, len(contexts))
    backward(params, parts)
    trainer.step(1)
    assert (params["w"].data(cpu(0)).asnumpy() == 0.5).all()
    assert (params["b"].data(cpu(0)).asnumpy() != 0.5).all()


@pytest.mark.parametrize(
    ("contexts", "kvstore", "update", "made", "updates"),
    [
        (ONE, "device", None, None, None),
        (ONE, "nccl", None, None, None),
        (ONE, None, None, None, None),
        (ONE, "device", True, "device", True),
        (TWO, "device", None, "device", True),
        (TWO, "local", False, "local", False),
        (TWO, None, None, None, None),
    ],
)
def test_store_is_made_where_it_is_needed(
    contexts: list[Context],
    kvstore: str | None,
    update: bool | None,
    made: str | None,
    updates: bool | None,
) -> None:
    params = parameters(contexts)
    trainer = Trainer(params, "sgd", kvstore=kvstore, update_on_kvstore=update)
    assert not trainer._kv_initialized
    (parts,) = batches(1, len(contexts))
    backward(params, parts)
    trainer.step(1)
    assert (trainer._kvstore.type if trainer._kvstore else None) == made
    assert trainer._update_on_kvstore is updates


def test_environment_decides_where_the_caller_does_not() -> None:
    params = parameters(TWO)
    trainer = Trainer(params, "sgd")
    with MXNET_UPDATE_ON_KVSTORE.override(False):
        trainer.allreduce_grads()
    assert trainer._update_on_kvstore is False


def test_store_may_be_given() -> None:
    store = KVStore("local")
    params = parameters(ONE)
    trainer = Trainer(params, "sgd", kvstore=store)
    (parts,) = batches(1)
    backward(params, parts)
    trainer.step(1)
    assert trainer._kvstore is store
    assert trainer._update_on_kvstore
    assert set(store._stored) == {0, 1}


def test_two_trainers_do_not_share_keys() -> None:
    first, second = train(TWO, steps=1), train(TWO, steps=1)
    np.testing.assert_array_equal(first["w"], second["w"])


class Recording(KVStoreBase):
    """A store that adds up and cannot update."""

    type, rank, num_workers = "recording", 0, 1  # type: ignore[assignment]

    def __init__(self) -> None:
        self.calls: list[Any] = []

    @staticmethod
    def is_capable(capability: str) -> bool:
        return False

    def broadcast(self, key: Any, value: NDArray, out: list[NDArray], priority: int = 0) -> None:
        self.calls.append(("broadcast", key, priority))

    def pushpull(self, key: Any, value: list[NDArray], out: Any = None, priority: int = 0) -> None:
        self.calls.append(("pushpull", key, priority))
        total = sum(x.as_in_context(cpu(0)) for x in value)
        for target in value if out is None else out:
            total.copyto(target)


def test_store_of_ones_own_adds_up() -> None:
    store = Recording()
    own = train(TWO, steps=1, kvstore=store)
    assert store.calls == [
        ("broadcast", 0, 0),
        ("broadcast", 1, 0),
        ("pushpull", 0, 0),
        ("pushpull", 1, -1),
    ]
    np.testing.assert_allclose(own["w"], train(ONE, steps=1)["w"], rtol=1e-5)


def test_store_that_cannot_update_is_not_asked_to() -> None:
    trainer = Trainer(parameters(ONE), "sgd", kvstore=Recording(), update_on_kvstore=True)
    with pytest.raises(ArgumentError, match="require, got Recording"):
        trainer.allreduce_grads()


def test_update_on_no_store_is_refused() -> None:
    trainer = Trainer(parameters(ONE), "sgd", kvstore=None, update_on_kvstore=True)
    with pytest.raises(ArgumentError, match="require, got none"):
        trainer.allreduce_grads()


def test_missing_store_is_refused_when_it_is_needed() -> None:
    with pytest.raises(NotSupportedError, match="horovod"):
        Trainer(parameters(TWO), "sgd", kvstore="horovod").allreduce_grads()


def test_what_is_no_store_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="kvstore or its name, got float"):
        Trainer(parameters(ONE), "sgd", kvstore=1.0).allreduce_grads()  # type: ignore[arg-type]


def test_compression_reaches_the_store() -> None:
    params = parameters(TWO)
    trainer = Trainer(params, "sgd", compression_params={"type": "2bit", "threshold": 0.25})
    (parts,) = batches(1, 2)
    backward(params, parts)
    trainer.step(1)
    moved = (0.5 - params["b"].data(cpu(0)).asnumpy()) / 0.01
    np.testing.assert_allclose(moved, [0.5, 0.5], rtol=1e-4)


def test_values_set_by_hand_reach_the_store() -> None:
    params = parameters(TWO)
    trainer = Trainer(params, "sgd", {"learning_rate": 0.0})
    for _ in range(2):
        (parts,) = batches(1, 2)
        backward(params, parts)
        trainer.step(1)
        params["w"].set_data(array(np.full((2, 3), 9.0)))
    backward(params, parts)
    trainer.step(1)
    for context in TWO:
        assert (params["w"].data(context).asnumpy() == 9.0).all()


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_allreduce_and_update_are_a_step(contexts: list[Context]) -> None:
    params = parameters(contexts)
    trainer = Trainer(params, "sgd", {"learning_rate": 0.05}, update_on_kvstore=False)
    (parts,) = batches(1, len(contexts))
    backward(params, parts)
    trainer.allreduce_grads()
    sums = [g.asnumpy() for g in params["w"].list_grad()]
    np.testing.assert_array_equal(sums[0], sums[-1])
    trainer.update(4)
    expected = 0.5 - 0.05 * sums[0] / 4
    np.testing.assert_allclose(params["w"].data(cpu(0)).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("call", ["allreduce_grads", "update"])
def test_halves_of_a_step_are_refused_with_update_on_kvstore(call: str) -> None:
    trainer = Trainer(parameters(TWO), "sgd")
    with pytest.raises(ArgumentError, match=f"{call}: .*update_on_kvstore=False"):
        getattr(trainer, call)(*([1] if call == "update" else []))


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_stale_gradient_is_refused_and_nothing_is_updated(contexts: list[Context]) -> None:
    params = parameters(contexts)
    trainer = Trainer(params, "sgd")
    (parts,) = batches(1, len(contexts))
    backward(params, parts, names="b")
    with pytest.raises(StaleGradientError, match=r"Parameter w on cpu\(0\).*ignore_stale_grad"):
        trainer.step(1)
    assert (params["b"].data(cpu(0)).asnumpy() == 0.5).all()
    with pytest.raises(UserWarning):
        trainer.step(1)


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_gradient_is_stale_after_its_step(contexts: list[Context]) -> None:
    params = parameters(contexts)
    trainer = Trainer(params, "sgd")
    (parts,) = batches(1, len(contexts))
    backward(params, parts)
    trainer.step(1)
    with pytest.raises(StaleGradientError):
        trainer.step(1)


@pytest.mark.parametrize("contexts", [ONE, TWO])
@pytest.mark.parametrize("update", [None, False])
def test_stale_parameters_can_be_skipped(contexts: list[Context], update: bool | None) -> None:
    params = parameters(contexts)
    trainer = Trainer(params, "sgd", {"learning_rate": 0.1, "wd": 0.5}, update_on_kvstore=update)
    (parts,) = batches(1, len(contexts))
    backward(params, parts, names="b")
    trainer.step(1, ignore_stale_grad=True)
    assert (params["w"].data(cpu(0)).asnumpy() == 0.5).all()
    assert (params["b"].data(cpu(0)).asnumpy() != 0.5).all()


@pytest.mark.parametrize("update", [True, False])
def test_gradient_of_one_device_updates_all(update: bool) -> None:
    params = parameters(TWO)
    trainer = Trainer(params, "sgd", {"learning_rate": 0.1}, update_on_kvstore=update)
    for (part,) in batches(2):
        backward(params, [part])
        trainer.step(1, ignore_stale_grad=True)
    alone = parameters(ONE)
    single = Trainer(alone, "sgd", {"learning_rate": 0.1})
    for (part,) in batches(2):
        backward(alone, [part])
        single.step(1)
    for context in TWO:
        for name in "wb":
            np.testing.assert_allclose(
                params[name].data(context).asnumpy(), alone[name].data().asnumpy(), rtol=1e-6
            )


@pytest.mark.parametrize("size", [0, -1, math.nan])
def test_batch_size_that_is_not_positive_is_refused(size: float) -> None:
    with pytest.raises(ArgumentError, match=r"Trainer\.step: expected batch_size above 0, got"):
        Trainer(parameters(ONE), "sgd").step(size)


@pytest.mark.parametrize("method", ["step", "update"])
def test_batch_size_that_is_no_number_is_refused(method: str) -> None:
    trainer = Trainer(parameters(ONE), "sgd")
    wanted = rf"Trainer\.{method}: expected batch_size to be a number, got 'a'"
    with pytest.raises(ArgumentTypeError, match=wanted):
        getattr(trainer, method)("a")


def test_wrong_optimizer_argument_is_refused_with_the_nearest() -> None:
    with pytest.raises(ArgumentError, match=r"SGD: .*'learning_rte'.*nearest: 'learning_rate'"):
        Trainer(parameters(ONE), "sgd", {"learning_rte": 1})


def test_learning_rate_can_be_set() -> None:
    trainer = Trainer(parameters(ONE), "sgd", {"learning_rate": 0.5})
    trainer.set_learning_rate(0.25)
    assert trainer.learning_rate == trainer.optimizer.learning_rate == 0.25


def test_learning_rate_of_a_scheduler_cannot_be_set() -> None:
    scheduler = FactorScheduler(1, 0.5, base_lr=0.5)
    trainer = Trainer(parameters(ONE), "sgd", {"lr_scheduler": scheduler})
    assert trainer.learning_rate == 0.5
    with pytest.raises(UserWarning, match="base_lr"):
        trainer.set_learning_rate(1.0)


def test_learning_rate_set_between_steps_reaches_the_store() -> None:
    params = parameters(TWO)
    trainer = Trainer(params, "sgd", {"learning_rate": 0.1})
    (parts,) = batches(1, 2)
    backward(params, parts)
    trainer.step(1)
    before = params["w"].data(cpu(0)).asnumpy()
    trainer.set_learning_rate(0.0)
    backward(params, parts)
    trainer.step(1)
    np.testing.assert_array_equal(params["w"].data(cpu(0)).asnumpy(), before)


def test_optimizer_may_be_given() -> None:
    optimizer = Adam()
    params = parameters(ONE)
    assert Trainer(params, optimizer).optimizer is optimizer
    assert optimizer.param_dict == {0: params["b"], 1: params["w"]}
    with pytest.raises(ArgumentError, match="optimizer_params=None, as optimizer is"):
        Trainer(params, optimizer, {"learning_rate": 1.0})


def test_optimizer_of_the_wrong_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'sgdd'"):
        Trainer(parameters(ONE), "sgdd")


@pytest.mark.parametrize("params", [None, [1, 2], {"a": 3}, "w"])
def test_what_are_no_parameters_is_refused(params: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="Parameters"):
        Trainer(params, "sgd")


def test_parameters_on_different_devices_are_refused() -> None:
    params = [parameters(ONE, a=(1,))["a"], parameters(TWO, b=(1,))["b"]]
    with pytest.raises(ArgumentError, match=r"on \[cpu\(0\)\], got b on \[cpu\(0\), cpu\(1\)\]"):
        Trainer(params, "sgd")


def test_uninitialized_parameter_is_refused() -> None:
    with pytest.raises(ParameterError, match="Parameter a"):
        Trainer([Parameter("a", shape=(1,))], "sgd")


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_deferred_parameter_joins_when_it_is_there(contexts: list[Context]) -> None:
    params = parameters(contexts, w=(2, 0), b=(2,))
    trainer = Trainer(params, "sgd")
    with pytest.raises(DeferredInitializationError):
        trainer.step(1)
    params["w"].shape = (2, 3)
    params["w"]._finish_deferred_init()
    (parts,) = batches(1, len(contexts))
    backward(params, parts)
    trainer.step(1)
    assert (params["w"].data(cpu(0)).asnumpy() != 0.5).any()


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("contexts", [ONE, TWO])
@pytest.mark.parametrize("update", [None, False])
def test_training_goes_on_after_states_are_loaded(
    optimizer: str, contexts: list[Context], update: bool | None, tmp_path: Path
) -> None:
    settings = {"learning_rate": 0.05, **({"momentum": 0.9} if optimizer == "sgd" else {})}
    params = parameters(contexts)
    trainer = Trainer(params, optimizer, settings, update_on_kvstore=update)
    parts = batches(4, len(contexts))
    for part in parts[:2]:
        backward(params, part)
        trainer.step(4)
    trainer.save_states(tmp_path / "t.states")
    other_params = parameters(contexts)
    for name, param in params.items():
        other_params[name].set_data(param.data(cpu(0)))
    other = Trainer(other_params, optimizer, update_on_kvstore=update)
    other.load_states(tmp_path / "t.states")
    assert other.learning_rate == 0.05
    for part in parts[2:]:
        for each, owner in ((params, trainer), (other_params, other)):
            backward(each, part)
            owner.step(4)
    for name, param in params.items():
        for context in contexts:
            np.testing.assert_array_equal(
                other_params[name].data(context).asnumpy(), param.data(context).asnumpy()
            )


def test_states_pass_between_one_device_and_two(tmp_path: Path) -> None:
    params = parameters(ONE)
    trainer = Trainer(params, "adam")
    (parts,) = batches(1)
    backward(params, parts)
    trainer.step(4)
    trainer.save_states(str(tmp_path / "t.states"))
    two = Trainer(parameters(TWO), "sgd")
    two.load_states(str(tmp_path / "t.states"))
    assert type(two.optimizer) is Adam
    assert two.optimizer.num_update == 1
    assert set(two.optimizer.param_dict) == {0, 1}


def test_broken_states_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.states").write_bytes(b"nonsense")
    optimizer = SGD()
    trainer = Trainer(parameters(ONE), optimizer)
    with pytest.raises(FileFormatError):
        trainer.load_states(tmp_path / "t.states")
    assert trainer.optimizer is optimizer


def test_states_of_deferred_parameters_are_refused_with_update_on_kvstore(tmp_path: Path) -> None:
    trainer = Trainer(parameters(TWO, w=(2, 0)), "sgd")
    with pytest.raises(DeferredInitializationError):
        trainer.save_states(tmp_path / "t.states")
    assert not list(tmp_path.iterdir())


def test_unknown_kvstore_is_refused_where_one_is_needed() -> None:
    """One device needs none, and MXNet does not look at its name then."""
    for contexts in ([cpu(0)], [cpu(0), cpu(1)]):
        parameter = Parameter("w", shape=(2,))
        parameter.initialize(ctx=contexts)
        trainer = Trainer([parameter], "sgd", {"learning_rate": 1.0}, kvstore="foo")
        with record():
            losses = [(w * 2).sum() for w in parameter.list_data()]
        run_backward(losses)
        if len(contexts) > 1:
            with pytest.raises(ArgumentError, match=r"expected one of .*device, local.*got 'foo'"):
                trainer.step(1)
        else:
            before = parameter.data().asnumpy()
            trainer.step(1)
            np.testing.assert_allclose(parameter.data().asnumpy(), before - 2)


def gradients_of(params: ParameterDict, factor: float) -> None:
    losses = []
    with record():
        for context in params["w"].list_ctx():
            losses.append((params["w"].data(context) * factor).sum())
    run_backward(losses)


@pytest.mark.parametrize("contexts", [ONE, TWO])
@pytest.mark.parametrize("update", [None, False])
def test_two_trainers_of_one_network_take_turns(
    contexts: list[Context], update: bool | None
) -> None:
    params = parameters(contexts, w=(2,))
    first = Trainer(params, "sgd", {"learning_rate": 1.0}, update_on_kvstore=update)
    second = Trainer(params, "sgd", {"learning_rate": 0.1}, update_on_kvstore=update)
    expected = 0.5
    for trainer in (first, second, second, first, second):
        gradients_of(params, 2.0)
        trainer.step(len(contexts))
        expected -= 2.0 * trainer.learning_rate
        for array_ in params["w"].list_data():
            np.testing.assert_allclose(array_.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("update", [None, False])
def test_networks_with_equal_names_train_apart(update: bool | None) -> None:
    networks = [parameters(TWO, w=(2,)) for _ in range(2)]
    trainers = [
        Trainer(params, "sgd", {"learning_rate": 1.0}, update_on_kvstore=update)
        for params in networks
    ]
    for factor, params, trainer in zip((2.0, 3.0), networks, trainers, strict=True):
        gradients_of(params, factor)
        trainer.step(2)
    assert [float(p["w"].data(cpu(1)).asnumpy()[0]) for p in networks] == [-1.5, -2.5]


def test_trainers_may_share_a_store_that_only_adds_up() -> None:
    store = KVStore("device")
    networks = [parameters(TWO), parameters(TWO)]
    trainers = [Trainer(p, "sgd", kvstore=store, update_on_kvstore=False) for p in networks]
    for params, trainer in zip(networks, trainers, strict=True):
        (parts,) = batches(1, 2)
        backward(params, parts)
        trainer.step(4)
    assert set(store._stored) == {0, 1, 2, 3}
    expected = train(TWO, steps=1, optimizer_params=None, update_on_kvstore=False)
    for params in networks:
        np.testing.assert_array_equal(params["w"].data(cpu(0)).asnumpy(), expected["w"])


def test_store_that_updates_serves_one_trainer() -> None:
    store = KVStore("device")
    Trainer(parameters(TWO), "sgd", kvstore=store)._prepare()
    with pytest.raises(ArgumentError, match="store that no other Trainer uses"):
        Trainer(parameters(TWO), "sgd", kvstore=store)._prepare()


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_values_of_a_new_initialize_are_trained(contexts: list[Context]) -> None:
    params = parameters(contexts, w=(2,))
    trainer = Trainer(params, "sgd", {"learning_rate": 1.0})
    gradients_of(params, 1.0)
    trainer.step(len(contexts))
    params.initialize(Constant(0.0), ctx=contexts, force_reinit=True)
    params["w"].set_data(array([7.0, 8.0]))
    gradients_of(params, 1.0)
    trainer.step(len(contexts))
    assert params["w"].data(cpu(0)).asnumpy().tolist() == [6.0, 7.0]


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_dtype_may_change_between_steps(contexts: list[Context]) -> None:
    params = parameters(contexts, w=(2,))
    trainer = Trainer(params, "sgd", {"learning_rate": 1.0})
    for dtype in ("float32", "float64"):
        params["w"].cast(dtype)
        gradients_of(params, 1.0)
        trainer.step(len(contexts))
    assert params["w"].data(cpu(0)).asnumpy().tolist() == [-1.5, -1.5]
    assert params["w"].data(cpu(0)).dtype is np.float64


@pytest.mark.parametrize("update", [None, False])
def test_gradients_add_up_over_passes(update: bool | None) -> None:
    params = parameters(TWO, w=(2,))
    params.setattr("grad_req", "add")
    trainer = Trainer(params, "sgd", {"learning_rate": 1.0}, update_on_kvstore=update)
    for _ in range(2):
        for _ in range(3):
            gradients_of(params, 1.0)
        trainer.step(6)
        params.zero_grad()
    assert params["w"].data(cpu(1)).asnumpy().tolist() == [-1.5, -1.5]


def test_stale_parameter_is_told_with_its_path() -> None:
    params = parameters(ONE)
    owner, net = Owner(), Owner()
    register_path(owner, net, "output")
    register_path(params["w"], owner, "weight")
    trainer = Trainer(params, "sgd")
    (parts,) = batches(1)
    backward(params, parts, names="b")
    with pytest.raises(StaleGradientError, match=r"w \(output\.weight\) on cpu\(0\).*'null'"):
        trainer.step(1)


class Owner:
    """Stands for a Block."""


class Scaler:
    """Finds what is not finite, as `contrib.amp` does."""

    def has_overflow(
        self, params: Sequence[Parameter], any_of: Callable[[bool], bool] = bool
    ) -> bool:
        grads = [g.asnumpy() for p in params if p.grad_req != "null" for g in p.list_grad()]
        return any_of(not all(np.isfinite(g).all() for g in grads))


@pytest.mark.parametrize("contexts", [ONE, TWO])
@pytest.mark.parametrize("update", [None, False])
def test_step_with_overflow_is_skipped(contexts: list[Context], update: bool | None) -> None:
    params = parameters(contexts, w=(2,))
    trainer = Trainer(params, "adam", {"learning_rate": 1.0}, update_on_kvstore=update)
    assert trainer._amp_loss_scaler is None
    trainer._amp_loss_scaler = Scaler()
    gradients_of(params, math.inf)
    trainer.step(1)
    assert params["w"].data(cpu(0)).asnumpy().tolist() == [0.5, 0.5]
    assert trainer.optimizer.num_update == 0
    with pytest.raises(StaleGradientError):
        trainer.step(1)
    gradients_of(params, 1.0)
    trainer.step(1)
    assert trainer.optimizer.num_update == 1


@pytest.mark.parametrize("contexts", [ONE, TWO])
def test_gradients_are_multiplied_by_the_scale(contexts: list[Context]) -> None:
    params = parameters(contexts, w=(2,))
    trainer = Trainer(params, "sgd", {"learning_rate": 1.0})
    trainer._amp_original_scale = trainer._scale
    trainer._scale = trainer._amp_original_scale / 1024
    gradients_of(params, 1024.0)
    trainer.step(len(contexts))
    assert params["w"].data(cpu(0)).asnumpy().tolist() == [-0.5, -0.5]


@pytest.mark.parametrize("name", ["sgd", "adam", "sgld"])
def test_without_a_store_a_device_without_a_new_gradient_is_left_alone(name: str) -> None:
    params = parameters(TWO, used=(2,), half=(2,))
    trainer = Trainer(params, name, {"learning_rate": 0.5}, kvstore=None)
    used, half = params["used"], params["half"]
    for halves in (half.list_data(), [half.data(cpu(0))]):
        before = [data.asnumpy() for data in half.list_data()]
        with record():
            losses = [data.sum() for data in (*used.list_data(), *halves)]
        run_backward(losses)
        trainer.step(1, ignore_stale_grad=True)
    first, second = (data.asnumpy() for data in half.list_data())
    assert (first != before[0]).all()
    assert (second == before[1]).all()
    assert trainer.optimizer._all_index_update_counts[1] == {0: 1, 1: 2}  # "half" first


def test_subclass_may_add_up_in_its_own_way() -> None:
    class Doubling(Trainer):
        def _allreduce_grads(self) -> None:
            for param in self._params:
                for gradient in param.list_grad():
                    gradient *= 2

    params = parameters(ONE, w=(2,))
    trainer = Doubling(params, "sgd", {"learning_rate": 1.0}, kvstore=None)
    gradients_of(params, 1.0)
    trainer.step(1)
    assert params["w"].data().asnumpy().tolist() == [-1.5, -1.5]


def test_store_is_out_of_sight_from_values_set_by_hand_to_the_next_step() -> None:
    params = parameters(TWO)
    trainer = Trainer(params, "sgd", {"learning_rate": 0.5, "momentum": 0.5})
    assert (trainer._kv_initialized, trainer._distributed) == (False, None)
    for _ in range(2):
        (parts,) = batches(1, 2)
        backward(params, parts)
        trainer.step(1)
        assert (trainer._kvstore is not None, trainer._distributed) == (True, False)
    expected = trainer._kvstore
    params["w"].set_data(array(np.full((2, 3), 9.0)))
    shown = trainer._kvstore, trainer._kv_initialized, trainer._update_on_kvstore
    assert shown == (None, False, None)
    assert trainer._distributed is None
    trainer.set_learning_rate(0.0)
    backward(params, parts)
    trainer.step(1)
    assert trainer._kvstore is expected  # and so are the states in it
    assert trainer._update_on_kvstore
    assert trainer._param2idx == {name: i for i, name in enumerate(sorted(params))}
