"""Every operator costs on a GPU what ceilings.json says, and can be captured where that says so.

After a change on purpose: ``python -m tests.kernels.cupy.ceilings``.
"""

import numpy as np
import pytest

from gluonish.core.dtype import is_floating
from tests.kernels.cupy import host_compiler
from tests.kernels.cupy.ceilings import CEILINGS, measured, replayed
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.operator_names import NAMES
from tests.ops.operator_runs import calls_of

# The table counts kernels of CUDA C++, which the double runs where it can compile them.
pytestmark = pytest.mark.skipif(
    host_compiler.COMPILER is None, reason="no C++ compiler to run CUDA sources on the host"
)


def test_table_has_every_operator() -> None:
    assert sorted(CEILINGS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_operator_costs_what_the_table_says(machine: Machine, name: str) -> None:
    now, ceiling = measured(name), CEILINGS[name]
    assert now.pop("capturable") == ceiling["capturable"]
    for what, count in now.items():
        assert count <= ceiling[what], f"{name} needs more {what} than it did"
        assert count == ceiling[what], f"{name} needs fewer {what}: lower the ceiling"


@pytest.mark.parametrize("name", [name for name in NAMES if CEILINGS[name]["capturable"]])
def test_graph_of_an_operator_computes_what_the_operator_does(machine: Machine, name: str) -> None:
    call = calls_of(name)[0]
    found = replayed(call)
    assert found is not None
    for got, want in zip(found, call.run(), strict=True):
        tolerance = 1e-5 if want.dtype.itemsize > 2 or not is_floating(want.dtype) else 2e-2
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance
        )
