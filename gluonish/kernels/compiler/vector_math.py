"""Elementary functions as straight-line arithmetic, which LLVM vectorizes.

A call into the C library prevents vectorization, and there is no vector library to call. So each
function is a range reduction and a polynomial on `Number` objects, which append instructions to the
function under construction, without fastmath flags. Results for float32 and float64 are within 2
units in the last place; infinities, NaN, zeros and subnormal numbers are exact.

References:
    W. Cody, W. Waite, Software Manual for the Elementary Functions, 1980.
    P. Tang, Table-driven implementation of the expm1 function in IEEE arithmetic, 1992.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class _Format(NamedTuple):
    """Constants of a floating-point type that the functions use."""

    bits: int
    fraction: int  # bits of the fraction
    ln2_high: float  # with few bits, so that products with an exponent are exact
    ln2_low: float
    exp_terms: int
    log_terms: int
    lowest: float  # exp(x) is 0 up to here
    highest: float  # exp(x) is inf from here
    forget_one: float  # exp(x) - 1 rounds to exp(x) from here
    smallest: float  # smallest normal number


_FORMATS = {
    "float": _Format(
        *(32, 23, 0.693359375, -2.12194440e-4, 7, 4),
        *(-104.0, 89.0, 20.0, 2.0**-126),
    ),
    "double": _Format(
        *(64, 52, 0.693147180369123816490, 1.90821492927058770002e-10, 13, 10),
        *(-746.0, 710.0, 40.0, 2.0**-1022),
    ),
}


def constant(kind: Any, value: float) -> Any:
    """Return a constant of a type, or a vector filled with it."""
    from llvmlite import ir

    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


class Number:
    """A floating-point value whose operators append LLVM instructions.

    Args:
        builder: llvmlite's ``IRBuilder``.
        value: The LLVM value: a float, a double, or a vector of floats.
    """

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value

    @property
    def format(self) -> _Format:
        """The constants of the number's type."""
        return _FORMATS[str(getattr(self.value.type, "element", self.value.type))]

    def doubled(self) -> "Number":
        """Convert to double."""
        from llvmlite import ir

        return Number(self.builder, self.builder.fpext(self.value, ir.DoubleType()))

    def like(self, number: float) -> "Number":
        """Return a constant of the same type."""
        return Number(self.builder, constant(self.value.type, number))

    def _raw(self, other: "Number | float") -> Any:
        return other.value if isinstance(other, Number) else constant(self.value.type, other)

    def __add__(self, other: "Number | float") -> "Number":
        return Number(self.builder, self.builder.fadd(self.value, self._raw(other)))

    def __sub__(self, other: "Number | float") -> "Number":
        return Number(self.builder, self.builder.fsub(self.value, self._raw(other)))

    def __rsub__(self, other: float) -> "Number":
        return Number(self.builder, self.builder.fsub(self._raw(other), self.value))

    def __mul__(self, other: "Number | float") -> "Number":
        return Number(self.builder, self.builder.fmul(self.value, self._raw(other)))

    def __truediv__(self, other: "Number | float") -> "Number":
        return Number(self.builder, self.builder.fdiv(self.value, self._raw(other)))

    def __rtruediv__(self, other: float) -> "Number":
        return Number(self.builder, self.builder.fdiv(self._raw(other), self.value))

    def __neg__(self) -> "Number":
        return Number(self.builder, self.builder.fneg(self.value))

    def compare(self, symbol: str, other: "Number | float") -> Any:
        """Return an ordered comparison as an LLVM value; it is false for NaN."""
        return self.builder.fcmp_ordered(symbol, self.value, self._raw(other))

    def unless(self, condition: Any, other: "Number | float") -> "Number":
        """Return ``other`` if the condition holds, else this number."""
        return Number(self.builder, self.builder.select(condition, self._raw(other), self.value))

    def intrinsic(self, name: str, *others: "Number | float") -> "Number":
        """Call an intrinsic of LLVM, such as ``fma``."""
        from llvmlite import ir

        kind = self.value.type
        arguments = [self.value, *(self._raw(other) for other in others)]
        signature = ir.FunctionType(kind, [kind] * len(arguments))
        if isinstance(kind, ir.VectorType):  # whose name llvmlite does not know
            bits = self.format.bits
            full = f"llvm.{name}.v{kind.count}f{bits}"
            module = self.builder.module
            function = module.globals.get(full) or ir.Function(module, signature, full)
        else:
            function = self.builder.module.declare_intrinsic(f"llvm.{name}", [kind], signature)
        return Number(self.builder, self.builder.call(function, arguments))

    def fma(self, factor: "Number | float", addend: "Number | float") -> "Number":
        """Return ``self * factor + addend``, rounded once."""
        return self.intrinsic("fma", factor, addend)

    def bits(self) -> Any:
        """Return the bits as an integer."""
        from llvmlite import ir

        kind: Any = ir.IntType(self.format.bits)
        if isinstance(self.value.type, ir.VectorType):
            kind = ir.VectorType(kind, self.value.type.count)
        return self.builder.bitcast(self.value, kind)

    def from_bits(self, bits: Any) -> "Number":
        """Return the number of the same type that has these bits."""
        return Number(self.builder, self.builder.bitcast(bits, self.value.type))


