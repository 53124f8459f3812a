import gc
import threading
import time
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.core.schema import Schema, boolean, integer, shape, text
from gluonish.core.spec import Spec
from gluonish.io import DataBatch, MXDataIter
from gluonish.io.native_iter import (
    PREFETCH_PARAMETERS,
    BatchSource,
    check_parts,
    parse_parameters,
)


class Numbers(BatchSource):
    """Five samples, two in a batch; the last batch goes round."""

    def __init__(self, prefetch_buffer: int = 4, fails_in: int = -1) -> None:
        dtype = np.dtype(np.float32)
        super().__init__("Numbers", Spec((2, 1), dtype), Spec((2,), dtype), prefetch_buffer)
        self.fails_in = fails_in
        self.calls: list[tuple[int, int]] = []
        self.running = 0

    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        self.calls.append((epoch, start))
        self.running += 1
        assert self.running == 1, "two passes at a time"
        try:
            for begin in range(start, 5, 2):
                if epoch == self.fails_in and begin > 1:
                    raise OSError("disk")
                numbers = np.arange(begin, begin + 2)
                data = nd.array(numbers.reshape(2, 1) % 5)
                yield DataBatch([data], [nd.zeros(2)], max(0, begin + 2 - 5), numbers % 5)
        finally:
            self.running -= 1


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gluonish-Numbers"]


def first_column(data_iter: MXDataIter) -> list[list[int]]:
    return [batch.index.tolist() for batch in data_iter]


