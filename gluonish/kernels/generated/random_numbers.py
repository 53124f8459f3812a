"""Uniform and normal random numbers by generated kernels: those of `gluonish.ops.support.philox`.

NumPy needs some hundred passes for Philox and the transform of Box and Muller. Here each step makes
1024 words on the thread's stack and turns them into numbers. Float32 only.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.elementwise import pays
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.nn.dropout import DROPOUT, drops, fill_dropout
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.sampling.random import check_parameters

_WORDS = 1024  # of a step
_GRAIN = 16  # steps that are worth a thread
_ALONE = 1 << 16  # elements up to which the calling thread draws alone
Key = tuple[int, int]

_EXACT = ()  # nothing is rounded otherwise than NumPy does

# Words: result, elements; seed and offset of the draw; two parameters as bits of float64.
_HEAD = """
def body(begin, end, words):
    y, size, seed, offset = f32(words[0]), words[1], words[2], words[3]
    lanes = scratch()
    {first}, {second} = float32(as_float(words[4])), float32(as_float(words[5]))
    for step in range(begin, end):
        for block in range(256):
            independent()
            philox_fill(lanes, block * 4, step * 256 + block, seed, offset)
        at = step * 1024
        last = min(1024, size - at)
"""

# The third parameter is the greatest number below the second bound. {unit} is a word's number.
_BETWEEN = (
    _HEAD.format(first="width", second="low").replace(
        "    lanes", "    below = float32(as_float(words[6]))\n    lanes"
    )
    + """
        for j in range(last):
            independent()
            y[at + j] = minimum({unit} * width + low, below)
"""
)
_UNIFORM = _BETWEEN.format(
    unit=f"minimum(float32(lanes[j]) * float32(2.0**-32), float32({1 - 2.0**-24!r}))"
)
_STEPS = _BETWEEN.format(unit="float32(lanes[j] >> uint32(8)) * float32(2.0**-24)")

# Sine and cosine: the angle, in [0, 2 pi], less a multiple of pi / 2, which is given in three parts
# so that the first two products are exact; polynomials of least error between -pi/4 and pi/4.
_NORMAL = (
    _HEAD.format(first="scale", second="loc")
    + """
        for j in range(512):
            independent()
            radius = (float32(lanes[2 * j]) + float32(0.5)) * float32(2.0**-32)
            radius = sqrt(maximum(log(radius) * float32(-2), float32(0)))
            angle = float32(lanes[2 * j + 1]) * float32({turn!r})
            quarters = floor(angle * float32({quarter!r}) + float32(0.5))
            rest = angle - quarters * float32(1.5703125)
            rest = rest - quarters * float32(0.0004839897155761719)
            rest = rest - quarters * float32(-1.6292068494294654e-07)
            z = rest * rest
            sine = float32(0.008332216180860996) + z * float32(-0.00019524247909430414)
            sine = rest + rest * z * (float32(-0.16666655242443085) + z * sine)
            cosine = float32(-0.001388742821291089) + z * float32(2.4446280804113485e-05)
            cosine = float32(0.04166664928197861) + z * cosine
            cosine = float32(1) - float32(0.5) * z + z * z * cosine
            quarter = int64(quarters)
            odd = (quarter & 1) != 0
            across = select(odd, sine, cosine)
            along = select(odd, cosine, sine)
            across = select(((quarter + 1) & 2) != 0, -across, across)
            along = select((quarter & 2) != 0, -along, along)
            lanes[2 * j] = bits_of_float(radius * across * scale + loc)
            lanes[2 * j + 1] = bits_of_float(radius * along * scale + loc)
        for j in range(last):
            independent()
            y[at + j] = float_of_bits(lanes[j])