def _polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """Evaluate a polynomial at ``x``; the constant coefficient is first."""
    result = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result.fma(x, coefficient)
    return result


def _power_of_two(exponent: Any, x: Number) -> Number:
    """Return 2 ** exponent, which must be a normal number, in the type of ``x``."""
    builder, form = x.builder, x.format
    bias = (1 << (form.bits - form.fraction - 2)) - 1
    biased = builder.add(exponent, constant(exponent.type, bias))
    return x.from_bits(builder.shl(biased, constant(exponent.type, form.fraction)))


# 2 ** x = exp(x ln 2) up to half an integer from 0, as a polynomial: the Taylor series, whose next
# term is below 2e-8 there.
_POWER = tuple(math.log(2) ** k / math.factorial(k) for k in range(8))


def power_of_two(x: Number) -> Number:
    """Return 2 ** x for float32 up to 126; results below the normal numbers are zero."""
    form, builder = x.format, x.builder
    magic = x.like(1.5 * 2.0**form.fraction)
    shifted = x + magic
    count = builder.sub(shifted.bits(), magic.bits())
    rest = x - (shifted - magic)
    result = _polynomial(rest, _POWER) * _power_of_two(count, x)
    return result.unless(x.compare("<", -126.0), 0.0)


class _Reduced(NamedTuple):
    """``exp(x) = (1 + rest) * low * high`` with powers of two ``low`` and ``high``."""

    rest: Number
    low: Number
    high: Number


def _reduce(x: Number) -> _Reduced:
    form, builder = x.format, x.builder
    x = x.unless(x.compare("<", form.lowest), form.lowest)
    x = x.unless(x.compare(">", form.highest), form.highest)
    # Adding it leaves the nearest integer in the low bits, without a conversion, which is undefined
    # for NaN.
    magic = x.like(1.5 * 2.0**form.fraction)
    shifted = x.fma(1 / math.log(2), magic)
    count = builder.sub(shifted.bits(), magic.bits())
    integer = shifted - magic
    r = integer.fma(-form.ln2_low, integer.fma(-form.ln2_high, x))
    # For NaN the count is arbitrary, and the rest is NaN.
    half = builder.ashr(count, constant(count.type, 1))
    low, high = (_power_of_two(n, x) for n in (half, builder.sub(count, half)))
    tail = _polynomial(r, [1 / math.factorial(k) for k in range(2, form.exp_terms + 1)])
    return _Reduced((r * r).fma(tail, r), low, high)


def _exp(x: Number) -> Number:
    rest, low, high = _reduce(x)
    return (rest + 1) * low * high


def _expm1(x: Number) -> Number:
    rest, low, high = _reduce(x)
    scale = low * high
    small = rest.fma(scale, scale - 1)
    # Preserves -0.0 and subnormal numbers.
    small = small.unless(x.compare("==", 0.0), x)
    return small.unless(x.compare(">", x.format.forget_one), (rest + 1) * low * high)


