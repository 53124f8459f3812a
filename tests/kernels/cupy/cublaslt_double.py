"""A stand-in for libcublasLt on a `Machine`: what cublasLt.h and NVIDIA's documentation say of it.

cublaslt_surface.json, made from the header, has the attributes with the sizes of their values.
Functions are real C pointers made from `PROTOTYPES`. Heuristics answer one algorithm for each
problem that the table of cublasLtMatmul allows; it needs the alignments that were promised, and
some workspace. A product reads and writes the machine's memory on the stream that it was given.
"""

import ctypes
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gluonish.kernels.cupy.cublaslt import PROTOTYPES, adopt
from tests.kernels.cupy.cost_model.records import Product
from tests.kernels.cupy.cublas_double import (
    DTYPES,
    PRECISIONS,
    Function,
    matrices,
    multiplied,
    stream_at,
)
from tests.kernels.cupy.machine import Machine, Memory

SURFACE: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent / "cublaslt_surface.json").read_text(encoding="utf-8")
)
SUCCESS, NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 0, 1, 7, 15
_FLOAT, _DOUBLE, _HALF, _BFLOAT = 0, 1, 2, 14
# Scale type, type of A and B, type of C and D: the table of cublasLtMatmul, real types of floats.
_SINGLE = {(_FLOAT, a, d) for a, d in ((14, 14), (2, 2), (14, 0), (2, 0), (0, 0))}
_SUPPORTED = {
    64: {(_HALF, _HALF, _HALF)},
    68: _SINGLE,
    69: _SINGLE,
    77: {(_FLOAT, _FLOAT, _FLOAT)},
    70: {(_DOUBLE, _DOUBLE, _DOUBLE)},
}
_EPILOGUES = {number: name for name, number in SURFACE["enums"]["cublasLtEpilogue_t"].items()}
_KNOWN = {"DEFAULT", "RELU", "BIAS", "RELU_BIAS", "BGRADB"}
_DESC, _PREF = "cublasLtMatmulDescAttributes_t", "cublasLtMatmulPreferenceAttributes_t"
_WORKSPACE = 256  # bytes that an algorithm needs, and its alignment
_PARTS = 0x4  # CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE


class _Layout(NamedTuple):
    kind: int
    rows: int
    columns: int
    lead: int


class _Attributes:
    """A descriptor or a preference: attributes by their names, as the bytes that were given."""

    def __init__(self, kind: str, **known: int) -> None:
        self._names = {number: name for name, number in SURFACE["enums"][kind].items()}
        self._sizes = SURFACE["sizes"][kind]
        self._values = dict(known)

    def set(self, attribute: int, address: int | None, size: int) -> int:
        name = self._names.get(attribute)
        if name is None or not address or size != self._sizes[name]:
            return INVALID_VALUE
        self._values[name] = int.from_bytes(ctypes.string_at(address, size), "little")
        return SUCCESS

    def get(self, name: str, default: int = 0) -> int:
        return self._values.get(name, default)


class _Call(NamedTuple):
    """A problem as its descriptors have it."""

    compute: int
    scale: int
    flips: tuple[int, int]
    epilogue: str
    vector_kind: int
    layouts: tuple[_Layout, _Layout, _Layout, _Layout]