"""
).format(turn=2 * math.pi * 2.0**-32, quarter=2 / math.pi)


def _bounds(low: float, high: float) -> tuple[float, ...]:
    """Return the width, the lower bound and the greatest number of [low, high)."""
    if low >= high:
        return high - low, low, math.inf
    return high - low, low, float(np.nextafter(np.float32(high), np.float32(low)))


_SOURCES: dict[str, tuple[str, Callable[..., tuple[float, ...]]]] = {
    "uniform": (_UNIFORM, _bounds),
    "normal": (_NORMAL, lambda loc, scale: (scale, loc)),
}


class _Draws:
    """A kernel that draws, once it has been compiled, or compiling it pays."""

    __slots__ = ("_elements", "_ready", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._elements = 0  # that the reference kernel has drawn
        self._ready = False

    def ready(self) -> bool:
        """Whether to draw by the kernel."""
        if not self._ready:
            self._ready = pays(self._elements)
        return self._ready

    def without(
        self, reference: Callable[..., Any], xp: Any, out: Any, *args: Any, **attrs: Any
    ) -> None:
        """Run a reference kernel in its place, whose elements count for compiling."""
        reference(xp, out, *args, **attrs)
        self._elements += (out[0] if isinstance(out, tuple) else out).size

    def fill(self, out: Array, key: Key, parameters: Sequence[float]) -> None:
        """Fill an array."""
        numbers = np.array(parameters, np.float64).view(np.uint64).tolist()
        words = np.array([address(out), out.size, *key, *numbers], np.uint64)
        extent = -(-out.size // _WORDS)
        grain = extent if out.size <= _ALONE else _GRAIN
        compile_kernel(self._source, _EXACT)(extent, words.view(np.int64), grain)


class DrawKernel:
    """The kernel of one sampler.

    Until it has been compiled, or compiling pays, it runs the operator's reference kernel.

    Args:
        op: The operator.
        word: ``uniform`` or ``normal``.
    """

    __slots__ = ("_draws", "_op", "_parameters", "_word")

    def __init__(self, op: Operator, word: str) -> None:
        self._op = op
        self._word = word
        source, self._parameters = _SOURCES[word]
        self._draws = _Draws(source)

    def takes_few(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether the calling thread draws alone."""
        return self._takes(specs, attrs) and self._size(specs, attrs) <= _ALONE

    def takes_many(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether the team draws."""
        return self._takes(specs, attrs) and self._size(specs, attrs) > _ALONE

    def _takes(self, specs: tuple[Spec, ...], attrs: dict[str, Any]) -> bool:
        dtype = specs[0].dtype if specs else attrs["dtype"]
        return dtype is None or dtype == FLOAT32

    def _size(self, specs: tuple[Spec, ...], attrs: dict[str, Any]) -> int:
        return specs[0].size if specs else math.prod(attrs["shape"] or (1,))

    def __call__(self, xp: ModuleType, out: Array, *data: Array, key: Key, **attrs: Any) -> None:
        """Fill ``out``.

        Raises:
            OperatorError: A parameter is out of its range.
        """
        if not self._draws.ready():
            self._draws.without(self._op.kernel, xp, out, *data, key=key, **attrs)
            return
        check_parameters(self._op.name, self._word, attrs)
        given = {name: attrs[name] for name in ("low", "high", "loc", "scale") if name in attrs}
        self._draws.fill(out, key, self._parameters(**given))


_chances = _Draws(_STEPS)


def _dropout(
    xp: ModuleType, outputs: tuple[Array, Array], data: Array, *, key: Key, **attrs: Any
) -> None:
    """Fill the outputs of Dropout on a small array, as its reference kernel does."""
    if not drops(attrs):
        DROPOUT.kernel(xp, outputs, data, key=key, **attrs)
    elif not _chances.ready():
        _chances.without(DROPOUT.kernel, xp, outputs, data, key=key, **attrs)
    else:
        out, mask = outputs
        drawn = np.empty(mask.shape, FLOAT32)
        _chances.fill(drawn, key, _bounds(0, 1))
        fill_dropout(np, out, mask, data, drawn, attrs["p"])


def _takes_dropout(data: Spec, **_: Any) -> bool:
    return data.size <= _ALONE


def _of_samplers() -> Iterator[tuple[Operator, FastKernel]]:
    """Yield the kernels by name: one for the calling thread, one for a team."""
    few, many = BackEnd.NUMPY, BackEnd.GENERATED
    for word in _SOURCES:
        for name in (f"_random_{word}", f"_random_{word}_like"):
            op = find_operator(name)
            kernel = DrawKernel(op, word)
            for back_end, takes in ((few, kernel.takes_few), (many, kernel.takes_many)):
                yield (
                    op,
                    FastKernel(
                        back_end, name, takes, run=kernel, enabled=available, makes=(FLOAT32,)
                    ),
                )


KERNELS = (
    *_of_samplers(),
    (
        DROPOUT,
        FastKernel(BackEnd.NUMPY, "Dropout", _takes_dropout, run=_dropout, enabled=available),
    ),
)
