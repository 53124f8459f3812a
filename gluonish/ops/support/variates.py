"""Random variates by rejection or inversion, with an independent stream per element.

A draw is ``draw(xp, key, index, *parameters)``: ``index`` holds the elements' indices in the full
draw, and the parameters are float64 arrays of that length. An element's float64 result depends only
on the key, its index and its parameters: not on other elements, nor on how the draw is split into
chunks. Parameters out of range give NaN.

References:
    G. Marsaglia, W. W. Tsang, A Simple Method for Generating Gamma Variables, 2000.
    W. Hoermann, The Transformed Rejection Method for Generating Poisson Random Variables, 1993.
    W. Hoermann, The Generation of Binomial Random Variates, 1993.
"""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.ops.support.philox import bits_at

Key = tuple[int, int]
Draw = Callable[..., Any]

_CHUNK = 1 << 13  # elements per chunk, so that temporaries stay in the cache
_CHUNK_GPU = 1 << 22
_ATTEMPTS = 1 << 12  # far more than any sampler needs: each accepts two of three
_LONGEST = 200  # steps of inversion, where the mean is below 10
_INVERTED = 10.0  # below this mean: inversion, else rejection


def substream(key: Key, number: int) -> Key:
    """Derive the key of a substream; multiples of an odd constant never collide."""
    return (key[0] + number * 0x9E3779B97F4A7C15) & (2**64 - 1), key[1]


def _chunk_of(xp: ModuleType, parameter: Any, chunk: slice) -> Any:
    """Return a chunk of an array of parameters, in float64."""
    return parameter[chunk].astype(xp.float64)


def fill(xp: ModuleType, out: Any, draw: Draw, key: Key, parameters: Sequence[Any]) -> None:
    """Fill an array with variates.

    Args:
        out: C-contiguous; its elements are numbered in that order.
        parameters: Numbers, or arrays that broadcast to ``out``.
    """
    flat = out.reshape(-1)
    columns = [
        float(p) if isinstance(p, int | float) else xp.broadcast_to(p, out.shape).reshape(-1)
        for p in parameters
    ]
    size = _CHUNK if xp is np else _CHUNK_GPU
    for start in range(0, flat.size, size):
        index = xp.arange(start, min(start + size, flat.size))
        chunk = slice(start, start + size)
        params = [
            xp.full(index.size, p) if isinstance(p, float) else _chunk_of(xp, p, chunk)
            for p in columns
        ]
        flat[chunk] = draw(xp, key, index, *params).astype(out.dtype)


def _open(high: Any, low: Any) -> Any:
    """Return numbers in (0, 1) from 52 of 64 bits each: 53 could round to 1."""
    bits = ((high >> np.uint64(6)) << np.uint64(26)) | (low >> np.uint64(6))
    return (bits.astype(np.float64) + 0.5) * 2.0**-52


def _pair(xp: ModuleType, key: Key, index: Any, attempt: int) -> tuple[Any, Any]:
    a, b, c, d = bits_at(xp, key, index, attempt)
    return _open(a, b), _open(c, d)


def open_uniform(xp: ModuleType, key: Key, index: Any) -> Any:
    """Draw uniform numbers in the open interval (0, 1)."""
    return _pair(xp, key, index, 0)[0]


def exponential(xp: ModuleType, key: Key, index: Any) -> Any:
    """Draw from the exponential distribution with mean 1."""
    return -xp.log(open_uniform(xp, key, index))


def normal(xp: ModuleType, key: Key, index: Any) -> Any:
    """Draw from the standard normal distribution."""
    u, v = _pair(xp, key, index, 0)
    return xp.sqrt(-2 * xp.log(u)) * xp.cos(2 * math.pi * v)


def _rejected(
    xp: ModuleType,
    index: Any,
    pending: Any,
    out: Any,
    propose: Callable[[Any, Any, int], tuple[Any, Any]],
) -> Any:
    """Fill ``out`` where ``pending`` by rejection sampling.

    ``propose(positions, numbers, attempt)`` returns candidates and whether each is accepted.
    """
    missing = xp.nonzero(pending)[0]
    for attempt in range(_ATTEMPTS):
        if not missing.size:
            break
        found, accepted = propose(missing, index[missing], attempt)
        out[missing[accepted]] = found[accepted]
        missing = missing[~accepted]
    return out


