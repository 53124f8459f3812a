"""Universal functions of the double: CuPy's loop for the dtypes that are given, NumPy's values.

Which loop CuPy takes for each pair of dtypes stands in surface.json, found by CuPy itself. The
operands are converted to what the loop takes and the result to what it gives, whatever NumPy makes
of them. Loops in bfloat16 compute in float32, as CuPy's do.
"""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernels.cupy.arrays import Array, allocate, flatten, run
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.refusals import ATOMIC
from tests.kernels.cupy.surface import SURFACE, UNKNOWN

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
LETTERS = {np.dtype(c) if c != "E" else BFLOAT16: c for c in "?bBhHiIlLeEfdFD"}
_DTYPES = {c: dtype for dtype, c in LETTERS.items()} | {
    "q": np.dtype(np.int64),
    "Q": np.dtype(np.uint64),
}
_NUMBERS = (bool, int, float, complex)
_COLUMNS = len(LETTERS) + len(_NUMBERS)
_PLACES = {dtype: i for i, dtype in enumerate(LETTERS)}
_REDUCIBLE = ("add", "multiply")

Loop = tuple[list[np.dtype[Any]], list[np.dtype[Any]]]


def _place(operand: Any) -> int:
    """Return the row of an operand in the tables."""
    if type(operand) in _NUMBERS:
        return len(LETTERS) + _NUMBERS.index(type(operand))
    dtype = operand.dtype if isinstance(operand, Array | np.generic) else np.dtype(type(operand))
    return _PLACES.get(dtype, -1)


def _spelled(loop: str) -> Loop:
    taken, given = loop.split("->")
    return [_DTYPES[c] for c in taken], [_DTYPES[c] for c in given]


def find_loop(name: str, operands: Sequence[Any]) -> Loop:
    """Return what CuPy's loop for one or two operands takes and gives.

    Raises:
        TypeError: There is none.
    """
    facts = SURFACE["loops"][name]
    places = [_place(x) for x in operands]
    letter = "."
    if min(places) >= 0:
        wide = _COLUMNS if len(places) == 2 else 0
        letter = facts["taken"][places[0] * wide + places[-1]]
    if letter == ".":
        kinds = [getattr(x, "dtype", type(x)) for x in operands]
        raise TypeError(f"Wrong type ({kinds}) of arguments for cupy_{name}")
    return _spelled(facts["types"][ord(letter) - ord("a")])


def _loop_of_dtype(name: str, dtype: Any) -> Loop:
    """Return the first loop that gives a dtype."""
    for text in SURFACE["loops"][name]["types"]:
        loop = _spelled(text)
        if loop[1][0] == np.dtype(dtype):
            return loop
    raise TypeError(f"No loop matching the specified signature was found in ufunc cupy_{name}")


def converted(operand: Any, dtype: np.dtype[Any]) -> Any:
    """Return an operand as a loop reads it; one in bfloat16 as float32."""
    values = np.asarray(operand).astype(dtype, copy=False)
    return values.astype(np.float32) if dtype == BFLOAT16 else values


