"""Arrays of more than 2^31 elements, of int8: each family of operators, with the elements at both
ends and around 2^31 watched. It takes up to 9 GB and a few minutes, in this process alone.
"""

import gc
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon.block.hybrid_block import HybridBlock

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SIZE = 2**31 + 8
ROWS = SIZE // 8
WATCHED = {0: 1, 1: -2, 2**31 - 1: 3, 2**31: -4, SIZE - 1: 5}
_NEEDED = 10 * 2**30  # bytes that must be free, and never all taken
_MOST_KILOBYTES = 9 * 2**20


@pytest.fixture(scope="module")
def x() -> Iterator[Any]:
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < _NEEDED:
        pytest.skip("needs 10 GB of free memory")
    made = mx.nd.zeros((SIZE,), dtype="int8")
    for place, value in WATCHED.items():
        made[place] = value
    yield made
    del made
    gc.collect()


@pytest.fixture(autouse=True)
def _returned() -> Iterator[None]:
    yield
    gc.collect()
    mx.nd.waitall()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < _MOST_KILOBYTES


def watched(y: Any, function: Callable[[int], int]) -> None:
    """Check the watched elements of a flat result, and some between."""
    assert y.size == SIZE
    flat = y.reshape((SIZE,))
    for place in (*WATCHED, 12345, 2**31 + 3):
        want = function(WATCHED.get(place, 0))
        assert int(flat[place].asnumpy().item()) == want, place


class _Chain(HybridBlock):
    def hybrid_forward(self, F: Any, data: Any) -> Any:
        return F.clip((data + 1) * 2, -100, 100) - data


ELEMENTWISE: dict[str, tuple[Callable[[Any], Any], Callable[[int], int]]] = {
    "abs": (mx.nd.abs, abs),
    "negative": (lambda x: -x, lambda n: -n),
    "square": (mx.nd.square, lambda n: n * n),
    "sign": (mx.nd.sign, lambda n: (n > 0) - (n < 0)),
    "add a number": (lambda x: x + 7, lambda n: n + 7),
    "compare with a number": (lambda x: x > 0, lambda n: int(n > 0)),
    "maximum with a number": (lambda x: mx.nd.maximum(x, 2), lambda n: max(n, 2)),
    "clip": (lambda x: mx.nd.clip(x, -1, 1), lambda n: max(-1, min(1, n))),
    "add arrays": (lambda x: x + x, lambda n: 2 * n),
    "multiply arrays": (lambda x: x * x, lambda n: n * n),
    "broadcast": (
        lambda x: mx.nd.broadcast_add(x.reshape((ROWS, 8)), mx.nd.ones((1, 8), dtype="int8")),
        lambda n: n + 1,
    ),
    "logical_not": (mx.nd.logical_not, lambda n: int(n == 0)),
    "copy": (lambda x: x.copy(), lambda n: n),
    "zeros_like": (mx.nd.zeros_like, lambda n: 0),
    "reshape": (lambda x: x.reshape((8, ROWS)), lambda n: n),
    "where": (
        lambda x: mx.np.where(x.as_np_ndarray() > 0, x.as_np_ndarray(), 9).as_nd_ndarray(),
        lambda n: n if n > 0 else 9,
    ),
    "transposed twice": (lambda x: x.reshape((ROWS, 8)).T.T, lambda n: n),
    "reversed twice": (lambda x: mx.nd.reverse(mx.nd.reverse(x, axis=0), axis=0), lambda n: n),
    "split and concatenated": (
        lambda x: mx.nd.concat(x[: 2**30], x[2**30 : -3], x[-3:], dim=0),
        lambda n: n,
    ),
    "stacked": (
        lambda x: mx.nd.stack(*mx.nd.split(x, 8, axis=0), axis=0),
        lambda n: n,
    ),
    "cast": (lambda x: x.astype("uint8"), lambda n: n % 256),
    "slice": (lambda x: mx.nd.slice(x, begin=(0,), end=(SIZE,)), lambda n: n),
    "hybridized": (lambda x: _hybridized()(x), lambda n: 2 * (n + 1) - n),
}


def _hybridized() -> Any:
    net = _Chain()
    net.hybridize()
    return net


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_result_of_the_same_size(x: Any, name: str) -> None:
    function, exact = ELEMENTWISE[name]
    watched(function(x), exact)