def _log(x: Number) -> Number:
    form, builder = x.format, x.builder
    tiny = x.compare("<", form.smallest)
    scaled = x.unless(tiny, x * 2.0**form.fraction)
    bits = scaled.bits()
    root = x.like(math.sqrt(0.5)).bits()
    above = builder.sub(bits, root)
    exponent = builder.ashr(above, constant(above.type, form.fraction))
    mask = constant(above.type, (1 << form.fraction) - 1)
    f = x.from_bits(builder.add(builder.and_(above, mask), root)) - 1
    e = Number(builder, builder.sitofp(exponent, x.value.type))
    e = e.unless(tiny, e - float(form.fraction))
    # With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - s * (f - series(s * s)).
    s = f / (f + 2.0)
    z = s * s
    series = z * _polynomial(z, [2 / (2 * k + 1) for k in range(1, form.log_terms + 1)])
    half = f * f * 0.5
    tail = half - s.fma(half + series, e * form.ln2_low)
    result = e.fma(form.ln2_high, f - tail)
    result = result.unless(x.compare("==", math.inf), x)
    result = result.unless(x.compare("==", 0.0), -math.inf)
    return result.unless(
        builder.fcmp_unordered("<", x.value, constant(x.value.type, 0.0)), math.nan
    )


def _log1p(x: Number) -> Number:
    u = x + 1.0
    result = _log(u) + (x - (u - 1.0)) / u
    result = result.unless(u.compare("==", 1.0), x)
    result = result.unless(u.compare("==", 0.0), -math.inf)
    return result.unless(x.compare("==", math.inf), x)


def _scaled_log(factor: float) -> Callable[[Number], Number]:
    return lambda x: _log(x) * factor


def _tanh(x: Number) -> Number:
    size = x.intrinsic("fabs")
    grown = _expm1(size + size)
    result = grown / (grown + 2.0)
    result = result.unless(size.compare(">", x.format.forget_one / 2), 1.0)
    return result.intrinsic("copysign", x)


def _sigmoid(x: Number) -> Number:
    return 1.0 / (_exp(-x) + 1.0)


# 2 atanh(s) / s as a series in the square of s, for s up to 1/3, with the terms for float32.
_ATANH = tuple(2.0 / n for n in range(1, 15, 2))


def _softplus(x: Number) -> Number:
    grown = _exp(-x.intrinsic("fabs"))
    if x.format.bits == 32:  # log1p(u) is 2 atanh(u / (2 + u)), and u is at most 1
        ratio = grown / (grown + 2.0)
        logarithm = ratio * _polynomial(ratio * ratio, _ATANH)
    else:
        logarithm = _log1p(grown)
    return x.unless(x.compare("<", 0.0), 0.0) + logarithm


# The error function for float32: up to 1, x times a polynomial of x squared, fitted to 1e-9; then
# the logarithm of the complement, to 1e-9 of the function; from 4 it rounds to 1.
_ERF_NEAR = (
    1.1283791658815028,
    -0.3761262690357994,
    0.11283597463484636,
    -0.026854328795976247,
    0.005189311942587421,
    -0.0008018854992460913,
    7.882497110622221e-05,
)
_ERF_FAR = (
    0.00030321300063018697,
    -1.130166675623592,
    -0.631937093487341,
    -0.10997824528372172,
    0.02636471744414531,
    -0.004740222367749351,
    0.0005927695429115232,
    -4.5590622995172976e-05,
    1.6140616283698763e-06,
)


def _erf(x: Number) -> Number:
    size = x.intrinsic("fabs")
    near = x * _polynomial(x * x, _ERF_NEAR)
    inside = size.unless(size.compare(">", 4.0), 4.0)
    far = 1.0 - _exp(_polynomial(inside, _ERF_FAR))
    far = far.unless(size.compare(">=", 4.0), 1.0)
    return near.unless(size.compare(">=", 1.0), far.intrinsic("copysign", x))


