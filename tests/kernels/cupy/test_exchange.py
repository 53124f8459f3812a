"""DLPack with other libraries on a GPU, on the double: which arrays come in, and in which order."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentTypeError


class Foreign:
    """An array of another library on a GPU."""

    def __init__(self, cupy: Any, number: int, values: np.ndarray[Any, Any]) -> None:
        self.streams: list[Any] = []
        self.array = nd.array(values, ctx=mx.gpu(number), dtype=values.dtype)
        self.array.wait_to_read()

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        self.streams.append(stream)
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("capsule", [False, True])
def test_memory_of_a_gpu_is_shared(gpus: Any, number: int, capsule: bool) -> None:
    x = nd.array([1.0, 2, 3], ctx=mx.gpu(number))
    y = nd.from_dlpack(nd.to_dlpack_for_write(x) if capsule else x)
    assert y.context == mx.gpu(number)
    y += 1
    y.wait_to_read()
    np.testing.assert_array_equal(x.asnumpy(), [2, 3, 4])


def test_capsule_keeps_the_memory_alive(gpus: Any) -> None:
    x = nd.array([1.0, 2, 3], ctx=mx.gpu(0))
    capsule = nd.to_dlpack_for_read(x)
    x.wait_to_read()
    del x
    nd.full((3,), 9, ctx=mx.gpu(0)).wait_to_read()
    np.testing.assert_array_equal(nd.from_dlpack(capsule).asnumpy(), [1, 2, 3])


def test_other_library_is_told_the_stream_of_kernels(gpus: Any) -> None:
    foreign = Foreign(gpus, 1, np.arange(4, dtype=np.float32))
    x = nd.from_dlpack(foreign)
    device: Any = x._device
    assert foreign.streams == [device.compute.raw.ptr]
    np.testing.assert_array_equal((x + 1).asnumpy(), [1, 2, 3, 4])


def test_array_is_copied_where_it_is_asked_for(gpus: Any) -> None:
    foreign = Foreign(gpus, 0, np.arange(4, dtype=np.float32))
    for ctx in (mx.cpu(), mx.gpu(1)):
        x = nd.from_dlpack(foreign, ctx=ctx)
        assert x.context == ctx
        np.testing.assert_array_equal(x.asnumpy(), [0, 1, 2, 3])


def test_dtype_is_kept(gpus: Any) -> None:
    for dtype in (np.float16, np.int64, np.uint8):
        x = nd.from_dlpack(Foreign(gpus, 0, np.arange(3, dtype=dtype)))
        assert x.dtype == dtype


@pytest.mark.parametrize("capsule", [False, True])
def test_bfloat16_of_a_gpu_is_shared(gpus: Any, capsule: bool) -> None:
    x = nd.array([1.0, 2, 3], ctx=mx.gpu(1), dtype="bfloat16")
    y = nd.from_dlpack(nd.to_dlpack_for_write(x) if capsule else x)
    assert (y.context, y._spec.dtype.name) == (mx.gpu(1), "bfloat16")
    y[1] = 8
    y.wait_to_read()
    np.testing.assert_array_equal(x.astype("float32").asnumpy(), [1, 8, 3])


def test_bits_of_a_gpu_become_what_they_stand_for(gpus: Any) -> None:
    x = nd.array([1.0, -2], ctx=mx.gpu(0), dtype="bfloat16")
    capsule = nd.to_dlpack_for_read(x, bits=True)
    y = nd.from_dlpack(capsule, dtype="bfloat16")
    np.testing.assert_array_equal(y.astype("float32").asnumpy(), [1, -2])
    bits = nd.from_dlpack(nd.to_dlpack_for_read(x, bits=True))
    assert bits.dtype == np.uint16


def test_what_is_no_capsule_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="from_dlpack: expected an object with __dlpack__"):
        nd.from_dlpack(3)


def test_capsule_is_taken_once() -> None:
    capsule = nd.to_dlpack_for_read(nd.ones((2,)))
    nd.from_dlpack(capsule)
    with pytest.raises(ArgumentTypeError, match="a capsule that nobody took"):
        nd.from_dlpack(capsule)
