import re
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from gluonish.core.errors import (
    FileFormatError,
    GluonishError,
    MissingFileError,
    OperatorError,
)
from gluonish.io import CSVIter


def written(folder: Path, text: str, name: str = "x.csv") -> str:
    (folder / name).write_bytes(text.encode())
    return str(folder / name)


def rows_of(path: str, width: int, **given: Any) -> list[Any]:
    data_iter = CSVIter(data_csv=path, data_shape=(width,), batch_size=1, **given)
    return [batch.data[0].asnumpy()[0].tolist() for batch in data_iter]


@pytest.mark.parametrize(
    ("text", "line", "offset", "expected"),
    [
        ("1,2\n3,x\n", 2, 4, "expected numbers"),
        ("1,2\n\n3,,4\n", 3, 5, "expected 2 numbers between commas"),
        ("1,2\r\n3\r\n", 2, 5, "expected 2 numbers between commas"),
        ("\n1,2,\n1,2,3\n", 3, 6, "expected 2 numbers between commas"),
        ("1,\n", 1, 0, "expected 2 numbers between commas"),
        ("a,b\n1,2\n", 1, 0, "expected numbers"),
        ("1 2,3\n", 1, 0, "expected numbers"),
        ("1," + "9" * 300 + "x\n", 1, 0, "expected numbers"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_wrong_line_is_named(
    text: str, line: int, offset: int, expected: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileFormatError) as caught:
        rows_of(path, 2)
    message = str(caught.value)
    assert message.startswith(f"CSVIter: {expected}")
    assert f"in line {line} of {path!r}, at byte {offset}, got" in message
    assert len(message) < 300 + len(path)


def test_wrong_line_far_into_the_file_is_named(tmp_path: Path) -> None:
    text = "1.25,2\n" * 60_000 + "1.25,?\n"
    with pytest.raises(FileFormatError, match=r"in line 60001 of .* at byte 420000, got"):
        rows_of(written(tmp_path, text), 2)


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        ("int32", "0.5"),
        ("int32", "3000000000"),
        ("uint8", "256"),
        ("int8", "-129"),
        ("int64", "nan"),
    ],
)
def test_number_that_an_integer_dtype_has_not_is_refused(
    dtype: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(FileFormatError, match=f"for dtype {dtype} in line 2"):
        rows_of(written(tmp_path, f"1\n{text}\n"), 1, dtype=dtype)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("int32", [7, -3]),
        ("uint8", [7, 3]),
        ("float64", [7.1, 3]),
        ("bfloat16", [7.0, 3.5]),
        ("float16", [7.5, 3]),
    ],
)
def test_dtypes(dtype: str, expected: list[float], tmp_path: Path) -> None:
    text = ",".join(map(str, expected))
    made = CSVIter(data_csv=written(tmp_path, text), data_shape=2, batch_size=1, dtype=dtype)
    batch = made.next()
    assert np.dtype(batch.data[0].dtype).name == dtype == np.dtype(batch.label[0].dtype).name
    assert batch.data[0].asnumpy().astype(np.float64).tolist() == [expected]


def test_whole_numbers_may_be_written_with_a_point(tmp_path: Path) -> None:
    assert rows_of(written(tmp_path, "1.0,2e1\n"), 2, dtype="int64") == [[1, 20]]


def test_byte_order_mark_and_missing_last_newline(tmp_path: Path) -> None:
    path = written(tmp_path, "\N{ZERO WIDTH NO-BREAK SPACE}1,2\n3,4")
    assert rows_of(path, 2) == [[1, 2], [3, 4]]


@pytest.mark.parametrize("labels", [6, 8])
def test_files_of_different_length_are_refused(labels: int, tmp_path: Path) -> None:
    data = written(tmp_path, "1\n" * 7)
    label = written(tmp_path, "2\n" * labels, "y.csv")
    made = CSVIter(data_csv=data, data_shape=1, label_csv=label, batch_size=2)
    with pytest.raises(FileFormatError, match="as many lines of labels as of data"):
        list(made)


def test_batch_larger_than_the_file_goes_round(tmp_path: Path) -> None:
    made = CSVIter(data_csv=written(tmp_path, "0\n1\n2\n"), data_shape=1, batch_size=8)
    found = []
    for _ in range(3):
        found += [(batch.data[0].asnumpy().ravel().tolist(), batch.pad) for batch in made]
        made.reset()
    assert found == [
        ([0, 1, 2, 0, 1, 2, 0, 1], 5),
        ([2, 0, 1, 2, 0, 1, 2, 0], 7),
        ([1, 2, 0, 1, 2, 0, 1, 2], 6),
    ]


def test_rest_of_a_pass_is_filled_with_zeros_unless_round(tmp_path: Path) -> None:
    path = written(tmp_path, "1\n2\n3\n")
    made = CSVIter(data_csv=path, data_shape=1, batch_size=2, round_batch=False)
    for _ in range(2):
        *_, last = made
        assert last.data[0].asnumpy().tolist() == [[3], [0]]
        assert (last.pad, last.index.tolist()) == (1, [2, 0])
        made.reset()


def test_file_without_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"at least one line of data in '.*', got none"):
        rows_of(written(tmp_path, "\n \n"), 1)


def test_missing_file_is_refused_when_the_iterator_is_made(tmp_path: Path) -> None:
    path = written(tmp_path, "1\n")
    missing = str(tmp_path / "none.csv")
    for given in ({"data_csv": missing}, {"data_csv": path, "label_csv": missing}):
        with pytest.raises(MissingFileError, match=re.escape(missing)):
            CSVIter(**given, data_shape=1, batch_size=1)


@pytest.mark.parametrize("given", [{"batch_size": 0}, {"data_shape": (-1,)}, {"batch_size": "x"}])
def test_wrong_argument_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="CSVIter: expected"):
        CSVIter(**({"data_csv": written(tmp_path, "1"), "data_shape": 1, "batch_size": 1} | given))


@hypothesis.given(
    content=strategies.binary(max_size=60)
    | strategies.text("0123456789.,-+e\n\r nax#", max_size=60).map(str.encode)
)
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_any_file_gives_rows_or_an_error_that_names_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    try:
        rows = rows_of(str(path), 2)
    except GluonishError as error:
        rows, refusal = [], str(error)
    else:
        refusal = ""
    assert bool(rows) != ("CSVIter: expected" in refusal)
    assert all(len(row) == 2 for row in rows)