def test_pass_begins_behind_what_the_last_one_took() -> None:
    data_iter = MXDataIter(Numbers())
    assert first_column(data_iter) == [[0, 1], [2, 3], [4, 0]]
    assert first_column(data_iter) == []
    data_iter.reset()
    assert first_column(data_iter) == [[1, 2], [3, 4]]
    data_iter.reset()
    assert first_column(data_iter) == [[0, 1], [2, 3], [4, 0]]
    assert data_iter.handle.calls == [(0, 0), (1, 1), (2, 0)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("prefetch_buffer", [0, 1, 4])
def test_reset_in_mid_pass_does_not_depend_on_what_was_made_ahead(prefetch_buffer: int) -> None:
    data_iter = MXDataIter(Numbers(prefetch_buffer))
    data_iter.next()
    time.sleep(0.02)
    data_iter.reset()
    assert first_column(data_iter) == [[0, 1], [2, 3], [4, 0]]
    assert data_iter.handle.calls == [(0, 0), (1, 0)]  # type: ignore[attr-defined]


def test_reset_of_a_fresh_pass_changes_nothing() -> None:
    data_iter = MXDataIter(Numbers())
    first_column(data_iter)
    for _ in range(3):
        data_iter.reset()
    assert data_iter.first_batch is not None
    data_iter.reset()
    assert first_column(data_iter) == [[1, 2], [3, 4]]


def test_no_thread_before_the_first_batch_is_asked_for() -> None:
    data_iter = MXDataIter(Numbers())
    assert not threads()
    assert not data_iter.handle.calls  # type: ignore[attr-defined]


def test_iterator_dropped_in_mid_pass_leaves_no_thread() -> None:
    data_iter = MXDataIter(Numbers(1))
    data_iter.next()
    gone = weakref.ref(data_iter)
    del data_iter
    gc.collect()
    assert gone() is None
    deadline = time.monotonic() + 10
    while threads() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not threads()


def test_many_resets_leave_no_thread() -> None:
    data_iter = MXDataIter(Numbers(2))
    for _ in range(50):
        data_iter.next()
        data_iter.reset()
    assert not threads()
    assert data_iter.handle.running == 0  # type: ignore[attr-defined]


def test_error_of_the_source_arrives_and_reset_recovers() -> None:
    data_iter = MXDataIter(Numbers(fails_in=0))
    assert data_iter.next().pad == 0
    with pytest.raises(OSError, match="disk"):
        data_iter.next()
    with pytest.raises(StopIteration):
        data_iter.next()
    data_iter.reset()
    assert first_column(data_iter) == [[0, 1], [2, 3], [4, 0]]


def test_single_calls_follow_the_current_batch() -> None:
    data_iter = MXDataIter(Numbers(), data_name="x", label_name="y")
    assert data_iter.getdata().asnumpy().tolist() == [[0], [1]]
    assert [x.shape for x in data_iter.getitems()] == [(2, 1), (2,)]
    found = []
    while data_iter.iter_next():
        found.append((data_iter.getindex().tolist(), data_iter.getpad()))
        assert data_iter.getlabel().shape == (2,)
    assert found == [([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]
    assert [repr(desc) for desc in data_iter.provide_data + data_iter.provide_label] == [
        "DataDesc[x,(2, 1),<class 'numpy.float32'>,NCHW]",
        "DataDesc[y,(2,),<class 'numpy.float32'>,NCHW]",
    ]


def test_skipped_loading_repeats_one_batch() -> None:
    data_iter = MXDataIter(Numbers())
    data_iter.debug_skip_load()
    assert {batch.index[0] for batch, _ in zip(data_iter, range(9), strict=False)} == {0}


SCHEMA = Schema(
    path=text(),
    data_shape=shape(),
    round_batch=boolean(True),
    size=integer(3),
    **PREFETCH_PARAMETERS,
)


def test_parameters_may_be_text() -> None:
    parsed, names = parse_parameters(
        "Some", SCHEMA, {"path": "x", "data_shape": "(3, 2)", "size": "4", "data_name": "q"}
    )
    assert (parsed["data_shape"], parsed["size"], parsed["round_batch"]) == ((3, 2), 4, True)
    assert (parsed["prefetch_buffer"], parsed["ctx"], parsed["dtype"]) == (4, "gpu", None)
    assert names == {"data_name": "q"}


def test_unknown_parameter_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"Some: .*'round_batsch' \(nearest: 'round_batch'\)"):
        parse_parameters("Some", SCHEMA, {"path": "x", "data_shape": 2, "round_batsch": 1})


@pytest.mark.parametrize("asked", [{"ctx": "gpu"}, {"device_id": 1}], ids=str)
def test_that_a_gpu_changes_nothing_is_logged_once(
    caplog: pytest.LogCaptureFixture, asked: dict[str, object]
) -> None:
    iterator = f"Some{asked}"  # none that was told already
    schema = Schema(device_id=integer(0), **PREFETCH_PARAMETERS)
    parse_parameters(iterator, schema, {"ctx": "cpu", "device_id": 0})
    parse_parameters(iterator, schema, {})
    assert not caplog.messages
    for _ in range(2):
        parse_parameters(iterator, schema, asked)
    (message,) = caplog.messages
    assert message.startswith(f"{iterator}: batches stay in CPU memory")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data_shape": 2}, "Some: expected a value for path, got none"),
        ({"path": "x", "data_shape": "a"}, "Some: expected data_shape to be a tuple of ints"),
        ({"path": "x", "data_shape": 2, "ctx": "tpu"}, "Some: expected ctx to be one of"),
        ({"path": "x", "data_shape": 2, "prefetch_buffer": -1}, "expected prefetch_buffer to be"),
    ],
)
def test_wrong_parameter_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        parse_parameters("Some", SCHEMA, given)


@pytest.mark.parametrize(("num_parts", "part_index"), [(0, 0), (2, 2), (2, -1)])
def test_part_that_is_none_is_refused(num_parts: int, part_index: int) -> None:
    with pytest.raises(ArgumentError, match="Some: expected part_index in"):
        check_parts("Some", num_parts, part_index)


class Forty(Numbers):
    """Forty batches with their number as index."""

    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        for number in range(40):
            yield DataBatch([nd.zeros((2, 1))], [nd.zeros(2)], 0, np.array([number, number]))


class Lingering(MXDataIter):
    """Lets other threads run whenever a batch has come."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "_batch":
            time.sleep(0.002)


def test_threads_that_share_an_iterator_get_each_batch_once() -> None:
    data_iter = Lingering(Forty())
    found: list[int] = []

    def take() -> None:
        found.extend(int(batch.index[0]) for batch in data_iter)

    takers = [threading.Thread(target=take) for _ in range(4)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join(30)
    assert sorted(found) == list(range(40))
