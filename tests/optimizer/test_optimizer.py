"""Optimizers against weights that MXNet 1.9.1 trained, and what all optimizers share."""

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.lr_scheduler as lr_scheduler
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.ndarray import NDArray, array, zeros
from gluonish.ndarray.sparse import row_sparse_array
from gluonish.optimizer import SGD, Adam, Optimizer, create, get_updater, register

GOLDEN = Path(__file__).parents[1] / "golden" / "optimizer"
CASES = json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))
NAMES = {0: "a_weight", 1: "b_bias", 2: "c_gamma"}
ROWS = ([0, 2], [1], [2], [0, 3])


def inputs(seed: int, steps: int, shapes: list[tuple[int, ...]]) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(seed)
    weights = [rng.uniform(-1, 1, shape).astype("float32") for shape in shapes]
    return weights, [
        [rng.uniform(-2, 2, s).astype("float32") for s in shapes] for _ in range(steps)
    ]


def made(case: dict[str, Any]) -> Optimizer:
    arguments = dict(case["args"])
    if "scheduler" in case:
        told = case["scheduler"]
        arguments["lr_scheduler"] = getattr(lr_scheduler, told["class"])(**told["args"])
    optimizer = create(case["optimizer"], param_idx2name=NAMES, **arguments)
    optimizer.set_lr_mult(case.get("lr_mult", {}))
    optimizer.set_wd_mult(case.get("wd_mult", {}))
    return optimizer


# Rules that divide by small numbers magnify the last bits of float32.
LOOSE = {"ftml": 1e-5, "adadelta": 5e-6, "nadam": 5e-6, "ftrl": 5e-6, "lars": 5e-6, "lbsgd": 5e-6}


def check_history(case: dict[str, Any], name: str, shapes: list[Any]) -> None:
    half = case.get("dtype") == "float16"
    values, steps = inputs(0, 5, shapes)
    weights = [array(w, dtype=case.get("dtype", "float32")) for w in values]
    updater = get_updater(made(case))
    relative = LOOSE.get(case["optimizer"], 2e-6)
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if half else {"rtol": relative, "atol": relative / 4}
    with np.load(GOLDEN / "optimizer.npz") as wanted:
        for n, gradients in enumerate(steps):
            given = [array(g, dtype=weights[0].dtype) for g in gradients]
            updater(list(range(len(weights))), given, weights)
            for i, weight in enumerate(weights):
                np.testing.assert_allclose(
                    weight.asnumpy(), wanted[f"{name}/{i}"][n], **tolerance, err_msg=f"step {n}"
                )


@pytest.mark.parametrize("name", CASES["optimizers"])
def test_weights_are_mxnets_after_each_step(name: str) -> None:
    check_history(CASES["optimizers"][name], name, CASES["shapes"])


@pytest.mark.parametrize("name", CASES["embeddings"])
def test_rows_are_mxnets_after_each_step(name: str) -> None:
    check_history(CASES["embeddings"][name], name, [(3, 4), (5, 2)])


@pytest.mark.parametrize("name", CASES["sparse"])
def test_rows_that_a_sparse_gradient_moves_are_mxnets(name: str) -> None:
    case = CASES["sparse"][name]
    (values,), steps = inputs(2, len(ROWS), [(4, 2)])
    weight = array(values).tostype(case["stype"])
    updater = get_updater(made(case))
    with np.load(GOLDEN / "optimizer.npz") as wanted:
        for n, (rows, (grad,)) in enumerate(zip(ROWS, steps, strict=True)):
            updater(0, row_sparse_array((grad[rows], rows), shape=(4, 2)), weight)
            np.testing.assert_allclose(
                weight.asnumpy(),
                wanted[f"sparse/{name}"][n],
                rtol=5e-6,
                atol=1e-6,
                err_msg=f"step {n}",
            )


def test_names_that_are_no_weights_get_no_decay() -> None:
    optimizer = SGD(param_idx2name={0: "a_weight", 1: "b_bias", 2: "c_gamma", 3: "e"}, wd=0.5)
    assert optimizer._get_wds([0, 1, 2, 3]) == [0.5, 0.0, 0.5, 0.0]


