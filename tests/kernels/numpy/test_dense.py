from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.spec import Spec
from gluonish.graph.instructions import PlannedInstruction
from gluonish.graph.value_layout import plan_layout
from gluonish.kernels.numpy import dense
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.nn.dense import FULLY_CONNECTED
from gluonish.ops.registry import Operator
from tests.graph.builders import call, inputs


def _attrs(op: Operator, **given: Any) -> dict[str, Any]:
    return op.schema.parse(op.name, given)


def _fast(op: Operator) -> Any:
    return next(fast for fast in op.fast_kernels if fast.name == "numpy.dense")


@pytest.mark.parametrize("op", [FULLY_CONNECTED, FUSED_DENSE], ids=lambda op: op.name)
@pytest.mark.parametrize("shape", [(1, 6), (3, 6), (2, 3, 2), (1, 2, 3)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_equals_the_reference_kernel(
    op: Operator, shape: tuple[int, ...], bias: bool, dtype: Any
) -> None:
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(s).astype(dtype) for s in (shape, (4, 6), (4,))]
    inputs = arrays if bias else arrays[:2]
    kinds = [None, "relu"] if op is FUSED_DENSE else [None]
    for activation in kinds:
        given = {"activation": activation} if op is FUSED_DENSE else {}
        attrs = _attrs(op, num_hidden=4, no_bias=not bias, **given)
        assert _fast(op).supports(*[Spec(x.shape, x.dtype) for x in inputs], **attrs)
        found, wanted = (np.empty((shape[0], 4), dtype) for _ in range(2))
        bound = _fast(op).plan((found,), inputs, attrs)
        frame = [None, *inputs, found]
        attached = bound.plan.attach(
            bound.order([len(inputs) + 1, *range(1, 1 + len(inputs))]), frame, ()
        )
        attached.run(frame)
        op.kernel(np, wanted, *inputs, **attrs)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("data", "weight", "given"),
    [
        (Spec((64, 784), np.dtype(np.float32)), Spec((256, 784), np.dtype(np.float32)), {}),
        (Spec((2, 3), np.dtype(np.float16)), Spec((4, 3), np.dtype(np.float16)), {}),
        (
            Spec((2, 2, 3), np.dtype(np.float32)),
            Spec((4, 3), np.dtype(np.float32)),
            {"flatten": False},
        ),
        (
            Spec((2, 3), np.dtype(np.float32)),
            Spec((4, 3), np.dtype(np.float32)),
            {"activation": "tanh"},
        ),
        (Spec((0, 3), np.dtype(np.float32)), Spec((4, 3), np.dtype(np.float32)), {}),
    ],
)
def test_what_others_do_better_it_leaves(data: Spec, weight: Spec, given: dict[str, Any]) -> None:
    attrs = _attrs(FUSED_DENSE, num_hidden=weight.shape[0], no_bias=True, **given)
    assert not dense._supports(data, weight, **attrs)


def test_plans_of_it_depend_on_no_versions_of_parameters() -> None:
    x, weight = inputs((1, 3), (4, 3))
    y = call("FullyConnected", x, weight, num_hidden=4, no_bias=True)
    layout = plan_layout([y.node], [x, weight], [y], device_of(cpu()), constant_inputs=[1])
    (step,) = layout.instructions
    assert isinstance(step, PlannedInstruction)
    assert step.fast.name == "numpy.dense"
    assert layout.packing == []
