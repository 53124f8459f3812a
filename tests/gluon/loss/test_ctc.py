from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.gluon.loss import CTCLoss

SCORES = np.random.default_rng(3).standard_normal((2, 5, 4)).astype(np.float32)
LABEL = np.array([[0, 1, 1], [2, -1, -1]], np.float32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layout": "CNT"}, r"CTCLoss: expected layout 'NTC' or 'TNC', got 'CNT'"),
        ({"label_layout": "N"}, r"CTCLoss: expected label_layout 'NT' or 'TN', got 'N'"),
    ],
)
def test_other_layout_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        CTCLoss(**arguments)


def test_layouts_give_the_same_loss() -> None:
    plain = CTCLoss()(mx.nd.array(SCORES), mx.nd.array(LABEL))
    turned = CTCLoss("TNC", "TN")(
        mx.nd.array(SCORES.transpose(1, 0, 2)), mx.nd.array(LABEL.transpose())
    )
    np.testing.assert_array_equal(plain.asnumpy(), turned.asnumpy())


def test_label_lengths_say_what_padding_says() -> None:
    padded = CTCLoss()(mx.nd.array(SCORES), mx.nd.array(LABEL))
    label = mx.nd.array(np.where(LABEL < 0, 0, LABEL))
    counted = CTCLoss()(mx.nd.array(SCORES), label, None, mx.nd.array([3, 1]))
    np.testing.assert_allclose(counted.asnumpy(), padded.asnumpy(), rtol=1e-6)


def test_label_without_a_batch_axis_is_refused() -> None:
    with pytest.raises(OperatorError, match="CTCLoss: expected label"):
        CTCLoss()(mx.nd.array(SCORES), mx.nd.array([0, 1]))
