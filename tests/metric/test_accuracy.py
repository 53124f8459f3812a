import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.metric import Accuracy, TopKAccuracy


def test_single_arrays_serve_as_lists() -> None:
    measured = Accuracy()
    measured.update(nd.array([0, 1]), nd.array([[0.9, 0.1], [0.8, 0.2]]))
    assert measured.get() == ("accuracy", 0.5)


def test_arrays_may_lie_on_several_devices() -> None:
    measured = Accuracy()
    measured.update([nd.array([0, 1], ctx=cpu(1))], [nd.array([[0.9, 0.1], [0.8, 0.2]])])
    assert measured.get() == ("accuracy", 0.5)


def test_first_class_wins_a_tie() -> None:
    measured = Accuracy()
    measured.update([nd.array([0, 1])], [nd.array([[0.5, 0.5], [0.5, 0.5]])])
    assert measured.get() == ("accuracy", 0.5)


def test_differing_numbers_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"of 3 labels \(3,\), got 2 of \(2, 2\)"):
        Accuracy().update([nd.zeros((3,))], [nd.zeros((2, 2))])
    with pytest.raises(ArgumentError, match="labels 1, got 2"):
        Accuracy().update([nd.zeros((3,))], [nd.zeros((3,)), nd.zeros((3,))])


def test_top_k_counts_labels_among_the_best() -> None:
    scores = nd.array([[0.1, 0.5, 0.4], [0.2, 0.1, 0.7], [0.3, 0.3, 0.4]])
    measured = TopKAccuracy(2)
    measured.update([nd.array([2, 1, 2])], [scores])
    assert measured.get() == ("top_k_accuracy_2", pytest.approx(2 / 3))


def test_one_best_class_is_refused() -> None:
    with pytest.raises(ArgumentError, match="use Accuracy"):
        TopKAccuracy(1)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 1)])
def test_scores_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentError, match="2 classes or more"):
        TopKAccuracy(2).update([nd.zeros((2,))], [nd.array(np.zeros(shape))])
