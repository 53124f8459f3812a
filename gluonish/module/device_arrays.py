"""Arrays of a batch on devices, and the devices of each ``ctx_group`` of a network.

Split of a batch over devices, in proportion to their loads.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.io.data_iter import DataBatch
from gluonish.ndarray import NDArray, array, concat


def part_of(x: Any, part: slice, axis: int) -> Any:
    """Return a slice of an array along its batch axis; the whole array if it has no such axis.

    Args:
        x: The array.
        part: The slice.
        axis: The batch axis; -1 for none.
    """
    if axis < 0 or (part.start == 0 and part.stop >= x.shape[axis]):
        return x
    return x[(*(slice(None),) * axis, part)]


def merged(arrays: Sequence[NDArray], axis: int) -> NDArray:
    """Concatenate the devices' slices of a batch; without a batch axis return the first array.

    Args:
        arrays: One array for each device.
        axis: The batch axis; -1 for none.
    """
    first = arrays[0]
    if len(arrays) == 1 or axis < 0 or not first.shape:
        return first
    joined: NDArray = concat(*(x.as_in_context(first.context) for x in arrays), dim=axis)
    return joined


def on_host(arrays: Sequence[NDArray]) -> NDArray:
    """Return the mean of several devices' arrays, on the CPU.

    Args:
        arrays: One array for each device.
    """
    copies = [x.detach().copyto(cpu()) for x in arrays]
    total: NDArray = copies[0]
    for other in copies[1:]:
        total += other
    if len(copies) > 1:
        total /= len(copies)
    return total


def load(
    batch: DataBatch | Sequence[DataBatch],
    field: str,
    names: Sequence[str],
    targets: Sequence[Sequence[tuple[slice, NDArray]]],
    axes: Sequence[int],
    *,
    optional: bool = False,
) -> None:
    """Copy to each device its slice of a batch's arrays.

    Args:
        batch: The batch; or a list with one for each device.
        field: ``"data"`` or ``"label"``.
        names: Names of the arrays, in the batch's order.
        targets: For each array a list with, for each device, the slice and the target array.
        axes: Batch axis of each array.
        optional: Whether the batch may have no such arrays.

    Raises:
        ArgumentError: The batch has fewer arrays than there are names; extra arrays are ignored.
    """
    batches = batch if isinstance(batch, list) else [batch]  # a batch may be a namedtuple
    one_per_device = batches is batch
    columns = [getattr(one, field, None) or () for one in batches]
    for sources in columns:
        if optional and not sources:
            return
        if len(sources) < len(names):
            raise ArgumentError(
                f"forward: expected a batch with {field} for {list(names)}, got {len(sources)} "
                "arrays"
            )
    for i, (on_devices, axis) in enumerate(zip(targets, axes, strict=False)):
        for device, (rows, target) in enumerate(on_devices):
            source = columns[device][i] if one_per_device else columns[0][i]
            if isinstance(source, list | tuple):
                source = source[device]
            elif not one_per_device:
                source = part_of(source, rows, axis)
            _copy(source, target)


def _copy(source: Any, target: NDArray) -> None:
    if not isinstance(source, NDArray):
        source = array(source, cpu(), target.dtype)
    if source.stype != target.stype:
        source = source.tostype(target.stype)
    source.detach().copyto(target)


Groups = Mapping[str, Any] | Sequence[Mapping[str, Context]] | None


def groups_of(given: Groups, count: int) -> list[dict[str, Context]]:
    """Return, for each of a module's devices, a dict from each ``ctx_group`` to its device.

    Args:
        given: Dict from the group's name to a device, or to a list with one for each of the
            module's devices; or a list of such dicts; None for none.
        count: Number of the module's devices.

    Raises:
        ArgumentError: The length of a list differs from ``count``.
    """
    if given is None:
        return [{} for _ in range(count)]
    if not isinstance(given, Mapping):
        groups = [dict(group) for group in given]
        if len(groups) != count:
            raise ArgumentError(
                f"group2ctxs: expected a dict for each of {count} contexts, got {len(groups)}"
            )
        return groups
    columns: dict[str, list[Context]] = {}
    for name, devices in given.items():
        column = [devices] if isinstance(devices, Context) else list(devices)
        column *= count if len(column) == 1 else 1
        if len(column) != count:
            raise ArgumentError(
                f"group2ctxs: expected a device of {name!r} for each of {count} contexts, got "
                f"{len(column)}"
            )
        columns[name] = column
    return [{name: column[i] for name, column in columns.items()} for i in range(count)]


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
