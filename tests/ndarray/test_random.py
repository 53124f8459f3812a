from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError


def draw(ctx: Any = None) -> list[float]:
    found: list[float] = nd.random.uniform(shape=(4,), ctx=ctx).tolist()
    return found


def test_seed_repeats_the_numbers() -> None:
    nd.random.seed(3)
    first, second = draw(), draw()
    nd.random.seed(3)
    assert draw() == first
    assert draw() == second != first


def test_devices_draw_different_numbers_from_one_seed() -> None:
    nd.random.seed(3)
    assert draw(cpu(0)) != draw(cpu(1))


def test_one_device_can_be_seeded_alone() -> None:
    nd.random.seed(3)
    draw(cpu(0))
    second = draw(cpu(0))
    nd.random.seed(3)
    nd.random.seed(4, ctx=cpu(1))
    draw(cpu(0))
    first = draw(cpu(1))
    nd.random.seed(4, ctx=cpu(1))
    assert draw(cpu(1)) == first
    assert draw(cpu(0)) == second


def test_numbers_do_not_depend_on_other_devices() -> None:
    nd.random.seed(3)
    first = draw(cpu(1))
    nd.random.seed(3)
    draw(cpu(0))
    assert draw(cpu(1)) == first


def test_root_modules_are_the_same() -> None:
    mx.random.seed(5)
    first = mx.nd.random.normal(shape=3).tolist()
    mx.random.seed(5)
    assert mx.random.normal(shape=3).tolist() == first


@pytest.mark.parametrize("seed", [1.5, "a", None])
def test_seed_must_be_an_int(seed: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="seed: expected an int"):
        nd.random.seed(seed)
    with pytest.raises(ArgumentError, match="seed: expected ctx"):
        nd.random.seed(1, ctx="cpu")


@pytest.mark.parametrize(
    ("numbers", "mean", "deviation"),
    [
        (lambda n: nd.random.uniform(2, 4, shape=n), 3, 12**-0.5 * 2),
        (lambda n: nd.random.normal(1, 3, shape=n), 1, 3),
        (lambda n: nd.random.randn(n, loc=1, scale=3), 1, 3),
        (lambda n: nd.random.exponential(2, shape=n), 2, 2),
        (lambda n: nd.random.gamma(4, 0.5, shape=n), 2, 1),
        (lambda n: nd.random.randint(0, 5, shape=n), 2, 2**0.5),
        (lambda n: nd.random.uniform_like(nd.zeros(n), low=2, high=4), 3, 12**-0.5 * 2),
        (lambda n: nd.random.normal_like(nd.zeros(n), loc=1), 1, 1),
    ],
)
def test_mean_and_deviation(numbers: Any, mean: float, deviation: float) -> None:
    nd.random.seed(11)
    values = numbers(20000).asnumpy().astype(np.float64)
    assert values.mean() == pytest.approx(mean, abs=5 * deviation / 20000**0.5)
    assert values.std() == pytest.approx(deviation, rel=0.05)


def test_default_is_one_float32_number() -> None:
    assert (nd.random.normal().shape, nd.random.uniform().dtype) == ((1,), np.float32)
    assert nd.random.randint(0, 5).dtype == np.int32
    assert nd.random.randint(0, 5, dtype="int64").dtype == np.int64


def test_out_gives_shape_dtype_and_device() -> None:
    out = nd.zeros((2, 3), dtype="float64", ctx=cpu(1))
    assert nd.random.uniform(5, 6, out=out) is out
    assert (out.asnumpy() >= 5).all()


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda a, b: nd.random.uniform(a, b, shape=3), (2, 3)),
        (lambda a, b: nd.random.normal(a, b), (2,)),
        (lambda a, b: nd.random.exponential(b, shape=(2, 2)), (2, 2, 2)),
    ],
)
def test_arrays_of_parameters_draw_for_each_element(call: Any, shape: tuple[int, ...]) -> None:
    found = call(nd.array([0, 100]), nd.array([1, 101]))
    assert found.shape == shape
    rows = found.asnumpy().reshape(2, -1)
    assert rows[0].max() < rows[1].min() or shape == (2, 2, 2)


def test_array_and_number_as_parameters_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="all numbers or all NDArrays of equal shape"):
        nd.random.uniform(nd.array([0, 10]), 1)


def test_empty_interval_of_integers_is_refused() -> None:
    drawn = nd.random.randint(5, 5)
    with pytest.raises(OperatorError, match="expected low below high"):
        drawn.asnumpy()


def test_multinomial_draws_with_the_given_probabilities() -> None:
    found = nd.random.multinomial(nd.array([[0, 1], [1, 0]]), shape=3)
    assert (found.tolist(), found.dtype) == ([[1, 1, 1], [0, 0, 0]], np.int32)
    index, log_probability = nd.random.multinomial(nd.array([0, 1]), get_prob=True)
    assert (index.tolist(), log_probability.tolist()) == ([1], [0])


def test_shuffle_permutes_rows() -> None:
    nd.random.seed(2)
    x = nd.arange(20).reshape((10, 2))
    shuffled = nd.random.shuffle(x).asnumpy()
    assert shuffled.tolist() != x.tolist()
    assert sorted(shuffled.tolist()) == x.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda **extra: nd.random.uniform(0, 1, **extra),
        lambda **extra: nd.random.normal(nd.zeros(2), nd.ones(2), **extra),
        lambda **extra: nd.random.randn(2, **extra),
        lambda **extra: nd.random.exponential(1, **extra),
        lambda **extra: nd.random.gamma(1, 1, **extra),
        lambda **extra: nd.random.randint(0, 5, **extra),
        lambda **extra: nd.random.multinomial(nd.array([0, 1]), **extra),
    ],
)
def test_unknown_keyword_is_refused_and_a_name_is_not(call: Any) -> None:
    with pytest.raises((OperatorError, TypeError), match="shap"):
        call(shap=3)
    assert call(name="noise").size


def test_shuffle_has_no_attributes_and_ignores_any() -> None:
    x = nd.arange(3)
    for extra in ({"shap": 3}, {"name": "noise"}):
        assert sorted(nd.random.shuffle(x, **extra).asnumpy().tolist()) == [0, 1, 2]
