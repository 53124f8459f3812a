"""LibSVMIter: batches of sparse rows from files in the format of LibSVM."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT64
from gluonish.core.errors import ArgumentError
from gluonish.core.schema import Schema, boolean, integer, shape, text
from gluonish.core.spec import checked_spec
from gluonish.io.native_iter import (
    PREFETCH_PARAMETERS,
    MXDataIter,
    check_parts,
    parse_parameters,
)
from gluonish.io.rows import Columns, DenseRows, RowSource, SparseRows
from gluonish.io.text_lines import (
    TextRange,
    count_nonblank_lines,
    parse_numbers,
    parsed_blocks,
    text_ranges,
)
from gluonish.kernels.generated.number_parser import sparse_lines

_NAME = "LibSVMIter"
_NONE = "NULL"
_PARAMETERS = Schema(
    data_libsvm=text(),
    data_shape=shape(),
    label_libsvm=text(_NONE),
    label_shape=shape((1,)),
    num_parts=integer(1),
    part_index=integer(0),
    batch_size=integer(low=1),
    round_batch=boolean(True),
    **PREFETCH_PARAMETERS,
)
Array = np.ndarray[Any, Any]
_QUERY = re.compile(rb"(?<!\S)qid:\S*")
_COLON, _SPACE = b": "


class LibSVMIter(MXDataIter):
    """Iterates over LibSVM files in batches of csr matrices, one sample per line.

    A line is ``label column:value column:value ...``, with columns counted from 0. Comments, which
    start with ``#``, weights (``label:weight``) and ``qid:number`` are ignored.

    If the last batch of a pass is incomplete, it is filled with samples from the start of the data,
    and the next pass continues after them. After a reset in the middle of a pass, the next pass
    starts at the first line.

    Args:
        data_libsvm: Path of the file of the data, and of the labels unless ``label_libsvm`` is set;
            several files or a folder are possible: see `input_files`.
        data_shape: Shape of one sample, ``(columns,)``.
        batch_size: Number of samples in a batch.
        label_libsvm: LibSVM file whose columns and values are the labels, with one line for each
            line of data.
        label_shape: Shape of one label of ``label_libsvm``, ``(columns,)``.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0; parts have about equal numbers of bytes.
        round_batch: With False, an incomplete last batch is filled with empty rows instead, and
            every pass starts at the first line; MXNet does not support False.
        prefetch_buffer: Number of batches to load ahead.
        ctx: Accepted for MXNet's programs; has no effect, batches are always in CPU memory.
        dtype: Element type, float32 by default.
        data_name: Name of the data, ``"data"`` by default.
        label_name: Name of the labels, ``"softmax_label"`` by default.

    Outputs:
        data: (batch_size, columns), of stype csr.
        label: (batch_size,); with ``label_libsvm`` (batch_size, columns), of stype csr.

    Raises:
        MissingFileError: A file does not exist.
        OperatorError: A parameter is missing or invalid.
        ArgumentError: A shape has several axes, or ``part_index`` is not below ``num_parts``.
        FileFormatError: From ``next``: a line cannot be parsed; names the file, line and offset.
    """

    def __init__(self, **parameters: Any) -> None:
        params, names = parse_parameters(_NAME, _PARAMETERS, parameters)
        check_parts(_NAME, params["num_parts"], params["part_index"])
        dtype = FLOAT32 if params["dtype"] is None else params["dtype"]
        labelled = params["label_libsvm"] != _NONE
        width = _columns_of("data_shape", params["data_shape"])
        label_width = _columns_of("label_shape", params["label_shape"])
        if not labelled and label_width != 1:
            raise ArgumentError(
                f"{_NAME}: expected label_shape (1,) without label_libsvm, got "
                f"{label_width} columns"
            )
        rows = params["batch_size"]
        data = checked_spec(_NAME, (rows, width), dtype)
        label = checked_spec(_NAME, (rows, label_width) if labelled else (rows,), dtype)
        ranges_of = partial(text_ranges, params["data_libsvm"], _NAME, params["num_parts"])
        text_range = ranges_of(params["part_index"])
        files = [partial(_samples, text_range, width, dtype, (0,) if labelled else (0, 1))]
        if labelled:
            labels = text_ranges(params["label_libsvm"], _NAME)
            before = [ranges_of(i) for i in range(params["part_index"])]
            files.append(partial(_labels, labels, label_width, dtype, before, text_range))
        super().__init__(
            RowSource(
                _NAME,
                params["data_libsvm"],
                data,
                label,
                params["prefetch_buffer"],
                files,
                params["round_batch"],
            ),
            **names,
        )


def _columns_of(name: str, extents: Sequence[int]) -> int:
    if len(extents) != 1:
        raise ArgumentError(f"{_NAME}: expected {name} with one axis, got {tuple(extents)}")
    return extents[0]


def _samples(
    ranges: Sequence[TextRange], width: int, dtype: np.dtype[Any], indices: Sequence[int]
) -> Iterator[Columns]:
    """Yield the samples of files, block by block: features, labels, or both."""
    fast = partial(_parse_fast, width, dtype)
    for columns in parsed_blocks(ranges, fast, partial(_parse, width, dtype)):
        yield tuple(columns[i] for i in indices)


def _labels(
    ranges: Sequence[TextRange],
    width: int,
    dtype: np.dtype[Any],
    before: Sequence[Sequence[TextRange]],
    data: Sequence[TextRange],
) -> Iterator[Columns]:
    """Yield the labels of a part of the data; skip the labels of earlier parts."""
    skipped = sum(map(count_nonblank_lines, before))
    left = count_nonblank_lines(data)
    for block in _samples(ranges, width, dtype, (0,)):
        rows = block[0]
        begin, end = min(skipped, len(rows)), min(skipped + left, len(rows))
        skipped -= begin
        left -= end - begin
        if end > begin:
            yield (rows.subset(begin, end),)


def _parse_fast(width: int, dtype: np.dtype[Any], text: bytes) -> Columns | None:
    found = sparse_lines(text, width)
    if found is None:
        return None
    return _samples_of(*found, dtype)


def _parse(width: int, dtype: np.dtype[Any], lines: list[bytes]) -> Columns:
    """Parse lines; return features and labels."""
    fields = [_without_query(line.partition(b"#")[0]).split(None, 1) for line in lines]
    if not all(fields):
        raise ValueError("a label and column:value pairs")
    labels = [field[0].partition(b":")[0] for field in fields]
    features = b" ".join(field[1] for field in fields if len(field) > 1)
    counts = np.array([field[-1].count(b":") if len(field) > 1 else 0 for field in fields], int)
    numbers = _pairs(features)
    columns = numbers[0::2]
    if len(columns) != counts.sum():
        raise ValueError("a label and column:value pairs")
    if np.any(columns != np.trunc(columns)) or np.any((columns < 0) | (columns >= width)):
        raise ValueError(f"columns from 0 to {width - 1}")
    pointers = np.concatenate([np.zeros(1, INT64), np.cumsum(counts, dtype=INT64)])
    targets = _numbers(b" ".join(labels), len(labels))
    return _samples_of(numbers[1::2], columns.astype(INT64), pointers, targets, dtype)


def _samples_of(
    values: Array, columns: Array, pointers: Array, labels: Array, dtype: np.dtype[Any]
) -> Columns:
    with np.errstate(over="ignore"):  # overflow to infinity
        return SparseRows(values.astype(dtype), columns, pointers), DenseRows(labels.astype(dtype))


def _without_query(line: bytes) -> bytes:
    return _QUERY.sub(b"", line) if b"qid:" in line else line


def _pairs(features: bytes) -> np.ndarray[Any, Any]:
    """Parse column:value pairs; return a flat array."""
    text = b" ".join(features.split())
    separators = np.frombuffer(text, np.uint8)
    separators = separators[(separators == _COLON) | (separators == _SPACE)]
    if not text:
        return np.zeros(0, FLOAT64)
    # Colons and spaces alternate, with a colon first and last; else a pair is malformed.
    if (
        len(separators) % 2 == 0
        or np.any(separators[0::2] != _COLON)
        or np.any(separators[1::2] != _SPACE)
    ):
        raise ValueError("a label and column:value pairs")
    return _numbers(text.replace(b":", b" "), len(separators) + 1)


def _numbers(numbers: bytes, count: int) -> np.ndarray[Any, Any]:
    if not count:
        return np.zeros(0, FLOAT64)
    values = parse_numbers(numbers, " ", FLOAT64)
    if len(values) != count:
        raise ValueError("a label and column:value pairs")
    return values
