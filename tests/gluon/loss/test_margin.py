import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon.loss import LogisticLoss


def test_unknown_label_format_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'signed' or 'binary', got 'q'"):
        LogisticLoss(label_format="q")
