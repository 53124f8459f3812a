from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray, array, ones, zeros

contrib = nd.contrib


def _grad(x: NDArray) -> NDArray:
    assert x.grad is not None
    return x.grad


def test_outputs_are_stacked_and_states_carried() -> None:
    x, h = array([[1, 2], [3, 4], [5, 6]]), array([10, 20])
    out, state = contrib.foreach(lambda d, s: (d + s, s + d), x, h)
    assert out.tolist() == [[11, 22], [14, 26], [19, 32]]
    assert state.tolist() == [19, 32]


def test_nested_results_come_as_lists() -> None:
    x = ones((3, 2))
    out, states = contrib.foreach(lambda d, s: ((d[0] + s, (d[1],)), s), [x, x * 2], ones(2))
    assert isinstance(out, list)
    assert isinstance(out[1], list)
    assert out[1][0].shape == (3, 2)
    assert states.shape == (2,)


@pytest.mark.parametrize("data", [zeros((0, 2)), [ones((2, 2)), ones((3, 2))], []])
def test_data_of_no_one_length_are_refused(data: object) -> None:
    with pytest.raises(ArgumentError, match="foreach: expected data of equal length"):
        contrib.foreach(lambda d, s: (d, s), data, ones(2))


def test_a_number_is_no_data() -> None:
    with pytest.raises(ArgumentTypeError, match=r"foreach: expected NDArrays .*got 3 of int"):
        contrib.foreach(lambda d, s: (d, s), 3, ones(2))


def test_a_loop_ends_when_its_condition_fails() -> None:
    out, variables = contrib.while_loop(
        lambda i, s: i < 3, lambda i, s: ([i + s], [i + 1, s + i]), [zeros(1), ones(1)], 5
    )
    assert out[0].tolist() == [[1], [2], [4], [0], [0]]
    assert [x.tolist() for x in variables] == [[3], [4]]


def test_a_loop_that_never_runs_has_no_outputs() -> None:
    out, i = contrib.while_loop(lambda i: i < 0, lambda i: (i, i + 1), zeros(1), 5)
    assert out == []
    assert i.tolist() == [0]


def test_a_loop_may_have_no_outputs() -> None:
    out, i = contrib.while_loop(lambda i: i < 2, lambda i: (None, i + 1), zeros(1), 5)
    assert out == []
    assert i.tolist() == [2]


def test_gradients_flow_through_the_iterations_that_ran() -> None:
    x = array([2.0])
    x.attach_grad()
    with autograd.record():
        out, _ = contrib.while_loop(
            lambda i, y: i < 3, lambda i, y: (y, [i + 1, y * x]), [zeros(1), x], 5
        )
    out.backward()
    assert _grad(x).tolist() == [1 + 2 * 2 + 3 * 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((zeros(1),), "expected max_iterations, got none"),
        (([], 3), "at least one loop variable"),
    ],
)
def test_a_loop_without_limit_or_variables_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        contrib.while_loop(lambda *v: True, lambda i: (i, i), *arguments)


def test_variables_keep_their_number() -> None:
    with pytest.raises(ArgumentError, match=r"expected 1 loop variables .*got 2"):
        contrib.while_loop(lambda i: i < 9, lambda i: (i, [i, i]), zeros(1), 3)


@pytest.mark.parametrize(("pred", "expected"), [(1, 2), (0, 3)])
def test_one_branch_runs(pred: float, expected: float) -> None:
    ran = []

    def branch(which: int, value: float) -> NDArray:
        ran.append(which)
        chosen: NDArray = ones(1) * value
        return chosen

    chosen = contrib.cond(array([pred]), lambda: branch(1, 2), lambda: branch(0, 3))
    assert chosen.tolist() == [expected]
    assert ran == [pred]


def test_a_condition_is_one_number() -> None:
    with pytest.raises(ArgumentError, match="size 1"):
        contrib.cond(ones(2), lambda: ones(1), lambda: ones(1))


def test_what_is_finite_is_told_in_the_dtype_of_the_data() -> None:
    x = array([1, np.inf, -np.inf, np.nan])
    assert contrib.isinf(x).tolist() == [0, 1, 1, 0]
    assert contrib.isnan(x).tolist() == [0, 0, 0, 1]
    assert contrib.isfinite(x.astype("float16")).tolist() == [1, 0, 0, 0]
    assert contrib.isfinite(x.astype("float16")).dtype is np.float16


def test_small_classes_are_drawn_more_often() -> None:
    sampled, of_true, of_sampled = contrib.rand_zipfian(array([3, 1]), 4000, 100)
    assert sampled.dtype is np.int64
    drawn = sampled.asnumpy()
    assert 0 <= drawn.min() <= drawn.max() < 100
    expected = np.log((np.array([3, 1]) + 2) / (np.array([3, 1]) + 1)) / np.log(101) * 4000
    np.testing.assert_allclose(of_true.asnumpy(), expected)
    np.testing.assert_allclose([(drawn == 3).sum(), (drawn == 1).sum()], expected, rtol=0.3)
    assert of_sampled.shape == (4000,)


def test_variables_of_a_loop_keep_their_nesting() -> None:
    def run(variables: Any, step: Any) -> Any:
        return nd.contrib.while_loop(lambda i: i < 2, step, variables, max_iterations=3)[1]

    steps = (lambda i: (i, i + 1), lambda i: (i, [i + 1]), lambda i: (i, (i + 1,)))
    for step in steps:
        assert isinstance(run(nd.zeros(1), step), NDArray)
        assert [type(x) for x in run([nd.zeros(1)], step)] == [NDArray]
        assert type(run((nd.zeros(1),), step)) is list


def test_limit_of_a_loop_is_a_whole_number() -> None:
    def run(limit: Any) -> Any:
        return nd.contrib.while_loop(lambda i: i < 5, lambda i: (i, i + 1), nd.zeros(1), limit)[0]

    assert run("2").shape == (2, 1)
    with pytest.raises(ValueError, match="max_iterations to be an int, got 'a'"):
        run("a")
