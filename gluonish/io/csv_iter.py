"""CSVIter: batches of numbers from comma-separated files."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.schema import Schema, boolean, integer, shape, text
from gluonish.core.spec import Spec, checked_spec
from gluonish.io.native_iter import PREFETCH_PARAMETERS, MXDataIter, parse_parameters
from gluonish.io.number_text import converted_numbers, parse_numbers
from gluonish.io.row_source import RowSource
from gluonish.io.rows import Columns, DenseRows
from gluonish.io.text_lines import TextPart, parsed_blocks, text_parts
from gluonish.kernels.numba.number_lines import dense_lines

__all__ = ["CSVIter"]

_NONE = "NULL"
_PARAMETERS = Schema(
    data_csv=text(),
    data_shape=shape(),
    label_csv=text(_NONE),
    label_shape=shape((1,)),
    batch_size=integer(low=1),
    round_batch=boolean(True),
    **PREFETCH_PARAMETERS,
)


class CSVIter(MXDataIter):
    """Iterates over CSV files in batches, one sample per line.

    Blank lines do not count, nor does a comma at the end of a line. All numbers of a line, in the
    order of their places, are one sample.

    The last batch of a pass, where it lacks samples, is filled from the start of the file, and the
    next pass begins behind these. A reset in mid-pass begins at the first line.

    Args:
        data_csv: File of the data, or several, or a folder: see `input_files`.
        data_shape: Shape of a sample.
        batch_size: Number of samples in a batch.
        label_csv: The same of the labels, with as many lines; without one labels are zeros, one for
            each sample.
        label_shape: Shape of a label; ``(1,)`` gives arrays of shape (batch_size,).
        round_batch: False fills the last batch with zeros, and every pass begins at the first line.
        prefetch_buffer: Number of batches to load ahead.
        ctx: Accepted without effect: batches are in ordinary CPU memory.
        dtype: Element type of data and labels, float32 by default. Whole numbers are required for
            an integer one.
        data_name: Name of the data, ``"data"`` by default.
        label_name: Name of the labels, ``"softmax_label"`` by default.

    Outputs:
        data: (batch_size, *data_shape).
        label: (batch_size,) or (batch_size, *label_shape).

    Raises:
        MissingFileError: A file does not exist.
        OperatorError: A parameter is missing or has a wrong value.
        FileFormatError: From ``next``: a line is wrong; names file, line and offset.
    """

    def __init__(self, **parameters: Any) -> None:
        given, names = parse_parameters("CSVIter", _PARAMETERS, parameters)
        dtype = FLOAT32 if given["dtype"] is None else given["dtype"]
        data = checked_spec("CSVIter", (given["batch_size"], *given["data_shape"]), dtype)
        labelled = given["label_csv"] != _NONE
        one = not labelled or given["label_shape"] == (1,)
        label_shape = () if one else given["label_shape"]
        label = checked_spec("CSVIter", (given["batch_size"], *label_shape), dtype)
        files = [partial(_columns, text_parts(given["data_csv"], "CSVIter"), data)]
        if labelled:
            files.append(partial(_columns, text_parts(given["label_csv"], "CSVIter"), label))
        super().__init__(
            RowSource(
                "CSVIter",
                given["data_csv"],
                data,
                label,
                given["prefetch_buffer"],
                files,
                given["round_batch"],
            ),
            **names,
        )


def _columns(parts: Sequence[TextPart], batch: Spec) -> Iterator[Columns]:
    """Return a generator of the samples of files, block by block."""
    width = batch.size // batch.shape[0]
    kind = (width, batch.dtype)
    return parsed_blocks(parts, partial(_parse_ordinary, *kind), partial(_parse, *kind))


def _parse_ordinary(width: int, dtype: np.dtype[Any], text: bytes) -> Columns | None:
    numbers = dense_lines(text, width)
    values = None if numbers is None else converted_numbers(numbers, dtype)
    return None if values is None else (DenseRows(values),)


def _parse(width: int, dtype: np.dtype[Any], lines: list[bytes]) -> Columns:
    fields = [line.strip().removesuffix(b",") for line in lines]
    if any(line.count(b",") + 1 != width for line in fields):
        raise ValueError(f"{width} number{'s' * (width > 1)} between commas")
    values = parse_numbers(b",".join(fields), ",", dtype)
    if values.size != width * len(lines):
        raise ValueError("a number between any two commas")
    return (DenseRows(values.reshape(len(lines), width)),)