# The logarithm of the gamma function and its derivative, for float32, computed in double:
# Stirling's series from 8, below it the recurrence, and below 0 the reflection formula.
_SHIFT = 8
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_STIRLING_SLOPE = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_SINE = [(-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(10)]
_COSINE = [(-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k) for k in range(10)]


def _mirrored(x: Number) -> tuple[Number, Any, Number]:
    """Return ``x`` reflected above 0, whether it was reflected, and its offset from an integer."""
    reflected = x.compare("<=", 0.0)
    return x.unless(reflected, 1.0 - x), reflected, x - x.intrinsic("rint")


def _shifted(x: Number) -> tuple[Number, Number, Number]:
    """Shift ``x`` to 8 or more; return that, the recurrence's product, and its derivative."""
    product, slope = x, x.like(1.0)
    for i in range(1, _SHIFT):
        factor = x + float(i)
        slope = slope.fma(factor, product)
        product = product * factor
    far = x.compare(">=", float(_SHIFT))
    z = (x + float(_SHIFT)).unless(far, x)
    return z, product.unless(far, 1.0), slope.unless(far, 0.0)


def _gammaln(narrow: Number) -> Number:
    x = narrow.doubled()
    y, reflected, rest = _mirrored(x)
    z, product, _ = _shifted(y)
    inverse = 1.0 / z
    series = inverse * _polynomial(inverse * inverse, _STIRLING)
    grown = (z - 0.5) * _log(z) - z + (0.5 * math.log(2 * math.pi)) + series - _log(product)
    sine = (rest * _polynomial(rest * rest, _SINE)).intrinsic("fabs")
    mirror = math.log(math.pi) - _log(sine) - grown
    result = grown.unless(reflected, mirror)
    result = result.unless(x.intrinsic("fabs").compare("==", math.inf), math.inf)
    return Number(x.builder, x.builder.fptrunc(result.value, narrow.value.type))


def _digamma(narrow: Number) -> Number:
    x = narrow.doubled()
    y, reflected, rest = _mirrored(x)
    z, product, slope = _shifted(y)
    inverse = 1.0 / z
    square = inverse * inverse
    grown = _log(z) - inverse * 0.5 - square * _polynomial(square, _STIRLING_SLOPE)
    grown = grown - slope / product
    square = rest * rest
    mirror = grown - _polynomial(square, _COSINE) / (rest * _polynomial(square, _SINE)) * math.pi
    result = grown.unless(reflected, mirror.unless(rest.compare("==", 0.0), math.inf))
    result = result.unless(x.compare("==", -math.inf), math.inf)
    return Number(x.builder, x.builder.fptrunc(result.value, narrow.value.type))


def _maximum(x: Number, y: Number | float) -> Number:
    larger = x.unless(x.builder.fcmp_unordered("<", x.value, x.like(0.0)._raw(y)), y)
    return larger.unless(x.builder.fcmp_unordered("uno", x.value, x.value), x)


def _minimum(x: Number, y: Number | float) -> Number:
    smaller = x.unless(x.builder.fcmp_unordered(">", x.value, x.like(0.0)._raw(y)), y)
    return smaller.unless(x.builder.fcmp_unordered("uno", x.value, x.value), x)


def _intrinsic(name: str) -> Callable[..., Number]:
    return lambda x, *others: x.intrinsic(name, *others)


# For each name in sources: the number of arguments, and the function.
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Number]]] = {
    "exp": (1, _exp),
    "expm1": (1, _expm1),
    "log": (1, _log),
    "log1p": (1, _log1p),
    "log2": (1, _scaled_log(1 / math.log(2))),
    "log10": (1, _scaled_log(1 / math.log(10))),
    "tanh": (1, _tanh),
    "sigmoid": (1, _sigmoid),
    "softplus": (1, _softplus),
    "erf": (1, _erf),
    "gammaln": (1, _gammaln),
    "digamma": (1, _digamma),
    "sqrt": (1, _intrinsic("sqrt")),
    "fabs": (1, _intrinsic("fabs")),
    "floor": (1, _intrinsic("floor")),
    "ceil": (1, _intrinsic("ceil")),
    "trunc": (1, _intrinsic("trunc")),
    "rint": (1, _intrinsic("rint")),
    "fma": (3, _intrinsic("fma")),
    "copysign": (2, _intrinsic("copysign")),
    "maximum": (2, _maximum),
    "minimum": (2, _minimum),
}
