import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.metric import CrossEntropy, EvalMetric, Perplexity


@pytest.mark.parametrize("measured", [CrossEntropy(), Perplexity(None)])
def test_differing_numbers_are_refused(measured: EvalMetric) -> None:
    with pytest.raises(ArgumentError, match=r"got \(3, 2\)"):
        measured.update([nd.zeros((2,))], [nd.ones((3, 2))])


def test_perplexity_of_a_sure_prediction_is_one() -> None:
    measured = Perplexity(None)
    measured.update([nd.array([0, 1])], [nd.array([[1, 0], [0, 1]])])
    assert measured.get() == ("perplexity", 1.0)


def test_perplexity_may_have_its_classes_on_another_axis() -> None:
    measured = Perplexity(None, axis=0)
    measured.update([nd.array([0, 1, 1])], [nd.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]])])
    assert measured.get() == ("perplexity", pytest.approx(2.0))
