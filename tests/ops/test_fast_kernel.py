"""Which kernel an operator chooses where what comes out has another dtype than what goes in."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Attrs, Operator

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
DATA = Spec((100,), FLOAT32)


def _operator(*kernels: FastKernel) -> Operator:
    def infer(data: Spec, *, dtype: np.dtype[Any]) -> tuple[Spec]:
        return (Spec(data.shape, dtype),)

    op = Operator("test_cast", infer, lambda *_args, **_attrs: None, None, doc="A cast.")
    for kernel in kernels:
        op.hang(kernel)
    return op


def _kernel(name: str, **options: Any) -> FastKernel:
    def takes(*_specs: Spec, **_attrs: Any) -> bool:
        return True

    def run(*_args: Any, **_attrs: Any) -> None:
        """Write nothing."""

    return FastKernel(BackEnd.GENERATED, name, takes, run=run, **options)


@pytest.mark.parametrize(("dtype", "is_taken"), [(FLOAT32, True), (FLOAT64, False)])
def test_predicate_alone_does_not_give_a_kernel_outputs_of_another_dtype(
    dtype: np.dtype[Any], is_taken: bool
) -> None:
    fast = _kernel("cast")
    op, attrs = _operator(fast), {"dtype": dtype}
    assert (op.select_fast("numpy", [DATA], attrs) is fast) is is_taken
    assert (op.select_kernel("numpy", [DATA], attrs) is op.kernel) is not is_taken
    assert (op.chosen_kernel("numpy", [DATA], attrs)[0] is op.kernel) is not is_taken


def test_kernel_gets_outputs_of_the_dtypes_that_it_makes() -> None:
    narrow, wide = _kernel("narrow"), _kernel("wide", makes=(FLOAT64,))
    op = _operator(wide, narrow)
    assert op.select_fast("numpy", [DATA], {"dtype": FLOAT32}) is narrow
    assert op.select_fast("numpy", [DATA], {"dtype": FLOAT64}) is wide
    assert op.select_fast("numpy", [DATA], {"dtype": FLOAT64}, (narrow,)) is None


def test_what_only_the_moment_of_the_call_knows_is_kept_from_inference() -> None:
    fast = _kernel("draw")
    op = Operator(
        "test_draw", lambda data: (data,), lambda *_args, **_attrs: None, None, doc="", random=True
    )
    op.hang(fast)
    attrs: Attrs = {"key": (1, 2), "train": True}
    assert op.select_fast("numpy", [DATA], attrs) is fast
