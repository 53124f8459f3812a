"""Classes drawn by their probabilities: where each draw lies among the sums, however many rows."""

import sys
from types import FrameType

import numpy as np

from gluonish.core.dtype import FLOAT64
from gluonish.ops.sampling.multinomial import SAMPLE_MULTINOMIAL
from gluonish.ops.support.philox import uniform

ATTRS = {"get_prob": False, "dtype": np.dtype(np.int32)}
KEY = (5, 6)


def drawn(rows: np.ndarray, count: int) -> np.ndarray:
    out = np.empty((len(rows), count), np.int32)
    SAMPLE_MULTINOMIAL.kernel(np, (out,), rows, key=KEY, shape=(count,), **ATTRS)
    return out


def calls_of(rows: int) -> int:
    found = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    data = np.full((rows, 4), 0.25, np.float32)
    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        drawn(data, 1)
    finally:
        sys.setprofile(previous)
    return found


def test_more_rows_cost_no_more_calls() -> None:
    assert calls_of(2000) <= calls_of(100)


def test_a_draw_is_of_the_class_whose_share_it_lies_in() -> None:
    rng = np.random.default_rng(1)
    for size, classes in ((40, 3), (3, 40), (40, 1)):
        rows = rng.random((size, classes)).astype(np.float32)
        rows[0] = 0
        ends = np.cumsum(rows.astype(np.float64), axis=1)
        places = uniform(np, KEY, (size, 7), FLOAT64) * ends[:, -1:]
        expected = (ends[:, None, :] <= places[:, :, None]).sum(axis=2)
        assert (drawn(rows, 7) == np.minimum(expected, classes - 1)).all()
