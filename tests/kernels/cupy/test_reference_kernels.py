"""Every reference kernel on the double of CuPy: what CuPy lacks or refuses fails, without a GPU."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import is_floating
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import find_operator
from tests.checking.values import spec_of
from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.operator_names import NAMES
from tests.ops.operator_runs import Call, calls_of


def on_device(machine: Machine, call: Call, kernel: Any) -> list[Any]:
    """Return what a kernel gives for arrays of the double."""
    cupy = make_cupy(machine)
    device, stream = cupy.cuda.Device(0), machine.new_stream(non_blocking=True)
    with device, stream:

        def upload(values: Any) -> Array:
            array = allocate(machine, values.shape, values.dtype)
            array._raw[...] = values
            return array

        inputs = [upload(x) for x in call.inputs]
        expected = call.run()
        if call.op.measure is not None:
            measured = call.op.measure(cupy, *inputs, **call.runtime)
            assert [tuple(shape) for shape in measured] == [y.shape for y in expected]
        outputs = [allocate(machine, y.shape, y.dtype) for y in expected]
        kernel(cupy, outputs[0] if call.op.single else tuple(outputs), *inputs, **call.runtime)
        return [y._raw for y in outputs]


def check(machine: Machine, call: Call, kernel: Any) -> None:
    for got, want in zip(on_device(machine, call, kernel), call.run(), strict=True):
        tolerance = 1e-5 if want.dtype.itemsize > 2 or not is_floating(want.dtype) else 2e-2
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("name", NAMES)
def test_reference_kernel_runs_with_what_cupy_has(machine: Machine, name: str) -> None:
    found = calls_of(name)
    assert found, f"{name} has no call in tests/ops/operator_runs.py"
    for call in found:
        check(machine, call, call.op.kernel)


def test_image_is_decoded_on_the_host(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    opencv = ModuleType("cv2")
    opencv.imdecode = lambda buffer, flag: image if len(buffer) == 5 else None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cv2", opencv)
    path = tmp_path / "image.png"
    path.write_bytes(b"12345")
    for name, inputs, attrs in (
        ("_cvimdecode", [np.frombuffer(b"12345", np.uint8)], {}),
        ("_cvimread", [], {"filename": str(path)}),
    ):
        op = find_operator(name)
        parsed = op.schema.parse(name, attrs)
        check(machine, Call(op, inputs, parsed, parsed), op.kernel)


@pytest.mark.parametrize(
    "name",
    [
        *("dot", "batch_dot", "_npi_matmul", "_linalg_gemm2", "FullyConnected"),
        *("Convolution", "_convolution_backward_data", "_convolution_backward_weight"),
        *("_convolution_backward_weight_bias", "Deconvolution"),
        *("BatchNorm", "_batch_norm_backward", "_batch_norm_statistics", "_batch_norm_sums"),
        *(
            "_batch_norm_residual_sums",
            "_batch_norm_data_gradient",
            "LayerNorm",
            "_layer_norm_backward",
            "softmax",
        ),
        *("log_softmax", "_softmax_backward", "Pooling", "_pooling_backward"),
    ],
)
def test_fast_kernel_gives_what_the_reference_gives(machine: Machine, name: str) -> None:
    taken = 0
    for call in calls_of(name):
        for fast in _cupy_kernels(call):
            check(machine, call, fast.kernel)
            taken += 1
    assert taken >= 3


def _cupy_kernels(call: Call) -> list[FastKernel]:
    specs = [spec_of(x) for x in call.inputs]
    return [
        fast
        for fast in call.op.fast_kernels
        if call.op.select_fast("gpu", specs, call.attrs, (fast,)) is fast
    ]
