import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.normalization.group_norm import GROUP_NORM, INSTANCE_NORM

FLOAT = np.dtype(np.float32)


@pytest.mark.parametrize(
    ("data", "rows", "message"),
    [
        ((2, 4), 2, "at least 3 axes"),
        ((2, 4, 3), 4, r"GroupNorm: expected gamma float32\(2,\) for data float32\(2, 4, 3\)"),
        ((2, 5, 3), 2, "num_groups=2 divides"),
    ],
)
def test_what_does_not_fit_groups_is_refused(
    data: tuple[int, ...], rows: int, message: str
) -> None:
    specs = [Spec(shape, FLOAT) for shape in (data, (rows,), (rows,))]
    with pytest.raises(OperatorError, match=message):
        GROUP_NORM.infer(*specs, num_groups=2, eps=1e-5, output_mean_var=False)


def test_what_does_not_fit_channels_is_refused() -> None:
    specs = [Spec(shape, FLOAT) for shape in ((2, 4, 3), (4,), (3,))]
    with pytest.raises(OperatorError, match=r"InstanceNorm: expected beta float32\(4,\)"):
        INSTANCE_NORM.infer(*specs, eps=1e-5)


def test_parameters_follow_from_the_data() -> None:
    for op, attrs, rows in ((GROUP_NORM, {"num_groups": 2}, 2), (INSTANCE_NORM, {}, 4)):
        inputs = [PartialSpec((3, 4, 5), FLOAT), PartialSpec(), PartialSpec()]
        outputs = [PartialSpec()] * 3
        assert op.complete is not None
        op.complete(inputs, outputs, {**op.schema.defaults, **attrs})
        assert inputs[1] == inputs[2] == PartialSpec((rows,), FLOAT)
        assert outputs[1].shape == (3, rows)
