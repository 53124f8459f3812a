"""The ranges of class indices and ids that operators read, for `mx.check_values`.

Operators clip indices that are out of range, as MXNet's do; few programs mean that.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluonish.core.spec import Spec
from gluonish.ops.registry import Attrs, Operator


class IndexRange(NamedTuple):
    """The range of an input of indices.

    Attributes:
        position: Position of the input.
        extent: Indices are in [0, extent).
        ignored: An index that is in range, too, such as that of padding; None for no such index.
    """

    position: int
    extent: int
    ignored: float | None = None


def _along_axis(specs: Sequence[Spec], attrs: Attrs) -> IndexRange | None:
    if attrs["mode"] != "clip" or attrs["axis"] is None:
        return None
    return IndexRange(1, specs[0].shape[attrs["axis"]])


def _of_rows(specs: Sequence[Spec], attrs: Attrs) -> IndexRange:
    return IndexRange(0, attrs["input_dim"])


def _of_classes(specs: Sequence[Spec], attrs: Attrs) -> IndexRange:
    return IndexRange(1, specs[0].shape[-1], attrs.get("ignore_label"))


def _of_softmax_output(specs: Sequence[Spec], attrs: Attrs) -> IndexRange | None:
    data, label = specs
    if data.shape == label.shape:  # probabilities
        return None
    several = attrs["multi_output"] or attrs["preserve_shape"]
    axis = -1 if attrs["preserve_shape"] else 1
    extent = data.shape[axis] if several else data.size // max(1, data.shape[0])
    return IndexRange(1, extent, attrs["ignore_label"] if attrs["use_ignore"] else None)


_RANGES: dict[str, Callable[[Sequence[Spec], Attrs], IndexRange | None]] = {
    "Embedding": _of_rows,
    "SoftmaxOutput": _of_softmax_output,
    "_contrib_SparseEmbedding": _of_rows,
    "_log_softmax_pick": _along_axis,
    "batch_take": _of_classes,
    "cross_entropy": _of_classes,
    "one_hot": lambda specs, attrs: IndexRange(0, attrs["depth"]),
    "pick": _along_axis,
    "softmax_cross_entropy": _of_classes,
    "take": _along_axis,
}


def index_range(op: Operator, specs: Sequence[Spec], attrs: Attrs) -> IndexRange | None:
    """Return the range of an operator's indices; None for operators without, or any range.

    Args:
        op: The operator.
        specs: Specs of its inputs.
        attrs: Its attributes.
    """
    found = _RANGES.get(op.name)
    return None if found is None else found(specs, attrs)
