import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.metric import F1, MCC, PCC


@pytest.mark.parametrize("kind", [F1, MCC])
def test_more_than_two_classes_are_refused(kind: type[F1] | type[MCC]) -> None:
    measured = kind()
    measured.update([nd.array([0, 1, 2])], [nd.zeros((3, 3))])
    with pytest.raises(ArgumentError, match="two classes, got more: 1 labels are of others"):
        measured.get()
    with pytest.raises(ArgumentError, match="got 'q'"):
        kind(average="q")


def test_pcc_grows_with_the_classes_and_equals_correlation_for_two() -> None:
    measured = PCC()
    labels, classes = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1])
    measured.update([nd.array(labels)], [nd.array(np.eye(2)[classes])])
    assert measured.get()[1] == pytest.approx(np.corrcoef(labels, classes)[0, 1])
    measured.update([nd.array([4])], [nd.array(np.eye(5)[[4]])])
    assert measured.k == 5
