"""_random_pdf_*: densities of distributions at samples, for arrays of parameters.

A density is the exponential of a formula that is written once, for the arrays of a kernel and for
the values of the gradient rule: `Functions` names what both have. Where samples are whole numbers
no gradient flows to them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.identity import stop_gradient
from gluonish.ops.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen
from gluonish.ops.support.special import apply_special
from gluonish.ops.unary import EXP, GAMMALN, LOG

__all__ = ["DENSITIES"]


@dataclass(frozen=True, slots=True)
class Functions:
    """What formulas of densities are made of, beside arithmetic.

    Args:
        log: Natural logarithm.
        exp: Exponential.
        gammaln: Logarithm of the gamma function.
        sum_last: Sum over the last axis.
    """

    log: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    gammaln: Callable[[Any], Any]
    sum_last: Callable[[Any], Any]


Formula = Callable[..., Any]  # (functions, sample, *parameters) -> logarithm of the density

_OPERATORS = Functions(LOG, EXP, GAMMALN, lambda x: sum_(x, axis=(-1,)))


def _functions(xp: ModuleType) -> Functions:
    def gammaln(x: Any) -> Any:
        out = xp.empty(x.shape, x.dtype)
        apply_special(xp, "gammaln", out, x)
        return out

    return Functions(xp.log, xp.exp, gammaln, lambda x: xp.add.reduce(x, axis=-1))


def _uniform(f: Functions, x: Any, low: Any, high: Any) -> Any:
    return -f.log(high - low) + x * 0.0


def _normal(f: Functions, x: Any, mu: Any, sigma: Any) -> Any:
    scaled = (x - mu) / sigma
    return scaled * scaled * -0.5 - f.log(sigma) - 0.5 * math.log(2 * math.pi)


def _gamma(f: Functions, x: Any, alpha: Any, beta: Any) -> Any:
    return alpha * f.log(beta) + (alpha - 1.0) * f.log(x) - beta * x - f.gammaln(alpha)


def _exponential(f: Functions, x: Any, lam: Any) -> Any:
    return f.log(lam) - lam * x


def _poisson(f: Functions, x: Any, lam: Any) -> Any:
    return x * f.log(lam) - lam - f.gammaln(x + 1.0)


def _negative_binomial(f: Functions, x: Any, k: Any, p: Any) -> Any:
    choices = f.gammaln(x + k) - f.gammaln(x + 1.0) - f.gammaln(k)
    return choices + k * f.log(p) + x * f.log(1.0 - p)


def _generalized(f: Functions, x: Any, mu: Any, alpha: Any) -> Any:
    return _negative_binomial(f, x, 1.0 / alpha, 1.0 / (mu * alpha + 1.0))


def _dirichlet(f: Functions, x: Any, alpha: Any) -> Any:
    powers = f.sum_last((alpha - 1.0) * f.log(x))
    return powers + f.gammaln(f.sum_last(alpha)) - f.sum_last(f.gammaln(alpha))


def _aligned(shape: Shape, rank: int, *, vector: bool) -> Shape:
    """Return the shape in which parameters broadcast to samples: theirs, then ones."""
    last = shape[-1:] if vector else ()
    lead = shape[: len(shape) - len(last)]
    return lead + (1,) * (rank - len(shape)) + last


def _check(name: str, sample: Spec, parameters: tuple[Spec, ...], *, vector: bool) -> Spec:
    first = parameters[0]
    for spec in parameters:
        if spec.dtype != sample.dtype or not is_floating(spec.dtype) or spec.shape != first.shape:
            raise OperatorError(
                f"{name}: expected samples and parameters of equal floating dtype, the parameters "
                f"of one shape, got {sample} and {', '.join(map(str, parameters))}"
            )
    rank = len(first.shape) - vector
    fits = sample.shape[:rank] == first.shape[:rank] and len(sample.shape) >= len(first.shape)
    if vector and fits:
        fits = rank >= 0 and sample.shape[-1] == first.shape[-1]
    if not fits:
        last = " and end with its last extent" if vector else ""
        raise OperatorError(
            f"{name}: expected a sample whose shape begins with that of the parameters{last}, "
            f"got {sample.shape} and {first.shape}"
        )
    return Spec(sample.shape[:-1] if vector else sample.shape, sample.dtype)


def _density(
    name: str,
    doc: str,
    formula: Formula,
    *parameters: str,
    vector: bool = False,
    whole: bool = False,
) -> Operator:
    """Register a density.

    Args:
        name: ``_random_pdf_`` and the distribution.
        doc: What distribution it is of.
        formula: Its logarithm.
        *parameters: Their names.
        vector: Whether a sample is what lies along the last axis.
        whole: Whether samples are whole numbers.
    """
    word = name.removeprefix("_random_pdf_")

    def infer(sample: Spec, *given: Spec, is_log: bool) -> tuple[Spec]:
        return (_check(name, sample, given, vector=vector),)

    def kernel(xp: ModuleType, out: Any, sample: Any, *given: Any, is_log: bool) -> None:
        wide = [widen(p).reshape(_aligned(p.shape, sample.ndim, vector=vector)) for p in given]
        found = formula(_functions(xp), widen(sample), *wide)
        out[...] = (found if is_log else xp.exp(found)).astype(out.dtype)

    def composed(sample: Any, *given: Any, is_log: bool) -> Any:
        rank = len(sample.shape)
        columns = [reshape(p, _aligned(p.shape, rank, vector=vector)) for p in given]
        found = formula(_OPERATORS, stop_gradient(sample) if whole else sample, *columns)
        found = reshape(found, sample.shape[:-1] if vector else sample.shape)
        return found if is_log else EXP(found)

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
                f"Probability density of {doc} at sample, or with is_log its logarithm.\n\n"
                f"Shapes: {shapes}."
            ),
            inputs=("sample", *parameters),
            schema=Schema(is_log=boolean(False)),
            aliases=(f"random_pdf_{word}",),
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
    _density("_random_pdf_poisson", "the Poisson distribution", _poisson, "lam", whole=True),
    _density(
        "_random_pdf_negative_binomial",
        "the number of failures before the k-th success of probability p",
        _negative_binomial,
        "k",
        "p",
        whole=True,
    ),
    _density(
        "_random_pdf_generalized_negative_binomial",
        "the negative binomial distribution with mean mu and dispersion alpha",
        _generalized,
        "mu",
        "alpha",
        whole=True,
    ),
    _density(
        "_random_pdf_dirichlet", "the Dirichlet distribution", _dirichlet, "alpha", vector=True
    ),
)
