"""Parse numbers in lines of text by a generated kernel, in one pass over the bytes.

The kernels are 12 to 30 times as fast as `np.fromstring` (figures in `gluonish.io.number_text`).
They parse ordinary lines only. For any other text, valid or not, they fail without a diagnosis, and
the caller uses another parser.
"""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, INT64
from gluonish.kernels.compiler import (
    CompiledKernel,
    KernelError,
    available,
    compile_kernel,
    is_compiled,
)
from gluonish.kernels.generated.decimal_source import READ_NUMBER, power_tables
from gluonish.ops.kernel import Array, address
from gluonish.ops.support.refusals import note_refusal

# Bytes of text in this process for which compiling pays, which takes seconds, once. A kernel that
# is already compiled is always used.
_WORTH_NBYTES = 1 << 24
_MAX_COLUMNS = 1 << 56  # so that ten times a column is an int64
_FASTMATH = ()  # every operation is rounded

# Skip white space within a line: blank, tab, vertical tab, form feed, carriage return.
_SKIPS = """
def skip_blanks(text, at):
    while text[at] == 32 or text[at] == 9 or (text[at] >= 11 and text[at] <= 13):
        at += 1
    return at


def skip_line(text, at, length):
    while at < length and text[at] != 10:
        at += 1
    return at
"""

# Params: text, its length, tables, numbers, the count of lines (an output), width. The count is -1
# if a line is not ordinary. A comma may end a line.
_DENSE = """
def body(begin, end, params):
    text, length, tables = u8(params[0]), params[1], i64(params[2])
    out, result, width = f64(params[3]), i64(params[4]), params[5]
    at, index, lines = 0, 0, 0
    result[0] = -1
    while at < length:
        at = skip_blanks(text, at)
        if text[at] == 35:
            at = skip_line(text, at, length)
        elif at < length and text[at] != 10:
            left = width
            while left > 0:
                at = read_number(text, at, tables, out, index)
                if at < 0:
                    return
                left -= 1
                index += 1
                if text[at] == 44:
                    at = skip_blanks(text, at + 1)
                elif left > 0:
                    return
            at = skip_blanks(text, at)
            lines += 1
        if at < length and text[at] != 10:
            return
        at += 1
    result[0] = lines
"""

# Params: text, its length, tables, values, columns, pointers (the start of each line's elements,
# and the end of the last line's), labels, the counts of lines and elements (an output), width. A
# weight right after a label is ignored, and so are query ids.
_SPARSE = """
def body(begin, end, params):
    text, length, tables = u8(params[0]), params[1], i64(params[2])
    values, columns, pointers = f64(params[3]), i64(params[4]), i64(params[5])
    labels, result, width = f64(params[6]), i64(params[7]), params[8]
    at, index, lines = 0, 0, 0
    result[0] = -1
    pointers[0] = 0
    while at < length:
        at = skip_blanks(text, at)
        if at < length and text[at] != 10 and text[at] != 35:
            at = read_number(text, at, tables, labels, lines)
            if at < 0:
                return
            if text[at] == 58:
                at = skip_field(text, at, length)
            after = at
            at = skip_blanks(text, at)
            while at < length and text[at] != 10 and text[at] != 35:
                if at == after:
                    return
                if text[at] == 113:
                    if text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
                        return
                    at = skip_field(text, at, length)
                else:
                    column, digits = 0, at
                    while text[at] >= 48 and text[at] <= 57 and column < width:
                        column = column * 10 + (int64(text[at]) - 48)
                        at += 1
                    if at == digits or text[at] != 58 or column >= width:
                        return
                    at = read_number(text, at + 1, tables, values, index)
                    if at < 0:
                        return
                    columns[index] = column
                    index += 1
                after = at
                at = skip_blanks(text, at)
            lines += 1
            pointers[lines] = index
        if text[at] == 35:
            at = skip_line(text, at, length)
        if at < length and text[at] != 10:
            return
        at += 1
    result[0], result[1] = lines, index


def skip_field(text, at, length):
    while at < length and text[at] > 32 and text[at] != 35:
        at += 1
    return at
"""


# By kernel. Threads may lose a count, which only delays compiling.
_requested_nbytes: Counter[str] = Counter()


def dense_lines(text: bytes, width: int) -> Array | None:
    """Parse lines of ``width`` numbers separated by commas.

    Blank lines, lines that begin with ``#``, and a comma at the end of a line are ignored.

    Returns:
        (lines, width) of float64; None if some line is not ordinary, or without a kernel.
    """
    kernel = _kernel(_DENSE, text)
    if kernel is None or not 0 < width < _MAX_COLUMNS:
        return None
    # A number takes at least two bytes with its separator.
    out = np.empty(len(text) // 2 + 1, FLOAT64)
    (lines,) = _run(kernel, text, [out], 1, width)
    return None if lines < 0 else out[: lines * width].reshape(lines, width)


def sparse_lines(text: bytes, width: int) -> tuple[Array, Array, Array, Array] | None:
    """Parse lines of the form ``label column:value column:value ...``.

    Blank lines, text after ``#``, weights (``label:weight``) and query ids (``qid:number``) are
    ignored.

    Args:
        width: Number of columns.

    Returns:
        values (elements,) of float64, columns (elements,) of int64, row pointers (lines + 1,) of
        int64, and labels (lines,) of float64; None if some line is not ordinary, or without a
        kernel.
    """
    kernel = _kernel(_SPARSE, text)
    if kernel is None or not 0 < width < _MAX_COLUMNS:
        return None
    # An element takes at least four bytes with its separator, a line two with its end.
    most, most_lines = len(text) // 4 + 1, len(text) // 2 + 1
    values, columns = np.empty(most, FLOAT64), np.empty(most, INT64)
    pointers, labels = np.empty(most_lines + 1, INT64), np.empty(most_lines, FLOAT64)
    arrays = [values, columns, pointers, labels]
    lines, elements = _run(kernel, text, arrays, 2, width)
    if lines < 0:
        return None
    return values[:elements], columns[:elements], pointers[: lines + 1], labels[:lines]


def _kernel(body: str, text: bytes) -> CompiledKernel | None:
    if not available():
        return None
    source = READ_NUMBER + _SKIPS + body
    _requested_nbytes[body] += len(text)
    if _requested_nbytes[body] < _WORTH_NBYTES and not is_compiled(source, _FASTMATH):
        return None
    return _compiled(source)


@cache
def _compiled(source: str) -> CompiledKernel | None:
    try:
        return compile_kernel(source, _FASTMATH)
    except KernelError as error:
        note_refusal("number_lines", error)
        return None


def _run(
    kernel: CompiledKernel, text: bytes, arrays: list[Array], results: int, width: int
) -> list[Any]:
    found = np.empty(results, INT64)
    # Python's bytes have a terminating zero, which ends the last number.
    content = np.frombuffer(text, np.uint8)
    addresses = map(address, (power_tables(), *arrays, found))
    params = np.array([address(content), len(text), *addresses, width], INT64)
    kernel.run_alone(1, address(params))
    return found.tolist()
