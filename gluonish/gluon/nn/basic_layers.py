"""Dense, Dropout, Embedding, Flatten and functions as layers."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, ClassVar, SupportsFloat

import gluonish.ndarray as nd
import gluonish.numpy as numpy
import gluonish.numpy_extension as numpy_extension
import gluonish.symbol as symbol
from gluonish.core.errors import ArgumentError, ArgumentTypeError, nearest
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import activation_of
from gluonish.gluon.nn.batch_norm import BatchNorm, BatchNormReLU
from gluonish.gluon.nn.normalization import GroupNorm, InstanceNorm, LayerNorm
from gluonish.gluon.nn.sequential import HybridSequential, Sequential
from gluonish.gluon.nn.tensor import Tensor, check_ints
from gluonish.gluon.parameter.parameter import Init

__all__ = [
    "BatchNorm",
    "BatchNormReLU",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "HybridLambda",
    "HybridSequential",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "Sequential",
]


class Dense(HybridBlock):
    """A fully connected layer: ``y = activation(x W^T + b)``.

    Args:
        units: Number of output features.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add the bias ``b``.
        flatten: Whether to flatten all axes but the first before the product; if False, only the
            last axis is transformed.
        dtype: Element type of the parameters.
        weight_initializer: Initializer of ``weight`` (units, in_units); None uses the one passed
            to `initialize`.
        bias_initializer: Initializer of ``bias`` (units,).
        in_units: Number of input features; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Raises:
        ArgumentError: In the call, if ``units`` is below 1.
        ArgumentTypeError: ``units`` or ``in_units`` is not an int.

    Inputs:
        x: (N, ..., in_units); with ``flatten`` any (N, ...) with in_units elements per sample.

    Outputs:
        y: (N, units) with ``flatten``, else (N, ..., units).

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Dense(3, activation="relu")
        >>> layer.initialize()
        >>> layer(mx.nd.ones((2, 5))).shape
        (2, 3)
        >>> layer.weight.shape  # in_units was inferred
        (3, 5)
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_ints("Dense", units=units, in_units=in_units)
        with DeferErrorToCall(self):
            if units < 1:
                raise ArgumentError(f"Dense: expected units of 1 or more, got {units}")
        self._units = units
        self._in_units = in_units
        self._flatten = flatten
        with self.name_scope():
            self._declare_weight(dtype, weight_initializer)
            declare = self.params._declare
            self.bias = (
                declare("bias", (units,), bias_initializer, dtype=dtype) if use_bias else None
            )
            self.act = activation_of(type(self).__name__, activation)

    def _declare_weight(self, dtype: Any, initializer: Init | None) -> None:
        shape = (self._units, self._in_units)
        self.weight = self.params._declare("weight", shape, initializer, dtype=dtype)

    @property
    def _data_dtype(self) -> Any:
        """The element type of inputs and outputs."""
        return self.weight.dtype

    def hybrid_forward(
        self, F: ModuleType, x: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Any:
        """Compute ``x W^T + b``, then apply the activation.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, ..., in_units); with ``flatten`` any (N, ...) with in_units elements per sample.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None with ``use_bias=False``.
        """
        y = F.FullyConnected(
            x,
            weight,
            bias,
            no_bias=bias is None,
            num_hidden=self._units,
            flatten=self._flatten,
            name="fwd",
        )
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        shape = self.weight.shape
        in_units = (shape[1] if shape else 0) or None
        return f"{type(self).__name__}({in_units} -> {self._units}, {self.act or 'linear'})"


class Dropout(HybridBlock):
    """Zero elements with probability ``rate`` in training, and scale the others by 1 / (1 - rate).

    Args:
        rate: Probability of zeroing, at most 1; 0 or less disables dropout.
        axes: Axes that share one random decision: ``(2, 3)`` drops full channels of images; () is
            for independent elements.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape, floating point.

    Outputs:
        y: shape of ``x``; equal to ``x`` outside training.

    Raises:
        ArgumentError: In the call, if ``rate`` is above 1.

    References:
        N. Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting,
        2014.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Dropout(0.5)
        >>> layer(mx.nd.ones((3,))).tolist()  # not training
        [1.0, 1.0, 1.0]
    """

    def __init__(self, rate: float, axes: int | Sequence[int] = (), **kwargs: Any) -> None:
        if not isinstance(rate, SupportsFloat):
            raise ArgumentTypeError(f"Dropout: expected rate to be a number, got {rate!r}")
        super().__init__(**kwargs)
        with DeferErrorToCall(self):
            if not rate <= 1:
                raise ArgumentError(f"Dropout: expected rate in [0, 1], got {rate}")
        self._rate = rate
        self._axes = (axes,) if isinstance(axes, int) else tuple(axes)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Zero random elements in training mode; return the input otherwise.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape, floating point.
        """
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Look up a vector for each index: ``y[...] = weight[x[...]]``.

    Args:
        input_dim: Number of vectors in the table.
        output_dim: Length of a vector.
        dtype: Element type of the table and the output.
        weight_initializer: Initializer of ``weight`` (input_dim, output_dim).
        sparse_grad: Whether the gradient of ``weight`` is row-sparse, with the looked-up rows only;
            optimizers with ``lazy_update`` then update no other rows.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape, integers in [0, input_dim) of any dtype.

    Outputs:
        y: shape of ``x`` with a last axis of output_dim added.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Embedding(input_dim=1000, output_dim=16)
        >>> layer.initialize()
        >>> layer(mx.nd.array([[3, 1, 4], [1, 5, 9]])).shape
        (2, 3, 16)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_ints("Embedding", input_dim=input_dim, output_dim=output_dim)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        options = {"dtype": dtype, "grad_stype": "row_sparse" if sparse_grad else "default"}
        shape = (input_dim, output_dim)
        self.weight = self.params._declare("weight", shape, weight_initializer, **options)

    def hybrid_forward(self, F: ModuleType, x: Tensor, weight: Tensor) -> Any:
        """Look up one vector for each index.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape, integers in [0, input_dim) of any dtype.
            weight: The parameter ``weight``.
        """
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(
            type(self).__name__, **self._kwargs
        )


class Flatten(HybridBlock):
    """Flatten all axes but the first into one.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, ...).

    Outputs:
        y: (N, product of the other sizes).
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Flatten all axes but the first into one.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, ...).
        """
        return F.Flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


class Lambda(Block):
    """Run a function of NDArrays as a layer.

    Args:
        function: The function, or the name of a function in ``nd``.
        prefix: See `Block`.

    Inputs:
        *args: inputs of the function.

    Outputs:
        y: outputs of the function.

    Raises:
        ArgumentError: ``nd`` has no function of that name.
        ArgumentTypeError: ``function`` is neither a name nor callable.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            _check_found(function, (nd,), "Lambda")
            self._func_impl = getattr(nd, function)
            self._func_name = function
        else:
            self._func_impl = function
            self._func_name = _name_of(function, "Lambda")

    def forward(self, *args: Any) -> Any:
        """Call the wrapped function.

        Args:
            *args: Arguments of the function.
        """
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