def gamma(xp: ModuleType, key: Key, index: Any, alpha: Any, scale: Any) -> Any:
    """Draw from gamma distributions of shape ``alpha``; those below 1 are boosted."""
    small = alpha < 1
    d = alpha + small - 1 / 3
    c = 1 / xp.sqrt(9 * d)

    def propose(at: Any, numbers: Any, attempt: int) -> tuple[Any, Any]:
        bits = bits_at(xp, key, numbers, attempt)
        u = _open(*bits[2:])
        radius = xp.sqrt(-2 * xp.log((bits[0].astype(xp.float64) + 0.5) * 2.0**-32))
        x = radius * xp.cos(bits[1] * (2 * math.pi * 2.0**-32))
        size = d[at]
        root = 1 + c[at] * x
        v = xp.maximum(root, 1e-100) ** 3
        fits = xp.log(u) < 0.5 * x * x + size * (1 - v + xp.log(v))
        return size * v, (root > 0) & fits

    out = xp.full(index.size, xp.nan)
    _rejected(xp, index, (alpha >= 0) & (alpha < xp.inf), out, propose)
    if xp is np and not small.any():  # would synchronize a GPU
        return out * scale
    boost = _pair(xp, key, index, _ATTEMPTS)[0]
    power = xp.where(small, 1 / xp.where(small, alpha, 1), 0)
    return out * boost**power * scale


