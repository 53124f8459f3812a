"""Tensors of an ONNX graph while it is written, and the emitter that appends nodes for them.

Translators compute on `Tensor`s as on arrays: ``x * 2 + y`` appends a Mul and an Add. Where ONNX's
operator does not support the element type (a convolution of bfloat16 before opset 22), the node
computes in float32, between casts. This module does not need the package onnx.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, is_floating
from gluonish.onnx.exporting.package import allowed_types

Number = int | float | bool


class OpenExtent:
    """The size of a dynamic axis, with the example sizes of two runs of shape inference.

    This is not a number, so that a translator that needs a fixed size fails, instead of writing a
    file that is correct for one size only.
    """

    __slots__ = ("trials",)

    def __init__(self, first: int, second: int) -> None:
        self.trials = (first, second)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenExtent) and other.trials == self.trials

    def __hash__(self) -> int:
        return hash(self.trials)

    def __repr__(self) -> str:
        return "dynamic"


Extent = int | OpenExtent

_TRUTHS = frozenset(
    ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not")
) | {"IsNaN", "IsInf"}
_COUNTS = frozenset(("Shape", "Size", "ArgMax", "ArgMin", "NonZero", "NonMaxSuppression"))
# Operators whose first input does not decide the element type of the result.
_TYPED_BY = {"Where": 1, "OneHot": 2, "Range": 0}


def word_of(dtype: np.dtype[Any]) -> str:
    """Return ONNX's name of an element type: ``float`` for float32."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


@dataclass(eq=False, slots=True)
class Draft:
    """An ONNX node that is still to be written to the file."""

    kind: str
    inputs: list["Tensor | None"]
    outputs: list["Tensor | None"]
    attrs: dict[str, Any]


@dataclass(eq=False, slots=True)
class Body:
    """A graph as an attribute of a node: the body of Scan, Loop or If."""

    emitter: "Emitter"
    inputs: Sequence["Tensor"]
    outputs: Sequence["Tensor"]


class Tensor:
    """A value in the ONNX graph that is being built.

    Attributes:
        emitter: Receives the nodes that read the tensor.
        name: Name of the value in the file.
        dtype: Element type.
        shape: Sizes of the axes; None if they are not known.
    """

    __slots__ = ("dtype", "emitter", "name", "shape")

    def __init__(
        self,
        emitter: "Emitter",
        name: str,
        dtype: np.dtype[Any],
        shape: tuple[Extent, ...] | None = None,
    ) -> None:
        self.emitter, self.name, self.dtype, self.shape = emitter, name, dtype, shape

    def __repr__(self) -> str:
        return f"<tensor {self.name} {self.dtype}{self.shape}>"

    @property
    def known_shape(self) -> tuple[Extent, ...]:
        """The shape; always known for inputs of operators and constants."""
        assert self.shape is not None
        return self.shape

    @property
    def rank(self) -> int:
        """Number of axes; always known for inputs of operators and constants."""
        return len(self.known_shape)

    def size(self, axis: int) -> int:
        """Return the size of an axis that is not dynamic.

        Raises:
            TypeError: The axis is dynamic.
        """
        extent = self.known_shape[axis]
        if isinstance(extent, OpenExtent):
            raise TypeError(f"an axis {axis} of known size")
        return extent

    def to(self, dtype: np.dtype[Any]) -> "Tensor":
        """Cast to another element type."""
        if self.dtype == dtype:
            return self
        made = self.emitter("Cast", self, to=dtype, dtype=dtype)
        made.shape = self.shape
        return made

    def _with(self, kind: str, other: "Tensor | Number", swapped: bool = False) -> "Tensor":
        emitter = self.emitter
        if not isinstance(other, Tensor):
            other = emitter.constant(other, self.dtype)
        return emitter(kind, other, self) if swapped else emitter(kind, self, other)

    def __add__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Add", other)

    def __sub__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Sub", other)

    def __mul__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Mul", other)

    def __truediv__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Div", other)

    def __pow__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Pow", other)

    def __radd__(self, other: Number) -> "Tensor":
        return self._with("Add", other, swapped=True)

    def __rsub__(self, other: Number) -> "Tensor":
        return self._with("Sub", other, swapped=True)

    def __rmul__(self, other: Number) -> "Tensor":
        return self._with("Mul", other, swapped=True)

    def __rtruediv__(self, other: Number) -> "Tensor":
        return self._with("Div", other, swapped=True)

    def __rpow__(self, other: Number) -> "Tensor":
        return self._with("Pow", other, swapped=True)

    def __neg__(self) -> "Tensor":
        return self.emitter("Neg", self)

    def __lt__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Less", other)

    def __le__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("LessOrEqual", other)

    def __gt__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("Greater", other)

    def __ge__(self, other: "Tensor | Number") -> "Tensor":
        return self._with("GreaterOrEqual", other)

    def equals(self, other: "Tensor | Number") -> "Tensor":
        """Return elementwise equality."""
        return self._with("Equal", other)

    def __and__(self, other: "Tensor") -> "Tensor":
        return self._with("And", other)

    def __or__(self, other: "Tensor") -> "Tensor":
        return self._with("Or", other)

    def __invert__(self) -> "Tensor":
        return self.emitter("Not", self)


# Types to compute unsupported ones in: the first that the operator supports.
_WIDER: dict[str, tuple[np.dtype[Any], ...]] = {
    "b": (INT32, INT64, FLOAT32, FLOAT64),
    "i": (INT32, INT64, FLOAT32, FLOAT64),
    "u": (INT32, INT64, FLOAT32, FLOAT64),
    "f": (FLOAT32, FLOAT64, INT64, INT32),
}


