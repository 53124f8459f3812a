"""Typed values of a kernel's source, with its operators and functions.

Every value has one type. Operands of different types are promoted:

- Integers are computed in 64 bits, unsigned if both operands are; a bitwise operator on equal types
  keeps the type. A shift has the signedness of its left operand. A uint64 cannot be combined with a
  signed integer, except a literal.
- Of two floats the narrower is converted to the wider. A float with an integer, and a float32 with
  a literal, become float64.
- A stored value is converted to the type of the element.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gluonish.kernels.compiler.errors import SourceError
from gluonish.kernels.compiler.half_floats import LOADS, STORES, philox_fill, philox_word
from gluonish.kernels.compiler.vector_math import FUNCTIONS, Number

# On the stack of each thread.
SCRATCH_INTS = 1032  # uint32
SCRATCH_SUMS = 4096  # float64

_FLUSH = 0x8040  # bits of MXCSR: results (bit 15) and operands (bit 6) that are subnormal are zeros

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_UNSIGNED = ("bool", *_INTEGERS[4:])
_FLOATS = ("float32", "float64")
_LITERALS = {"int": "int64", "float": "float64"}  # and their default types

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

# Methods of llvmlite's builder for each operator, by type.
_BITWISE = {"&": "and_", "|": "or_", "^": "xor"}
_INTEGER = {"+": "add", "-": "sub", "*": "mul", "<<": "shl", **_BITWISE}
_OPERATIONS: Mapping[str, Mapping[str, str]] = {
    **{kind: {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"} for kind in _FLOATS},
    "int64": {**_INTEGER, ">>": "ashr"},
    "uint64": {**_INTEGER, ">>": "lshr", "//": "udiv", "%": "urem"},
    **dict.fromkeys(("bool", *(kind for kind in _INTEGERS if "64" not in kind)), _BITWISE),
}


class Typed(NamedTuple):
    """A value in a kernel's source, with its type.

    Attributes:
        kind: ``float32``, ``int64``, ..; ``bool``; ``*float32`` for a view; ``int`` or ``float``
            for a literal.
        value: An LLVM value; a Python number for a literal.
    """

    kind: str
    value: Any


class TypedValues:
    """Appends the instructions of operators and built-in functions to an LLVM function.

    Args:
        builder: llvmlite's ``IRBuilder``.
        entry: A builder at the head of the function, for alloca instructions.
        fastmath: LLVM's flags of operators on floats, not of functions.

    Raises:
        SourceError: Raised by every method for types that it does not support.
    """

    def __init__(self, builder: Any, entry: Any, fastmath: Sequence[str]) -> None:
        from llvmlite import ir

        self._ir = ir
        self._build = builder
        self._entry = entry
        self._flags = tuple(fastmath)

    def type_of(self, kind: str) -> Any:
        """Return the LLVM type of a kind."""
        if kind[0] == "*":
            return self.type_of(kind[1:]).as_pointer()
        if kind in _FLOATS:
            return self._ir.FloatType() if kind == "float32" else self._ir.DoubleType()
        return self._ir.IntType(1 if kind == "bool" else int(kind.removeprefix("u")[3:]))

    def default_typed(self, x: Typed) -> Typed:
        """Convert a literal to its default type."""
        return self.converted(x, _LITERALS.get(x.kind, x.kind))

    def integer(self, x: Typed) -> Any:
        """Return an integer as an LLVM value of 64 bits."""
        if x.kind != "int" and x.kind not in _INTEGERS:
            raise SourceError("an integer", x.kind)
        return self.converted(x, "int64").value

    def truth(self, x: Typed) -> Any:
        """Return a condition as an LLVM value; numbers are compared with 0."""
        return x.value if x.kind == "bool" else self.comparison("!=", x, Typed("int", 0)).value

    def required(self, x: Typed, kind: str) -> Any:
        """Return the LLVM value of ``x``, after checking that its type is ``kind``."""
        if x.kind != kind:
            raise SourceError(f"a value of {kind}", x.kind)
        return x.value

    def element(self, view: Typed, index: Typed) -> tuple[str, Any]:
        """Return the type and the address of a view's element."""
        if view.kind[0] != "*":
            raise SourceError("a view of memory", view.kind)
        return view.kind[1:], self._build.gep(view.value, [self.integer(index)])

    def operation(self, symbol: str, x: Typed, y: Typed) -> Typed:
        """Return ``x symbol y``."""
        if symbol in ("<<", ">>") and x.kind[0] == "u":
            x, y = self.converted(x, "uint64"), Typed("uint64", self.integer(y))
        x, y = self.promoted(x, y)
        if symbol not in _BITWISE:
            x, y = self._widened(x), self._widened(y)
        if x.kind == "int64" and symbol in ("//", "%"):
            return self._divided(x.value, y.value, rest=symbol == "%")
        name = _OPERATIONS.get(x.kind, {}).get(symbol)
        if name is None:
            raise SourceError(f"an operator of {x.kind}", symbol or "another one")
        flags = {"flags": self._flags} if x.kind in _FLOATS else {}
        return Typed(x.kind, getattr(self._build, name)(x.value, y.value, **flags))

    def negative(self, x: Typed) -> Typed:
        """Return ``-x``."""
        if x.kind in _FLOATS:
            return Typed(x.kind, self._build.fneg(x.value))
        if x.kind[0] == "u":
            raise SourceError("a number with a sign", x.kind)
        return Typed("int64", self._build.neg(self.integer(x)))

    def inverse(self, x: Typed) -> Typed:
        """Return ``not x``."""
        return Typed("bool", self._build.not_(self.truth(x)))

    def comparison(self, symbol: str, x: Typed, y: Typed) -> Typed:
        """Return the comparison ``x symbol y`` as a bool."""
        if _is_exact(y, x.kind):
            y = self.converted(y, x.kind)
        x, y = self.promoted(x, y)
        if x.kind in _FLOATS:
            # With NaN all comparisons are false except !=.
            compare = self._build.fcmp_unordered if symbol == "!=" else self._build.fcmp_ordered
        elif x.kind in _UNSIGNED:
            compare = self._build.icmp_unsigned
        elif x.kind in _INTEGERS:
            compare = self._build.icmp_signed
        else:
            raise SourceError("numbers to compare", x.kind)
        return Typed("bool", compare(symbol, x.value, y.value))

    def promoted(self, x: Typed, y: Typed) -> tuple[Typed, Typed]:
        """Promote two operands to a common type."""
        kind = self.common(x, y)
        return self.converted(x, kind), self.converted(y, kind)

    def common(self, x: Typed, y: Typed) -> str:
        """Return the type to which two operands are promoted."""
        kinds = (_kind_with(x, y), _kind_with(y, x))
        if kinds[0] == kinds[1]:
            return kinds[0]
        if not all(kind in _FLOATS or kind in _INTEGERS for kind in kinds):
            raise SourceError("operands of one type", " and ".join(kinds))
        if any(kind in _FLOATS for kind in kinds):
            return "float64"
        if all(kind[0] == "u" for kind in kinds):
            return "uint64"
        if "uint64" in kinds:
            raise SourceError("integers of one signedness", " and ".join(kinds))
        return "int64"

    def converted(self, x: Typed, kind: str) -> Typed:
        """Convert a value to another type, as in C."""
        if x.kind == kind:
            return x
        to = self.type_of(kind)
        if x.kind == "int" or (x.kind == "float" and kind in _FLOATS):
            return Typed(kind, to(float(x.value) if kind in _FLOATS else x.value))
        convert = self._conversion(x.kind, kind)
        return Typed(kind, getattr(self._build, convert)(x.value, to))

    def _conversion(self, source: str, target: str) -> str:
        """Return the builder's method for a conversion."""
        if source in _FLOATS and target in _FLOATS:
            return "fpext" if target == "float64" else "fptrunc"
        if source in _FLOATS and target in _INTEGERS:
            return "fptoui" if target[0] == "u" else "fptosi"
        if source in _UNSIGNED and target in _FLOATS:
            return "uitofp"
        if source in _INTEGERS and target in _FLOATS:
            return "sitofp"
        if target not in _INTEGERS or source not in (*_INTEGERS, "bool"):
            raise SourceError(f"a value that becomes {target}", source)
        wider = self.type_of(target).width - self.type_of(source).width
        if wider <= 0:
            return "trunc" if wider else "bitcast"
        return "zext" if source in _UNSIGNED else "sext"

    def call(self, name: str, args: Sequence[Typed]) -> Typed:
        """Return the value of a call of a built-in function."""
        count, function = _CALLS.get(name, (len(args), None))
        if function is None:
            raise SourceError("a function that kernels support", f"{name}()")
        if len(args) != count:
            raise SourceError(f"{count} arguments of {name}()", str(len(args)))
        return function(self, *args)

    def fill(self, view: Typed, *args: Typed) -> None:
        """Append a call of ``philox_fill``."""
        integers = [self.integer(x) for x in args]
        if len(integers) != 4:
            raise SourceError("5 arguments of philox_fill()", str(len(integers) + 1))
        philox_fill(self._build, self.required(view, "*uint32"), *integers)

    def flush_subnormals(self) -> Callable[[], None] | None:
        """Read and compute subnormal floats as zeros from here on, on x86.

        Returns:
            Function that appends the instructions that end this; None on other CPUs.
        """
        ir, build = self._ir, self._build
        if not build.module.triple.startswith("x86_64"):
            return None
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
        get, put = (
            build.module.declare_intrinsic(f"llvm.x86.sse.{name}", (), kind)
            for name in ("stmxcsr", "ldmxcsr")
        )
        before, changed = (self._entry.alloca(ir.IntType(32)) for _ in range(2))
        old, new = (build.bitcast(x, kind.args[0]) for x in (before, changed))
        build.call(get, [old])
        build.store(build.or_(build.load(before), ir.IntType(32)(_FLUSH)), changed)
        build.call(put, [new])

        def restore() -> None:
            build.call(put, [old])

        return restore

    def _widened(self, x: Typed) -> Typed:
        """Convert integers to 64 bits."""
        if x.kind not in _INTEGERS:
            return x
        return self.converted(x, "uint64" if x.kind in _UNSIGNED else "int64")

    def _divided(self, x: Any, y: Any, *, rest: bool) -> Typed:
        """Return the quotient rounded down, or the remainder with the sign of the divisor."""
        build = self._build
        quotient, left = build.sdiv(x, y), build.srem(x, y)
        zero = left.type(0)
        signs_differ = build.icmp_signed("<", build.xor(left, y), zero)
        below = build.and_(build.icmp_signed("!=", left, zero), signs_differ)
        if rest:
            return Typed("int64", build.select(below, build.add(left, y), left))
        return Typed("int64", build.select(below, build.sub(quotient, zero.type(1)), quotient))

    def _elementary(self, formula: Callable[..., Number], *args: Typed) -> Typed:
        """Apply a function of floats, in float32 if all arguments are float32, else in float64."""
        kind = "float32" if all(x.kind == "float32" for x in args) else "float64"
        numbers = [Number(self._build, self.converted(x, kind).value) for x in args]
        return Typed(kind, formula(*numbers).value)

    def _select(self, condition: Typed, x: Typed, y: Typed) -> Typed:
        x, y = self.promoted(x, y)
        return Typed(x.kind, self._build.select(self.truth(condition), x.value, y.value))

    def _extreme(self, symbol: str, x: Typed, y: Typed) -> Typed:
        x, y = self.promoted(self.default_typed(x), y)
        test = self.comparison(symbol, x, y)
        return Typed(x.kind, self._build.select(test.value, x.value, y.value))

    def _scratch(self) -> Typed:
        return Typed("*uint32", self._entry.alloca(self.type_of("uint32"), SCRATCH_INTS))

    def _sums(self) -> Typed:
        return Typed("*float64", self._entry.alloca(self.type_of("float64"), SCRATCH_SUMS))

    def _word(self, *args: Typed) -> Typed:
        return Typed("uint32", philox_word(self._build, *[self.integer(x) for x in args]))

    def _view(self, kind: str, address: Typed) -> Typed:
        made = self._build.inttoptr(self.integer(address), self.type_of(kind))
        return Typed(kind, made)

    def _bits(self, source: str, target: str, x: Typed) -> Typed:
        return Typed(target, self._build.bitcast(self.required(x, source), self.type_of(target)))

    def _half(self, append: Callable[[Any, Any], Any], source: str, target: str, x: Typed) -> Typed:
        return Typed(target, append(self._build, self.required(x, source)))

    def _flag(self, kind: str, x: Typed) -> Typed:
        to = self.type_of(kind)
        return Typed(kind, self._build.select(self.truth(x), to(1), to(0)))


