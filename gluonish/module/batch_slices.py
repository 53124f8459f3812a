"""Split of a batch over devices, in proportion to their loads."""

import itertools
from collections.abc import Sequence

from gluonish.core.errors import ArgumentError


def split_by_load(extent: int, loads: Sequence[float]) -> list[slice]:
    """Return the slice of a batch for each device, in proportion to its load.

    Sizes are rounded to integers (half to even, as in MXNet); the last device gets the rest.

    Args:
        extent: Number of samples in the batch.
        loads: Relative load of each device: ``[3, 1]`` gives the first three quarters.

    Raises:
        ArgumentError: A load is not positive, or a device would get no samples.
    """
    total = sum(loads)
    if not loads or min(loads) <= 0:
        raise ArgumentError(
            f"work_load_list: expected a positive load for each device, got {loads}"
        )
    counts = [round(extent * load / total) for load in loads[:-1]]
    bounds = [0, *itertools.accumulate(counts), extent]
    slices = [slice(*pair) for pair in itertools.pairwise(bounds)]
    if any(each.start >= each.stop for each in slices):
        raise ArgumentError(
            f"work_load_list: expected a batch with an example for each of {len(loads)} devices "
            f"with loads {list(loads)}, got {extent} examples; use fewer devices or a larger batch"
        )
    return slices
