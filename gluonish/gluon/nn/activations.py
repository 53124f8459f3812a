"""Activation functions as layers."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import check_attributes, check_numbers
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_factors
from gluonish.gluon.parameter.parameter import Init
from gluonish.initializer import Constant

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "SiLU", "Swish"]


# Functions that are operators of their own.
_UNARY = ("log_sigmoid", "mish")


class Activation(HybridBlock):
    """Apply relu, sigmoid, log_sigmoid, tanh, softrelu, softsign or mish to each element.

    Args:
        activation: Name of the function.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    Raises:
        OperatorError: In the call, if there is no such function.
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the activation function.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        if self._act_type in _UNARY:
            return getattr(F, self._act_type)(x)
        return F.Activation(x, act_type=self._act_type, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"


def activation_of(layer: str, activation: Any) -> Activation | None:
    """Return the activation function of a layer, None without one.

    Args:
        layer: Name of the layer's class, for messages.
        activation: The layer's argument ``activation``: the name of a function, or None.

    Raises:
        ArgumentTypeError: ``activation`` is neither.
    """
    if activation is None:
        return None
    if isinstance(activation, str):
        return Activation(activation, prefix=activation + "_")
    advice = "pass its name, such as 'relu'"
    if isinstance(activation, int):
        advice = (
            "the first argument is the number of outputs; that of inputs is inferred, or passed by "
            "name: in_units or in_channels"
        )
    elif isinstance(activation, HybridBlock):
        advice = "add it as the next layer, after this one"
    raise ArgumentTypeError(
        f"{layer}: expected activation to be the name of a function, got "
        f"{getattr(activation, '__name__', repr(activation)):.60}; {advice}"
    )


_QUARTER = Constant(0.25)


class LeakyReLU(HybridBlock):
    """Leaky ReLU: ``y = x if x > 0 else alpha * x``.

    Args:
        alpha: Slope for negative inputs, 0 or more.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: ``alpha`` is negative.
    """

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        check_numbers("LeakyReLU", alpha=alpha)
        if alpha < 0:
            raise ArgumentError(f"LeakyReLU: expected alpha of at least 0, got {alpha}")
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Multiply negative elements by ``alpha``.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """Parametric ReLU: `LeakyReLU` whose slope ``alpha`` is learned.

    Args:
        alpha_initializer: Initializer of ``alpha`` (in_channels,).
        in_channels: Number of slopes: 1 to share one, or the number C of channels.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, ...).

    Outputs:
        y: shape of ``x``.

    References:
        K. He et al., Delving Deep into Rectifiers, 2015.
    """

    def __init__(
        self, alpha_initializer: Init = _QUARTER, in_channels: int = 1, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: ModuleType, x: Tensor, alpha: Tensor) -> Any:
        """Multiply negative elements by the learned slope.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, ...).
            alpha: Slope for negative elements, a parameter.
        """
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """Exponential linear unit: ``y = x if x > 0 else alpha * (exp(x) - 1)``.

    Args:
        alpha: Scale of the negative part, which approaches ``-alpha`` for very negative inputs.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        D.-A. Clevert, T. Unterthiner, S. Hochreiter, Fast and Accurate Deep Network Learning by
        Exponential Linear Units, 2015.
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        check_attributes("ELU", alpha=alpha)
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the exponential linear unit to each element.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """Scaled `ELU`, with constants that keep activations near mean 0 and variance 1.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        G. Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the scaled exponential linear unit to each element.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.LeakyReLU(x, act_type="selu", name="fwd")


_GELU_TYPES = {"erf": "gelu", "tanh": "gelu_tanh", "sigmoid": "gelu_sigmoid"}


class GELU(HybridBlock):
    """Gaussian error linear unit: ``y = x * P(X <= x)`` with X standard normal.

    Args:
        approximation: ``"erf"`` for the function itself, ``"tanh"`` for
            ``y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``, as in GPT-2 and
            Gemma, or ``"sigmoid"`` for ``y = x * sigmoid(1.702 * x)``, as in CLIP.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: There is no such approximation.

    References:
        D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016.
    """

    def __init__(self, approximation: str = "erf", **kwargs: Any) -> None:
        if approximation not in _GELU_TYPES:
            raise ArgumentError(
                f"GELU: expected approximation erf, tanh or sigmoid, got {approximation!r}"
            )
        super().__init__(**kwargs)
        self._approximation = approximation

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the Gaussian error linear unit to each element.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.LeakyReLU(x, act_type=_GELU_TYPES[self._approximation], name="fwd")

    def __repr__(self) -> str:
        if self._approximation == "erf":
            return super().__repr__()
        return f"{type(self).__name__}({self._approximation})"


class Swish(HybridBlock):
    """Swish: ``y = x * sigmoid(beta * x)``.

    Args:
        beta: Steepness of the sigmoid; large values approach ReLU.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        P. Ramachandran, B. Zoph, Q. V. Le, Searching for Activation Functions, 2017.
    """

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        check_factors("Swish", beta=beta)
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Multiply each element by the sigmoid of ``beta`` times itself.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return x * F.sigmoid(self._beta * x, name="fwd")


class SiLU(HybridBlock):
    """Sigmoid linear unit: ``y = x * sigmoid(x)``, which is `Swish` with ``beta`` 1.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Multiply each element by its sigmoid.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return x * F.sigmoid(x, name="fwd")
