"""Positions of tokens: embeddings that are added to them, and biases of attention.

References:
    A. Vaswani et al., Attention Is All You Need, 2017.
    O. Press, N. Smith, M. Lewis, Train Short, Test Long: Attention with Linear Biases Enables Input
    Length Extrapolation, 2022.
    C. Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text
    Transformer, 2020.
"""

import math
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_layout, check_positive
from gluonish.gluon.parameter.parameter import Init

__all__ = ["ALiBiBias", "PositionalEmbedding", "RelativePositionBias"]

_LAYOUTS = ("NTC", "TNC")
# How to go on, in messages about texts that are longer than a table of positions.
CUT = "cut or split the text, or make the network with a greater max_length"
# What the operators of PositionalEmbedding say, perhaps behind the name of a node.
_TOO_LONG = re.compile(
    r"(\w+_slice_like\d+: )?slice_like: expected shape_like within data \(.*?\), "
    r"got \((?P<shape>.*?)\)"
)
_BEYOND = re.compile(
    r"(\w+_take\d+: )?take( failed)?: expected positions in .*?, "
    r"got positions from (-?\d+) to (-?\d+)"
)


def places_along(F: ModuleType, x: Any, axis: int, rank: int = 3) -> Any:
    """Return 0, 1, ... in float32 for the entries of an axis, in 16 bits too."""
    narrow = x
    for other in range(rank):
        if other != axis:
            narrow = F.slice_axis(narrow, axis=other, begin=0, end=1)
    return F.contrib.arange_like(F.cast(narrow, dtype="float32"), axis=axis)


def cached_places(F: ModuleType, query: Any, axis: int, position: Any) -> Any:
    """Return the positions (1, T) or (N, T) of queries behind those in a cache, in float32."""
    new = F.expand_dims(places_along(F, query, axis), axis=0)
    return F.broadcast_add(F.expand_dims(F.cast(position, dtype="float32"), axis=1), new)


def cached_places_of_each(F: ModuleType, query: Any, axis: int, position: Any) -> Any:
    """Return `cached_places` for each sample, (N, T)."""
    samples = F.expand_dims(places_along(F, query, 1 - axis) * 0, axis=1)
    return F.broadcast_add(samples, cached_places(F, query, axis, position))


def _distances(F: ModuleType, query: Any, key: Any, cache: Any, axis: int) -> Any:
    """Return positions of keys minus those of queries, (1, T, S) or (N, T, S)."""
    if cache is not None:
        queries = cached_places(F, query, axis, cache[2])
        keys = places_along(F, cache[0], 2, rank=4)
    else:  # counted from the end, where the last query and the last key are
        places = places_along(F, query, axis)
        queries = -F.expand_dims(F.reverse(places, axis=0), axis=0)
        last = places if key is None else places_along(F, key, axis)
        keys = -F.reverse(last, axis=0)
    keys = F.expand_dims(F.expand_dims(keys, axis=0), axis=0)
    return F.broadcast_sub(keys, F.expand_dims(queries, axis=2))


def sinusoids(max_length: int, units: int, interleaved: bool) -> np.ndarray:
    """Return sines and cosines of positions, (max_length, units), in float32."""
    half = (units + 1) // 2
    angles = np.arange(max_length)[:, None] * 10000.0 ** (-2.0 * np.arange(half) / units)
    pair = np.stack([np.sin(angles), np.cos(angles)], 2 if interleaved else 1)
    return pair.reshape(max_length, -1)[:, :units].astype(np.float32)


