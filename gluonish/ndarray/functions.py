"""Functions of the ``nd`` namespace that are not operators: arithmetic, waiting, splitting.

Also `histogram`, and functions of MXNet's `mx.nd` that are not supported, whose errors name the
replacement.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.engine import current_engine
from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.truth import SUM, joining, marking, subtracting
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.arithmetic import as_int, combine
from gluonish.ops.numpy.counting import HISTOGRAM
from gluonish.ops.registry import apply, find_operator
from gluonish.ops.support.binary_row import Row
from gluonish.ops.support.shape_rules import normalize_axis

__all__ = [
    "add",
    "divide",
    "equal",
    "greater",
    "greater_equal",
    "lesser",
    "lesser_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "modulo",
    "multiply",
    "not_equal",
    "onehot_encode",
    "power",
    "split_v2",
    "subtract",
    "true_divide",
    "waitall",
]


def _function(
    row: Row, name: str, on_numbers: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    def function(lhs: Any, rhs: Any) -> Any:
        return combine(row, lhs, rhs, on_numbers)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{row.broadcast.doc} Either side may be a number."
    return function


def _comparison(
    row: Row, name: str, on_numbers: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    return marking(_function(row, name, on_numbers))


add = joining(_function(binary.ADD, "add", operator.add), SUM)
subtract = subtracting(_function(binary.SUBTRACT, "subtract", operator.sub))
multiply = joining(_function(binary.MULTIPLY, "multiply", operator.mul))
divide = _function(binary.DIVIDE, "divide", operator.truediv)
true_divide = _function(binary.DIVIDE, "true_divide", operator.truediv)
modulo = _function(binary.MODULO, "modulo", operator.mod)
maximum = joining(_function(binary.MAXIMUM, "maximum", max))
minimum = joining(_function(binary.MINIMUM, "minimum", min))
equal = _comparison(binary.EQUAL, "equal", as_int(operator.eq))
not_equal = _comparison(binary.NOT_EQUAL, "not_equal", as_int(operator.ne))
greater = _comparison(binary.GREATER, "greater", as_int(operator.gt))
greater_equal = _comparison(binary.GREATER_EQUAL, "greater_equal", as_int(operator.ge))
lesser = _comparison(binary.LESSER, "lesser", as_int(operator.lt))
lesser_equal = _comparison(binary.LESSER_EQUAL, "lesser_equal", as_int(operator.le))
logical_and = _comparison(binary.LOGICAL_AND, "logical_and", lambda a, b: int(bool(a and b)))
logical_or = _comparison(binary.LOGICAL_OR, "logical_or", lambda a, b: int(bool(a or b)))
logical_xor = _comparison(binary.LOGICAL_XOR, "logical_xor", lambda a, b: int(bool(a) != bool(b)))


def power(base: Any, exp: Any) -> Any:
    """Raise elements to a power, with broadcasting.

    Args:
        base: Array or number.
        exp: Array or number.
    """
    return combine(binary.POWER, base, exp, operator.pow)


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Write the one-hot encoding of class indices into an array.

    Args:
        indices: (N,), the class of each row.
        out: (N, classes), which is overwritten and returned.
    """
    op = find_operator("one_hot")
    attrs = op.schema.parse("onehot_encode", {"depth": out.shape[1], "dtype": out.dtype})
    filled: NDArray = invoke(op, (indices,), attrs, out)
    return filled


def waitall() -> None:
    """Block until all pending operations have finished.

    Raises:
        OperatorError: An operation failed, and its error was not raised yet.
    """
    current_engine().wait_all()


