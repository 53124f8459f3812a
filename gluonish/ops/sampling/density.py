"""_random_pdf_*: densities of distributions at samples, for arrays of parameters.

A density is the exponential of a formula, written once for the arrays of a kernel and the values of
the gradient rule, in terms of `Functions`. Integer samples have no gradient.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.elementwise.binary import EQUAL, POWER, is_zero
from gluonish.ops.elementwise.identity import stop_gradient
from gluonish.ops.elementwise.unary import EXP, GAMMALN, LOG
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.reductions.reduction import PROD, sum_
from gluonish.ops.registry import Attrs, Operator, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen
from gluonish.ops.support.special import apply_special


class Functions:
    """Functions in the formulas of densities, for arrays of a kernel."""

    def __init__(self, xp: ModuleType) -> None:
        self._xp = xp

    def log(self, x: Any) -> Any:
        """Return the natural logarithm."""
        return self._xp.log(x)

    def log_power(self, base: Any, exponent: Any) -> Any:
        """Return the logarithm of a power; 0 ** 0 is 1."""
        one = (base == 0) & (exponent == 0)
        return exponent * self._xp.log(self._xp.where(one, base.dtype.type(1), base))

    def gammaln(self, x: Any) -> Any:
        """Return the logarithm of the gamma function."""
        out = self._xp.empty(x.shape, x.dtype)
        apply_special(self._xp, "gammaln", out, x)
        return out

    def log_over_gamma(self, x: Any) -> Any:
        """Return the logarithm of 1 / gamma."""
        return -self.gammaln(x)

    def sum_last(self, x: Any) -> Any:
        """Return the sum over the last axis."""
        return self._xp.add.reduce(x, axis=-1)


class _Values(Functions):
    """Functions in the formulas of densities, for values of a gradient rule.

    Where a factor of a density is 0, its logarithm and the logarithm's derivative are infinite, but
    the derivative of the density is finite: such factors are excluded from the logarithm.

    Args:
        is_log: Whether the result is the logarithm of the density, which includes all factors.

    Attributes:
        factors: Excluded factors; the density is their product with the exponential.
    """

    def __init__(self, is_log: bool) -> None:
        self._is_log = is_log
        self.factors: list[Any] = []

    def log(self, x: Any) -> Any:
        return LOG(x)

    def log_power(self, base: Any, exponent: Any) -> Any:
        zero = EQUAL(base, 0.0)
        if self._is_log:
            zero = zero * is_zero(exponent)
        else:
            self.factors.append(POWER(_or_one(base, zero), exponent))
        return exponent * LOG(base + zero)

    def gammaln(self, x: Any) -> Any:
        return GAMMALN(x)

    def log_over_gamma(self, x: Any) -> Any:
        if self._is_log:
            return -GAMMALN(x)
        zero = EQUAL(x, 0.0)
        self.factors.append(_or_one(x, zero))  # 1 / gamma(x) is near x
        return -GAMMALN(x + zero)

    def sum_last(self, x: Any) -> Any:
        return sum_(x, axis=(-1,))


def _or_one(x: Any, zero: Any) -> Any:
    """Return ``x`` where ``zero`` is 1, else 1."""
    return x * zero + (1.0 - zero)


Formula = Callable[..., Any]  # (functions, sample, *parameters) -> logarithm of the density


def _uniform(f: Functions, x: Any, low: Any, high: Any) -> Any:
    return -f.log(high - low) + x * 0.0


def _normal(f: Functions, x: Any, mu: Any, sigma: Any) -> Any:
    scaled = (x - mu) / sigma
    return scaled * scaled * -0.5 - f.log(sigma) - 0.5 * math.log(2 * math.pi)


def _gamma(f: Functions, x: Any, alpha: Any, beta: Any) -> Any:
    powers = f.log_power(beta, alpha) + f.log_power(x, alpha - 1.0)
    return powers - beta * x + f.log_over_gamma(alpha)


def _exponential(f: Functions, x: Any, lam: Any) -> Any:
    return f.log_power(lam, 1.0) - lam * x


def _poisson(f: Functions, x: Any, lam: Any) -> Any:
    return f.log_power(lam, x) - lam - f.gammaln(x + 1.0)


def _negative_binomial(f: Functions, x: Any, k: Any, p: Any) -> Any:
    choices = f.gammaln(x + k) - f.gammaln(x + 1.0) + f.log_over_gamma(k)
    return choices + f.log_power(p, k) + f.log_power(1.0 - p, x)


def _generalized(f: Functions, x: Any, mu: Any, alpha: Any) -> Any:
    return _negative_binomial(f, x, 1.0 / alpha, 1.0 / (mu * alpha + 1.0))


def _dirichlet(f: Functions, x: Any, alpha: Any) -> Any:
    powers = f.sum_last(f.log_power(x, alpha - 1.0))
    return powers + f.gammaln(f.sum_last(alpha)) + f.sum_last(f.log_over_gamma(alpha))


def _aligned(shape: Shape, rank: int, *, vector: bool) -> Shape:
    """Return the shape of parameters that broadcasts to samples: append ones."""
    last = shape[-1:] if vector else ()
    lead = shape[: len(shape) - len(last)]
    return lead + (1,) * (rank - len(shape)) + last


def _check(name: str, sample: Spec, parameters: tuple[Spec, ...], *, vector: bool) -> Spec:
    first = parameters[0]
    for spec in parameters:
        if spec.dtype != sample.dtype or not is_floating(spec.dtype) or spec.shape != first.shape:
            raise OperatorError(
                f"{name}: expected samples and parameters of equal floating dtype, and parameters "
                f"of equal shape, got {sample} and {', '.join(map(str, parameters))}"
            )
    rank = len(first.shape) - vector
    fits = sample.shape[:rank] == first.shape[:rank] and len(sample.shape) >= len(first.shape)
    if vector and fits:
        fits = rank >= 0 and sample.shape[-1] == first.shape[-1]
    if not fits:
        last = " and end with its last extent" if vector else ""
        raise OperatorError(
            f"{name}: expected a sample shape that begins with the parameters' shape{last}, "
            f"got {sample.shape} and {first.shape}"
        )
    return Spec(sample.shape[:-1] if vector else sample.shape, sample.dtype)


def _density(
    name: str,
    doc: str,
    formula: Formula,
    *parameters: str,
    vector: bool = False,
    discrete: bool = False,
) -> Operator:
    """Register a density.

    Args:
        name: ``_random_pdf_`` and the distribution.
        doc: The distribution, for the documentation.
        formula: Logarithm of the density.
        *parameters: Names of the parameters.
        vector: Whether a sample is a vector along the last axis.
        discrete: Whether samples are integers.
    """
    distribution = name.removeprefix("_random_pdf_")

    def infer(sample: Spec, *params: Spec, is_log: bool) -> tuple[Spec]:
        return (_check(name, sample, params, vector=vector),)

    def kernel(xp: ModuleType, out: Any, sample: Any, *params: Any, is_log: bool) -> None:
        wide = [widen(p).reshape(_aligned(p.shape, sample.ndim, vector=vector)) for p in params]
        found = formula(Functions(xp), widen(sample), *wide)
        out[...] = (found if is_log else xp.exp(found)).astype(out.dtype)

    def composed(sample: Any, *params: Any, is_log: bool) -> Any:
        rank = len(sample.shape)
        columns = [reshape(p, _aligned(p.shape, rank, vector=vector)) for p in params]
        values = _Values(is_log)
        found = formula(values, stop_gradient(sample) if discrete else sample, *columns)
        shape = sample.shape[:-1] if vector else sample.shape
        found = reshape(found, shape)
        if is_log:
            return found
        found = EXP(found)
        for factor in values.factors:
            if vector:
                attrs = {"axis": (-1,), "keepdims": False, "exclude": False}
                factor = reshape(apply(PROD, (factor,), attrs), factor.shape[:-1])
            found = found * factor
        return found

    def complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
        known = [spec.dtype for spec in (*inputs, outputs[0]) if spec.dtype is not None]
        if known:
            inputs[:] = [PartialSpec(spec.shape, spec.dtype or known[0]) for spec in inputs]
            outputs[0] = PartialSpec(outputs[0].shape, known[0])

    shapes = (
        "alpha (*distributions, K), sample (*distributions, *samples, K), output\n"
        "(*distributions, *samples)"
        if vector
        else "parameters (*distributions), sample and output (*distributions, *samples)"
    )
    return register(
        Operator(
            name,
            infer,
            kernel,
            composite_gradient(composed),
            doc=(
                f"Compute the probability density of {doc} at sample, or with is_log its\n"
                "logarithm.\n\n"
                f"Shapes: {shapes}."
            ),
            inputs=("sample", *parameters),
            schema=Schema(is_log=boolean(False)),
            aliases=(f"random_pdf_{distribution}",),
            shapes=ShapeFacts(complete=complete),
            execution=Execution(heavy=True),
        )
    )


DENSITIES = (
    _density(
        "_random_pdf_uniform", "the uniform distribution on [low, high)", _uniform, "low", "high"
    ),
    _density("_random_pdf_normal", "the normal distribution", _normal, "mu", "sigma"),
    _density(
        "_random_pdf_gamma",
        "the gamma distribution with shape alpha and rate beta",
        _gamma,
        "alpha",
        "beta",
    ),
    _density(
        "_random_pdf_exponential", "the exponential distribution with rate lam", _exponential, "lam"
    ),
    _density("_random_pdf_poisson", "the Poisson distribution", _poisson, "lam", discrete=True),
    _density(
        "_random_pdf_negative_binomial",
        "the number of failures before the k-th success of probability p",
        _negative_binomial,
        "k",
        "p",
        discrete=True,
    ),
    _density(
        "_random_pdf_generalized_negative_binomial",
        "the negative binomial distribution with mean mu and dispersion alpha",
        _generalized,
        "mu",
        "alpha",
        discrete=True,
    ),
    _density(
        "_random_pdf_dirichlet", "the Dirichlet distribution", _dirichlet, "alpha", vector=True
    ),
)