def _kind_with(x: Typed, y: Typed) -> str:
    """Return the type of operand ``x``; the type of a literal depends on the other operand."""
    if x.kind == "int" and y.kind == "uint64" and x.value >= 0:
        return y.kind
    return _LITERALS.get(x.kind, x.kind)


def _is_exact(x: Typed, kind: str) -> bool:
    """Whether a literal can be represented exactly in a float type."""
    if x.kind not in _LITERALS or kind not in _FLOATS:
        return False
    with np.errstate(over="ignore"):
        return bool(float(np.dtype(kind).type(x.value)) == x.value)


_Call = tuple[int, Callable[..., Typed]]  # number of arguments, and the function


def _with(method: Callable[..., Typed], *first: Any) -> Callable[..., Typed]:
    """Bind the leading arguments of a method, after ``self``."""
    return lambda values, *args: method(values, *first, *args)


_CALLS: dict[str, _Call] = {
    "select": (3, TypedValues._select),
    "min": (2, _with(TypedValues._extreme, "<")),
    "max": (2, _with(TypedValues._extreme, ">")),
    "scratch": (0, TypedValues._scratch),
    "scratch_sums": (0, TypedValues._sums),
    "philox_word": (3, TypedValues._word),
    "as_float": (1, _with(TypedValues._bits, "int64", "float64")),
    "as_int": (1, _with(TypedValues._bits, "float64", "int64")),
    "float_of_bits": (1, _with(TypedValues._bits, "uint32", "float32")),
    "bits_of_float": (1, _with(TypedValues._bits, "float32", "uint32")),
}
for _kind in (*_FLOATS, *_INTEGERS):
    _CALLS[_kind] = (1, partial(TypedValues.converted, kind=_kind))
    _short = _kind[0] + _kind.lstrip("uintfloa")
    _CALLS[_short] = (1, _with(TypedValues._view, f"*{_kind}"))
for _kind in (*_FLOATS, "int64"):
    _CALLS[f"flag_{_kind}"] = (1, _with(TypedValues._flag, _kind))
for _name, (_count, _formula) in FUNCTIONS.items():
    _CALLS[_name] = (_count, _with(TypedValues._elementary, _formula))
for _name, _append in LOADS.items():
    _CALLS[_name] = (1, _with(TypedValues._half, _append, "uint16", "float32"))
for _name, _append in STORES.items():
    _CALLS[_name] = (1, _with(TypedValues._half, _append, "float32", "uint16"))
