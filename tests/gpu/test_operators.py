"""Every operator on ``gpu(0)`` gives what it gives on ``cpu(0)``."""

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.ops
from gluonish import nd
from gluonish.core.device import device_of
from gluonish.core.dtype import is_floating
from gluonish.ndarray.eager import measured_specs, run
from gluonish.ndarray.ndarray import empty_like_spec
from gluonish.ops.registry import all_operators
from tests.checking.values import spec_of
from tests.ops.operator_runs import Call, calls_of

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

for _module in pkgutil.iter_modules(gluonish.ops.__path__):
    importlib.import_module(f"gluonish.ops.{_module.name}")

NAMES = sorted(op.name for op in all_operators() if op.infer.__module__.startswith("gluonish."))
# Of several values for one element the device keeps any.
UNORDERED = {"scatter_nd"}
# CUDA's functions differ from the C library's by a few units in the last place, and add in another
# order.
TOLERANCE = {2: 2e-2, 4: 2e-4, 8: 1e-9}


def on_gpu(call: Call) -> list[Any]:
    """Run a call through the engine, and return all outputs, hidden ones too."""
    device = device_of(mx.gpu(0))
    inputs = [nd.array(x, ctx=mx.gpu(0), dtype=x.dtype) for x in call.inputs]
    specs = call.op.infer(*[spec_of(x) for x in call.inputs], **call.attrs)
    specs = measured_specs(call.op, inputs, call.runtime, specs, device)
    outputs = [empty_like_spec(spec, device) for spec in specs]
    run(call.op, inputs, call.runtime, outputs, device)
    return [y.asnumpy() for y in outputs]


def tolerance_of(call: Call, want: Any) -> float:
    """Return how far an output may be off: by its floats of the fewest bits, or an input's."""
    if not is_floating(want.dtype):
        return 0
    sizes = [x.dtype.itemsize for x in (want, *call.inputs) if is_floating(x.dtype)]
    return TOLERANCE.get(min(sizes), 0)


def without_denormals(call: Call) -> Call:
    """Return a call on what kernels of CuPy read: denormals are zero to them."""

    def flushed(x: Any) -> Any:
        if x.dtype not in (np.float32, np.float64):
            return x
        return np.where(np.abs(x) < np.finfo(x.dtype).tiny, x.dtype.type(0), x)

    return call._replace(inputs=[flushed(x) for x in call.inputs])


def out_of_range(call: Call, number: int, got: Any, want: Any) -> Any:
    """Return where a result of integers is no integer of its type, such as exp(9) in 8 bits.

    A GPU gives the nearest one, a CPU what its conversion leaves: of what is beyond 64 bits, 0 in a
    few bits.
    """
    inputs = [x.astype(np.float64) for x in call.inputs]
    real = call._replace(inputs=inputs).run()[number]
    limits = np.iinfo(want.dtype)
    cut = (got == limits.max) & (want == 0) & (limits.bits < 32)
    with np.errstate(invalid="ignore"):
        return cut | ~((real > limits.min - 1.0) & (real < limits.max + 1.0))


@pytest.mark.parametrize("name", NAMES)
def test_operator_gives_what_it_gives_on_the_cpu(name: str) -> None:
    if name in UNORDERED:
        pytest.skip("of several values for one element any may stay")
    for call in calls_of(name):
        wanted, flushed = call.run(), without_denormals(call).run()
        found = zip(on_gpu(call), wanted, flushed, strict=True)
        for number, (got, want, other) in enumerate(found):
            assert got.dtype == want.dtype
            tolerance = tolerance_of(call, want)
            near = {"rtol": tolerance, "atol": tolerance, "equal_nan": True}
            result = got.astype(np.float64)
            excused = np.isclose(result, other.astype(np.float64), **near)
            if np.issubdtype(want.dtype, np.integer) and not excused.all():
                excused |= out_of_range(call, number, got, want)
            np.testing.assert_allclose(
                np.where(excused, want.astype(np.float64), result),
                want.astype(np.float64),
                **near,
                err_msg=f"{name} {[(x.shape, x.dtype) for x in call.inputs]} {call.attrs}",
            )