def test_reductions(x: Any) -> None:
    total = sum(WATCHED.values())
    assert x.sum().asscalar() == total
    assert x.max().asscalar() == 5
    assert x.min().asscalar() == -4
    assert mx.np.sum(x.as_np_ndarray(), dtype="int64").item() == total
    assert mx.np.argmax(x.as_np_ndarray()).item() == SIZE - 1
    assert mx.np.argmin(x.as_np_ndarray()).item() == 2**31
    table = x.reshape((ROWS, 8))
    columns = np.zeros(8, np.int64)
    for place, value in WATCHED.items():
        columns[place % 8] += value
    assert table.sum(axis=0).asnumpy().tolist() == columns.tolist()
    last = table.max(axis=1)
    assert [last[i].asscalar() for i in (0, 2**28 - 1, 2**28, ROWS - 1)] == [1, 3, 5, 5]
    assert mx.nd.mean(x).asscalar() == 0


def test_elements_and_parts(x: Any) -> None:
    assert x[-1].asscalar() == 5
    assert x[2**31 - 2 : 2**31 + 2].asnumpy().tolist() == [0, 3, -4, 0]
    assert x[:: 2**31 - 1].asnumpy().tolist() == [1, 3]
    assert x[-8 :: -(2**31)].asnumpy().tolist() == [-4, 1]
    assert mx.nd.slice_axis(x, axis=0, begin=-2, end=None).asnumpy().tolist() == [0, 5]
    places = mx.nd.array(np.array(list(WATCHED)), dtype="int64")
    assert mx.nd.take(x, places).asnumpy().tolist() == list(WATCHED.values())
    assert x[places].asnumpy().tolist() == list(WATCHED.values())
    assert mx.nd.gather_nd(x, places.reshape((1, -1))).asnumpy().tolist() == list(WATCHED.values())
    assert mx.np.take(x.as_np_ndarray(), places.as_np_ndarray()).asnumpy().tolist() == list(
        WATCHED.values()
    )


def test_rows(x: Any) -> None:
    table = x.reshape((ROWS, 8))
    rows = mx.nd.array(np.array([0, 2**28 - 1, 2**28, ROWS - 1]), dtype="int64")
    expected = [[1, -2, 0, 0, 0, 0, 0, 0], [0] * 7 + [3], [-4] + [0] * 6 + [5]]
    expected.append(expected[-1])
    assert mx.nd.take(table, rows).asnumpy().tolist() == expected
    assert table[ROWS - 1].asnumpy().tolist() == expected[-1]
    assert table[:, 7][ROWS - 1].asscalar() == 5
    found = mx.nd.Embedding(rows, table, input_dim=ROWS, output_dim=8, dtype="int8")
    assert found.asnumpy().tolist() == expected
    turned = table.T
    assert turned.shape == (8, ROWS)
    assert turned[7, 2**28 - 1].asscalar() == 3
    assert turned[0].max().asscalar() == 1


def test_assignments(x: Any) -> None:
    y = x.copy()
    y[2**31 - 2 : 2**31 + 2] = 8
    y[mx.nd.array(np.array([SIZE - 2]), dtype="int64")] = 6
    y[-1:] = mx.nd.array([7], dtype="int8")
    assert y[2**31 - 3 : 2**31 + 3].asnumpy().tolist() == [0, 8, 8, 8, 8, 0]
    assert y[-3:].asnumpy().tolist() == [0, 6, 7]
    y += 1
    assert y[-3:].asnumpy().tolist() == [1, 7, 8]
    y[:] = 2
    assert (y[0].asscalar(), y[SIZE - 1].asscalar()) == (2, 2)


def test_growing(x: Any) -> None:
    small = mx.nd.array(np.array([[3], [4]]), dtype="int8")
    for made in (
        mx.nd.broadcast_to(small, shape=(2, SIZE // 2)),
        mx.nd.repeat(small, SIZE // 2, axis=1),
        mx.nd.tile(small, (1, SIZE // 2)),
    ):
        assert made.size == SIZE
        ends = [made[i, j].asscalar() for i in (0, 1) for j in (0, SIZE // 2 - 1)]
        assert ends == [3, 3, 4, 4]
        del made
        gc.collect()
    assert mx.nd.full((SIZE,), 9, dtype="int8")[SIZE - 1].asscalar() == 9


def test_one_hot_of_a_large_result() -> None:
    indices = mx.nd.zeros((ROWS,), dtype="int8")
    indices[ROWS - 1] = 7
    made = mx.nd.one_hot(indices, 8, dtype="int8")
    assert made.size == SIZE
    assert made[ROWS - 1].asnumpy().tolist() == [0] * 7 + [1]
    assert made[2**28 - 1].asnumpy().tolist() == [1] + [0] * 7


def test_file(x: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "large.params")
    mx.nd.save(path, {"x": x})
    watched(mx.nd.load(path)["x"], lambda n: n)
    os.unlink(path)


def test_values_in_numpy(x: Any) -> None:
    values = x.asnumpy()
    assert {place: int(values[place]) for place in WATCHED} == WATCHED
    watched(mx.nd.array(values, dtype="int8"), lambda n: n)