def split_v2(
    ary: NDArray,
    indices_or_sections: int | Sequence[int],
    axis: int = 0,
    squeeze_axis: bool = False,
) -> Any:
    """Split an array along an axis.

    Args:
        ary: The array.
        indices_or_sections: Number of equal parts, or the indices at which to split.
        axis: Axis to split.
        squeeze_axis: Whether to drop the axis from the parts; its size there must be 1.

    Raises:
        ArgumentError: The number of parts does not divide the size of the axis.
        OperatorError: There is no such axis, or an index is out of range.

    Example:
        >>> import gluonish as mx
        >>> [x.tolist() for x in mx.nd.split_v2(mx.nd.arange(5), (2, 3))]
        [[0.0, 1.0], [2.0], [3.0, 4.0]]
    """
    op = find_operator("_split_v2")
    if isinstance(indices_or_sections, int):
        extent = ary.shape[normalize_axis("split_v2", axis, len(ary.shape))]
        if indices_or_sections > 0 and extent % indices_or_sections:
            raise ArgumentError(
                f"split_v2: expected equal parts, got {indices_or_sections} of an axis of "
                f"{extent}: array split does not result in an equal division"
            )
        args: dict[str, Any] = {"indices": (), "sections": indices_or_sections}
    else:  # the operator's indices start with 0
        args = {"indices": (0, *indices_or_sections), "sections": 0}
    args |= {"axis": axis, "squeeze_axis": squeeze_axis}
    return apply(op, (ary,), op.schema.parse("split_v2", args))


document_arguments(globals(), __all__)


def histogram(
    a: NDArray,
    bins: int | NDArray = 10,
    range: Sequence[float] | None = None,  # noqa: A002  # named by MXNet
) -> Sequence[Any]:
    """Compute a histogram: the number of elements in each bin, and the bin edges.

    Args:
        a: Any shape.
        bins: Number of bins of equal width, or an ascending array of their edges.
        range: Lower edge of the first and upper edge of the last bin, for a number of bins. By
            default the minimum and maximum of ``a``, widened by 0.5 on each side if they are equal;
            the counts are float32 then, as in MXNet.

    Returns:
        Counts, (edges - 1,), and edges, (edges,); a tuple by default, a list with a range or edges.

    Raises:
        ArgumentError: There is no range, and ``a`` is empty or not finite.
        OperatorError: ``bins`` and ``range`` are inconsistent.
    """
    if isinstance(bins, NDArray):
        found: list[Any] = apply(HISTOGRAM, (a, bins), {"bin_cnt": None, "range": None})
        return found
    args = {"bin_cnt": bins, "range": _extremes(a) if range is None else range}
    found = apply(HISTOGRAM, (a,), HISTOGRAM.schema.parse("histogram", args))
    return found if range is not None else tuple(x.astype("float32") for x in found)


def _extremes(a: NDArray) -> tuple[float, float]:
    values = a.asnumpy()
    if not values.size:
        raise ArgumentError("histogram: expected elements or a range, got an empty array")
    low, high = float(values.min()), float(values.max())
    if not low - low == high - high == 0:
        raise ArgumentError(f"histogram: expected finite elements or a range, got {low} to {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def imdecode(
    str_img: bytes,
    clip_rect: tuple[int, int, int, int] = (0, 0, 0, 0),
    out: Any = None,
    index: int = 0,
    channels: int = 3,
    mean: Any = None,
) -> NoReturn:
    """Not supported: in MXNet 1.9.1 this deprecated function fails for every image.

    Args:
        str_img: Bytes of an image's file.
        clip_rect: Left, upper, right and lower edge of the crop, in pixels.
        out: Array to fill.
        index: Index in ``out``.
        channels: 1 for grey.
        mean: Array to subtract.

    Raises:
        NotSupportedError: Always; `mx.image.imdecode` decodes.
    """
    raise NotSupportedError(
        "nd.imdecode: expected mx.image.imdecode(bytes), which decodes to (height, width, "
        "channels); got the deprecated function, which fails in MXNet 1.9.1, too"
    )


def new_empty_handle() -> NoReturn:
    """Not supported: arrays of gluonish have no handle in a C library.

    Raises:
        NotSupportedError: Always; `mx.nd.empty` makes an array.
    """
    raise NotSupportedError(
        "_new_empty_handle: expected mx.nd.empty(shape); gluonish has no C library and no handles"
    )
