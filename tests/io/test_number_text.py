"""Files read by generated kernels give what the plain reader gives, and the same refusals."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from gluonish.core.errors import FileFormatError
from gluonish.io import CSVIter, LibSVMIter, csv_iter, libsvm_iter
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import number_parser
from gluonish.kernels.generated.number_parser import dense_lines, sparse_lines

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

WIDTH = 3
NUMBERS = strategies.one_of(
    strategies.floats(width=32).map(repr),
    strategies.floats().map(lambda value: f"{value:.18e}"),
    strategies.integers(-(2**70), 2**70).map(str),
    strategies.decimals(-1000, 1000, places=4).map(str),
    strategies.sampled_from(
        [
            *("nan", "inf", "-inf", "0x10", "1e400", "1e39", "5e-324", "-0", "+1", ".5", "5.", "."),
            *("-", "1e", "1_0", "x", "1..2", "255.0", "128", "65536", "", " 1", "1 ", "\t2", "1 2"),
            *("\u0661", "0" * 30 + "1", "1" * 25, "0.1e-3", "1E5"),
        ]
    ),
)
CSV = strategies.lists(
    strategies.lists(NUMBERS, min_size=WIDTH, max_size=WIDTH).map(",".join)
    | strategies.sampled_from(["", "# 1", "1,2", "1,2,3,", "1,2,3,4", " 4,5,6\r", "1,2,3#"]),
    max_size=6,
).map("\n".join)
PAIRS = strategies.tuples(
    strategies.sampled_from(["0", "1", "02", "3", "-1", "1.0", "1e0", "nan", "", "9" * 30]), NUMBERS
).map(":".join)
SVM = strategies.lists(
    strategies.tuples(NUMBERS, strategies.lists(PAIRS, max_size=4).map(" ".join)).map(" ".join)
    | strategies.sampled_from(
        ["", "# 1", "1:2 qid:1 0:1", "1 0:1 # x", "1 0", "1\t0:1\r", "qid:1"]
    ),
    max_size=6,
).map("\n".join)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> Iterator[None]:
    """Have the kernels, which short texts alone do not compile, whatever is on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_parser, "_WORTH_NBYTES", 0)
        assert dense_lines(b"1\n", 1) is not None
        assert sparse_lines(b"1\n", 1) is not None
        yield


def outcome(make: Callable[[], Any]) -> list[Any] | str:
    """What a file gives: bytes of data and labels, or the refusal."""
    found: list[Any] = []
    try:
        for batch in make():
            data = batch.data[0]
            found.append((str(data.dtype), data.asnumpy().tobytes()))
            found.append(batch.label[0].asnumpy().tobytes())
    except FileFormatError as error:
        return str(error)
    return found


def with_and_without_kernel(module: Any, name: str, make: Callable[[], Any]) -> tuple[Any, Any]:
    fast = outcome(make)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, lambda text, width: None)
        return fast, outcome(make)


@hypothesis.given(
    text=CSV, dtype=strategies.sampled_from(["float32", "float64", "float16", "uint8", "int64"])
)
@hypothesis.settings(
    max_examples=300, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_csv_files_give_the_same(text: str, dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    given = {"data_csv": str(path), "data_shape": WIDTH, "batch_size": 2, "dtype": dtype}
    fast, plain = with_and_without_kernel(csv_iter, "dense_lines", lambda: CSVIter(**given))
    assert fast == plain


@hypothesis.given(text=SVM, dtype=strategies.sampled_from(["float32", "float64"]))
@hypothesis.settings(
    max_examples=300, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_libsvm_files_give_the_same(text: str, dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_bytes(text.encode())
    given = {"data_libsvm": str(path), "data_shape": WIDTH, "batch_size": 2, "dtype": dtype}
    fast, plain = with_and_without_kernel(libsvm_iter, "sparse_lines", lambda: LibSVMIter(**given))
    assert fast == plain


def test_ordinary_files_do_without_the_plain_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the plain reader was asked")

    values = np.random.default_rng(0).normal(size=(50, WIDTH))
    np.savetxt(tmp_path / "x.csv", values, delimiter=",")
    elements = [
        " ".join(f"{i}:{value!r}" for i, value in enumerate(row)) for row in values.tolist()
    ]
    (tmp_path / "x.svm").write_text("\n".join(f"{i % 2} {row}" for i, row in enumerate(elements)))
    monkeypatch.setattr(csv_iter, "_parse", refuse)
    monkeypatch.setattr(libsvm_iter, "_parse", refuse)
    given = {"data_shape": WIDTH, "batch_size": 50, "dtype": "float64"}
    for made in (
        CSVIter(data_csv=str(tmp_path / "x.csv"), **given),
        LibSVMIter(data_libsvm=str(tmp_path / "x.svm"), **given),
    ):
        np.testing.assert_array_equal(made.next().data[0].asnumpy(), values)
