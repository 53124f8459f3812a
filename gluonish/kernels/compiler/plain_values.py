"""Typed values of a plain source, and what its operators and functions make of them.

Every value has one type. Numbers of the source have none of their own: they take that of the value
they meet, where Numba would compute in no wider one. What mixes types in other ways is not plain;
see `gluonish.kernels.compiler.plain_source`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.kernels.compiler.half_floats import LOADS, STORES
from gluonish.kernels.compiler.philox import philox_fill, philox_word
from gluonish.kernels.compiler.scope import SCRATCH_SUMS, SCRATCH_WORDS
from gluonish.kernels.compiler.vector_math import FUNCTIONS, Number

__all__ = ["COMPARISONS", "NotPlainError", "PlainValues", "Typed"]

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = ("float32", "float64")
_LITERALS = ("int", "float")

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

# What LLVM's builder calls each operator, by the types it is for.
_BITWISE = {"&": "and_", "|": "or_", "^": "xor"}
_OPERATIONS: Mapping[str, Mapping[str, str]] = {
    **{kind: {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"} for kind in _FLOATS},
    "int64": {"+": "add", "-": "sub", "*": "mul", ">>": "ashr", "<<": "shl", **_BITWISE},
    "uint64": {">>": "lshr"},
    "bool": _BITWISE,
}


class NotPlainError(Exception):
    """The source needs Numba."""


class Typed(NamedTuple):
    """A value of a source.

    Attributes:
        kind: ``float32``, ``int64``, ..; ``bool``; ``*float32`` for a view; ``int`` or ``float``
            for a number of the source.
        value: LLVM's value; Python's number for a number of the source.
    """

    kind: str
    value: Any


class PlainValues:
    """Appends what operators and functions do to a function under construction.

    Args:
        builder: llvmlite's ``IRBuilder``.
        entry: The same at the head of the function, for places on the stack.
        fastmath: LLVM's names of what operators on floats, not functions, may be taken to allow.

    Raises:
        NotPlainError: in every method, for values that Numba would convert.
    """

    def __init__(self, builder: Any, entry: Any, fastmath: Sequence[str]) -> None:
        from llvmlite import ir

        self._ir = ir
        self._build = builder
        self._entry = entry
        self._flags = tuple(fastmath)

    def type_of(self, kind: str) -> Any:
        """Return LLVM's type."""
        if kind[0] == "*":
            return self.type_of(kind[1:]).as_pointer()
        if kind in _FLOATS:
            return self._ir.FloatType() if kind == "float32" else self._ir.DoubleType()
        return self._ir.IntType(1 if kind == "bool" else int(kind.removeprefix("u")[3:]))

    def settled(self, x: Typed) -> Typed:
        """Return a number of the source in the type that it has alone, and others as they are."""
        return self._as(x, f"{x.kind}64") if x.kind in _LITERALS else x

    def whole(self, x: Typed) -> Any:
        """Return LLVM's value of an int64."""
        return self.given(self.settled(x), "int64")

    def given(self, x: Typed, kind: str) -> Any:
        """Return LLVM's value of one of this type."""
        if x.kind != kind:
            raise NotPlainError
        return x.value

    def stored(self, x: Typed, kind: str) -> Any:
        """Return LLVM's value to store where this type lies."""
        return self.given(self._as(x, kind) if x.kind in _LITERALS else x, kind)

    def element(self, view: Typed, index: Typed) -> tuple[str, Any]:
        """Return the type and the address of an element."""
        if view.kind[0] != "*":
            raise NotPlainError
        return view.kind[1:], self._build.gep(view.value, [self.whole(index)])

    def operation(self, symbol: str, x: Typed, y: Typed) -> Typed:
        """Return ``x symbol y``."""
        if symbol == ">>" and x.kind == "uint32":
            x, y = self._wide(x), self._wide(y)
        x, y = self._alike(x, y)
        if x.kind == "int64" and symbol in ("//", "%"):
            return self._divided(x.value, y.value, rest=symbol == "%")
        name = _OPERATIONS.get(x.kind, {}).get(symbol)
        if name is None:
            raise NotPlainError
        flags = {"flags": self._flags} if x.kind in _FLOATS else {}
        return Typed(x.kind, getattr(self._build, name)(x.value, y.value, **flags))

    def negative(self, x: Typed) -> Typed:
        """Return ``-x``."""
        if x.kind != "int64" and x.kind not in _FLOATS:
            raise NotPlainError
        negate = self._build.neg if x.kind == "int64" else self._build.fneg
        return Typed(x.kind, negate(x.value))

    def comparison(self, symbol: str, x: Typed, y: Typed) -> Typed:
        """Return the truth of ``x symbol y``."""
        if y == Typed("int", 0) and x.kind in _FLOATS:  # as exact in any type
            y = Typed(x.kind, self.type_of(x.kind)(0.0))
        x, y = self._alike(x, y)
        if x.kind in _FLOATS:
            # Of NaN all are false but one.
            compare = self._build.fcmp_unordered if symbol == "!=" else self._build.fcmp_ordered
        elif x.kind == "int64":
            compare = self._build.icmp_signed
        else:
            raise NotPlainError
        return Typed("bool", compare(symbol, x.value, y.value))

    def call(self, name: str, args: Sequence[Typed]) -> Typed:
        """Return what a function of the vocabulary gives."""
        if name in FUNCTIONS:
            return self._elementary(name, args)
        function = _CALLS.get(name)
        if function is None:
            raise NotPlainError
        count, give = function
        if len(args) != count:
            raise NotPlainError
        return give(self, *args)

    def fill(self, view: Typed, *places: Typed) -> None:
        """Append ``philox_fill``."""
        given = [self.whole(x) for x in places]
        if len(given) != 4:
            raise NotPlainError
        philox_fill(self._build, self.given(view, "*uint32"), *given)

    def _alike(self, x: Typed, y: Typed) -> tuple[Typed, Typed]:
        """Return two operands in one type; a number of the source takes that of the other."""
        if x.kind in _LITERALS:
            x = self.settled(x) if y.kind in _LITERALS else self._as(x, y.kind)
        if y.kind in _LITERALS:
            y = self._as(y, x.kind)
        if x.kind != y.kind:
            raise NotPlainError
        return x, y

    def _as(self, number: Typed, kind: str) -> Typed:
        """Return a number of the source in a type that Python's is not converted to."""
        if (number.kind, kind) not in (("int", "int64"), ("float", "float64")):
            raise NotPlainError
        return Typed(kind, self.type_of(kind)(number.value))

    def _wide(self, x: Typed) -> Typed:
        """Return a uint32, or a number of the source that is no less than 0, as a uint64."""
        to = self.type_of("uint64")
        if x.kind == "int" and x.value >= 0:
            return Typed("uint64", to(x.value))
        return Typed("uint64", self._build.zext(self.given(x, "uint32"), to))

    def _divided(self, x: Any, y: Any, *, rest: bool) -> Typed:
        """Return the quotient rounded down, or what is left, which has the divisor's sign."""
        build = self._build
        quotient, left = build.sdiv(x, y), build.srem(x, y)
        zero = left.type(0)
        apart = build.icmp_signed("<", build.xor(left, y), zero)
        below = build.and_(build.icmp_signed("!=", left, zero), apart)
        if rest:
            return Typed("int64", build.select(below, build.add(left, y), left))
        return Typed("int64", build.select(below, build.sub(quotient, zero.type(1)), quotient))

    def _elementary(self, name: str, args: Sequence[Typed]) -> Typed:
        count, formula = FUNCTIONS[name]
        kind = args[0].kind if args else ""
        if kind not in _FLOATS or [x.kind for x in args] != [kind] * count:
            raise NotPlainError
        return Typed(kind, formula(*(Number(self._build, x.value) for x in args)).value)

    def _select(self, condition: Typed, x: Typed, y: Typed) -> Typed:
        x, y = self._alike(x, y)
        return Typed(x.kind, self._build.select(self.given(condition, "bool"), x.value, y.value))

    def _extreme(self, symbol: str, x: Typed, y: Typed) -> Typed:
        a, b = self.whole(x), self.whole(y)
        test = self._build.icmp_signed(symbol, a, b)
        return Typed("int64", self._build.select(test, a, b))

    def _scratch(self) -> Typed:
        return Typed("*uint32", self._entry.alloca(self.type_of("uint32"), SCRATCH_WORDS))

    def _sums(self) -> Typed:
        return Typed("*float64", self._entry.alloca(self.type_of("float64"), SCRATCH_SUMS))

    def _word(self, *places: Typed) -> Typed:
        return Typed("uint32", philox_word(self._build, *[self.whole(x) for x in places]))

    def _view(self, kind: str, address: Typed) -> Typed:
        made = self._build.inttoptr(self.whole(address), self.type_of(kind))
        return Typed(kind, made)

    def _bits(self, source: str, target: str, x: Typed) -> Typed:
        return Typed(target, self._build.bitcast(self.given(x, source), self.type_of(target)))

    def _half(self, append: Callable[[Any, Any], Any], source: str, target: str, x: Typed) -> Typed:
        return Typed(target, append(self._build, self.given(x, source)))

    def _flag(self, kind: str, x: Typed) -> Typed:
        to = self.type_of(kind)
        return Typed(kind, self._build.select(self.given(x, "bool"), to(1), to(0)))

    def _converted(self, kind: str, x: Typed) -> Typed:
        """Return a value in another type, as C converts it."""
        to = self.type_of(kind)
        if x.kind == kind:
            return x
        if x.kind == "int" or (x.kind == "float" and kind in _FLOATS):
            return Typed(kind, to(float(x.value) if kind in _FLOATS else x.value))
        convert = self._conversion(x.kind, kind)
        return Typed(kind, getattr(self._build, convert)(x.value, to))

    def _conversion(self, source: str, target: str) -> str:
        """Return what LLVM's builder calls a conversion."""
        if source in _FLOATS and target in _FLOATS:
            return "fpext" if target == "float64" else "fptrunc"
        if source in _FLOATS and target == "int64":
            return "fptosi"
        if source in _INTEGERS and target in _FLOATS:
            return "uitofp" if source[0] == "u" else "sitofp"
        if source not in _INTEGERS or target not in _INTEGERS:
            raise NotPlainError
        wider = self.type_of(target).width - self.type_of(source).width
        if wider <= 0:
            return "trunc" if wider else "bitcast"
        return "zext" if source[0] == "u" else "sext"


