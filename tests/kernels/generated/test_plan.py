import numpy as np
import pytest

from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.plan import Attached, KernelPlan
from tests.kernels.compiler.test_series import DOUBLE

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


@pytest.mark.parametrize("grain", [0, 1, 1000])
def test_plans_are_joined_with_any_grain(grain: int) -> None:
    extent = 40
    plan = KernelPlan(compile_kernel(DOUBLE), (0, 0), extent, grain)
    arrays = [np.arange(extent, dtype=np.float32) for _ in range(3)]
    attached = [plan.attach(operands, arrays, ()) for operands in ((1, 0), (2, 1))]
    joined = Attached.joined(attached)
    for _ in range(6):  # the first runs may be timed, one by one
        arrays[1][...] = arrays[2][...] = 0
        joined.run(arrays)
        np.testing.assert_array_equal(arrays[2], 4 * arrays[0])
