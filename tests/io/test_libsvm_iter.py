from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies

from gluonish.core.errors import ArgumentError, FileFormatError, GluonishError, MissingFileError
from gluonish.io import LibSVMIter


def written(folder: Path, text: str, name: str = "x.svm") -> str:
    (folder / name).write_bytes(text.encode())
    return str(folder / name)


def made(path: str, **given: Any) -> LibSVMIter:
    return LibSVMIter(**({"data_libsvm": path, "data_shape": (4,), "batch_size": 1} | given))


def samples(data_iter: LibSVMIter) -> list[tuple[list[float], Any]]:
    return [
        (batch.data[0].asnumpy()[0].tolist(), batch.label[0].asnumpy()[0].tolist())
        for batch in data_iter
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 b:2", "numbers"),
        ("a 1:2", "numbers"),
        ("1 1:2:3 3", "a label and column:value pairs"),
        ("1 1:", "a label and column:value pairs"),
        ("1 :1", "a label and column:value pairs"),
        ("1 1 3", "a label and column:value pairs"),
        ("qid:3", "a label and column:value pairs"),
        ("1 1:1 2", "a label and column:value pairs"),
        ("1 4:1", "columns from 0 to 3"),
        ("1 -1:1", "columns from 0 to 3"),
        ("1 1.5:1", "columns from 0 to 3"),
        ("1 inf:1", "columns from 0 to 3"),
        ("1 nan:1", "columns from 0 to 3"),
    ],
)
def test_wrong_line_is_named(line: str, expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"# numbers\n1 0:1\n{line}\n")
    with pytest.raises(FileFormatError) as caught:
        samples(made(path))
    assert str(caught.value) == (
        f"LibSVMIter: expected {expected} in line 3 of {path!r}, at byte 16, got {line.encode()!r}"
    )


def test_weights_queries_and_comments_do_not_count(tmp_path: Path) -> None:
    path = written(tmp_path, "1:.5 qid:3 0:2 # 1:9\r\n\n# 5 1:1\n-2\n")
    assert samples(made(path)) == [([2, 0, 0, 0], 1), ([0, 0, 0, 0], -2)]


def test_elements_of_a_row_may_stand_in_any_order_and_twice(tmp_path: Path) -> None:
    assert samples(made(written(tmp_path, "1 3:1 0:2 3:4\n"))) == [([2, 0, 0, 5], 1)]


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 20])
def test_parts_share_the_lines_and_their_labels(parts: int, tmp_path: Path) -> None:
    # Lines of different lengths, in a label file with others: no byte of one tells of the other.
    data = written(tmp_path, "".join(f"{'0' * (i % 3)}{i} 0:{i}\n" for i in range(11)))
    label = written(tmp_path, "".join(f"1 {'1:0 ' * (11 - i)}0:{i}\n\n" for i in range(11)), "y")
    found = []
    for part in range(parts):
        one = made(data, num_parts=parts, part_index=part, label_libsvm=label, label_shape=(2,))
        with suppress(FileFormatError):  # more parts than lines
            found += samples(one)
    assert [row[0] for row, _ in found] == [label[0] for _, label in found] == list(range(11))


def test_rest_of_a_pass_is_filled_with_empty_rows_unless_round(tmp_path: Path) -> None:
    path = written(tmp_path, "1 0:1\n2 1:2\n3 2:3\n")
    *_, last = made(path, batch_size=2, round_batch=False)
    assert last.data[0].stype == "csr"
    assert last.data[0].asnumpy().tolist() == [[0, 0, 3, 0], [0, 0, 0, 0]]
    assert (last.label[0].asnumpy().tolist(), last.pad) == ([3, 0], 1)


def test_other_dtypes(tmp_path: Path) -> None:
    batch = made(written(tmp_path, "1 0:1.1\n"), dtype="float64").next()
    assert batch.data[0].asnumpy()[0, 0] == 1.1


@pytest.mark.parametrize(
    "given",
    [
        {"data_shape": (2, 2)},
        {"label_shape": (2,)},
        {"num_parts": 2, "part_index": 2},
    ],
)
def test_wrong_argument_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="LibSVMIter: expected"):
        made(written(tmp_path, "1 0:1\n"), **given)


def test_missing_file_is_refused_when_the_iterator_is_made(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"none\.svm"):
        made(str(tmp_path / "none.svm"))


@hypothesis.given(
    content=strategies.binary(max_size=60)
    | strategies.text("0123:. -\n#qid", max_size=60).map(str.encode)
)
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_any_file_gives_rows_or_an_error_that_names_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.svm"
    path.write_bytes(content)
    try:
        found = samples(made(str(path)))
    except GluonishError as error:
        found, refusal = [], str(error)
    else:
        refusal = ""
    assert bool(found) != ("LibSVMIter: expected" in refusal)
