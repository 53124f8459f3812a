"""States files of every optimizer: MXNet's go on here, and ours have MXNet's layout."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.operating_system import LINUX
from gluonish.ndarray import NDArray, array, zeros
from gluonish.optimizer import LARS, LBSGD, Nadam, Optimizer, Updater, create, get_updater
from gluonish.optimizer.states import ArrayState, load_states

GOLDEN = Path(__file__).parents[1] / "golden" / "optimizer"
CASES = json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))["states"]
NAMES = {0: "a_weight", 1: "b_bias", 2: "c_gamma"}

cases = pytest.mark.parametrize("name", CASES)


def gradients(dtype: str) -> list[list[NDArray]]:
    """The last three of the six that make_optimizer.py beside the golden data makes."""
    rng = np.random.default_rng(3)
    shapes = [(3, 2), (2, 4)]
    for shape in shapes:
        rng.uniform(-1, 1, shape)
    every = [[rng.uniform(-2, 2, s).astype("float32") for s in shapes] for _ in range(6)]
    return [[array(g, dtype=dtype) for g in step] for step in every[3:]]


def golden(name: str) -> dict[str, Any]:
    with np.load(GOLDEN / "states.npz") as file:
        return {
            key.removeprefix(f"{name}/"): file[key] for key in file if key.startswith(name + "/")
        }


def check_training_goes_on(updater: Updater, name: str) -> None:
    wanted, dtype = golden(name), CASES[name].get("dtype", "float32")
    weights = [array(wanted[f"before/{i}"], dtype=dtype) for i in range(2)]
    for step in gradients(dtype):
        updater([0, 1], step, weights)
    loose = 1e-4 if name == "ftml" else 5e-6
    tolerance = (
        {"rtol": 1e-3, "atol": 1e-3} if dtype == "float16" else {"rtol": loose, "atol": 2e-6}
    )
    for i, weight in enumerate(weights):
        np.testing.assert_allclose(weight.asnumpy(), wanted[f"after/{i}"], **tolerance)


def layout(value: Any) -> Any:
    """The shape of a state or of a setting, without its numbers."""
    if isinstance(value, ArrayState):
        return ("array", value.values.shape, value.values.dtype.name)
    if isinstance(value, tuple):
        return tuple(map(layout, value))
    if isinstance(value, dict):
        return {key: layout(x) for key, x in value.items()}
    return value


@cases
def test_training_goes_on_from_mxnets_file(name: str) -> None:
    updater = get_updater(create("sgd"))
    updater.set_states(golden(name)["file"].tobytes())
    check_training_goes_on(updater, name)


@cases
def test_training_goes_on_from_our_copy_of_it(name: str) -> None:
    first, second = get_updater(create("sgd")), get_updater(create("sgd"))
    first.set_states(golden(name)["file"].tobytes())
    second.set_states(first.get_states(dump_optimizer=True))
    check_training_goes_on(second, name)


@cases
def test_files_of_an_optimizer_made_here_have_mxnets_layout(name: str) -> None:
    wanted = load_states(golden(name)["file"].tobytes())
    case = CASES[name]
    dtype = case.get("dtype", "float32")
    updater = get_updater(create(case["optimizer"], param_idx2name=NAMES, **case["args"]))
    weights = [array(golden(name)[f"before/{i}"], dtype=dtype) for i in range(2)]
    for step in gradients(dtype):
        updater([0, 1], step, weights)
    ours = load_states(updater.get_states(dump_optimizer=True))
    assert layout(ours.states) == layout(wanted.states)
    assert ours.optimizer is not None
    assert wanted.optimizer is not None
    assert ours.optimizer.class_name == wanted.optimizer.class_name
    assert layout(ours.optimizer.state) == layout(wanted.optimizer.state)


def test_gathered_gradients_come_back() -> None:
    optimizer = LBSGD(batch_scale=3)
    updater, weight = get_updater(optimizer), array([1.0, 2.0])
    for _ in range(2):
        updater(0, array([1.0, 3.0]), weight)
    other = get_updater(LBSGD())
    other.set_states(updater.get_states(dump_optimizer=True))
    assert isinstance(other.optimizer, LBSGD)
    kept = other.optimizer.cumgrads[0]
    assert kept["cum_grad"].asnumpy().tolist() == [2.0, 6.0]
    assert kept["num_cums"] == 2
    assert other.optimizer._index_update_count is other.optimizer._all_index_update_counts[0]


def test_schedules_of_the_optimizer_itself_come_back() -> None:
    updater = get_updater(Nadam())
    updater([0, 1], [array([1.0])] * 2, [array([1.0]), array([1.0])])
    other = get_updater(Nadam())
    other.set_states(updater.get_states(dump_optimizer=True))
    assert vars(other.optimizer)["m_schedule"] == vars(updater.optimizer)["m_schedule"] < 1


def test_files_do_not_hold_the_learning_rates_of_single_weights() -> None:
    """They hold the last one, which stands for all weights after loading."""
    optimizer: Optimizer = LARS(momentum=0.5, learning_rate=1.0, param_idx2name={0: "x_bias"})
    updater, weight = get_updater(optimizer), array([0.0])
    updater(0, array([1.0]), weight)
    assert "_own_lrs" not in optimizer.__getstate__()
    other = get_updater(LARS(param_idx2name={0: "x_bias"}))
    other.set_states(updater.get_states(dump_optimizer=True))
    other.optimizer.set_learning_rate(0.5)
    other(0, array([1.0]), weight)
    assert weight.asscalar() == -1.0 - (0.5 * 0.5 * 1.0 + 0.5)


@pytest.mark.skipif(not LINUX, reason="memory is committed on Linux only")
def test_states_of_large_weights_are_zeros_in_committed_memory() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    weight = zeros((4096, 4096))
    weight.wait_to_read()
    before = resident()
    state = create("sgd", momentum=0.9).create_state(0, weight)
    assert resident() - before > 48 << 20
    assert not state.asnumpy().any()
