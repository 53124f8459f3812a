"""Transformations: inverses, Jacobians by differences, compositions, and distributions of them."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.numpy as mnp
from gluonish import autograd
from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.gluon import Parameter
from gluonish.gluon import probability as mgp
from gluonish.gluon.probability import constraint as c

X = mnp.array(np.array([0.3, 1.2, 2.0]))
BIJECTIVE = [
    mgp.ExpTransform(),
    mgp.AffineTransform(1.0, -2.0),
    mgp.AffineTransform(mnp.array(1.0), mnp.array(np.array([2.0, -3.0, 0.5]))),
    mgp.PowerTransform(2.0),
    mgp.PowerTransform(mnp.array(0.7, dtype="float64")),
    mgp.SigmoidTransform(),
    mgp.ComposeTransform([mgp.ExpTransform(), mgp.AffineTransform(0, -2.0)]),
    mgp.ComposeTransform([]),
]


@pytest.mark.parametrize("transform", BIJECTIVE, ids=lambda t: type(t).__name__)
def test_inverse_and_jacobian(transform: Any) -> None:
    assert transform.bijective
    assert transform.event_dim == 0
    y = transform(X)
    inverse = transform.inv
    assert inverse.inv is transform
    assert inverse.bijective
    np.testing.assert_allclose(inverse(y).asnumpy(), X.asnumpy(), rtol=1e-12)
    step = 1e-6
    slope = ((transform(X + step) - transform(X - step)) / (2 * step)).asnumpy()
    got = transform.log_det_jacobian(X, y).asnumpy()
    np.testing.assert_allclose(got, np.log(np.abs(slope)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(inverse.log_det_jacobian(y, X).asnumpy(), -got, rtol=1e-9)
    sign = np.broadcast_to(
        np.asarray(getattr(transform.sign, "asnumpy", lambda: transform.sign)()), 3
    )
    np.testing.assert_array_equal(sign, np.sign(slope))
    np.testing.assert_array_equal(np.asarray(inverse.event_dim), 0)


def test_transformations_without_inverse() -> None:
    assert mgp.AbsTransform()(mnp.array([-2.0, 3.0])).tolist() == [2, 3]
    softmax = mgp.SoftmaxTransform()
    assert softmax.event_dim == 1
    np.testing.assert_allclose(float(softmax(X).sum()), 1)
    np.testing.assert_allclose(softmax(softmax.inv(softmax(X))).asnumpy(), softmax(X).asnumpy())
    for transform in (mgp.AbsTransform(), softmax, mgp.Transformation()):
        assert not transform.bijective
        name = type(transform).__name__
        with pytest.raises(
            NotSupportedError, match=f"^{name}: expected a transformation with sign"
        ):
            transform.sign  # noqa: B018  # the property raises
        with pytest.raises(NotSupportedError, match="with log_det_jacobian"):
            transform.log_det_jacobian(X, X)


def test_event_axes_are_summed() -> None:
    matrix = mnp.ones((2, 3))
    rows = mgp.AffineTransform(0.0, 2.0 * matrix, event_dim=1)
    np.testing.assert_allclose(rows.log_det_jacobian(matrix, matrix).asnumpy(), 3 * np.log([2, 2]))
    both = mgp.ComposeTransform([rows, mgp.ExpTransform()])
    assert both.event_dim == 1
    expected = 3 * np.log([2, 2]) + 6
    np.testing.assert_allclose(both.log_det_jacobian(matrix, matrix).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        (c.Real(), lambda y: np.isfinite(y)),
        (c.Positive(), lambda y: y > 0),
        (c.NonNegative(), lambda y: y >= 0),
        (c.GreaterThan(2.0), lambda y: y > 2),
        (c.LessThan(2.0), lambda y: y < 2),
        (c.LessThanEq(2.0), lambda y: y <= 2),
        (c.Interval(1.0, 3.0), lambda y: (y >= 1) & (y <= 3)),
        (c.OpenInterval(1.0, 3.0), lambda y: (y > 1) & (y < 3)),
        (c.UnitInterval(), lambda y: (y >= 0) & (y <= 1)),
    ],
)
def test_constraints_are_mapped_to(constraint: Any, holds: Any) -> None:
    x = mnp.array(np.linspace(-3, 3, 7))
    for registry in (mgp.biject_to, mgp.transform_to):
        transform = registry(constraint)
        y = transform(x)
        assert holds(y.asnumpy()).all()
        np.testing.assert_allclose(transform.inv(y).asnumpy(), x.asnumpy(), rtol=1e-9, atol=1e-12)


def test_simplex_is_mapped_to_by_softmax_only() -> None:
    assert isinstance(mgp.transform_to(c.Simplex()), mgp.SoftmaxTransform)
    with pytest.raises(
        NotSupportedError, match="domain_map: expected a registered constraint, got"
    ):
        mgp.biject_to(c.Simplex())


def test_own_constraints_are_registered() -> None:
    registry = mgp.domain_map()

    @registry.register(c.Boolean())  # type: ignore[untyped-decorator]
    def to_boolean(constraint: Any) -> Any:
        return "boolean"

    assert registry(c.Boolean()) == "boolean"
    assert to_boolean(None) == "boolean"
    with pytest.raises(ArgumentTypeError, match=r"domain_map\.register: expected a class"):
        registry.register(3, to_boolean)


def test_lognormal_is_a_transformed_normal() -> None:
    loc, scale = 0.3, 0.8
    lognormal = mgp.TransformedDistribution(
        mgp.Normal(mnp.array(np.full(3, loc)), scale), [mgp.ExpTransform()]
    )
    x = X.asnumpy()
    expected = -(((np.log(x) - loc) / scale) ** 2) / 2 - np.log(x * scale * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(lognormal.log_prob(X).asnumpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(lognormal.icdf(lognormal.cdf(X)).asnumpy(), x, rtol=1e-10)
    assert lognormal.sample_n(4).shape == (4, 3)
    assert lognormal.has_grad
    assert repr(lognormal) == "TransformedDistribution(Normal(loc=(3,), scale=0.8), [ExpTransform])"


def test_decreasing_transformations_reverse_the_cdf() -> None:
    base = mgp.Normal(mnp.array(np.zeros(3)), 1.0)
    flipped = mgp.TransformedDistribution(base, mgp.AffineTransform(1.0, -2.0))
    plain = mgp.Normal(mnp.array(np.ones(3)), 2.0)
    for method in ("log_prob", "cdf"):
        got, expected = getattr(flipped, method)(X), getattr(plain, method)(X)
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=1e-12)
    chances = mnp.array(np.array([0.1, 0.5, 0.9]))
    np.testing.assert_allclose(
        flipped.icdf(chances).asnumpy(), plain.icdf(chances).asnumpy(), rtol=1e-12, atol=1e-15
    )


def test_event_of_a_transformation_is_that_of_its_distribution() -> None:
    base = mgp.Normal(mnp.zeros((2, 3)), mnp.ones((2, 3)))
    shifted = mgp.TransformedDistribution(base, mgp.AffineTransform(0.0, 1.0, event_dim=1))
    assert shifted.event_dim == 1
    assert shifted.log_prob(mnp.zeros((2, 3))).shape == (2,)
    assert shifted.sample().shape == (2, 3)


class Planar(mgp.TransformBlock):
    """y = w x + b, with w = exp(log_w)."""

    bijective = True

    def __init__(self) -> None:
        super().__init__()
        self.log_w = Parameter("log_w", shape=(1,), init="zeros")
        self.b = Parameter("b", shape=(1,), init="zeros")

    def _forward_compute(self, x: Any) -> Any:
        return x * mnp.exp(self.log_w.data().as_np_ndarray()) + self.b.data().as_np_ndarray()

    def _inverse_compute(self, y: Any) -> Any:
        return (y - self.b.data().as_np_ndarray()) * mnp.exp(-self.log_w.data().as_np_ndarray())

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        return mnp.zeros_like(x) + self.log_w.data().as_np_ndarray()


def test_block_with_parameters_is_fitted_as_a_flow() -> None:
    flow = Planar()
    flow.initialize()
    trainer = mx.gluon.Trainer(flow.collect_params(), "adam", {"learning_rate": 0.05})
    data = mnp.array(np.random.default_rng(0).normal(3.0, 2.0, 500).astype(np.float32))
    for _ in range(300):
        with autograd.record():
            fitted = mgp.TransformedDistribution(mgp.Normal(0.0, 1.0), flow)
            loss = -fitted.log_prob(data).mean()
        loss.backward()
        trainer.step(1)
    assert float(flow.b.data()[0]) == pytest.approx(float(data.mean()), abs=0.05)
    width = float(np.exp(flow.log_w.data().asnumpy()[0]))
    assert width == pytest.approx(float(data.std()), abs=0.05)
    eager = flow(data)
    flow.hybridize()
    np.testing.assert_allclose(flow(data).asnumpy(), eager.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(flow.inv(eager).asnumpy(), data.asnumpy(), rtol=1e-4, atol=1e-4)
