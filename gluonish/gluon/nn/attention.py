"""MultiHeadAttention and its cache of keys and values."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import gluonish.ndarray as nd
from gluonish.core.dtype import INT8, is_floating, normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.normalization import RMSNorm
from gluonish.gluon.nn.positions import cached_places_of_each
from gluonish.gluon.nn.rotary_embedding import RotaryEmbedding
from gluonish.gluon.nn.tensor import Tensor, check_layout, check_positive, check_rate
from gluonish.gluon.parameter.parameter import Init
from gluonish.ndarray import NDArray

__all__ = ["AttentionCache", "MultiHeadAttention"]

_HEAD_LAYOUTS = {"NTC": "NTHC", "TNC": "TNHC"}  # the layout after the split of C into heads


class AttentionCache(NamedTuple):
    """Keys and values of earlier tokens, for attention that computes those of new tokens only.

    With a position, a call of `MultiHeadAttention` writes the T new keys and values into the
    arrays, at the position; the caller then adds T to it. Without one, the cache is complete, and
    a call reads it only, as attention to an encoder's output does.

    The row of position p is p mod length. In a layer with a window, positions may pass the end of
    arrays of at least window - 1 + T rows: they are rings then, and new rows replace the oldest.

    Attributes:
        keys: (N, num_kv_heads, length, head_units); a complete cache has the order of axes of
            the layer's layout, (N, S, num_kv_heads, head_units) or (S, N, num_kv_heads,
            head_units).
        values: Like ``keys``.
        position: Number of tokens in the cache, an integer array (1,), or (N,) for each sample;
            None for a complete cache.
        key_scales: Of arrays of int8, what each row of ``keys`` is multiplied by, in float32 (N,
            num_kv_heads, length); None for floating arrays.
        value_scales: Like ``key_scales``, of ``values``.
    """

    keys: Any
    values: Any
    position: Any = None
    key_scales: Any = None
    value_scales: Any = None


def divided(layer: str, units: int, num_heads: int) -> int:
    """Return units / num_heads.

    Raises:
        ArgumentError: The division has a remainder.
    """
    if units % num_heads:
        raise ArgumentError(
            f"{layer}: expected num_heads that divides units {units}, got {num_heads}"
        )
    return units // num_heads


def projected_rows(
    parts: tuple[int, int, int], query: Any, key: Any, value: Any
) -> list[tuple[Any, int, int]]:
    """Return each input of a `_JoinedDense` with the begin and end of its rows of the weight."""
    first, second, third = parts
    units = first + second + third
    if value is None:
        return [(query, 0, first), (key, first, units)]
    return [(query, 0, first), (key, first, first + second), (value, first + second, units)]


class _JoinedDense(Dense):
    """The projections of queries, keys and values, whose weights are rows of one weight.

    Args:
        parts: Number of rows of queries, keys and values.
        **kwargs: See `Dense`.

    Inputs:
        query: (N, T, in_units).
        key: (N, S, in_units); None for self-attention.
        value: (N, S, in_units); None for ``key``.

    Outputs:
        q, k, v: projections (N, T, part), each joined with the next one if their inputs are one
            array.
    """

    def __init__(self, parts: tuple[int, int, int], **kwargs: Any) -> None:
        super().__init__(sum(parts), flatten=False, **kwargs)
        self._parts = parts

    def hybrid_forward(  # type: ignore[override]  # it has more inputs than Dense
        self,
        F: ModuleType,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        weight: Any = None,
        bias: Any = None,
    ) -> Any:
        """Project queries, keys and values.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            query: (N, T, in_units).
            key: (N, S, in_units), or None.
            value: (N, S, in_units), or None.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None with ``use_bias=False``.
        """
        if key is None:
            return super().hybrid_forward(F, query, weight, bias)
        pieces = projected_rows(self._parts, query, key, value)
        return [self._product(F, x, weight, bias, *rows) for x, *rows in pieces]

    @staticmethod
    def _product(F: ModuleType, x: Any, weight: Any, bias: Any, begin: int, end: int) -> Any:
        weight = F.slice_axis(weight, axis=0, begin=begin, end=end)
        if bias is not None:
            bias = F.slice_axis(bias, axis=0, begin=begin, end=end)
        options = {"num_hidden": end - begin, "flatten": False, "no_bias": bias is None}
        return F.FullyConnected(x, weight, bias, **options)


class MultiHeadAttention(HybridBlock):
    """Attention of several heads: ``y = concat(softmax(q k^T / sqrt(C)) v for each head) W^T + b``.

    Queries, keys and values are projections of the inputs, with H heads of C = head_units. The
    matrix of weights never exists as a whole; see `mx.nd.scaled_dot_product_attention`. For a look
    at it, there are `attention_weights` and `gluon.contrib.attention_view`.

    Args:
        units: Number of output features.
        num_heads: Number H of heads of the queries.
        num_kv_heads: Number K of heads of keys and values, which divides ``num_heads``: each is
            shared by a group of heads of the queries. None for ``num_heads``.
        head_units: Size C of a head; None for ``units / num_heads``.
        use_bias: Whether the projections of queries, keys and values have a bias.
        dropout: Probability of dropping a weight of attention in training, in [0, 1).
        causal: Whether a query attends to no later key; the last query and the last key belong
            together.
        window: A query attends to keys less than ``window`` positions away; None for all.
        qk_norm: Whether heads of queries and keys are divided by their root mean square, with a
            trained scale, before the rotation; or a dict of further arguments of their
            `RMSNorm`, such as ``{"offset": True}``.
        rotary: Options of a `RotaryEmbedding` of queries and keys, such as ``{"base": 1e6}``; or
            a block called as ``rotary(heads, positions)`` with heads (N, T, heads, C), or
            (T, N, heads, C) with ``layout="TNC"``, and positions (T,), (N, T) or None for
            0, 1, ... None for no rotation.
        scale: Factor of the scores; None for ``1 / sqrt(C)``.
        softcap: Scores are ``softcap * tanh(scores / softcap)``, before masks; None for no cap.
        layout: ``"NTC"`` for batches first, or ``"TNC"``.
        fused: Whether one Dense, ``qkv``, projects queries, keys and values: with one product in
            self-attention. Otherwise there are ``query``, ``key`` and ``value``, which keys of
            another width need, and which are faster if keys are not of the queries' array.
        use_output_bias: Whether the output has a bias; None for ``use_bias``.
        epsilon: Small constant added to the mean square of ``qk_norm``.
        dtype: Element type of the parameters.
        weight_initializer: Initializer of all weights; None uses the one passed to `initialize`.
        bias_initializer: Initializer of all biases.
        in_units: Number of features of the queries; 0 infers it from the first batch.
        key_units: Number of features of keys and values with ``fused=False``; 0 infers it from the
            first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        query: (N, T, in_units), or (T, N, in_units) with ``layout="TNC"``.
        key: (N, S, ...) or (S, N, ...); None for self-attention, where keys are of ``query``.
        value: Like ``key``, whose array it is by default.
        mask: broadcasts to (N, H, T, S): boolean, true where a query attends to a key, or
            floating, added to the scores. With a growing cache, S is the length of the cache.
        valid_length: number of keys of each sample, (N,), of at least 0 (on GPUs lower ones count
            as 0); the others are hidden.
        cache: `AttentionCache`.
        positions: positions of the queries (and keys, if they are of the same array) for
            ``rotary``, (T,) or (N, T); None for 0, 1, ..., from the position of the cache on.

    Outputs:
        y: (N, T, units) or (T, N, units).

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, ``num_kv_heads`` does not divide
            ``num_heads``, a number is out of range, or a call has arguments that exclude each
            other.
        ArgumentTypeError: An argument is not a number.
        OperatorError: In the call, if the arrays do not fit each other.

    References:
        A. Vaswani et al., Attention Is All You Need, 2017.
        J. Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models from Multi-Head
        Checkpoints, 2023.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.MultiHeadAttention(units=8, num_heads=2, causal=True)
        >>> layer.initialize()
        >>> tokens = mx.nd.ones((1, 5, 8))
        >>> layer(tokens).shape
        (1, 5, 8)
        >>> cache = layer.begin_cache(1, length=16)
        >>> for i in range(5):  # one token at a time
        ...     y = layer(tokens[:, i : i + 1], cache=cache)
        ...     cache.position[:] += 1
        >>> y.shape
        (1, 1, 8)
    """

    def __init__(
        self,
        units: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        head_units: int | None = None,
        use_bias: bool = True,
        dropout: float = 0.0,
        causal: bool = False,
        window: int | None = None,
        qk_norm: bool | Mapping[str, Any] = False,
        rotary: Mapping[str, Any] | HybridBlock | None = None,
        scale: float | None = None,
        softcap: float | None = None,
        layout: str = "NTC",
        fused: bool = True,
        use_output_bias: bool | None = None,
        epsilon: float = 1e-6,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_units: int = 0,
        key_units: int = 0,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, units=units, num_heads=num_heads)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        head_units = divided(name, units, num_heads) if head_units is None else head_units
        check_positive(name, num_kv_heads=num_kv_heads, head_units=head_units)
        if num_heads % num_kv_heads:
            raise ArgumentError(
                f"{name}: expected num_kv_heads that divides num_heads {num_heads}, got "
                f"{num_kv_heads}"
            )
        check_layout(layout, tuple(_HEAD_LAYOUTS), name)
        check_rate(name, "dropout", dropout)
        if window is not None:
            check_positive(name, window=window)
        if softcap is not None and not softcap > 0:
            raise ArgumentError(f"{name}: expected softcap above 0, got {softcap}")
        self._units, self._head_units = units, head_units
        self._heads = (num_heads, num_kv_heads, num_kv_heads)
        self._layout, self._dropout, self._dtype = layout, dropout, dtype
        self._attrs: dict[str, Any] = {"causal": bool(causal), "window": window, "scale": scale}
        self._attrs |= {"softcap": softcap, "layout": _HEAD_LAYOUTS[layout]}
        self._fused = bool(fused)
        self.query_norm = self.key_norm = None
        options = {"dtype": dtype, "weight_initializer": weight_initializer}
        options["bias_initializer"] = bias_initializer
        with self.name_scope():
            self._add_projections(in_units, key_units, {**options, "use_bias": use_bias})
            if qk_norm or isinstance(qk_norm, Mapping):
                given = {"epsilon": epsilon, **(qk_norm if isinstance(qk_norm, Mapping) else {})}
                self.query_norm, self.key_norm = (
                    RMSNorm(in_channels=head_units, prefix=f"{name}_norm_", **given)
                    for name in ("query", "key")
                )
            self.rotary = self._rotation(rotary)
            options["use_bias"] = use_bias if use_output_bias is None else use_output_bias
            inner = num_heads * head_units
            self.output = Dense(units, flatten=False, in_units=inner, prefix="output_", **options)

    def _rotation(self, rotary: Mapping[str, Any] | HybridBlock | None) -> HybridBlock | None:
        """Return the block that rotates heads.

        Raises:
            ArgumentError: Its layout is not that of the heads.
        """
        layout = self._attrs["layout"]
        if isinstance(rotary, Mapping):
            return RotaryEmbedding(**{"layout": layout, **rotary})
        if isinstance(rotary, RotaryEmbedding) and rotary._attrs["layout"] != layout:
            raise ArgumentError(
                f"{type(self).__name__}: expected rotary with layout {layout}, got "
                f"{rotary._attrs['layout']}"
            )
        return rotary

    def _add_projections(self, in_units: int, key_units: int, options: dict[str, Any]) -> None:
        parts = [heads * self._head_units for heads in self._heads]
        if self._fused:
            rows = (parts[0], parts[1], parts[2])
            self.qkv = _JoinedDense(rows, in_units=in_units, prefix="qkv_", **options)
            return
        self.query = Dense(parts[0], flatten=False, in_units=in_units, prefix="query_", **options)
        self.key = Dense(parts[1], flatten=False, in_units=key_units, prefix="key_", **options)
        self.value = Dense(parts[2], flatten=False, in_units=key_units, prefix="value_", **options)

    def hybrid_forward(
        self,
        F: ModuleType,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        cache: AttentionCache | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Project, attend, and project the result.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            query: (N, T, in_units) or (T, N, in_units).
            key: (N, S, ...) or (S, N, ...), or None.
            value: Like ``key``, or None.
            mask: Broadcasts to (N, H, T, S), or None.
            valid_length: (N,), or None.
            cache: `AttentionCache`, or None.
            positions: (T,) or (N, T), or None.
        """
        self._check_call(key, value, valid_length, cache)
        attrs = dict(self._attrs)
        q, k, v = self._heads_of_call(F, query, key, value, cache, positions)
        if cache is not None and cache[2] is not None:
            optional = dict(zip(("key_scale", "value_scale"), cache[3:], strict=False))
            attrs |= {k: x for k, x in {"mask": mask, **optional}.items() if x is not None}
            made = F._internal._cached_attention(q, k, v, *cache[:3], **attrs)
        else:
            attrs |= {"mask": mask, "valid_length": valid_length, "dropout": self._dropout}
            made = F.scaled_dot_product_attention(q, k, v, **attrs)
        return self.output(F.reshape(made, shape=(0, 0, self._heads[0] * self._head_units)))

    def _heads_of_call(
        self, F: ModuleType, query: Any, key: Any, value: Any, cache: Any, positions: Any
    ) -> tuple[Any, Any, Any]:
        """Return heads of queries, keys and values, normalized and rotated."""
        if cache is not None and cache[2] is None:
            q = self._prepare(F, self._queries(F, query), self.query_norm, positions)
            return q, *cache[:2]
        if cache is not None and positions is None and self.rotary is not None:
            axis = self._layout.index("T")
            positions = cached_places_of_each(F, query, axis, cache[2])
        if cache is not None and self._rotates_together:
            return self._rotated(F, self.qkv(query), positions)
        q, k, v = self._project(F, query, key, value)
        q = self._prepare(F, q, self.query_norm, positions)
        return q, self._prepare(F, k, self.key_norm, positions if key is None else None), v

    def attention_weights(
        self,
        query: NDArray,
        key: NDArray | None = None,
        value: NDArray | None = None,
        mask: NDArray | None = None,
        valid_length: NDArray | None = None,
        cache: AttentionCache | None = None,
        positions: NDArray | None = None,
    ) -> NDArray:
        """Return the weights of attention, which a call never holds as a whole, without dropout.

        They are what the call gives for values that are one in a position each: (N, H, T, S), in
        float32. Rows sum to 1, and to 0 where a query attends to no key.

        Args:
            query: The inputs of a call, which see.
            key: See the inputs of a call.
            value: See the inputs of a call; not read.
            mask: See the inputs of a call.
            valid_length: See the inputs of a call.
            cache: A complete cache, or None.
            positions: See the inputs of a call.

        Raises:
            ArgumentError: The cache is a growing one, or arguments exclude each other.
            OperatorError: The arrays do not fit each other.
        """
        self._check_call(key, value, valid_length, cache)
        if cache is not None and cache[2] is not None:
            raise ArgumentError(
                f"{self.name}.attention_weights: expected no growing cache, got one"
            )
        q, k, _ = self._heads_of_call(nd, query, key, None, cache, positions)
        q, k = (x.astype("float32") for x in (q, k))
        axis = self._attrs["layout"].index("T")
        count = k.shape[axis]
        ones = [1, 1, 1, count]
        ones[axis] = count
        values = nd.eye(count, ctx=k.context).reshape(ones).broadcast_to((*k.shape[:3], count))
        given = {"mask": mask, "valid_length": valid_length, **self._attrs}
        made = nd.scaled_dot_product_attention(q, k, values, **given)
        return made.transpose((0, 2, 1, 3) if axis == 1 else (1, 2, 0, 3))

    def _check_call(self, key: Any, value: Any, valid_length: Any, cache: Any) -> None:
        """Refuse arguments that exclude each other.

        Raises:
            ArgumentError: The message says which.
        """
        if key is None and value is not None:
            raise ArgumentError(f"{self.name}: expected a key with value, got None")
        if cache is None:
            return
        if key is not None:
            raise ArgumentError(f"{self.name}: expected no key with a cache, got one")
        if cache[2] is not None and valid_length is not None:
            raise ArgumentError(
                f"{self.name}: expected no valid_length with a growing cache, got one; pass a "
                "position (N,) in the cache"
            )

    def _project(
        self, F: ModuleType, query: Any, key: Any = None, value: Any = None
    ) -> tuple[Any, ...]:
        """Return heads of queries, keys and values, (N, T, heads, C) or (T, N, heads, C)."""
        heads = self._heads
        if not self._fused:
            key = query if key is None else key
            inputs = ((self.query, query), (self.key, key))
            made = [
                layer(x) for layer, x in (*inputs, (self.value, key if value is None else value))
            ]
            return tuple(self._split(F, x, n)[0] for x, n in zip(made, heads, strict=True))
        if key is None:
            return tuple(self._split(F, self.qkv(query), *heads))
        if value is None:
            q, joined = self.qkv(query, key)
            return (*self._split(F, q, heads[0]), *self._split(F, joined, *heads[1:]))
        made = self.qkv(query, key, value)
        return tuple(self._split(F, x, n)[0] for x, n in zip(made, heads, strict=True))

    @property
    def _rotates_together(self) -> bool:
        """Whether queries and keys of one projection are rotated, and nothing else."""
        norms = self.query_norm, self.key_norm
        return self._fused and isinstance(self.rotary, RotaryEmbedding) and norms == (None, None)

    def _rotated(self, F: ModuleType, joined: Any, positions: Any) -> tuple[Any, Any, Any]:
        """Return heads of queries and keys, rotated by one operator, and of values.

        In a step of generation, one operator fewer saves more time than copies of slices take.
        """
        queries, keys, values = self._heads
        joint, v = self._split(F, joined, queries + keys, values)
        assert self.rotary is not None
        rotated = self.rotary(joint, positions)
        q = F.slice_axis(rotated, axis=2, begin=0, end=queries)
        return q, F.slice_axis(rotated, axis=2, begin=queries, end=None), v

    def _queries(self, F: ModuleType, query: Any) -> Any:
        """Return heads of queries, without keys and values."""
        if self._fused:
            raise ArgumentError(
                f"{self.name}: expected fused=False of a layer that reads a complete cache"
            )
        return self._split(F, self.query(query), self._heads[0])[0]

    def _split(self, F: ModuleType, x: Any, *counts: int) -> list[Any]:
        """Split features into groups of heads."""
        x = F.reshape(x, shape=(0, 0, sum(counts), self._head_units))
        if len(counts) == 1:
            return [x]
        ends = [sum(counts[: i + 1]) for i in range(len(counts))]
        return [
            F.slice_axis(x, axis=2, begin=end - count, end=end)
            for end, count in zip(ends, counts, strict=True)
        ]

    def _prepare(self, F: ModuleType, heads: Any, norm: Any, positions: Any) -> Any:
        """Normalize and rotate heads of queries or keys."""
        if norm is not None:
            heads = norm(heads)
        return heads if self.rotary is None else self.rotary(heads, positions)

    def begin_cache(
        self, batch_size: int, length: int, ctx: Any = None, dtype: Any = None
    ) -> AttentionCache:
        """Return an empty cache.

        Args:
            batch_size: Number N of samples.
            length: Largest number of tokens.
            ctx: Device; the current one by default.
            dtype: Element type; that of the layer's parameters by default. ``"int8"`` rounds each
                row to multiples of 1/127 of its greatest magnitude.

        Raises:
            ArgumentError: A number is below 1, or the dtype is neither floating nor int8.
            ArgumentTypeError: A number is not an int.
        """
        check_positive(f"{type(self).__name__}.begin_cache", batch_size=batch_size, length=length)
        shape = (batch_size, self._heads[1], length, self._head_units)
        dtype = normalize_dtype(self.output._data_dtype if dtype is None else dtype)
        if dtype != INT8 and not is_floating(dtype):
            raise ArgumentError(
                f"{type(self).__name__}.begin_cache: expected a floating dtype or int8, got "
                f"{dtype.name}"
            )
        keys, values = (nd.zeros(shape, ctx=ctx, dtype=dtype) for _ in range(2))
        position = nd.zeros((1,), ctx=ctx, dtype="int32")
        if dtype != INT8:
            return AttentionCache(keys, values, position)
        scales = (nd.zeros(shape[:3], ctx=ctx) for _ in range(2))
        return AttentionCache(keys, values, position, *scales)

    @property
    def window(self) -> int | None:
        """How many positions a query attends to, its own included; None for all."""
        window: int | None = self._attrs["window"]
        return window

    def fill_cache(self, key: NDArray, value: NDArray | None = None) -> AttentionCache:
        """Return the complete cache of keys and values that do not change from token to token.

        Args:
            key: (N, S, ...) or (S, N, ...), such as the output of an encoder.
            value: Like ``key``, whose array it is by default.

        Raises:
            ArgumentError: The layer is fused.
        """
        return AttentionCache(*self.project_memory(nd, key, value))

    def project_memory(self, F: ModuleType, key: Any, value: Any = None) -> tuple[Any, Any]:
        """Return the keys and values of a complete cache, in a graph too; see `fill_cache`.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            key: (N, S, ...) or (S, N, ...).
            value: Like ``key``, or None.

        Raises:
            ArgumentError: The layer is fused.
        """
        if self._fused:
            raise ArgumentError(f"{self.name}.fill_cache: expected a layer with fused=False")
        k, v = self.key(key), self.value(key if value is None else value)
        (keys,), (values,) = (self._split(F, x, self._heads[1]) for x in (k, v))
        return self._prepare(F, keys, self.key_norm, None), values

    def __repr__(self) -> str:
        heads, groups, _ = self._heads
        shared = "" if heads == groups else f", num_kv_heads={groups}"
        return (
            f"{type(self).__name__}({self._units}, num_heads={heads}{shared}, "
            f"head_units={self._head_units}, layout={self._layout})"
        )
