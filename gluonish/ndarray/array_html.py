"""What an array shows in a notebook: shape, dtype, device, a summary, a corner of its values."""

import base64
import io
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, STORED_DTYPES
from gluonish.core.html import details, frame, heading, preformatted
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.array import BaseSparseNDArray

_MOST = 1 << 24  # elements of which a summary is computed
_EDGE = 3  # values at each end of an axis of a longer array
_SHORT = 60  # elements of an array that is shown completely
_LEAST_IMAGE, _MOST_IMAGE, _SHOWN_IMAGE = 4, 4096, 480  # pixels of a side

Array = np.ndarray[Any, Any]


def array_html(array: NDArray) -> str | None:
    """Return the HTML of an array, or None if its values cannot be computed: its text says why."""
    try:
        return _html(array)
    except Exception:  # the text, which is shown then, raises the same error
        return None


def _html(array: NDArray) -> str:
    if isinstance(array, BaseSparseNDArray):
        stored = _values(array._storage.values)
        share = stored.size / max(array.size, 1)
        notes = [*_notes(array), f"{stored.size:,} stored values ({share:.2%})", _summary(stored)]
        return frame(heading(_title(array), *notes), _sparse_corner(array, stored))
    if array.size > _MOST:
        corner = tuple(slice(2 * _EDGE) for _ in array.shape)
        first = _text(_values(array.detach()[corner]))
        notes = [*_notes(array), "the first values:"]
        return frame(heading(_title(array), *notes), preformatted(first))
    values = _values(array)
    top = heading(_title(array), *_notes(array), _summary(values))
    shown = preformatted(_text(values))
    image = _image(values)
    return frame(top, shown if image is None else image + details("values", shown))


def _title(array: NDArray) -> str:
    return f"{type(array).__name__} {array.shape}"


def _notes(array: NDArray) -> list[str]:
    dtype = array._spec.dtype
    nbytes = array.size * dtype.itemsize
    notes = [dtype.name, str(array.context)]
    if array.stype == "default":
        notes.append(_nbytes_text(nbytes))
    return [*notes, "with gradient"] if array.grad is not None else notes


def _nbytes_text(nbytes: int) -> str:
    size = float(nbytes)
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if unit != "B" else f"{nbytes} B"
        size /= 1024
    return f"{size:.3g} GB"


def _values(array: NDArray) -> Array:
    values = array.asnumpy()
    stored = values.dtype == BFLOAT16 or values.dtype in STORED_DTYPES
    return values.astype(np.float32) if stored else values


def _summary(values: Array) -> str:
    """Return least, mean and largest value; NaN and infinity are counted apart."""
    if values.size < 2 or values.dtype.kind not in "fiu":
        return ""
    finite, others = values, ""
    if values.dtype.kind == "f":
        is_finite = np.isfinite(values)
        if not is_finite.all():
            finite = values[is_finite]
            nans = int(np.isnan(values).sum())
            infinities = values.size - finite.size - nans
            counts = ((nans, "NaN"), (infinities, "infinite"))
            others = "".join(f", {count:,} {what}" for count, what in counts if count)
            if not finite.size:
                return others.removeprefix(", ")
    mean = finite.mean(dtype=np.float64)
    return f"min {finite.min():.4g}, mean {mean:.4g}, max {finite.max():.4g}{others}"


def _text(values: Array) -> str:
    """Return the values as NumPy prints them, shortened; of more than two axes, the first ones."""
    if values.ndim > 2 and values.size:
        first = ", ".join("0" * (values.ndim - 2))
        return f"x[{first}]:\n{_text(values[(0,) * (values.ndim - 2)])}"
    return np.array2string(
        values, precision=4, threshold=_SHORT, edgeitems=_EDGE, suppress_small=True
    )


def _sparse_corner(array: Any, stored: Array) -> str:
    rows = [x.asnumpy() for x in array._storage.aux]
    if array.stype == "row_sparse":
        lines = [f"row {row}: {_text(stored[i])}" for i, row in _first(rows[0])]
        count = len(rows[0])
    else:
        indptr, columns = rows
        lines = [
            f"({np.searchsorted(indptr, i, side='right') - 1}, {column})  {stored[i]:.4g}"
            for i, column in _first(columns)
        ]
        count = len(columns)
    more = ["..."] if count > len(lines) else []
    return preformatted("\n".join([*lines, *more])) if lines else ""


def _first(values: Array) -> list[tuple[int, int]]:
    return list(enumerate(values[: 2 * _EDGE].tolist()))


def _image(values: Array) -> str | None:
    """Return the HTML of an image (height, width, 3) of bytes, or None if it is none."""
    if values.dtype != np.uint8 or values.ndim != 3 or values.shape[2] != 3:
        return None
    height, width = values.shape[:2]
    if not _LEAST_IMAGE <= min(height, width) <= max(height, width) <= _MOST_IMAGE:
        return None
    try:
        from PIL import Image
    except IMPORT_FAILURES:
        return None
    step = -(-max(height, width) // _SHOWN_IMAGE)
    content = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(values[::step, ::step])).save(content, "PNG")
    encoded = base64.b64encode(content.getvalue()).decode("ascii")
    zoom = max(1, 96 // max(height, width))
    size = f'width="{-(-width // step) * zoom}" height="{-(-height // step) * zoom}"'
    return f'<img alt="" {size} src="data:image/png;base64,{encoded}">'
