"""_contrib_bipartite_matching: greedy matching of rows and columns by score."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import Matrix
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.precision import check_positions
from gluonish.ops.vision.regions import check_floating

_NAME = "_contrib_bipartite_matching"


def _infer(data: Spec, *, is_ascend: bool, threshold: float, topk: int) -> tuple[Spec, Spec]:
    if len(data.shape) < 2:
        raise OperatorError(f"{_NAME}: expected scores (..., rows, columns), got {data.shape}")
    check_floating(_NAME, data)
    if 0 in data.shape[-2:]:
        raise OperatorError(f"{_NAME}: expected at least one score, got data {data.shape}")
    check_positions(_NAME, max(data.shape[-2:]), data.dtype, "cast the scores with astype")
    return (
        Spec(data.shape[:-1], data.dtype),
        Spec((*data.shape[:-2], data.shape[-1]), data.dtype),
    )


def _pairs(scores: Matrix, is_ascend: bool, threshold: float, topk: int) -> tuple[Matrix, Matrix]:
    """Return the column of each row and the row of each column, -1 for none."""
    rows, columns = np.full(scores.shape[0], -1), np.full(scores.shape[1], -1)
    flat = scores.reshape(-1)
    good = flat < threshold if is_ascend else flat > threshold
    (candidates,) = np.nonzero(good)
    keys = flat[candidates] if is_ascend else -flat[candidates]
    count = 0
    for index in candidates[np.argsort(keys, kind="stable")]:
        row, column = divmod(int(index), scores.shape[1])
        if rows[row] < 0 and columns[column] < 0:
            rows[row], columns[column] = column, row
            count += 1
            if 0 < topk < count:
                break
            if count == min(scores.shape):
                break
    return rows, columns


def _kernel(
    xp: ModuleType, out: Any, data: Any, *, is_ascend: bool, threshold: float, topk: int
) -> None:
    host = widened_on_host(xp, data)
    flat = host.reshape(-1, *host.shape[-2:])
    bound = host.dtype.type(threshold)
    found = [_pairs(scores, is_ascend, bound, topk) for scores in flat]
    for target, i in zip(out, range(2), strict=True):
        if target.size:
            stacked = np.array([pair[i] for pair in found], np.float64)
            target[...] = xp.asarray(stacked.reshape(target.shape)).astype(target.dtype)


BIPARTITE_MATCHING = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Match rows with columns greedily: the pair with the best score first, then the\n"
            "best remaining pair.\n\n"
            "The best score is the largest above threshold, or with is_ascend the smallest\n"
            "below it. With topk above 0 matching stops after topk pairs. The outputs hold the\n"
            "column of each row and the row of each column, -1 for none. The gradient is zero.\n\n"
            "Shapes: data (..., rows, columns), outputs (..., rows) and (..., columns)."
        ),
        schema=Schema(is_ascend=boolean(False), threshold=number(), topk=integer(-1)),
        outputs=2,
        output_names=("output0", "output1"),
    )
)
