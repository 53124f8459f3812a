import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.normalization.lrn import LRN
from tests.checking.values import run_operator

FLOAT = np.dtype(np.float32)


def test_an_even_window_is_taken_as_one_less() -> None:
    # MXNet 1.9.1: LRN(ones, nsize=4, alpha=1, beta=1, knorm=1) over 3 channels.
    out = run_operator("LRN", np.ones((1, 3), FLOAT), nsize=4, alpha=1.0, beta=1.0, knorm=1.0)
    np.testing.assert_allclose(out[0], [1 / 1.5, 1 / 1.75, 1 / 1.5], rtol=1e-6)


def test_a_window_wider_than_the_channels() -> None:
    out = run_operator("LRN", np.ones((1, 3), FLOAT), nsize=9, alpha=3.0, beta=1.0, knorm=1.0)
    np.testing.assert_allclose(out[0], [0.5, 0.5, 0.5], rtol=1e-6)


def test_files_count_two_outputs_of_which_one_is_seen() -> None:
    attrs = LRN.schema.parse("LRN", {"nsize": 5})
    assert (LRN.num_outputs(attrs), LRN.num_visible(attrs)) == (2, 1)


def test_the_shape_of_the_data_follows_from_the_output() -> None:
    inputs, outputs = [PartialSpec()], [PartialSpec((2, 3, 4, 5), FLOAT), PartialSpec()]
    assert LRN.complete is not None
    LRN.complete(inputs, outputs, LRN.schema.parse("LRN", {"nsize": 5}))
    assert inputs == [PartialSpec((2, 3, 4, 5), FLOAT)]


@pytest.mark.parametrize(
    ("shape", "nsize", "message"),
    [((2, 3, 4), 5, "expected floating data of 2 or 4 axes"), ((2, 3), 0, "nsize of at least 1")],
)
def test_what_mxnet_does_not_take_is_refused(
    shape: tuple[int, ...], nsize: int, message: str
) -> None:
    with pytest.raises(OperatorError, match=message):
        LRN.infer(Spec(shape, FLOAT), nsize=nsize)