class CublasLtDouble:
    """The library.

    Args:
        machine: Whose memory and streams it works on.

    Attributes:
        calls: Names of the functions that were called, in order.
        computes: How products were to be computed, in order.
        epilogues: Names of the epilogues of products, in order.
        refuses: Epilogues for which the heuristics find nothing.
        fails: Epilogues whose products the device does not support.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._handles: dict[int, int] = {}  # devices
        self._objects: dict[int, Any] = {}
        self._made = 0xB1A50
        self._problems: list[_Call] = []
        self.calls: list[str] = []
        self.computes: list[int] = []
        self.epilogues: list[str] = []
        self.refuses: set[str] = set()
        self.fails: set[str] = set()
        for name, prototype in PROTOTYPES.items():
            body = getattr(self, "_" + name.removeprefix("cublasLt").lower())
            setattr(self, name, Function(prototype, self._logged(name, body)))

    @property
    def living(self) -> int:
        """Number of descriptors that were not destroyed."""
        return len(self._objects)

    def _logged(self, name: str, body: Callable[..., int]) -> Callable[..., int]:
        def call(*args: Any) -> int:
            self.calls.append(name)
            return body(*args)

        return call

    def _add(self, out: Any, made: Any) -> int:
        self._made += 64
        self._objects[self._made] = made
        out[0] = self._made
        return SUCCESS

    def _destroy(self, number: int) -> int:
        return SUCCESS if self._objects.pop(number, None) is not None else INVALID_VALUE

    def _create(self, out: Any) -> int:
        self._made += 64
        self._handles[self._made] = self._machine.here.device
        out[0] = self._made
        return SUCCESS

    def _matmuldesccreate(self, out: Any, compute: int, scale: int) -> int:
        return self._add(out, _Attributes(_DESC, COMPUTE_TYPE=compute, SCALE_TYPE=scale))

    def _matmuldescsetattribute(self, desc: int, name: int, value: int, size: int) -> int:
        return int(self._objects[desc].set(name, value, size))

    _matmuldescdestroy = _matrixlayoutdestroy = _matmulpreferencedestroy = _destroy

    def _matrixlayoutcreate(self, out: Any, kind: int, rows: int, columns: int, lead: int) -> int:
        return self._add(out, _Layout(kind, rows, columns, lead))

    def _matmulpreferencecreate(self, out: Any) -> int:
        return self._add(out, _Attributes(_PREF))

    _matmulpreferencesetattribute = _matmuldescsetattribute

    def _matmulalgogetheuristic(
        self, handle: int, desc: int, a: int, b: int, c: int, d: int, preference: int,
        wanted: int, choices: Any, count: Any,
    ) -> int:  # fmt: skip
        if handle not in self._handles:
            return NOT_INITIALIZED
        call, preferred = self._call(desc, (a, b, c, d)), self._objects[preference]
        count[0] = 0
        status = self._check(call)
        if status or wanted <= 0:
            return status or INVALID_VALUE
        alignments = [preferred.get(f"MIN_ALIGNMENT_{x}_BYTES", 256) for x in "ABCD"]
        if self._has_vector(call):
            vector = self._objects[desc].get("BIAS_POINTER")
            alignments.append(vector & -vector)  # none at all is aligned to everything: see below
        sizes = [DTYPES[call.layouts[i].kind].itemsize for i in (0, 3)]
        nothing = preferred.get("MAX_WORKSPACE_BYTES") < _WORKSPACE
        nothing |= min(x or 256 for x in alignments) < max(sizes)
        if nothing or call.epilogue in self.refuses:
            return SUCCESS
        # Sums of parts in 16 bits would round: gluonish never allows them.
        assert not preferred.get("REDUCTION_SCHEME_MASK", 7) & _PARTS
        self._problems.append(call)
        made = choices[0]
        made.algorithm.data[0] = len(self._problems)
        made.algorithm.data[1] = min(x or 256 for x in alignments)
        made.workspace_nbytes, made.state, made.waves = _WORKSPACE, SUCCESS, 1.0
        count[0] = 1
        return SUCCESS

    def _matmul(
        self, handle: int, desc: int, alpha: int, a: int, a_desc: int, b: int, b_desc: int,
        beta: int, c: int, c_desc: int, d: int, d_desc: int, algorithm: Any,
        workspace: int, nbytes: int, stream: int,
    ) -> int:  # fmt: skip
        if handle not in self._handles:
            return NOT_INITIALIZED
        machine = self._machine
        assert self._handles[handle] == machine.here.device, "a handle of another device"
        call = self._call(desc, (a_desc, b_desc, c_desc, d_desc))
        number, alignment = algorithm[0].data[0], algorithm[0].data[1]
        if not number or self._problems[number - 1] != call:
            return INVALID_VALUE  # the algorithm was configured for another problem
        vector = self._objects[desc].get("BIAS_POINTER") if self._has_vector(call) else 0
        if self._has_vector(call) and not vector:
            return INVALID_VALUE
        for address in (a, b, c, d, vector):
            assert address % alignment == 0, "an address less aligned than the algorithm needs"
        if nbytes < _WORKSPACE or workspace % _WORKSPACE:
            return INVALID_VALUE
        if call.epilogue in self.fails:
            return NOT_SUPPORTED
        scale = ctypes.c_double if call.scale == _DOUBLE else ctypes.c_float
        factors = scale.from_address(alpha).value, scale.from_address(beta).value
        self._launch(call, factors, (a, b, c, d), vector, workspace, stream_at(machine, stream))
        self.computes.append(call.compute)
        self.epilogues.append(call.epilogue)
        return SUCCESS

    def _launch(
        self, call: _Call, factors: tuple[float, float], addresses: Sequence[int], vector: int,
        workspace: int, stream: Any,
    ) -> None:  # fmt: skip
        machine, (rows, columns) = self._machine, call.layouts[3][1:3]
        a, b, c, d = call.layouts
        inner = a.rows if call.flips[0] else a.columns
        shapes = [(rows, inner), (inner, columns), (rows, columns), (rows, columns)]
        found = [
            matrices(machine, address, x.kind, x.lead, 0, 1, *shape, flip)
            for address, x, shape, flip in zip(
                addresses, (a, b, c, d), shapes, (*call.flips, 0, 0), strict=True
            )
        ]
        (_, left), (_, right), (_, addend), (_, out) = found
        used: list[tuple[Memory | None, bool]] = [
            (found[i][0], False) for i in (0, 1, 2) if i < 2 or factors[1]
        ]
        used += [(found[3][0], True), (machine._behind(workspace), True)]
        extra: Any = None
        if vector:
            sums = call.epilogue == "BGRADB"
            length = columns if sums else rows
            memory, extra = matrices(machine, vector, d.kind, length, 0, 1, length, 1, 0)
            used.append((memory, sums))
        memories: list[tuple[Memory, bool]] = [(memory, x) for memory, x in used if memory]
        assert len(memories) == len(used), "a workspace outside device memory"

        def work() -> None:
            x, y = multiplied(left[0], call.compute), multiplied(right[0], call.compute)
            made = factors[0] * (x @ y)
            if factors[1]:
                made = made + factors[1] * addend[0].astype(made.dtype)
            if call.epilogue == "BGRADB":
                extra[0, :, 0] = right[0].astype(made.dtype).sum(axis=0).astype(extra.dtype)
            elif vector:
                made = made + extra[0].astype(made.dtype)
            if call.epilogue.startswith("RELU"):
                made = np.maximum(made, 0)
            out[0] = made.astype(out.dtype)

        reads = [left, right, *([addend] if factors[1] else []), *([extra] if vector else [])]
        problem = Product(rows, columns, inner, 1)
        cost = machine.cost("product", reads, [out], problem=problem)
        if cost is not None and call.compute in PRECISIONS:
            cost = cost._replace(dtype=PRECISIONS[call.compute])
        machine.use(stream, memories, "matmul", work, cost=cost)

    def _call(self, desc: int, layouts: Sequence[int]) -> _Call:
        found = self._objects[desc]
        return _Call(
            found.get("COMPUTE_TYPE"),
            found.get("SCALE_TYPE"),
            (found.get("TRANSA"), found.get("TRANSB")),
            _EPILOGUES[found.get("EPILOGUE", 1)],
            found.get("BIAS_DATA_TYPE", 2**32 - 1),
            tuple(self._objects[x] for x in layouts),  # type: ignore[arg-type]  # four of them
        )

    @staticmethod
    def _has_vector(call: _Call) -> bool:
        return "BIAS" in call.epilogue or "BGRAD" in call.epilogue

    @staticmethod
    def _check(call: _Call) -> int:
        """Return the status that a problem is refused with; 0 if it is fine."""
        assert call.epilogue in _KNOWN, f"{call.epilogue}: not known to this double"
        a, b, c, d = call.layouts
        shapes = [
            (x.columns, x.rows) if flip else (x.rows, x.columns)
            for x, flip in zip((a, b), call.flips, strict=True)
        ]
        fits = (shapes[0][0], shapes[1][1]) == (d.rows, d.columns)
        fits &= shapes[0][1] == shapes[1][0] and c == d
        if not fits or any(x.lead < x.rows for x in call.layouts) or min(*d[1:3], *shapes[0]) < 1:
            return INVALID_VALUE
        kinds = (call.scale, a.kind, d.kind)
        if kinds not in _SUPPORTED.get(call.compute, ()) or a.kind != b.kind:
            return NOT_SUPPORTED
        own = call.vector_kind in (2**32 - 1, d.kind)  # -1: that of the output
        return SUCCESS if own or not CublasLtDouble._has_vector(call) else NOT_SUPPORTED


def install(cupy: Any, machine: Machine) -> CublasLtDouble:
    """Let products with epilogues of a double of CuPy go to a library of its own; return that."""
    library = CublasLtDouble(machine)
    adopt(cupy, library)
    machine.cublaslt = library  # type: ignore[attr-defined]  # for tests that ask what was called
    return library
