"""_sample_unique_zipfian: rows of distinct integers from a Zipfian distribution."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.philox import uniform
from gluonish.ops.support.variates import substream

Key = tuple[int, int]

_NAME = "_sample_unique_zipfian"
_MAX_BATCH = 1 << 20  # numbers drawn at a time


def _infer(*, range_max: int, shape: Shape | None) -> tuple[Spec, Spec]:
    extents = shape or ()
    if range_max < 1:
        raise OperatorError(f"{_NAME}: expected range_max of at least 1, got {range_max}")
    if len(extents) != 2 or not 0 <= extents[1] <= range_max or extents[0] < 0:
        raise OperatorError(
            f"{_NAME}: expected a shape (rows, numbers) with at most range_max = {range_max} "
            f"numbers in a row, got {shape}"
        )
    return checked_spec(_NAME, extents, INT64), checked_spec(_NAME, extents[:1], INT64)


def _row(key: Key, range_max: int, count: int) -> tuple[Any, int]:
    """Return the first ``count`` distinct numbers of a stream, and the number of draws."""
    drawn = np.empty(0, np.int64)
    first = np.empty(0, np.int64)
    length = 2 * count
    for batch in range(1 << 16):
        u = uniform(np, substream(key, batch), (length,), FLOAT64)
        numbers = np.exp(u * math.log(range_max + 1)).astype(np.int64) - 1
        drawn = np.concatenate([drawn, np.clip(numbers, 0, range_max - 1)])
        first = np.sort(np.unique(drawn, return_index=True)[1])
        if first.size >= count:
            break
        length = min(2 * length, _MAX_BATCH)
    first = first[:count]
    return drawn[first], int(first[-1]) + 1 if count else 0


def _kernel(xp: ModuleType, out: Any, *, key: Key, range_max: int, shape: Shape | None) -> None:
    samples, tries = out
    for i in range(samples.shape[0]):
        numbers, count = _row(substream(key, (i + 1) << 16), range_max, samples.shape[1])
        samples[i] = xp.asarray(numbers)
        tries[i] = count


SAMPLE_UNIQUE_ZIPFIAN = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Draw rows of integers below range_max, without repeats in a row.\n\n"
            "A number k is drawn with probability log((k + 2) / (k + 1)) / log(range_max + 1),\n"
            "and again if it is already in the row. The second output is the number of draws\n"
            "for each row. shape is (rows, numbers in a row).\n\n"
            "Shapes: outputs shape and (rows,)."
        ),
        inputs=(),
        schema=Schema(range_max=integer(), shape=optional(shape_attr())),
        outputs=2,
        execution=Execution(random=True, heavy=True),
    )
)
