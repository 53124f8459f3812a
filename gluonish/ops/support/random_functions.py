"""RandomFunctions: the functions of ``nd.random`` and ``sym.random``.

Each namespace has an instance with its own function for drawing samples.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError

T = TypeVar("T")  # an NDArray or a Symbol
# draw(name of the distribution, parameters (all numbers or all tensors), options)
Draw = Callable[[str, Mapping[str, Any], dict[str, Any]], T]


class RandomFunctions(Generic[T]):
    """Functions that draw random numbers.

    If parameters are tensors, samples of shape ``shape`` are drawn for each of their elements.

    Args:
        draw: Draws from a distribution.
        operator: Returns the namespace's function of an operator.
    """

    def __init__(self, draw: Draw[T], operator: Callable[[str], Callable[..., T]]) -> None:
        self._draw = draw
        self.exponential_like = operator("_random_exponential_like")
        self.gamma_like = operator("_random_gamma_like")
        self.generalized_negative_binomial_like = operator(
            "_random_generalized_negative_binomial_like"
        )
        self.negative_binomial_like = operator("_random_negative_binomial_like")
        self.normal_like = operator("_random_normal_like")
        self.poisson_like = operator("_random_poisson_like")
        self.uniform_like = operator("_random_uniform_like")
        self._shuffle = operator("_shuffle")

    def uniform(
        self,
        low: float | T = 0,
        high: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw samples from the uniform distribution over [low, high).

        If parameters are tensors, samples of shape ``shape`` are drawn for each element.
        """
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("uniform", {"low": low, "high": high}, options)

    def normal(
        self,
        loc: float | T = 0,
        scale: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw samples from a normal distribution with mean ``loc`` and deviation ``scale``.

        If parameters are tensors, samples of shape ``shape`` are drawn for each element.
        """
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("normal", {"loc": loc, "scale": scale}, options)

    def randn(self, *shape: int, **kwargs: Any) -> T:
        """Draw normal samples of shape ``shape``; ``loc`` and ``scale`` as for `normal`."""
        return self.normal(shape=shape or None, **kwargs)

    def poisson(
        self,
        lam: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw samples from the Poisson distribution with mean ``lam``.

        If the parameter is a tensor, samples of shape ``shape`` are drawn for each element.
        """
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("poisson", {"lam": lam}, options)

    def exponential(
        self,
        scale: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw samples from the exponential distribution with mean ``scale``.

        If the parameter is a tensor, samples of shape ``shape`` are drawn for each element.

        Raises:
            ArgumentError: ``scale`` is 0.
        """
        if isinstance(scale, int | float) and not scale:
            raise ArgumentError(f"exponential: expected scale above 0, got {scale}")
        inverse: Any = scale
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("exponential", {"lam": 1.0 / inverse}, options)

    def gamma(
        self,
        alpha: float | T = 1,
        beta: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw samples from a gamma distribution with shape ``alpha`` and scale ``beta``.

        If parameters are tensors, samples of shape ``shape`` are drawn for each element.
        """
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("gamma", {"alpha": alpha, "beta": beta}, options)

    def negative_binomial(
        self,
        k: float | T = 1,
        p: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw negative binomial samples: failures before ``k`` successes of probability ``p``.

        If parameters are tensors, samples of shape ``shape`` are drawn for each element.
        """
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("negative_binomial", {"k": k, "p": p}, options)

    def generalized_negative_binomial(
        self,
        mu: float | T = 1,
        alpha: float | T = 1,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw negative binomial samples with mean ``mu`` and dispersion ``alpha``.

        If parameters are tensors, samples of shape ``shape`` are drawn for each element.
        """
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, options)

    def randint(
        self,
        low: int,
        high: int,
        shape: Any = None,
        dtype: Any = None,
        ctx: Any = None,
        out: Any = None,
        **kwargs: Any,
    ) -> T:
        """Draw uniform integers from [low, high), by default int32."""
        options = {"shape": shape, "dtype": dtype, "ctx": ctx, "out": out, **kwargs}
        return self._draw("randint", {"low": low, "high": high}, options)

    def shuffle(self, data: T, **kwargs: Any) -> T:
        """Return the data with the first axis shuffled, or write it to ``out``."""
        return self._shuffle(data, **kwargs)


document_arguments(
    vars(RandomFunctions),
    [*vars(RandomFunctions)],
    {
        "k": "Successes: a positive number or tensor.",
        "shuffle.data": "Array or Symbol (N, ...).",
    },
)