def _log_factorial(xp: ModuleType, k: Any) -> Any:
    """Compute log k! by Stirling's series, after a recurrence for small k."""
    small = k < 15
    product = xp.ones_like(k)
    if xp is np:  # only where needed
        few = k[small]
        behind = np.ones_like(few)
        for i in range(1, 16):
            behind *= few + i
        product[small] = behind
    else:
        for i in range(1, 16):
            product = xp.where(small, product * (k + i), product)
    z = xp.where(small, k + 16, k + 1)
    w = 1 / (z * z)
    series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z
    return (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + series - xp.log(product)


def _inverted(
    xp: ModuleType,
    key: Key,
    index: Any,
    out: Any,
    pending: Any,
    first: Any,
    ratio: Callable[[Any, int], Any],
    all_equal: bool,
) -> None:
    """Fill ``out`` where ``pending`` by inversion of the cumulative distribution.

    ``first`` is P(0), and ``ratio(positions, k)`` is P(k) / P(k - 1). ``all_equal``: whether both
    are equal for all elements.
    """
    u = open_uniform(xp, key, index)
    if xp is np and index.size and all_equal:
        if pending[0]:
            out[...] = _inverted_equal(u, first[0], ratio)
        return
    term, total = first.copy(), first.copy()
    out[pending] = 0
    active = xp.nonzero(pending & (u > total))[0]
    for k in range(1, _LONGEST):
        if not active.size:
            break
        term[active] *= ratio(active, k)
        total[active] += term[active]
        out[active] = k
        active = active[(u[active] > total[active]) & (term[active] > 0)]


def _inverted_equal(u: Any, first: Any, ratio: Callable[[Any, int], Any]) -> Any:
    """Invert like `_inverted`, with one table of cumulative sums for all elements."""
    one = np.zeros(1, np.int64)
    term = first
    totals = [term]
    for k in range(1, _LONGEST):
        term = term * ratio(one, k)[0]
        totals.append(totals[-1] + term)
        if not term > 0:
            break
    return np.minimum(np.searchsorted(totals, u), len(totals) - 1)


def _all_equal(xp: ModuleType, *parameters: Any) -> bool:
    """Whether all elements have the same parameters; False on GPUs, to avoid synchronizing."""
    return xp is np and all(bool((p == p[:1]).all()) for p in parameters)


def poisson(xp: ModuleType, key: Key, index: Any, lam: Any) -> Any:
    """Draw from Poisson distributions of mean ``lam``."""
    out = xp.full(index.size, xp.nan)
    small = (lam >= 0) & (lam < _INVERTED)
    mean = xp.where(small, lam, 0.0)
    all_equal = _all_equal(xp, lam)
    _inverted(xp, key, index, out, small, xp.exp(-mean), lambda at, k: mean[at] / k, all_equal)
    large = (lam >= _INVERTED) & (lam < xp.inf)
    if xp is np and not large.any():
        return out
    b = 0.931 + 2.53 * xp.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    height = 0.9277 - 3.6224 / (b - 2)

    def propose(at: Any, numbers: Any, attempt: int) -> tuple[Any, Any]:
        u, v = _pair(xp, key, numbers, attempt)
        u -= 0.5
        left = 0.5 - xp.abs(u)
        k = xp.floor((2 * a[at] / left + b[at]) * u + lam[at] + 0.43)
        integer = xp.maximum(k, 0)
        ratio = xp.log(v * inverse_alpha[at] / (a[at] / (left * left) + b[at]))
        fits = ratio <= integer * xp.log(lam[at]) - lam[at] - _log_factorial(xp, integer)
        return integer, ((left >= 0.07) & (v <= height[at])) | ((k >= 0) & fits)

    return _rejected(xp, index, large, out, propose)


def negative_binomial(xp: ModuleType, key: Key, index: Any, k: Any, p: Any) -> Any:
    """Draw the number of failures before the ``k``-th success of probability ``min(p, 1)``."""
    scale = xp.where(p > 0, xp.maximum(1 - p, 0) / xp.where(p > 0, p, 1), xp.nan)
    return poisson(xp, substream(key, 1), index, gamma(xp, key, index, k, scale))


def generalized_negative_binomial(xp: ModuleType, key: Key, index: Any, mu: Any, alpha: Any) -> Any:
    """Draw from Poisson distributions of gamma distributed means."""
    spread = alpha > 0
    shape = xp.where(spread, 1 / xp.where(spread, alpha, 1), xp.where(alpha == 0, 1.0, xp.nan))
    mixed = gamma(xp, key, index, shape, mu * alpha)
    return poisson(xp, substream(key, 1), index, xp.where(spread, mixed, mu + 0 * mixed))


def binomial(xp: ModuleType, key: Key, index: Any, n: Any, p: Any) -> Any:
    """Draw the number of successes in ``n`` trials of probability ``p``."""
    flipped = p > 0.5
    r = xp.where(flipped, 1 - p, p)
    usable = (n >= 0) & (r >= 0)
    small = usable & (n * r < _INVERTED)
    out = xp.full(index.size, xp.nan)
    odds = r / (1 - r)
    first = xp.exp(xp.where(small, n, 0) * xp.log1p(-r))

    def ratio(at: Any, k: int) -> Any:
        return odds[at] * (n[at] - k + 1) / k

    _inverted(xp, key, index, out, small, first, ratio, _all_equal(xp, n, p))
    deviation = xp.sqrt(xp.where(usable, n * r * (1 - r), 1))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * r
    middle = xp.floor((n + 1) * r)

    def propose(at: Any, numbers: Any, attempt: int) -> tuple[Any, Any]:
        u, v = _pair(xp, key, numbers, attempt)
        u -= 0.5
        left = 0.5 - xp.abs(u)
        trials, m = n[at], middle[at]
        k = xp.floor((2 * a[at] / left + b[at]) * u + trials * r[at] + 0.5)
        integer = xp.clip(k, 0, trials)
        weight = (2.83 + 5.1 / b[at]) * deviation[at] / (a[at] / (left * left) + b[at])
        want = (
            _log_factorial(xp, m)
            + _log_factorial(xp, trials - m)
            - _log_factorial(xp, integer)
            - _log_factorial(xp, trials - integer)
            + (integer - m) * xp.log(odds[at])
        )
        inside = (left >= 0.07) & (v <= 0.92 - 4.2 / b[at])
        return integer, (k == integer) & (inside | (xp.log(v * weight) <= want))

    _rejected(xp, index, usable & ~small, out, propose)
    return xp.where(flipped, n - out, out)
