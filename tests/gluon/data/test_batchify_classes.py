from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data import DataLoader, SimpleDataset, batchify
from gluonish.gluon.data.batchify import Append, AsList, Group, Pad, Stack, on_host
from tests.gluon.data.programs import run


def shown(batch: Any) -> Any:
    """Types, dtypes and values of a batch."""
    if isinstance(batch, list | tuple):
        return type(batch)(shown(part) for part in batch)
    if isinstance(batch, nd.NDArray):
        return ("NDArray", np.dtype(batch.dtype).name, batch.asnumpy().tolist())
    if isinstance(batch, np.ndarray):
        return ("numpy", batch.dtype.name, batch.tolist())
    return batch


RAGGED = [np.array([1, 2, 3], "int32"), np.array([4], "int32"), np.array([5, 6], "int32")]
# Two and one rows, of two and three columns.
PLANES = [np.arange(4, dtype="float32").reshape(2, 2), np.ones((1, 3), "float32")]


@pytest.mark.parametrize(
    ("function", "samples", "expected"),
    [
        (Stack(), [1, 2], ("NDArray", "int64", [1, 2])),
        (Stack(True), [nd.array([1, 2])] * 2, ("NDArray", "float32", [[1, 2], [1, 2]])),
        (
            Stack(),
            [(1, 2.5), (3, 4.5)],
            [("NDArray", "int64", [1, 3]), ("NDArray", "float64", [2.5, 4.5])],
        ),
        (Pad(), RAGGED, ("NDArray", "int32", [[1, 2, 3], [4, 0, 0], [5, 6, 0]])),
        (
            Pad(val=-1, dtype="float16"),
            RAGGED,
            ("NDArray", "float16", [[1, 2, 3], [4, -1, -1], [5, 6, -1]]),
        ),
        (Pad(pad_val=9), [[1], [2, 3]], ("NDArray", "int64", [[1, 9], [2, 3]])),
        (Pad(round_to=2), RAGGED, ("NDArray", "int32", [[1, 2, 3, 0], [4, 0, 0, 0], [5, 6, 0, 0]])),
        (
            Pad(val=7),
            PLANES,
            ("NDArray", "float32", [[[0, 1, 7], [2, 3, 7]], [[1, 1, 1], [7, 7, 7]]]),
        ),
        (
            Pad(round_to=(1, 4)),
            PLANES,
            ("NDArray", "float32", [[[0, 1, 0, 0], [2, 3, 0, 0]], [[1, 1, 1, 0], [0, 0, 0, 0]]]),
        ),
        (
            Pad(axis=0, ret_length=True),
            [np.ones((2, 1)), np.zeros((1, 1))],
            (
                ("NDArray", "float64", [[[1], [1]], [[0], [0]]]),
                ("NDArray", "int32", [2, 1]),
            ),
        ),
        (
            Pad(axis=-1, ret_length=True),
            [nd.ones((1, 2)), nd.zeros((1, 1))],
            (("NDArray", "float32", [[[1, 1]], [[0, 0]]]), ("NDArray", "int32", [2, 1])),
        ),
        (Append(), RAGGED[1:], [("NDArray", "int32", [[4]]), ("NDArray", "int32", [[5, 6]])]),
        (
            Append(expand=False),
            RAGGED[1:],
            [("NDArray", "int32", [4]), ("NDArray", "int32", [5, 6])],
        ),
        (Append(batch_axis=1), [np.ones(2)], [("NDArray", "float64", [[1], [1]])]),
        (AsList(), ["a", ("b", 1), None], ["a", ("b", 1), None]),
        (AsList(), RAGGED[1:], [("numpy", "int32", [4]), ("numpy", "int32", [5, 6])]),
        (
            Group(Stack(), AsList(), Pad()),
            [(1, "a", RAGGED[1]), (2, "b", RAGGED[2])],
            (
                ("NDArray", "int64", [1, 2]),
                ["a", "b"],
                ("NDArray", "int32", [[4, 0], [5, 6]]),
            ),
        ),
        (
            Group([sum, Group(Stack())]),
            [(1, (2,)), (3, (4,))],
            (4, (("NDArray", "int64", [2, 4]),)),
        ),
    ],
    ids=range(18),
)
def test_batch_is_what_the_function_is_for(
    function: Callable[[Any], Any], samples: list[Any], expected: Any
) -> None:
    assert shown(function(samples)) == expected