def test_multipliers_go_by_index_and_by_name() -> None:
    optimizer = SGD(learning_rate=0.5, param_idx2name={0: "a_weight", 1: "b_bias"})
    optimizer.set_lr_mult({"a_weight": 2.0, 1: 3.0})
    assert optimizer._get_lrs([0, 1, 7]) == [1.0, 1.5, 0.5]
    assert optimizer._get_lr(1) == 1.5


def test_parameters_bring_their_own_multipliers() -> None:
    class Weight:
        lr_mult, wd_mult = 2.0, 4.0

    optimizer = SGD(learning_rate=0.5, wd=0.25, param_dict={0: Weight()})
    optimizer.set_lr_mult({0: 100.0})
    assert (optimizer._get_lr(0), optimizer._get_wd(0)) == (1.0, 1.0)


def test_symbol_brings_multipliers() -> None:
    class Net:
        def attr_dict(self) -> dict[str, dict[str, str]]:
            return {"w": {"__lr_mult__": "2.0", "__wd_mult__": "0.5"}}

        def list_arguments(self) -> list[str]:
            return ["x", "w"]

    optimizer = SGD(learning_rate=1.0, wd=1.0, sym=Net(), param_idx2name={0: "x", 1: "w"})
    assert optimizer._get_lrs([0, 1]) == [1.0, 2.0]
    assert optimizer._get_wds([0, 1]) == [0.0, 0.5]


def test_learning_rate_wins_over_the_scheduler(capsys: pytest.CaptureFixture[str]) -> None:
    scheduler = lr_scheduler.FactorScheduler(1, base_lr=0.5)
    assert SGD(learning_rate=0.25, lr_scheduler=scheduler).learning_rate == 0.25
    assert "0.5" in capsys.readouterr().out


def test_learning_rate_is_the_schedulers() -> None:
    optimizer = SGD(lr_scheduler=lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.5))
    optimizer.num_update = 3
    assert optimizer.learning_rate == 0.125


def test_set_learning_rate_with_a_scheduler_is_refused() -> None:
    optimizer = SGD(lr_scheduler=lr_scheduler.FactorScheduler(1, base_lr=0.5))
    with pytest.raises(UserWarning, match="without lr_scheduler") as caught:
        optimizer.set_learning_rate(1.0)
    assert isinstance(caught.value, ArgumentError)


def test_counts_go_per_device() -> None:
    optimizer = SGD(begin_num_update=5)
    optimizer._update_count([0, 1])
    optimizer._update_count(0)
    optimizer._set_current_context(1)
    optimizer._update_count(0)
    assert optimizer._all_index_update_counts == {0: {0: 7, 1: 6}, 1: {0: 6}}
    assert optimizer.num_update == 7


def test_unknown_optimizer_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"adam.*sgd.*'sgdd'"):
        create("sgdd")


@pytest.mark.parametrize("kind", [ArgumentError, TypeError])
def test_unknown_argument_is_refused_with_the_nearest(kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"SGD: .*got 'learning_rte' \(nearest: 'learning_rate'\)"):
        create("sgd", learning_rte=1)


def test_arguments_of_all_bases_are_known() -> None:
    class Slow(SGD):
        def __init__(self, patience: int = 1, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.patience = patience

    register(Slow)
    made = create("slow", patience=2, momentum=0.5, wd=0.25)
    assert (made.patience, made.momentum, made.wd) == (2, 0.5, 0.25)  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match=r"Slow: .*got 'speed'"):
        create("slow", speed=1)


def test_names_must_be_a_dict() -> None:
    with pytest.raises(ArgumentTypeError, match="dict param_idx2name, got list"):
        SGD(param_idx2name=[1])


def test_arguments_of_mxnet_2_change_no_result() -> None:
    found = []
    fused = {"use_fused_step": False}
    for settings in ({}, {"aggregate_num": 0}, {"aggregate_num": 2, **fused}):
        weight = array([1.0, 2.0])
        get_updater(SGD(learning_rate=0.5, **settings))(0, array([2.0, 2.0]), weight)
        found.append(weight.asnumpy().tolist())
    assert found == [[0.0, 1.0]] * 3


