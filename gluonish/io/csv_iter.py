"""CSVIter: batches of numbers from comma-separated files."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.schema import Schema, boolean, integer, shape, text
from gluonish.core.spec import Spec, checked_spec
from gluonish.io.native_iter import PREFETCH_PARAMETERS, MXDataIter, parse_parameters
from gluonish.io.rows import Columns, DenseRows, RowSource
from gluonish.io.text_lines import (
    TextRange,
    converted_numbers,
    parse_numbers,
    parsed_blocks,
    text_ranges,
)
from gluonish.kernels.generated.number_parser import dense_lines

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

    A sample is all numbers of a line, in row-major order. Blank lines are skipped, and a trailing
    comma is ignored.

    If the last batch of a pass is incomplete, it is filled with samples from the start of the file,
    and the next pass continues after them. After a reset in the middle of a pass, the next pass
    starts at the first line.

    Args:
        data_csv: Path of the CSV file of the data, of several files, or of a folder: see
            `input_files`.
        data_shape: Shape of one sample.
        batch_size: Number of samples in a batch.
        label_csv: CSV file of the labels, with one line for each line of data; without it every
            label is 0, of shape (batch_size,).
        label_shape: Shape of one label; ``(1,)`` gives label arrays of shape (batch_size,).
        round_batch: With False, an incomplete last batch is filled with zeros instead, and every
            pass starts at the first line.
        prefetch_buffer: Number of batches to load ahead.
        ctx: Accepted for MXNet's programs; has no effect, batches are always in CPU memory.
        dtype: Element type of data and labels, float32 by default. With an integer type all
            numbers in the files must be whole.
        data_name: Name of the data, ``"data"`` by default.
        label_name: Name of the labels, ``"softmax_label"`` by default.

    Outputs:
        data: (batch_size, *data_shape).
        label: (batch_size,) or (batch_size, *label_shape).

    Raises:
        MissingFileError: A file does not exist.
        OperatorError: A parameter is missing or invalid.
        FileFormatError: From ``next``: a line cannot be parsed; names the file, line and offset.

    Example:
        >>> import pathlib, tempfile
        >>> import gluonish as mx
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
        >>> _ = path.write_text("1,2,3\\n4,5,6\\n")
        >>> batches = mx.io.CSVIter(data_csv=str(path), data_shape=(3,), batch_size=2)
        >>> next(batches).data[0].tolist()
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    """

    def __init__(self, **parameters: Any) -> None:
        params, names = parse_parameters("CSVIter", _PARAMETERS, parameters)
        dtype = FLOAT32 if params["dtype"] is None else params["dtype"]
        data = checked_spec("CSVIter", (params["batch_size"], *params["data_shape"]), dtype)
        labelled = params["label_csv"] != _NONE
        one = not labelled or params["label_shape"] == (1,)
        label_shape = () if one else params["label_shape"]
        label = checked_spec("CSVIter", (params["batch_size"], *label_shape), dtype)
        files = [partial(_columns, text_ranges(params["data_csv"], "CSVIter"), data)]
        if labelled:
            files.append(partial(_columns, text_ranges(params["label_csv"], "CSVIter"), label))
        super().__init__(
            RowSource(
                "CSVIter",
                params["data_csv"],
                data,
                label,
                params["prefetch_buffer"],
                files,
                params["round_batch"],
            ),
            **names,
        )


def _columns(ranges: Sequence[TextRange], batch: Spec) -> Iterator[Columns]:
    """Yield the samples of files, block by block."""
    width = batch.size // batch.shape[0]
    kind = (width, batch.dtype)
    return parsed_blocks(ranges, partial(_parse_fast, *kind), partial(_parse, *kind))


def _parse_fast(width: int, dtype: np.dtype[Any], text: bytes) -> Columns | None:
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