class Ufunc:
    """A universal function with CuPy's arguments.

    Args:
        machine: Where it runs.
        name: CuPy's name, in surface.json.
        function: NumPy's.
    """

    def __init__(self, machine: Machine, name: str, function: Any, at: bool = False) -> None:
        self._machine = machine
        self._name = name
        self._function = function
        self._at = at
        self.nin = len(SURFACE["loops"][name]["types"][0].split("->")[0])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self._function is not None, f"cupy.{self._name}: {UNKNOWN}"
        unknown = set(kwargs) - {"out", "dtype", "casting"}
        if unknown:
            raise TypeError(f"cupy.{self._name}: Wrong arguments {unknown}")
        out = kwargs.get("out")
        if len(args) > self.nin:
            out, args = args[self.nin], args[: self.nin]
        sources: list[Array] = []
        plain = [flatten(x, sources) for x in args]
        if any(isinstance(x, list | tuple) for x in args):
            raise TypeError(f"cupy.{self._name}: Unsupported type list")
        dtype = kwargs.get("dtype")
        taken, given = (
            find_loop(self._name, args) if dtype is None else _loop_of_dtype(self._name, dtype)
        )
        self._check_out(out, given, kwargs.get("casting", "same_kind"))
        return self._run(plain, sources, taken, given, out)

    def _check_out(self, out: Any, given: list[np.dtype[Any]], casting: str) -> None:
        outs = out if isinstance(out, tuple) else (out,)
        for one, dtype in zip(outs, given, strict=False):
            if one is None:
                continue
            if not isinstance(one, Array):
                raise TypeError(f"cupy.{self._name}: expected a cupy.ndarray, got {type(one)}")
            if not np.can_cast(dtype, one.dtype, casting):  # type: ignore[arg-type]  # CuPy checks
                raise TypeError(f"cupy.{self._name}: cannot cast {dtype} to {one.dtype}: {casting}")

    def _run(
        self,
        plain: list[Any],
        sources: list[Array],
        taken: list[np.dtype[Any]],
        given: list[np.dtype[Any]],
        out: Any,
    ) -> Any:
        function = self._function

        def compute() -> Any:
            result = function(*map(converted, plain, taken))
            if len(given) == 1:
                return np.asarray(result).astype(given[0], copy=False)
            return tuple(np.asarray(x).astype(d) for x, d in zip(result, given, strict=True))

        if out is None and not self._machine.executes and len(given) == 1:
            shape = np.broadcast_shapes(*(np.shape(x) for x in plain))
            out = allocate(self._machine, shape, given[0])
        if not isinstance(out, tuple):
            return run(self._machine, self._name, compute, sources, out)
        for i, one in enumerate(out):
            run(
                *(self._machine, self._name, lambda i=i: compute()[i], sources, one),
                launches=int(i == 0),
            )
        return out

    def at(self, a: Array, indices: Any, b: Any = None) -> None:
        """Add (or the like) at positions that may repeat."""
        if not self._at:
            raise NotImplementedError(f"`cupy_{self._name}.at` is not supported yet")
        if a.dtype not in ATOMIC[self._name]:
            raise TypeError(f"cupy.{self._name}.at does not support {a.dtype} as data type")
        sources: list[Array] = []
        index, values = flatten(indices, sources), flatten(b, sources)
        function, raw = self._function, a._raw
        self._machine.access(
            [*((s._block, False) for s in sources), (a._block, True)],
            f"{self._name}.at",
            lambda: function.at(raw, index, np.asarray(values).astype(raw.dtype)),
            cost=self._machine.cost("cupy", [s._raw for s in sources], [sources[-1]._raw]),
        )

    def reduce(self, array: Array, **kwargs: Any) -> Any:
        """Reduce along an axis; CuPy has it for sums and products."""
        if self._name not in _REDUCIBLE:
            raise NotImplementedError(f"`cupy_{self._name}.reduce` is not supported yet")
        return array.sum(**kwargs) if self._name == "add" else array.prod(**kwargs)


_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARED = dict(
    pair.split()
    for pair in (
        *("eq equal", "ne not_equal", "lt less"),
        *("le less_equal", "gt greater", "ge greater_equal"),
    )
)
_UNARY = {"neg": "negative", "invert": "invert", "abs": "absolute", "pos": "positive"}


def _applied(name: str, function: Any, reverse: bool, in_place: bool) -> Callable[..., Any]:
    def method(self: Array, *other: Any) -> Any:
        ufunc = Ufunc(self._machine, name, function)
        if in_place:
            return ufunc(self, *other, out=self)
        return ufunc(*other, self) if reverse else ufunc(self, *other)

    return method


def give_operators() -> None:
    """Give arrays Python's operators."""
    for word, name in (_BINARY | _COMPARED | _UNARY).items():
        function = getattr(np, name)
        setattr(Array, f"__{word}__", _applied(name, function, False, False))
        if word in _BINARY:
            setattr(Array, f"__r{word}__", _applied(name, function, True, False))
            setattr(Array, f"__i{word}__", _applied(name, function, False, True))


give_operators()
