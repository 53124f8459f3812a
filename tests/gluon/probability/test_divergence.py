"""kl_divergence against quadrature, its registry, and empirical_kl."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.numpy as mnp
from gluonish import autograd
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.gluon import HybridBlock
from gluonish.gluon import probability as mgp
from gluonish.gluon.probability import kl_divergence
from tests.gluon.probability.golden import GOLDEN, PAIRS


def pair(names: tuple[str, str], dtype: str = "float64") -> list[Any]:
    """Return the two distributions of a case."""
    return [
        getattr(mgp, name)(**{key: mnp.array(v, dtype=dtype) for key, v in params.items()})
        for name, params in zip(names, PAIRS[names], strict=True)
    ]


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_divergence_is_the_integral(names: tuple[str, str]) -> None:
    expected = float(GOLDEN["kl " + " ".join(names)])
    got = kl_divergence(*pair(names))
    assert (got.shape, got.dtype) == ((), "float64")
    assert float(got) == pytest.approx(expected, rel=1e-8)
    assert float(kl_divergence(*pair(names, "float32"))) == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("names", [names for names in PAIRS if names[0] == names[1]], ids="-".join)
def test_divergence_from_itself_is_zero(names: tuple[str, str]) -> None:
    p, _ = pair(names)
    assert float(kl_divergence(p, p)) == pytest.approx(0, abs=1e-12)


def test_divergence_of_vectors() -> None:
    alphas = mnp.array(np.array([1.5, 0.7, 2.0])), mnp.array(np.array([1.0, 2.0, 0.5]))
    mx.random.seed(3)
    for p, q in (
        (mgp.Dirichlet(alphas[0]), mgp.Dirichlet(alphas[1])),
        (
            mgp.MultivariateNormal(mnp.zeros(2), np.array([[2.0, 0.3], [0.3, 1.0]])),
            mgp.MultivariateNormal(mnp.ones(2), np.array([[1.0, -0.5], [-0.5, 3.0]])),
        ),
    ):
        exact = float(kl_divergence(p, q))
        assert exact == pytest.approx(float(mgp.empirical_kl(p, q, 40_000)), rel=0.05)


def test_divergence_of_normals_of_vectors_has_a_formula() -> None:
    root = np.array([[1.2, 0.0], [0.4, 0.9]])
    other = np.array([[0.7, 0.0], [-0.3, 1.5]])
    shift = np.array([[0.5, -1.0], [0.0, 2.0], [1.0, 1.0]])
    p = mgp.MultivariateNormal(mnp.array(np.zeros(2)), scale_tril=mnp.array(root))
    q = mgp.MultivariateNormal(mnp.array(shift), scale_tril=mnp.array(other))
    inverse = np.linalg.inv(other @ other.T)
    trace = np.trace(inverse @ root @ root.T)
    squares = np.einsum("ni,ij,nj->n", shift, inverse, shift)
    ratio = np.linalg.det(other @ other.T) / np.linalg.det(root @ root.T)
    expected = 0.5 * (trace + squares - 2 + np.log(ratio))
    np.testing.assert_allclose(kl_divergence(p, q).asnumpy(), expected, rtol=1e-12)


def test_divergence_of_events() -> None:
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.1, 0.8])
    expected = float((p * np.log(p / q)).sum())
    for kind in (mgp.Categorical, mgp.OneHotCategorical):
        by_prob = kl_divergence(kind(3, mnp.array(p)), kind(3, mnp.array(q)))
        logits = [mnp.array(np.log(x) + 3) for x in (p, q)]
        by_logit = kl_divergence(kind(3, logit=logits[0]), kind(3, logit=logits[1]))
        assert float(by_prob) == pytest.approx(expected, rel=1e-12)
        assert float(by_logit) == pytest.approx(expected, rel=1e-12)


def test_divergence_is_infinite_outside_the_support() -> None:
    assert float(kl_divergence(mgp.Uniform(0.0, 3.0), mgp.Uniform(0.0, 2.0))) == np.inf
    assert float(kl_divergence(mgp.Pareto(1.0, 1.0), mgp.Pareto(1.0, 2.0))) == np.inf
    assert float(kl_divergence(mgp.Binomial(5, 0.3), mgp.Binomial(4, 0.3))) == np.inf


def test_independent_divergence_is_the_sum() -> None:
    p = mgp.Normal(mnp.zeros((2, 3)), mnp.ones((2, 3)))
    q = mgp.Normal(mnp.ones((2, 3)), mnp.ones((2, 3)))
    got = kl_divergence(mgp.Independent(p, 1), mgp.Independent(q, 1))
    assert got.tolist() == [1.5, 1.5]
    with pytest.raises(ArgumentError, match="kl_divergence: expected Independent"):
        kl_divergence(mgp.Independent(p, 1), mgp.Independent(q, 2))


def test_empirical_divergence_converges() -> None:
    mx.random.seed(4)
    p, q = pair(("Normal", "Normal"))
    exact = float(kl_divergence(p, q))
    assert float(mgp.empirical_kl(p, q, 50_000)) == pytest.approx(exact, rel=0.03)
    assert float(mgp.empirical_kl(p, q, (250, 200))) == pytest.approx(exact, rel=0.03)
    assert mgp.empirical_kl(p, q).shape == ()


def test_divergence_is_registered_for_subclasses() -> None:
    class Mine(mgp.Normal):
        pass

    p = Mine(mnp.zeros(2), mnp.ones(2))
    assert kl_divergence(p, mgp.Normal(mnp.zeros(2), mnp.ones(2))).tolist() == [0, 0]

    @mgp.register_kl(Mine, mgp.Normal)
    def mine_normal(p: Any, q: Any) -> Any:
        return "mine"

    assert kl_divergence(p, mgp.Normal()) == "mine"
    assert mine_normal(p, p) == "mine"


def test_unknown_pair_is_refused() -> None:
    message = "kl_divergence: expected a registered pair of distributions, got Normal and Gamma"
    with pytest.raises(NotSupportedError, match=message):
        kl_divergence(mgp.Normal(), mgp.Gamma(1.0))


def test_gradient_of_a_divergence_eager_and_hybridized() -> None:
    class Divergence(HybridBlock):
        def forward(self, loc: Any, scale: Any) -> Any:
            return kl_divergence(mgp.Normal(loc, scale), mgp.Normal(0.0, 2.0))

    block = Divergence()
    loc, scale = (mnp.array(np.array(x)) for x in ([0.5, -1.0], [1.2, 0.3]))
    for x in (loc, scale):
        x.attach_grad()
    for _ in range(2):
        with autograd.record():
            total = block(loc, scale).sum()
        total.backward()
        np.testing.assert_allclose(loc.grad.asnumpy(), loc.asnumpy() / 4, rtol=1e-12)
        expected = scale.asnumpy() / 4 - 1 / scale.asnumpy()
        np.testing.assert_allclose(scale.grad.asnumpy(), expected, rtol=1e-12)
        block.hybridize()