FUNCTION = Group(Stack(), Pad(val=-1, ret_length=True), Append(), AsList(), lambda x: np.array(x))


def sample(i: int) -> tuple[Any, ...]:
    return np.full((2,), i), [i] * (i % 3 + 1), nd.full((i % 2 + 1,), i), f"text {i}", i


@pytest.mark.parametrize("thread_pool", [False, True], ids=["processes", "threads"])
def test_workers_give_the_same_batches(thread_pool: bool) -> None:
    dataset = SimpleDataset(list(range(50))).transform(sample)
    loader = DataLoader(dataset, 4, batchify_fn=FUNCTION, num_workers=2, thread_pool=thread_pool)
    expected = [shown(batch) for batch in DataLoader(dataset, 4, batchify_fn=FUNCTION)]
    for _ in range(2):
        assert [shown(batch) for batch in loader] == expected


def test_what_a_subclass_makes_comes_from_workers() -> None:
    class Doubled(Stack):
        def __call__(self, data: Any) -> Any:
            return 2 * super().__call__(data)

    loader = DataLoader(
        SimpleDataset([1, 2, 3]), 3, batchify_fn=Doubled(), num_workers=1, thread_pool=True
    )
    assert [batch.asnumpy().tolist() for batch in loader] == [[2, 4, 6]]
    assert on_host(Group(Doubled()))([(1,), (2,)], np.empty)[0].asnumpy().tolist() == [2, 4]


def test_long_texts_and_named_tuples_of_the_program_come_from_workers() -> None:
    program = """
        from typing import NamedTuple
        from gluonish.gluon.data import DataLoader

        class Batch(NamedTuple):
            texts: list
            count: int

        class Wrong(Exception):
            def __init__(self, number, more):
                super().__init__(f"number {number}")

        def batchify(samples):
            if samples[0] < 0:
                raise Wrong(samples[0], 1)
            return Batch([str(sample) * 100_000 for sample in samples], len(samples))

        loader = DataLoader([1, 2, -3], 1, batchify_fn=batchify, num_workers=1)
        batches = iter(loader)
        for digit in "12":
            batch = next(batches)
            print(type(batch) is Batch, batch.count, batch.texts == [digit * 100_000])
        try:
            next(batches)
        except Wrong as error:
            print(error, "in batchify" in "".join(error.__notes__))
    """
    done = run(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["True 1 True", "True 1 True", "number -3 True"]


@pytest.mark.parametrize(
    ("function", "samples", "message"),
    [
        (Pad(), [np.ones(1), np.ones((1, 1))], r"equally many axes, got shapes \[\(1,\), \(1, 1"),
        (Pad(axis=1), [np.ones((1, 1)), np.ones((2, 1))], "differ along axis 1 only"),
        (Pad(axis=2), [np.ones((1, 1))], "samples with axis 2, got 2 axes"),
        (Pad(round_to=(1, 2)), RAGGED, r"round_to to be one number, or 1, .*got \(1, 2\)"),
        (Group(Stack(), Stack()), [(1,)], r"samples of 2 items.*got \[1\]"),
        (Stack(), [np.ones(1), np.ones(2)], "samples of equal shape"),
    ],
)
def test_samples_that_do_not_fit_are_refused(
    function: Callable[[Any], Any], samples: list[Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        function(samples)


def test_arguments_that_contradict_are_refused() -> None:
    with pytest.raises(ArgumentError, match="val or pad_val, got both: 1 and 2"):
        Pad(1, pad_val=2)
    with pytest.raises(ArgumentError, match="round_to of 1 or more, got 0"):
        Pad(round_to=0)
    with pytest.raises(ArgumentError, match="got both"):
        Group([Stack()], Stack())
    with pytest.raises(ArgumentTypeError, match="expected functions, got 5"):
        Group(Stack(), 5)


def test_batch_does_not_share_memory_with_its_samples() -> None:
    one = np.ones(2)
    for function in (Stack(), Pad(), batchify.default_batchify_fn, batchify.default_mp_batchify_fn):
        function([one])[:] = 5
    Append(expand=False)([one])[0][:] = 5
    batchify.default_mp_batchify_fn(one)[:] = 5
    assert one.tolist() == [1, 1]
