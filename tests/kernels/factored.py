"""Arrays and rates to try the fused steps of Adafactor with; see `tests.kernels.updates`."""

from typing import Any

import numpy as np

from gluonish.ops.updates.matrices import ADAFACTOR, factor_shapes
from tests.kernels.updates import scalars

# Vectors, an empty weight, batches of small matrices, and matrices of several chunks.
SHAPES: list[Any] = [
    (3,),
    (0,),
    (),
    (17, 33),
    (5, 3, 3, 3),
    (1, 1),
    (1,),
    (65, 3, 1, 1),
    (900, 1),
    (1, 900),
]
SHAPES += [(700, 300), (2, 520, 260), (40, 7000), (0, 4), (30000,)]


def factored_groups(narrow: Any) -> list[list[Any]]:
    """Return for each weight its arrays, in float32 or mixed with a narrow dtype."""
    rng = np.random.default_rng(0)
    found = []
    for shape in SHAPES:
        weight, grad = (rng.normal(size=shape) for _ in range(2))
        states = [np.array(rng.uniform(0.5, 2, x), np.float32) for x in factor_shapes(shape)]
        master = np.array(weight, np.float32)
        if narrow is None:
            found.append([master, np.array(grad, np.float32), *states])
        else:
            found.append([master.astype(narrow), np.array(grad, narrow), *states, master])
    return found


def rates_of_weights() -> list[list[float]]:
    """Return a column of numbers for each rate; the last share is 1, as in a first step."""
    rng = np.random.default_rng(1)
    columns = [rng.uniform(0.1, 1, len(SHAPES)) for _ in ADAFACTOR.rates]
    columns[1][-1] = 1.0
    return [column.tolist() for column in columns]


def steps() -> list[tuple[list[Any], dict[str, float]]]:
    """Return rates and scalars of some steps: for each weight and for all, with other limits."""
    small = {"epsilon1": 0.02, "clip_threshold": 1.5, "epsilon2": 0.5}
    return [
        (rates_of_weights(), scalars(ADAFACTOR)),
        ([0.3, 0.25, 0.9], scalars(ADAFACTOR, clip_gradient=-1.0)),
        (rates_of_weights(), scalars(ADAFACTOR, **small)),
    ]