class HybridLambda(HybridBlock):
    """Run a function of ``F`` and tensors as a layer that can be hybridized.

    Args:
        function: ``function(F, x, *args)``, where ``F`` is ``nd`` or ``sym``; or the name of a
            function of both. By the rules of MXNet 2.0 ``function(x, *args)``, or the name of a
            function of ``mx.np`` or ``mx.npx``.
        prefix: See `HybridBlock`.

    Inputs:
        x, *args: inputs of the function.

    Outputs:
        y: outputs of the function.

    Raises:
        ArgumentError: ``nd`` or ``sym`` has no function of that name.
        ArgumentTypeError: ``function`` is neither a name nor callable.
    """

    has_hybrid_forward: ClassVar[bool] = True

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        own = _without_namespace(function) if follows_mxnet2() else None
        if own is not None:
            self.__dict__["has_hybrid_forward"] = False
            self._func, self._func_name = own, _name_of(own, "HybridLambda")
        elif isinstance(function, str):
            _check_found(function, (nd, symbol), "HybridLambda")
            self._func = _by_name(function)
            self._func_name = function
        else:
            self._func = function
            self._func_name = _name_of(function, "HybridLambda")

    def forward(self, x: Any, *args: Any) -> Any:
        """Call the wrapped function: by the rules of MXNet 2.0 on arrays alone.

        Args:
            x: First input of the function.
            *args: Further inputs.
        """
        return super().forward(x, *args) if self.has_hybrid_forward else self._func(x, *args)

    def hybrid_forward(self, F: ModuleType, x: Tensor, *args: Any) -> Any:
        """Call the wrapped function.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: First input of the function.
            *args: Further inputs.
        """
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


def _by_name(name: str) -> Callable[..., Any]:
    """Return a function that calls the function ``name`` of its first argument, a namespace."""

    def call(F: ModuleType, *args: Any) -> Any:
        return getattr(F, name)(*args)

    return call


def _without_namespace(function: str | Callable[..., Any]) -> Any:
    """Return a function of arrays alone: itself, or that of this name in ``np`` or ``npx``."""
    if not isinstance(function, str):
        return function
    return getattr(numpy, function, None) or getattr(numpy_extension, function, None)


def _check_found(name: str, modules: tuple[ModuleType, ...], layer: str) -> None:
    for module in modules:
        if not hasattr(module, name):
            raise ArgumentError(
                f"{layer}: expected the name of a function of {module.__name__}, got {name!r}"
                f"{nearest(name, [x for x in dir(module) if not x.startswith('_')])}"
            )


def _name_of(function: Callable[..., Any], layer: str) -> str:
    if not callable(function):
        raise ArgumentTypeError(f"{layer}: expected a function or its name, got {function!r}")
    return getattr(function, "__name__", type(function).__name__)
