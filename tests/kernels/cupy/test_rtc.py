"""Kernels of a program on the double of CuPy, whose race detector watches their order."""

from typing import Any, ClassVar

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError
from gluonish.mxnet_names.rtc import CudaModule

SOURCE = """
extern "C" __global__ void axpy(const float *x, float *y, float alpha) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] += alpha * x[i];
}
"""
SIGNATURE = "const float *x, float *y, float alpha"


class RawModule:
    """What `CudaModule` asks of CuPy: keeps what it was given, and computes in the double."""

    made: ClassVar[list[dict[str, Any]]] = []
    launched: ClassVar[list[tuple[Any, ...]]] = []

    def __init__(self, **given: Any) -> None:
        self.made.append(given)

    def get_function(self, name: str) -> Any:
        assert name == "axpy"

        def axpy(grid: Any, block: Any, values: Any, *, shared_mem: int) -> None:
            self.launched.append((grid, block, [type(value) for value in values], shared_mem))
            x, y, alpha = values
            y[...] = y + alpha * x

        return axpy


@pytest.fixture
def module(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> CudaModule:
    monkeypatch.setitem(vars(gpus), "RawModule", RawModule)
    monkeypatch.setattr(RawModule, "made", [])
    monkeypatch.setattr(RawModule, "launched", [])
    return CudaModule(SOURCE, options="--use_fast_math", exports=["axpy"])


def test_kernel_writes_its_arrays_in_the_order_of_the_program(module: CudaModule) -> None:
    kernel = module.get_kernel("axpy", SIGNATURE)
    x, y = nd.arange(4, ctx=mx.gpu(1)) + 1, nd.ones((4,), ctx=mx.gpu(1))
    for _ in range(3):
        kernel.launch([x, y, 2.0], mx.gpu(1), (1, 1, 1), (4, 1, 1), 16)
    x += 1
    np.testing.assert_array_equal((y * 2).asnumpy(), [14, 26, 38, 50])
    grid, block, types, shared = RawModule.launched[0]
    assert (grid, block, types[2], shared) == ((1, 1, 1), (4, 1, 1), np.float32, 16)
    assert RawModule.made == [
        {"code": SOURCE, "options": ("--use_fast_math",), "name_expressions": ("axpy",)}
    ]


def test_one_array_may_stand_for_two_parameters(module: CudaModule) -> None:
    y = nd.ones((4,), ctx=mx.gpu(0))
    module.get_kernel("axpy", SIGNATURE).launch([y, y, 3], mx.gpu(0), (1, 1, 1), (4, 1, 1))
    np.testing.assert_array_equal(y.asnumpy(), [4] * 4)


@pytest.mark.parametrize(
    "signature", ["", "float* x,", "const flot *x", "float **x", "float x[3]", "const"]
)
def test_a_signature_that_cannot_be_read_is_refused(module: CudaModule, signature: str) -> None:
    with pytest.raises(ArgumentError, match="expected parameters as in 'const float"):
        module.get_kernel("axpy", signature)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"ctx": "cpu"}, ArgumentTypeError, "expected ctx to be a GPU"),
        ({"alpha": None}, ArgumentTypeError, "expected a number as argument 2, got NoneType"),
        ({"x": 3.0}, ArgumentTypeError, "expected an NDArray as argument 0, got float"),
        ({"x": "float64"}, ArgumentError, r"expected float32 on gpu\(0\) as argument 0, got fl"),
        ({"x": "gpu1"}, ArgumentError, r"expected float32 on gpu\(0\) as argument 0, .*gpu\(1\)"),
        ({"grid": (1, 1)}, ArgumentError, "expected three positive dimensions"),
        ({"grid": (0, 1, 1)}, ArgumentError, "expected three positive dimensions"),
    ],
)
def test_wrong_arguments_are_named(
    module: CudaModule, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    ctx = mx.gpu(0)
    x: Any = nd.ones((4,), ctx=ctx)
    if change.get("x") == "float64":
        x = nd.ones((4,), ctx=ctx, dtype="float64")
    elif change.get("x") == "gpu1":
        x = nd.ones((4,), ctx=mx.gpu(1))
    elif "x" in change:
        x = change["x"]
    args = [x, nd.ones((4,), ctx=ctx), change.get("alpha", 1.0)]
    place = mx.cpu() if change.get("ctx") == "cpu" else ctx
    with pytest.raises(error, match=f"^axpy: {message}"):
        module.get_kernel("axpy", SIGNATURE).launch(
            args, place, change.get("grid", (1, 1, 1)), (4, 1, 1)
        )
    nd.waitall()


def test_too_few_arguments_are_counted(module: CudaModule) -> None:
    with pytest.raises(ArgumentError, match="expected 3 arguments, got 1"):
        module.get_kernel("axpy", SIGNATURE).launch([1], mx.gpu(0), (1, 1, 1), (1, 1, 1))


def test_without_a_gpu_what_to_install_is_named() -> None:
    if mx.num_gpus():
        pytest.skip("there is a GPU")
    with pytest.raises(DeviceError, match=r"install .*NVIDIA's driver"):
        CudaModule(SOURCE)
