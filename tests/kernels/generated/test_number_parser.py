"""Numbers in lines of text by generated kernels, bit for bit as Python and NumPy read them."""

import math
import random
import struct
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from gluonish.kernels.compiler import available
from gluonish.kernels.generated import number_parser
from gluonish.kernels.generated.number_parser import dense_lines, sparse_lines

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> Iterator[None]:
    """Have the kernels, which short texts alone do not compile, whatever is on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_parser, "_WORTH_NBYTES", 0)
        assert dense_lines(b"1\n", 1) is not None
        assert sparse_lines(b"1\n", 1) is not None
        yield


def number(text: str) -> float | None:
    found = dense_lines(text.encode(), 1)
    assert found is None or found.shape == (1, 1)
    return None if found is None else float(found[0, 0])


def same(a: float, b: float) -> bool:
    return struct.pack("d", a) == struct.pack("d", b)


@pytest.mark.parametrize(
    "text",
    [
        "0", "-0", "+0.0", "0e999", "007", "5.", ".5", "-.5", "+3", "1e5", "1E-5", "1e+5", "2e022",
        "9007199254740992", "9007199254740993", "9007199254740995", "18014398509481989",
        "9223372036854775807", "9999999999999999999", "1234567890123456789e-19",
        "0.000000000000000000000000001234567890123456789", "0000000000000000000000000000001.5",
        "1e22", "1e23", "8.5e22", "1e-22", "1e-23", "2.2250738585072014e-308",
        "1.7976931348623157e308", "1.797693134862315700e+308", "6.0221407599999999999e23",
        "179769313486231570e291", "3.4028235677973366e38", "16777217", "0.1", "1e308", "1e-307",
    ],
)  # fmt: skip
def test_ordinary_number_is_the_nearest(text: str) -> None:
    found = number(text)
    if len(text.replace(".", "").split("e")[0].lstrip("+-0")) <= 19:
        assert found is not None
        assert same(found, float(text))
    else:
        assert found is None


@pytest.mark.parametrize(
    "text",
    [
        "nan", "inf", "-inf", "0x10", "1_0", "1e", "1e+", "e5", ".", "-", "+", "--1", "+-1", "1..2",
        "1.2.3", "1e5.0", "1 2", "1;", "1\0", "\0", "1,2", ",1", "1,,", "1,x", "1e400", "1e309",
        "4.9e-324", "179769313486231590e291",
        "2.2250738585072011e-308", "12345678901234567890", "1 # x", "\u0661", "1\r2",
    ],
)  # fmt: skip
def test_what_is_not_ordinary_is_given_back(text: str) -> None:
    assert dense_lines(text.encode(), 1) is None
    assert dense_lines(f"1\n{text}\n2\n".encode(), 1) is None


@hypothesis.given(strategies.floats(allow_nan=False, allow_infinity=False))
@hypothesis.settings(max_examples=500)
def test_every_float64_comes_back_from_its_text(value: float) -> None:
    for text in (repr(value), f"{value:.17e}", f"{value:.18e}", f"{value:.16g}"):
        found = number(text)
        if value == 0 or 1e-307 < abs(float(text)) < math.inf:
            assert found is not None
        assert found is None or same(found, float(text))


@hypothesis.given(
    strategies.from_regex(r"[-+]?[0-9]{0,12}(\.[0-9]{0,12})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)
)
@hypothesis.settings(max_examples=500)
def test_decimal_text_is_read_as_python_reads_it_or_not_at_all(text: str) -> None:
    found = dense_lines(text.encode(), 1)
    if found is not None and text:
        assert same(found[0, 0], float(text))
    try:
        want = abs(float(text))
    except ValueError:
        assert found is None or not text
    else:
        digits = sum(letter.isdigit() for letter in text.lower().split("e")[0])
        if (
            digits <= 19
            and (want == 0 or 1e-300 < want < math.inf)
            and set(text) & set("123456789")
        ):
            assert found is not None or want == 0


def test_numbers_near_a_half_are_rounded_to_the_right_side() -> None:
    draw = random.Random(0)
    found_some = 0
    for _ in range(3000):
        # What lies halfway between two float64s, cut to 19 digits, and its neighbours.
        half = Decimal(2 * (draw.getrandbits(52) | 1 << 52) + 1) * Decimal(2) ** draw.randint(
            -90, 9
        )
        mantissa, exponent = f"{half:.18e}".split("e")
        whole = int(mantissa.replace(".", ""))
        for digits in (whole - 1, whole, whole + 1):
            text = f"{digits}e{int(exponent) - 18}"
            found = number(text)
            assert found is None or same(found, float(text))
            found_some += found is not None
    assert found_some > 8000


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n3,4", [[1, 2], [3, 4]]),
        ("\n \t\n1,2,\r\n# 9,9\n  3,4 \n\n", [[1, 2], [3, 4]]),
        ("1, 2\n", [[1, 2]]),
        ("", []),
        ("\n#\n", []),
        ("1\n", None),
        ("1,2,3\n", None),
        ("1,2\n3\n", None),
        ("1,\n2\n", None),
        ("1,2,,\n", None),
        ("1 ,2\n", None),
        ("1,2#\n", None),
    ],
)
def test_lines_of_numbers(text: str, rows: Any) -> None:
    found = dense_lines(text.encode(), 2)
    assert (None if found is None else found.tolist()) == rows
    assert found is None or found.shape == (len(rows), 2)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1 0:2 3:.5\n-1\n", ([2, 0.5], [0, 3], [0, 2, 2], [1, -1])),
        ("\n# 1 1:1\n 2 1:1 # 0:1\r\n3#", ([1], [1], [0, 1, 1], [2, 3])),
        ("1:.5 qid:3 0:2 qid:4\n", ([2], [0], [0, 1], [1])),
        ("1:x\t0:1e2\n", ([100], [0], [0, 1], [1])),
        ("", ([], [], [0], [])),
        ("1 4:1", None),
        ("1 99999999999999999999999999:1", None),
        ("1 -1:1", None),
        ("1 +1:1", None),
        ("1 1.0:1", None),
        ("1 1", None),
        ("1 1:", None),
        ("1 1: 2", None),
        ("1 :2", None),
        ("1 1:2:3", None),
        ("1 1:2qid:3", None),
        ("qid:3 1 1:2", None),
        ("1 1:nan", None),
        ("x 1:1", None),
        ("1 1:1\0", None),
        ("1:\0 1:1", None),
    ],
)
def test_lines_of_labels_and_elements(text: str, want: Any) -> None:
    found = sparse_lines(text.encode(), 4)
    assert (None if found is None else tuple(part.tolist() for part in found)) == want


@hypothesis.given(strategies.text("01:,.-+e# \r\n", max_size=300).map(str.encode))
def test_no_text_makes_more_numbers_than_there_is_memory_for(text: bytes) -> None:
    for width in (1, 2, 7):
        numbers = dense_lines(text, width)
        assert numbers is None or np.isfinite(numbers).all()
        found = sparse_lines(text, width)
        if found is not None:
            values, columns, pointers, labels = found
            assert len(values) == len(columns) == pointers[-1] <= len(text) // 4
            assert len(labels) == len(pointers) - 1
            assert np.all((columns >= 0) & (columns < width))
            assert np.all(np.diff(pointers) >= 0)


@pytest.mark.parametrize("width", [0, 1 << 60])
def test_widths_that_no_kernel_takes_are_given_back(width: int) -> None:
    assert dense_lines(b"1\n", width) is None
    assert sparse_lines(b"1\n", width) is None


def test_without_llvmlite_every_text_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_parser, "available", lambda: False)
    assert dense_lines(b"1\n", 1) is None
    assert sparse_lines(b"1\n", 1) is None


def test_only_much_text_is_worth_compiling_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_parser, "is_compiled", lambda source, fastmath: False)
    monkeypatch.setattr(number_parser, "_requested_nbytes", Counter())
    monkeypatch.setattr(number_parser, "_WORTH_NBYTES", 6)
    assert [dense_lines(b"1\n", 1) is not None for _ in range(4)] == [False, False, True, True]