@dataclass(eq=False)
class Emitter:
    """Appends nodes to a graph, or to the body of a node.

    Args:
        opset: Version of ONNX's operators.
        used: Names in use in the whole file.
        constants: Names of all constants in the file, by their content.
        arrays: All constants in the file, by name.
        reals: Real values of int32 sums, by the names of their tensors.
        weights: The values of the model's parameters, by name.
        origins: For each dynamic size, an input of the model and its axis of this size.
        word: Prefix for names of new values: the name of the node in translation.
        nodes: The appended nodes.
    """

    opset: int
    used: set[str] = field(default_factory=set)
    constants: dict[tuple[Any, ...], str] = field(default_factory=dict)
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    origins: dict[OpenExtent, tuple[Tensor, int]] = field(default_factory=dict)
    reals: dict[str, Tensor] = field(default_factory=dict)
    weights: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    word: str = ""
    nodes: list[Draft] = field(default_factory=list)

    def body(self) -> "Emitter":
        """Return an emitter for the body of a node, which may read all values of this graph."""
        shared = (self.used, self.constants, self.arrays, self.origins, self.reals, self.weights)
        return Emitter(self.opset, *shared, self.word)

    def unique(self, word: str) -> str:
        """Reserve and return an unused name."""
        name, number = word, 0
        while name in self.used:
            number += 1
            name = f"{word}_{number}"
        self.used.add(name)
        return name

    def constant(self, value: Any, dtype: Any = None) -> Tensor:
        """Return a constant: a number, nested lists, or an array. Integers become int64."""
        array = np.asarray(value, dtype)
        if dtype is None and not isinstance(value, np.ndarray | np.generic):
            array = array.astype(FLOAT32 if array.dtype.kind == "f" else INT64)
            array = array.astype(BOOL) if isinstance(value, bool) else array
        key = (array.dtype, array.shape, array.tobytes())
        name = self.constants.get(key)
        if name is None:
            name = self.constants[key] = self.unique(f"{self.word}_constant")
            self.arrays[name] = array
        return Tensor(self, name, array.dtype, array.shape)

    def __call__(
        self, kind: str, *inputs: Any, dtype: np.dtype[Any] | None = None, **attrs: Any
    ) -> Tensor:
        """Append a node with one output and return the output.

        Args:
            kind: Name of ONNX's operator.
            *inputs: Tensors; None for an omitted input; anything else becomes a constant.
            dtype: Element type of the output, if neither the operator nor the first input
                determines it.
            **attrs: Attributes of the operator; those that are None are omitted.
        """
        (made,) = self.several(kind, 1, *inputs, dtypes=None if dtype is None else [dtype], **attrs)
        return made

    def several(
        self,
        kind: str,
        count: int,
        *inputs: Any,
        dtypes: Sequence[np.dtype[Any]] | None = None,
        **attrs: Any,
    ) -> list[Tensor]:
        """Append a node with several outputs and return them; see `__call__`."""
        tensors = [x if x is None or isinstance(x, Tensor) else self.constant(x) for x in inputs]
        fitted = self._fitted(kind, tensors)
        own = self._dtype(kind, tensors)
        run = self._dtype(kind, fitted)
        results = list(dtypes) if dtypes is not None else [own] * count
        outputs = [Tensor(self, self.unique(f"{self.word}_{kind.lower()}"), y) for y in results]
        if own == run or dtypes is not None:
            self._append(kind, fitted, outputs, attrs)
            return outputs
        inner = [Tensor(self, self.unique(f"{self.word}_{kind.lower()}"), run) for _ in results]
        self._append(kind, fitted, inner, attrs)
        for x, y in zip(inner, outputs, strict=True):
            self._append("Cast", [x], [y], {"to": y.dtype})
        return outputs

    def _append(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor],
        attrs: Mapping[str, Any],
    ) -> None:
        given = {name: value for name, value in attrs.items() if value is not None}
        self.nodes.append(Draft(kind, list(inputs), list(outputs), given))

    def _dtype(self, kind: str, inputs: Sequence[Tensor | None]) -> np.dtype[Any]:
        if kind in _TRUTHS:
            return BOOL
        index = _TYPED_BY.get(kind, 0)
        first = inputs[index] if index < len(inputs) else None
        return INT64 if kind in _COUNTS or first is None else first.dtype

    def _fitted(self, kind: str, inputs: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Cast inputs to types that the operator supports; inputs of equal type stay equal."""
        allowed = allowed_types(kind, self.opset)
        if kind == "Cast" or all(x is None or x.dtype == FLOAT32 for x in inputs):
            return list(inputs)
        moves: dict[np.dtype[Any], np.dtype[Any]] = {}
        for i, x in enumerate(inputs):
            words = allowed[min(i, len(allowed) - 1)]
            if x is not None and word_of(x.dtype) not in words:
                kinds = _WIDER["f" if is_floating(x.dtype) else x.dtype.kind]
                usable = [y for y in kinds if word_of(y) in words]
                moves[x.dtype] = next(
                    (y for y in usable if x.dtype.kind != "i" or y.itemsize >= x.dtype.itemsize),
                    usable[0] if usable else x.dtype,
                )
        if not moves:
            return list(inputs)
        return [None if x is None else self._moved(x, moves) for x in inputs]

    def _moved(self, x: Tensor, moves: Mapping[np.dtype[Any], np.dtype[Any]]) -> Tensor:
        target = moves.get(x.dtype)
        if target is None:
            return x
        constant = self.arrays.get(x.name)
        if constant is not None:
            return self.constant(constant.astype(target))
        made = Tensor(self, self.unique(f"{self.word}_cast"), target, x.shape)
        self._append("Cast", [x], [made], {"to": target})
        return made