class PositionalEmbedding(HybridBlock):
    """Add a vector of its position to each token: ``y[n, t] = x[n, t] + weight[t]``.

    Args:
        units: Length C of a vector.
        max_length: Number of positions; further ones are an error.
        method: ``"learned"`` for trained vectors; ``"sinusoidal"`` for fixed ones,
            ``sin(t / 10000^(2i / C))`` and ``cos`` of the same.
        interleaved: Whether sines and cosines take turns; else all sines come first.
        layout: ``"NTC"`` or ``"TNC"``.
        dtype: Element type of learned vectors.
        weight_initializer: Initializer of learned vectors ``weight`` (first_row + max_length, C).
        first_row: Row of ``weight`` that position 0 has; position -1 has the row before it.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, T, C), or (T, N, C) with ``layout="TNC"``.
        positions: of tokens, (1, T) or (N, T), integers of any dtype; None for 0, 1, ...

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: There is no such method or layout, or a number is below 1.
        OperatorError: In the call, if T is above ``max_length``.
        OperatorIndexError: If a position is not in [-first_row, max_length); when the result is
            needed, unless operators run in the call.

    References:
        A. Vaswani et al., Attention Is All You Need, 2017.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.PositionalEmbedding(units=2, max_length=9, method="sinusoidal")
        >>> layer.initialize()
        >>> layer(mx.nd.zeros((1, 2, 2))).round().tolist()
        [[[0.0, 1.0], [1.0, 1.0]]]
    """

    def __init__(
        self,
        units: int,
        max_length: int,
        method: str = "learned",
        interleaved: bool = True,
        layout: str = "NTC",
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        first_row: int = 0,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, units=units, max_length=max_length)
        check_layout(layout, _LAYOUTS, name)
        if isinstance(first_row, bool) or not isinstance(first_row, int) or first_row < 0:
            raise ArgumentError(f"{name}: expected first_row of 0 or more, got {first_row!r:.60}")
        self._text = f"{units}, max_length={max_length}, {method}"
        self._axis, self._max_length, self._first_row = layout.index("T"), max_length, first_row
        if method == "learned":
            shape = (first_row + max_length, units)
            self.weight = self.params._declare("weight", shape, weight_initializer, dtype=dtype)
        elif method == "sinusoidal":
            table = nd.array(sinusoids(first_row + max_length, units, interleaved))
            self.weight = self.params.get_constant("weight", table)
        else:
            raise ArgumentError(f"{name}: expected method learned or sinusoidal, got {method!r}")

    def hybrid_forward(
        self, F: ModuleType, x: Tensor, positions: Tensor | None = None, weight: Any = None
    ) -> Any:
        """Add vectors of positions.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, T, C) or (T, N, C).
            positions: (1, T) or (N, T), or None.
            weight: Vectors (first_row + max_length, C), a parameter.
        """
        first = self._first_row
        if positions is None:
            rows = F.slice_axis(weight, axis=0, begin=first, end=None) if first else weight
            vectors = F.expand_dims(rows, axis=1 - self._axis)
            vectors = F.slice_like(vectors, x, axes=(self._axis,))
        else:
            places: Any = positions + first if first else positions
            vectors = F.take(weight, places, axis=0, mode="raise")
            if self._axis == 0:
                vectors = F.swapaxes(vectors, dim1=0, dim2=1)
        return F.broadcast_add(x, vectors)

    def _explain(self, error: OperatorError, args: Sequence[Any]) -> None:
        """Say of texts that are too long how many positions there are."""
        most, axis = self._max_length, self._axis

        def of_text(found: re.Match[str]) -> str:
            shape = found["shape"].split(", ")
            layout = _LAYOUTS[1 - axis][: len(shape)]
            return (
                f"expected x {'(' + ', '.join(layout) + ')'} with T of at most max_length {most}, "
                f"the number of positions, got a text of {shape[axis]}; {CUT}"
            )

        def of_positions(found: re.Match[str]) -> str:
            least, greatest = (int(number) - self._first_row for number in found.groups()[-2:])
            return (
                f"expected positions from 0 to {most - 1}, as max_length is {most}, got positions "
                f"from {least} to {greatest}; {CUT}"
            )

        text = _BEYOND.sub(of_positions, _TOO_LONG.sub(of_text, str(error)))
        error.args = (text, *error.args[1:])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text})"


class ALiBiBias(HybridBlock):
    """Bias of attention that falls with the distance: ``bias[h, t, s] = -slope[h] * |s - t|``.

    The slopes are ``2^(-8 (h + 1) / H)`` if the number H of heads is a power of two; other numbers
    have those of the next smaller power, and every second one of the next larger power.

    Args:
        num_heads: Number H of heads.
        layout: ``"NTC"`` or ``"TNC"``, of the inputs.
        **kwargs: See `HybridBlock`.

    Inputs:
        query: (N, T, C) or (T, N, C); its values are not read.
        key: (N, S, C) or (S, N, C); None for ``query``. The last query and the last key are at
            one position.
        cache: growing `AttentionCache` that the same call will extend by the queries; S is then
            its length.

    Outputs:
        bias: (1, H, T, S), or (N, H, T, S) with a position for each sample, in float32: the mask
            of `MultiHeadAttention`.

    Raises:
        ArgumentError: ``num_heads`` is below 1, or there is no such layout.

    References:
        O. Press, N. Smith, M. Lewis, Train Short, Test Long: Attention with Linear Biases Enables
        Input Length Extrapolation, 2022.

    Example:
        >>> import gluonish as mx
        >>> bias = mx.gluon.nn.ALiBiBias(num_heads=1)
        >>> bias(mx.nd.ones((1, 3, 4)))[0, 0, 2].tolist()  # slope 1 / 256
        [-0.0078125, -0.00390625, -0.0]
    """

    def __init__(self, num_heads: int, layout: str = "NTC", **kwargs: Any) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, num_heads=num_heads)
        check_layout(layout, _LAYOUTS, name)
        self._heads, self._axis = num_heads, layout.index("T")

    def hybrid_forward(
        self, F: ModuleType, query: Tensor, key: Tensor | None = None, cache: Any = None
    ) -> Any:
        """Return the bias.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            query: (N, T, C) or (T, N, C).
            key: (N, S, C) or (S, N, C), or None.
            cache: A growing `AttentionCache`, or None.
        """
        near = -F.abs(_distances(F, query, key, cache, self._axis))
        slopes = F.reshape(self._slopes(F), shape=(1, -1, 1, 1))
        return F.broadcast_mul(F.expand_dims(near, axis=1), slopes)

    def _slopes(self, F: ModuleType) -> Any:
        power = 2 ** int(math.log2(self._heads))
        exponents = F.arange(1, power + 1) * (8 / power)
        rest = self._heads - power
        if rest:
            more = F.arange(1, 2 * rest, 2) * (4 / power)
            exponents = F.concat(exponents, more, dim=0)
        return 2 ** (-exponents)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._heads})"


