"""WeightOnlyDense: a Dense layer whose weight is integers of 8 or 4 bits times scales."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT8, UINT8, normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.gluon.nn.attention import projected_rows
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.parameter.parameter import Init, Parameter
from gluonish.ops.support.precision import accumulator

__all__ = ["WeightOnlyDense"]


class WeightOnlyDense(Dense):
    """A fully connected layer with integers for weights: ``y = activation(x (s q)^T + b)``.

    Each row of the integers q has a scale s or, with ``group_size``, each group of so many elements
    of a row. Data and results are floating. Products of a few rows, such as one token of each
    sequence, are bound by reading the weight and take less time than those of `Dense`, least with
    bfloat16 data. Large ones take longer. Integers of 4 bits, from -8 to 7, share bytes of
    ``weight``: element ``2 i`` is in the low bits of byte i, element ``2 i + 1`` in the high ones.

    `mx.contrib.quantization.quantize_weights` makes such layers of the `Dense` layers of a
    network. Integers have no gradient; scales and bias do.

    Args:
        units: Number of output features.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add the bias ``b``.
        flatten: Whether to flatten all axes but the first before the product; if False, only the
            last axis is transformed.
        dtype: Element type of inputs, outputs and bias.
        group_size: Number of elements of a row that share a scale, a divisor of in_units; multiples
            of 32 are fast. None for a scale of each row.
        bias_initializer: Initializer of ``bias`` (units,).
        in_units: Number of input features; 0 infers it from the first batch.
        bits: Size of the integers: 8, or 4, for which in_units is even, and fast if it is a
            multiple of 32.
        **kwargs: See `HybridBlock`.

    Raises:
        ArgumentError: ``group_size`` is below 1 or does not divide ``in_units``, ``bits`` is
            neither 8 nor 4, or ``in_units`` is odd with 4; in the call, if ``units`` is below 1.
        ArgumentTypeError: A number is not an int.

    Inputs:
        x: (N, ..., in_units); with ``flatten`` any (N, ...) with in_units elements per sample.

    Outputs:
        y: (N, units) with ``flatten``, else (N, ..., units).

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.WeightOnlyDense(3, group_size=4, in_units=8)
        >>> layer.initialize()
        >>> layer(mx.nd.ones((2, 8))).shape
        (2, 3)
        >>> layer.weight.dtype, layer.scale.shape
        (dtype('int8'), (3, 2))
    """

    scale: Parameter
    _group_size: int | None
    _bits: int
    _dtype: Any

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        group_size: int | None = None,
        bias_initializer: Init | None = "zeros",
        in_units: int = 0,
        bits: int = 8,
        **kwargs: Any,
    ) -> None:
        _check_sizes(type(self).__name__, group_size, bits, in_units)
        self._group_size, self._bits = group_size, bits
        super().__init__(
            *(units, activation, use_bias, flatten, dtype, None, bias_initializer, in_units),
            **kwargs,
        )

    def _declare_weight(self, dtype: Any, initializer: Init | None) -> None:
        self._dtype = normalize_dtype(dtype)
        stored, kind = _stored(self._units, self._in_units, self._bits)
        self.weight = self.params._declare(
            *("weight", stored, "zeros"), dtype=kind, grad_req="null"
        )
        shape = _scale_shape(self._units, self._in_units, self._group_size)
        self.scale = self.params._declare("scale", shape, "ones", dtype=accumulator(self._dtype))

    @property
    def _data_dtype(self) -> Any:
        return self._dtype

    def cast(self, dtype: Any) -> None:
        """Convert the bias, and compute in another element type; the integers stay.

        Args:
            dtype: The new element type. Scales are float32 unless it is float64.
        """
        self._dtype = normalize_dtype(dtype)
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            if parameter is not self.weight:
                wide = accumulator(self._dtype) if parameter is self.scale else dtype
                parameter.cast(wide)

    def hybrid_forward(  # type: ignore[override]  # it has a parameter more than Dense
        self,
        F: ModuleType,
        x: Tensor,
        weight: Tensor,
        scale: Tensor | None = None,
        bias: Tensor | None = None,
    ) -> Any:
        """Compute ``x (s q)^T + b``, then apply the activation.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, ..., in_units); with ``flatten`` any (N, ...) with in_units elements per sample.
            weight: The parameter ``weight``, (units, in_units) of int8, or (units, in_units / 2)
                of uint8.
            scale: The parameter ``scale``, (units,) or (units, in_units / group_size).
            bias: The parameter ``bias``; None with ``use_bias=False``.
        """
        y = F.weight_only_dense(
            *(x, weight, scale, bias),
            no_bias=bias is None,
            num_hidden=self._units,
            flatten=self._flatten,
            group_size=self._group_size,
            bits=self._bits,
            name="fwd",
        )
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        shape = self.weight.shape
        in_units = (shape[1] * 8 // self._bits if shape else 0) or None
        group = "" if self._group_size is None else f", group_size={self._group_size}"
        act = self.act or "linear"
        return f"{type(self).__name__}({in_units} -> {self._units}, {act}, int{self._bits}{group})"


class _JoinedWeightOnlyDense(WeightOnlyDense):
    """A `_JoinedDense` with integers for weights; inputs and outputs are those."""

    _parts: tuple[int, int, int]

    def hybrid_forward(  # type: ignore[override]  # it has more inputs than WeightOnlyDense
        self,
        F: ModuleType,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        weight: Any = None,
        scale: Any = None,
        bias: Any = None,
    ) -> Any:
        """Project queries, keys and values.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            query: (N, T, in_units).
            key: (N, S, in_units), or None.
            value: (N, S, in_units), or None.
            weight: The parameter ``weight``.
            scale: The parameter ``scale``.
            bias: The parameter ``bias``; None with ``use_bias=False``.
        """
        if key is None:
            return super().hybrid_forward(F, query, weight, scale, bias)
        made = []
        for x, begin, end in projected_rows(self._parts, query, key, value):
            rows = [
                None if p is None else F.slice_axis(p, axis=0, begin=begin, end=end)
                for p in (weight, scale, bias)
            ]
            attrs: dict[str, Any] = {"flatten": False, "no_bias": bias is None, "bits": self._bits}
            attrs["group_size"] = self._group_size
            made.append(F.weight_only_dense(x, *rows, num_hidden=end - begin, **attrs))
        return made


def _check_sizes(name: str, group_size: int | None, bits: int, in_units: int) -> None:
    if isinstance(bits, bool) or bits not in (8, 4):
        raise ArgumentError(f"{name}: expected bits of 8 or 4, got {bits!r:.60}")
    if bits == 4 and isinstance(in_units, int) and in_units % 2:
        raise ArgumentError(f"{name}: expected even in_units with 4 bits, got {in_units}")
    if group_size is None:
        return
    check_positive(name, group_size=group_size)
    if isinstance(in_units, int) and in_units % group_size:
        raise ArgumentError(
            f"{name}: expected group_size that divides in_units {in_units}, got {group_size}"
        )


def _stored(units: int, in_units: int, bits: int) -> tuple[tuple[int, int], Any]:
    """Return shape and dtype of a weight: two integers of 4 bits share a byte."""
    return ((units, in_units), INT8) if bits == 8 else ((units, in_units // 2), UINT8)


def _scale_shape(units: int, in_units: int, group_size: int | None) -> tuple[int, ...]:
    return (units,) if group_size is None else (units, in_units // group_size)
