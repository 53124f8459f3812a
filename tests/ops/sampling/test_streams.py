"""Each element draws from a stream of its own, whatever its neighbours are."""

from typing import Any

import numpy as np
import pytest

from gluonish.ops.support import variates
from gluonish.ops.support.philox import bits_at

KEY = (12345, 7)


@pytest.mark.parametrize(
    ("sampler", "parameters"),
    [
        (variates.gamma, (0.4, 2.0)),
        (variates.poisson, (30.0,)),
        (variates.negative_binomial, (3.0, 0.2)),
        (variates.generalized_negative_binomial, (20.0, 0.5)),
        (variates.binomial, (500.0, 0.3)),
    ],
)
def test_an_element_does_not_depend_on_the_others(
    sampler: Any, parameters: tuple[float, ...]
) -> None:
    whole = np.empty(20_000)
    variates.fill(np, whole, sampler, KEY, parameters)
    index = np.array([3, 9000, 19_999])
    some = sampler(np, KEY, index, *(np.full(3, p) for p in parameters))
    np.testing.assert_array_equal(whole[index], some)
    assert len(np.unique(whole)) > 10


@pytest.mark.parametrize(
    ("sampler", "parameters"),
    [
        (variates.gamma, (2.0, 3.0)),
        (variates.poisson, (4.0,)),
        (variates.poisson, (9.9,)),
        (variates.poisson, (0.0,)),
        (variates.poisson, (25.0,)),
        (variates.binomial, (20.0, 0.3)),
        (variates.binomial, (20.0, 0.0)),
    ],
)
def test_short_ways_for_parameters_that_are_alike_give_the_same_numbers(
    sampler: Any, parameters: tuple[float, ...]
) -> None:
    class OtherArrays:
        """NumPy under another name, as a GPU's module is."""

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    index = np.arange(5000)
    columns = [np.full(5000, p) for p in parameters]
    alike = sampler(np, KEY, index, *columns)
    np.testing.assert_array_equal(alike, sampler(OtherArrays(), KEY, index, *columns))
    columns[0][-1] += 0.25  # not alike any more
    np.testing.assert_array_equal(alike[:-1], sampler(np, KEY, index, *columns)[:-1])


def test_words_differ_between_elements_attempts_and_keys() -> None:
    index = np.arange(100)
    words = [bits_at(np, KEY, index, 0), bits_at(np, KEY, index, 1)]
    words.append(bits_at(np, (12345, 8), index, 0))
    assert len(np.unique(np.concatenate([w for four in words for w in four]))) > 1190


def test_parameters_out_of_range_give_nan() -> None:
    index, bad = np.arange(2), np.array([-1.0, np.nan])
    assert np.isnan(variates.gamma(np, KEY, index, bad, np.ones(2))).all()
    assert np.isnan(variates.poisson(np, KEY, index, bad)).all()
    assert np.isnan(variates.negative_binomial(np, KEY, index, np.ones(2), bad)).all()


def test_uniform_numbers_lie_inside_the_interval() -> None:
    full = [np.array([0xFFFFFFFF], np.uint64)] * 2
    assert variates._open(*[np.zeros(1, np.uint64)] * 2)[0] > 0
    assert variates._open(*full)[0] < 1
