"""Numbers in lines of text, read by a generated kernel in one pass over the bytes.

They read files 12 to 30 times as fast as `np.fromstring` (figures in `gluonish.io.number_text`).
The kernels know ordinary lines alone. Where anything else stands, right or wrong, they give the
text back unread: what it means, and what is wrong with it, others say.
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

# Of texts in this process that are worth compiling for, which takes seconds, once; what is compiled
# already is used for any.
_WORTH_NBYTES = 1 << 24
_MOST_COLUMNS = 1 << 56  # so that ten times a column is an int64
_FASTMATH = ()  # every operation is rounded by itself

# From `at` on, over white space in a line: blank, tab, vertical tab, form feed, carriage return.
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

# Words: text, its length, tables, numbers, (the count of lines, which is written), width. The count
# is -1 where a line is not ordinary. A comma may end a line.
_DENSE = """
def body(begin, end, words):
    text, length, tables = u8(words[0]), words[1], i64(words[2])
    out, result, width = f64(words[3]), i64(words[4]), words[5]
    at, place, lines = 0, 0, 0
    result[0] = -1
    while at < length:
        at = skip_blanks(text, at)
        if text[at] == 35:
            at = skip_line(text, at, length)
        elif at < length and text[at] != 10:
            left = width
            while left > 0:
                at = read_number(text, at, tables, out, place)
                if at < 0:
                    return
                left -= 1
                place += 1
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

# Words: text, its length, tables, values, columns, pointers (where the elements of each line begin
# and those of the last end), labels, (the count of lines and that of elements, which are written),
# width. What stands right behind a label is its weight, and does not count, nor does a query id.
_SPARSE = """
def body(begin, end, words):
    text, length, tables = u8(words[0]), words[1], i64(words[2])
    values, columns, pointers = f64(words[3]), i64(words[4]), i64(words[5])
    labels, result, width = f64(words[6]), i64(words[7]), words[8]
    at, place, lines = 0, 0, 0
    result[0] = -1
    pointers[0] = 0
    while at < length:
        at = skip_blanks(text, at)
        if at < length and text[at] != 10 and text[at] != 35:
            at = read_number(text, at, tables, labels, lines)
            if at < 0:
                return
            if text[at] == 58:
                at = skip_word(text, at, length)
            behind = at
            at = skip_blanks(text, at)
            while at < length and text[at] != 10 and text[at] != 35:
                if at == behind:
                    return
                if text[at] == 113:
                    if text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
                        return
                    at = skip_word(text, at, length)
                else:
                    column, digits = 0, at
                    while text[at] >= 48 and text[at] <= 57 and column < width:
                        column = column * 10 + (int64(text[at]) - 48)
                        at += 1
                    if at == digits or text[at] != 58 or column >= width:
                        return
                    at = read_number(text, at + 1, tables, values, place)
                    if at < 0:
                        return
                    columns[place] = column
                    place += 1
                behind = at
                at = skip_blanks(text, at)
            lines += 1
            pointers[lines] = place
        if text[at] == 35:
            at = skip_line(text, at, length)
        if at < length and text[at] != 10:
            return
        at += 1
    result[0], result[1] = lines, place


def skip_word(text, at, length):
    while at < length and text[at] > 32 and text[at] != 35:
        at += 1
    return at
"""


# By kernel. Threads may lose a count of one another, which only puts compiling off.
_asked_nbytes: Counter[str] = Counter()


def dense_lines(text: bytes, width: int) -> Array | None:
    """Return the numbers of lines that hold the same count of them between commas.

    Blank lines do not count, nor do those that begin with ``#``, nor a comma at the end of a line.

    Args:
        text: The lines.
        width: Numbers of a line, at least one.

    Returns:
        (lines, width) of float64; None if some line is not ordinary, or there is no kernel.
    """
    kernel = _kernel(_DENSE, text)
    if kernel is None or not 0 < width < _MOST_COLUMNS:
        return None
    # A number takes two bytes with what ends it.
    out = np.empty(len(text) // 2 + 1, FLOAT64)
    (lines,) = _run(kernel, text, [out], 1, width)
    return None if lines < 0 else out[: lines * width].reshape(lines, width)


def sparse_lines(text: bytes, width: int) -> tuple[Array, Array, Array, Array] | None:
    """Return the elements and labels of lines of the form ``label column:value column:value ...``.

    Blank lines and what stands behind ``#`` do not count, nor do weights (``label:weight``) and
    query ids (``qid:number``).

    Args:
        text: The lines.
        width: How many columns there are.

    Returns:
        values (elements,) of float64, columns (elements,) of int64, pointers (lines + 1,) of int64,
        where the elements of each line begin and those of the last end, and labels (lines,) of
        float64; None if some line is not ordinary, or there is no kernel.
    """
    kernel = _kernel(_SPARSE, text)
    if kernel is None or not 0 < width < _MOST_COLUMNS:
        return None
    # An element takes four bytes with what stands before it, a line two with what ends it.
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
    _asked_nbytes[body] += len(text)
    if _asked_nbytes[body] < _WORTH_NBYTES and not is_compiled(source, _FASTMATH):
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
    # Bytes end with a zero that does not count: there every number ends.
    content = np.frombuffer(text, np.uint8)
    places = map(address, (power_tables(), *arrays, found))
    words = np.array([address(content), len(text), *places, width], INT64)
    kernel.run_alone(1, address(words))
    return found.tolist()
