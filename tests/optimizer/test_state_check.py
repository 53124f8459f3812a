"""States that the next step could not use are refused where they are loaded, or where it begins."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import FileFormatError, OperatorError
from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer, Updater, create, get_updater
from gluonish.optimizer.rule_optimizer import RuleOptimizer

SHAPE = (2, 3)


def ones(*shape: int, dtype: str = "float32") -> NDArray:
    return nd.ones(shape or SHAPE, dtype=dtype)


def states_file(state: Any, index: int = 0) -> bytes:
    """The bytes of a file with one state, as an optimizer that takes anything would save it."""
    updater = get_updater(create("sgd"))
    updater.states = {index: state}
    return updater.get_states()


def updater_of(name: str, **settings: Any) -> Updater:
    """An updater that has made a step already."""
    updater = get_updater(create(name, **settings))
    updater(0, ones(), ones())
    return updater


# From what MXNet 1.9.1 refuses at the next step.
UNFIT = {
    "momentum missing": ("sgd", {"momentum": 0.9}, lambda: None),
    "momentum twice": ("sgd", {"momentum": 0.9}, lambda: (ones(), ones())),
    "nag without": ("nag", {"momentum": 0.9}, lambda: None),
    "signum without": ("signum", {"momentum": 0.9}, lambda: None),
    "one of two": ("adam", {}, ones),
    "one of two in a tuple": ("adam", {}, lambda: (ones(),)),
    "the second missing": ("adam", {}, lambda: (ones(), None)),
    "three of two": ("adam", {}, lambda: (ones(), ones(), ones())),
    "a tuple in a tuple": ("adam", {}, lambda: ((ones(), ones()), ones())),
    "one of three": ("rmsprop", {"centered": True}, lambda: (ones(),)),
    "three of one": ("rmsprop", {}, lambda: (ones(), ones(), ones())),
    "none of one": ("adagrad", {}, lambda: None),
    "one of two, ftrl": ("ftrl", {}, lambda: (ones(),)),
    "integers": ("sgd", {"momentum": 0.9}, lambda: ones(dtype="int32")),
}


@pytest.mark.parametrize("what", UNFIT)
def test_unfit_states_are_refused_and_change_nothing(what: str) -> None:
    name, settings, state = UNFIT[what]
    updater, same = updater_of(name, **settings), updater_of(name, **settings)
    before = updater.states, updater.optimizer, dict(updater.states_synced)
    with pytest.raises(FileFormatError, match=r"a\.states: .*expected .*states? of"):
        updater.set_states(states_file(state()), "a.states")  # type: ignore[operator]
    assert before == (updater.states, updater.optimizer, updater.states_synced)
    weights = ones(), ones()
    for each, weight in zip((updater, same), weights, strict=True):
        each(0, ones(), weight)
    np.testing.assert_array_equal(weights[0].asnumpy(), weights[1].asnumpy())
    assert updater.get_states(dump_optimizer=True) == same.get_states(dump_optimizer=True)


@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 3, 1)])
def test_states_of_another_shape_than_the_weight_are_refused(shape: tuple[int, ...]) -> None:
    updater = updater_of("sgd", momentum=0.9)
    with pytest.raises(FileFormatError, match=r"shape \(2, 3\) of weight 0, got \(\d"):
        updater.set_states(states_file(ones(*shape)), "a.states", {0: ones()})


def test_a_file_brings_the_optimizer_that_its_states_are_checked_by() -> None:
    adam, sgd = updater_of("adam"), updater_of("sgd", momentum=0.9)
    sgd.set_states(adam.get_states(dump_optimizer=True), "a.states", {0: ones()})
    sgd(0, ones(), ones())
    assert len(sgd.states[0]) == 2


def test_a_file_whose_states_are_not_its_optimizers_is_refused() -> None:
    adam = updater_of("adam")
    adam.states[0] = adam.states[0][:1]
    sgd = updater_of("sgd", momentum=0.9)
    optimizer = sgd.optimizer
    with pytest.raises(FileFormatError, match=r"Adam: expected a state of 2 arrays .* weight 0"):
        sgd.set_states(adam.get_states(dump_optimizer=True), "a.states")
    assert sgd.optimizer is optimizer


def test_a_momentum_that_was_switched_off_may_stand_in_the_file() -> None:
    updater = updater_of("sgd")
    updater.set_states(states_file(ones()), "a.states")
    updater(0, ones(), ones())


@pytest.mark.parametrize("name", ["sgd", "adam", "nag"])
def test_weights_that_are_cast_after_loading_take_their_states(name: str) -> None:
    settings = {"multi_precision": True, **({} if name == "adam" else {"momentum": 0.9})}
    half = get_updater(create(name, **settings))
    half(0, ones(dtype="float16"), ones(dtype="float16"))
    other = get_updater(create(name, **settings))
    other.set_states(half.get_states(), "a.states", {0: ones()})
    other(0, ones(dtype="float16"), ones(dtype="float16"))


def test_states_of_weights_that_nobody_knows_are_taken() -> None:
    updater = updater_of("sgd", momentum=0.9)
    updater.set_states(states_file(ones(7), index=5), "a.states", {0: ones()})
    assert list(updater.states) == [5]


def test_an_optimizer_of_the_user_takes_any_state() -> None:
    class Odd(Optimizer):
        def create_state(self, index: Any, weight: Any) -> Any:
            return ones(1), None

    updater = get_updater(Odd())
    updater.set_states(states_file((None, (ones(5),))), "a.states", {0: ones()})
    assert updater.states[0][0] is None


def test_a_state_set_by_hand_is_refused_before_anything_is_done() -> None:
    updater, weight = updater_of("adam"), ones()
    updater.states[0] = (ones(),)
    with pytest.raises(OperatorError, match=r"Adam: expected a state of 2 arrays \(mean, var\)"):
        updater(0, ones(), weight)
    np.testing.assert_array_equal(weight.asnumpy(), np.ones(SHAPE))
    updater.get_states()


@pytest.mark.parametrize("name", sorted(Optimizer.opt_registry))
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_optimizer_takes_what_it_saves(name: str, dtype: str) -> None:
    optimizer = create(name, multi_precision=True)
    if not isinstance(optimizer, RuleOptimizer):
        pytest.skip("it has no rule")
    for momentum in (0.0, 0.9):
        updater = get_updater(create(name, multi_precision=True))
        if hasattr(updater.optimizer, "momentum"):
            updater.optimizer.momentum = momentum
        weight = ones(dtype=dtype)
        updater(0, ones(dtype=dtype), weight)
        data = updater.get_states(dump_optimizer=True)
        other = get_updater(create("sgd"))
        other.set_states(data, "a.states", {0: weight})
        other(0, ones(dtype=dtype), weight)
        assert np.isfinite(weight.asnumpy()).all()
