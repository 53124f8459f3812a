import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.gluon import nn
from gluonish.ops.normalization.group_norm import GROUP_NORM, INSTANCE_NORM

FLOAT = np.dtype(np.float32)


@pytest.mark.parametrize(
    ("data", "rows", "message"),
    [
        ((2, 4), 2, "at least 3 axes"),
        ((2, 4, 3), 3, r"GroupNorm: expected gamma float32\(2,\) for data float32\(2, 4, 3\)"),
        ((2, 5, 3), 2, "num_groups=2 divides"),
    ],
)
def test_what_does_not_fit_groups_is_refused(
    data: tuple[int, ...], rows: int, message: str
) -> None:
    specs = [Spec(shape, FLOAT) for shape in (data, (rows,), (rows,))]
    with pytest.raises(OperatorError, match=message):
        GROUP_NORM.infer(*specs, num_groups=2, eps=1e-5, output_mean_var=False)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("hybridize", [False, True])
def test_one_scale_for_each_channel(groups: int, hybridize: bool) -> None:
    rng = np.random.default_rng(3)
    data, grad = rng.normal(size=(2, 2, 6, 5, 4))
    gamma, beta = rng.normal(size=(2, 6))
    net = nn.GroupNorm(groups, in_channels=0)
    net.initialize()
    net.cast("float64")
    net.hybridize(hybridize)
    net(nd.array(data, dtype="float64"))
    net.gamma.set_data(nd.array(gamma, dtype="float64"))
    net.beta.set_data(nd.array(beta, dtype="float64"))
    x = nd.array(data, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward(nd.array(grad, dtype="float64"))

    def normalized(values: np.ndarray) -> np.ndarray:
        rows = values.reshape(2, groups, -1)
        rows = rows - rows.mean(2, keepdims=True)
        return (rows / np.sqrt((rows**2).mean(2, keepdims=True) + 1e-5)).reshape(values.shape)

    def output(values: np.ndarray) -> np.ndarray:
        return normalized(values) * gamma[:, None, None] + beta[:, None, None]

    np.testing.assert_allclose(y.asnumpy(), output(data), rtol=1e-6, atol=1e-7)
    wanted = (grad * normalized(data)).sum((0, 2, 3))
    np.testing.assert_allclose(net.gamma.grad().asnumpy(), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(net.beta.grad().asnumpy(), grad.sum((0, 2, 3)), rtol=1e-6)
    for place in ((0, 0, 0, 0), (1, 5, 4, 3), (1, 2, 2, 1)):
        step = np.zeros_like(data)
        step[place] = 1e-5
        slope = ((output(data + step) - output(data - step)) * grad).sum() / 2e-5
        np.testing.assert_allclose(x.grad.asnumpy()[place], slope, rtol=1e-4, atol=1e-6)


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