def test_wrong_number_of_weights_is_refused() -> None:
    with pytest.raises(ArgumentError, match="SGD: expected aggregate_num of 0 or more, got -1"):
        SGD(aggregate_num=-1)
    with pytest.raises(ArgumentTypeError, match=r"int aggregate_num, got 2\.5"):
        create("test", aggregate_num=2.5)


def test_old_name_of_set_lr_mult_is_refused() -> None:
    with pytest.raises(DeprecationWarning, match="expected set_lr_mult") as caught:
        SGD().set_lr_scale({})
    assert isinstance(caught.value, NotSupportedError)


def test_case_of_names_does_not_matter() -> None:
    assert type(create("AdaM")) is Adam


def test_registered_optimizer_is_created_and_used() -> None:
    class HalfStep(Optimizer):
        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            self._update_count(index)
            (weight - grad * 0.5).copyto(weight)

    try:
        register(HalfStep)
        weight = array([1.0, 2.0])
        get_updater(create("halfstep"))(0, array([2.0, 2.0]), weight)
        assert weight.asnumpy().tolist() == [0.0, 1.0]
    finally:
        del Optimizer.opt_registry["halfstep"]


def test_base_optimizer_updates_nothing() -> None:
    assert Optimizer().create_state(0, zeros((1,))) is None
    with pytest.raises(NotSupportedError, match="update"):
        Optimizer().update(0, None, None, None)


@pytest.mark.parametrize("name", ["sgd", "adam", "nag"])
def test_half_precision_warns(name: str) -> None:
    with pytest.warns(UserWarning, match="multi_precision=True"):
        create(name).create_state_multi_precision(0, zeros((2,), dtype="float16"))


@pytest.mark.parametrize("name", ["sgd", "nag"])
def test_master_weight_comes_last_in_the_state(name: str) -> None:
    optimizer = create(name, momentum=0.9, multi_precision=True)
    momentum, master = optimizer.create_state_multi_precision(0, array([1.0], dtype="float16"))
    assert (momentum.asnumpy()[0], master.asnumpy()[0]) == (0.0, 1.0)
    assert momentum.dtype == master.dtype == np.float32


def test_master_weight_comes_first_in_other_states() -> None:
    weight = array([1.0], dtype="float16")
    master, (mean, variance) = Adam(multi_precision=True).create_state_multi_precision(0, weight)
    assert isinstance(master, NDArray)
    assert [x.asnumpy()[0] for x in (master, mean, variance)] == [1.0, 0.0, 0.0]


def test_full_precision_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SGD(multi_precision=True).create_state_multi_precision(0, zeros((2,))) is None


def test_pickled_optimizer_loses_its_parameters() -> None:
    class Weight:
        lr_mult = wd_mult = 2.0

    copied = pickle.loads(pickle.dumps(SGD(learning_rate=0.5, param_dict={0: Weight()})))
    assert (copied.lr, copied.param_dict) == (0.5, {})


def test_an_argument_is_listed_once_in_the_error() -> None:
    with pytest.raises(ArgumentError) as caught:
        create("sgd", zzzzz=1)
    assert str(caught.value).count(" momentum,") == 1


def test_a_misspelt_argument_has_the_nearest_one() -> None:
    with pytest.raises(ArgumentError, match=r"got 'learning_rat' \(nearest: 'learning_rate'\)$"):
        create("sgd", learning_rat=1)


def test_a_scheduler_without_a_rate_is_given_the_optimizers() -> None:
    class Scheduler:
        base_lr = None

        def __call__(self, num_update: int) -> float | None:
            return self.base_lr

    optimizer = SGD(learning_rate=0.1, lr_scheduler=Scheduler())
    assert optimizer.lr_scheduler.base_lr == 0.1
    assert optimizer.learning_rate == 0.1


def test_a_scheduler_that_has_no_such_attribute_is_left_alone() -> None:
    def halve(num_update: int) -> float:
        return 0.5**num_update

    assert SGD(learning_rate=0.1, lr_scheduler=halve).lr_scheduler is halve
    assert not hasattr(halve, "base_lr")