_Call = tuple[int, Callable[..., Typed]]  # how many arguments, and what gives the value


def _with(method: Callable[..., Typed], *first: Any) -> Callable[..., Typed]:
    """Return a method that is given some arguments behind the object."""
    return lambda values, *args: method(values, *first, *args)


_CALLS: dict[str, _Call] = {
    "select": (3, PlainValues._select),
    "min": (2, _with(PlainValues._extreme, "<")),
    "max": (2, _with(PlainValues._extreme, ">")),
    "scratch": (0, PlainValues._scratch),
    "scratch_sums": (0, PlainValues._sums),
    "philox_word": (3, PlainValues._word),
    "as_float": (1, _with(PlainValues._bits, "int64", "float64")),
    "as_int": (1, _with(PlainValues._bits, "float64", "int64")),
    "float_of_bits": (1, _with(PlainValues._bits, "uint32", "float32")),
    "bits_of_float": (1, _with(PlainValues._bits, "float32", "uint32")),
}
for _kind in (*_FLOATS, *_INTEGERS):
    _CALLS[_kind] = (1, _with(PlainValues._converted, _kind))
    _short = _kind[0] + _kind.lstrip("uintfloa")
    _CALLS[_short] = (1, _with(PlainValues._view, f"*{_kind}"))
for _kind in (*_FLOATS, "int64"):
    _CALLS[f"flag_{_kind}"] = (1, _with(PlainValues._flag, _kind))
for _name, _append in LOADS.items():
    _CALLS[_name] = (1, _with(PlainValues._half, _append, "uint16", "float32"))
for _name, _append in STORES.items():
    _CALLS[_name] = (1, _with(PlainValues._half, _append, "float32", "uint16"))