def bucket_sizes(num_buckets: int, max_distance: int) -> list[int]:
    """Return how many distances from 0 on each bucket of one direction has.

    Half of the buckets have one distance each, the others ranges that grow with the logarithm; the
    last one goes on beyond ``max_distance``, and counts up to it.
    """
    exact = num_buckets // 2
    spread = num_buckets - exact
    growth = math.log(max_distance / exact)
    numbers = []
    for n in range(max_distance + 1):
        # A rounding error below a whole number must not change the bucket.
        steps = math.log(n / exact) / growth * spread + 1e-9 if n >= exact else 0
        numbers.append(n if n < exact else min(exact + int(steps), num_buckets - 1))
    return [numbers.count(i) for i in range(num_buckets)]


class RelativePositionBias(HybridBlock):
    """Learned bias of attention by the distance of query and key, which fall into buckets (T5).

    Half of the buckets are of one distance each, the others for ranges that grow up to
    ``max_distance``; the last one is for all that is farther.

    Args:
        num_heads: Number H of heads.
        num_buckets: Number of buckets; with ``bidirectional`` half of them for each direction.
        max_distance: Distance from which on all share a bucket.
        bidirectional: Whether later keys have buckets of their own; else they share that of
            distance 0, as they are hidden in a decoder.
        layout: ``"NTC"`` or ``"TNC"``, of the inputs.
        dtype: Element type of ``weight``.
        weight_initializer: Initializer of ``weight`` (num_buckets, H).
        **kwargs: See `HybridBlock`.

    Inputs:
        query, key, cache: see `ALiBiBias`.

    Outputs:
        bias: (1, H, T, S) or (N, H, T, S): the mask of `MultiHeadAttention`.

    Raises:
        ArgumentError: There are too few buckets, or ``max_distance`` is not above the number of
            buckets of one distance.

    References:
        C. Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text
        Transformer, 2020.

    Example:
        >>> import gluonish as mx
        >>> bias = mx.gluon.nn.RelativePositionBias(num_heads=4)
        >>> bias.initialize()
        >>> bias(mx.nd.ones((2, 5, 8))).shape
        (1, 4, 5, 5)
    """

    def __init__(
        self,
        num_heads: int,
        num_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        layout: str = "NTC",
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, num_heads=num_heads, num_buckets=num_buckets)
        check_positive(name, max_distance=max_distance)
        check_layout(layout, _LAYOUTS, name)
        directions = 2 if bidirectional else 1
        each = num_buckets // directions
        if each < 2 or num_buckets % directions:
            raise ArgumentError(
                f"{name}: expected {'an even number of ' if bidirectional else ''}num_buckets of "
                f"{2 * directions} or more, got {num_buckets}"
            )
        if max_distance <= each // 2:
            raise ArgumentError(
                f"{name}: expected max_distance above {each // 2}, got {max_distance}"
            )
        self._text = f"{num_heads}, num_buckets={num_buckets}, max_distance={max_distance}"
        self._farthest, self._each = max_distance, each
        self._sizes = tuple(bucket_sizes(each, max_distance))
        self._bidirectional, self._axis = bool(bidirectional), layout.index("T")
        shape = (num_buckets, num_heads)
        self.weight = self.params._declare("weight", shape, weight_initializer, dtype=dtype)

    def hybrid_forward(
        self,
        F: ModuleType,
        query: Tensor,
        key: Tensor | None = None,
        cache: Any = None,
        weight: Any = None,
    ) -> Any:
        """Return the bias.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            query: (N, T, C) or (T, N, C).
            key: (N, S, C) or (S, N, C), or None.
            cache: A growing `AttentionCache`, or None.
            weight: Bias of each bucket (num_buckets, H), a parameter.
        """
        far, repeats = self._farthest, {"repeats": self._sizes, "axis": 0}
        # A row for each distance from -max_distance to max_distance, or to 0.
        first = F.slice_axis(weight, axis=0, begin=0, end=self._each)
        rows = F.reverse(F._internal._npi_repeats(first, **repeats), axis=0)
        if self._bidirectional:
            later = F.slice_axis(weight, axis=0, begin=self._each, end=None)
            later = F._internal._npi_repeats(later, **repeats)
            later = F.slice_axis(later, axis=0, begin=1, end=None)
            rows = F.concat(rows, later, dim=0)
        distances = _distances(F, query, key, cache, self._axis)
        places = F.clip(distances, a_min=-far, a_max=far if self._bidirectional else 0) + far
        return F.transpose(F.take(rows, places, axis=0), axes=(0, 3, 1, 2))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text})"
