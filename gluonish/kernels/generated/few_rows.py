"""Dense layers on few rows, such as one token of each sequence: bound by reading the weight.

An output feature is computed for all rows, so that each element of the weight is read once, along
rows of the weight, and is multiplied by the elements of all rows of the data. A thread computes
some features at a time, from equal parts of its share of the weight: memory is read faster in a few
streams that are far apart than in one. Sums are float32, in an order that depends on the sizes
only.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.nn.dense import FULLY_CONNECTED, has_vector_bias
from gluonish.ops.registry import Attrs

_MOST_ROWS = 8  # of the data; more are bound by multiplications
_MOST_ELEMENTS = 1 << 16  # of the data: those of 16 bits are converted once, to the stack
_LEAST_ELEMENTS = 1 << 16  # of the weight for a thread
# Elements of the weight from which the kernel is worth its compilation, 0.1 s once on a machine. Of
# bfloat16 the library has no fast product without AVX-512.
_WORTH = {FLOAT32: 1 << 18, BFLOAT16: 1 << 16}
_SUMS = 8  # vectors in registers
_FLOAT = 4  # bytes
_LINE = 64  # bytes of a cache line
# Bytes from an element of the weight to the one whose reading begins: bfloat16 takes 0.8 of the
# time on 1 row, and 0.6 on 2, float32 in small pages 0.98. Four sums of an output are enough.
_AHEAD = 1024
_CHAINS = 4
_STREAMS = 2  # of a thread
# The kernel runs at most this many steps: up to 63 for each of 8 parts, which then are equal.
_MOST_STEPS = 504
_CUBIC, _TANH_SCALE = 0.044715, math.sqrt(2 / math.pi)  # of GELU by tanh
_ACTIVATIONS = (None, "relu", "gelu", "gelu_tanh")


class _Form(NamedTuple):
    """What the code of a kernel depends on.

    Attributes:
        rows: Number of rows of the data.
        kind: Dtype of all arrays.
        bias: Whether there is a bias.
        addend: Whether an array is added.
        activation: One of `_ACTIVATIONS`.
    """

    rows: int
    kind: str
    bias: bool
    addend: bool
    activation: str | None

    @property
    def names(self) -> str:
        """The names of the params."""
        bias, addend = " bias" * self.bias, " addend" * self.addend
        return f"out data weight{bias}{addend} units features step"

    @property
    def streams(self) -> int:
        """The number of output features that are computed at a time."""
        return min(_STREAMS, max(1, _SUMS // self.rows))

    @property
    def chains(self) -> int:
        """The number of sums of each output, which do not wait for one another."""
        return min(_CHAINS, max(1, _SUMS // (self.rows * self.streams)))

    @property
    def parts(self) -> int:
        """The number of vectors that a load gives."""
        return 1 if self.kind == "float32" else 2

    @property
    def unrolled(self) -> int:
        """The number of loads from a row of the weight in an iteration."""
        return max(1, self.chains // self.parts)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return _FLOAT if self.kind == "float32" else 2


@lru_cache(256)
def _kernel(form: _Form) -> CompiledKernel:
    def text() -> str:
        code = Assembler(form.names)
        _Writer(code, form).write()
        return code.finish()

    return compile_assembly(f"few rows {form} {lanes()}", text, __name__)


class _Writer:
    """Writes the code of a kernel.

    Attributes:
        width: Number of features that are loaded at once.
        whole: Number of features that are loaded by whole iterations.
        vectors: Number of features that are loaded as vectors.
    """

    def __init__(self, code: Assembler, form: _Form) -> None:
        self.code = code
        self.form = form
        self.features, self.units = code.params["features"], code.params["units"]
        self.width = form.parts * lanes()
        self.whole = self._multiple(form.unrolled * self.width)
        self.vectors = self._multiple(self.width)

    def _multiple(self, count: int) -> Value:
        """Return the number of features without the remainder of a division."""
        _, rest = self.code.divide(self.features, self.code.number(count))
        return self.code.difference(self.features, rest)

    def write(self) -> None:
        """Write the loops over output features."""
        code, streams = self.code, self.form.streams
        rows = self._data()
        width = code.params["step"]
        first = code.product(code.begin, width)
        end = code.least(code.product(code.end, width), self.units)
        part, _ = code.divide(code.difference(end, first), code.number(streams))
        with code.loop(first, code.sum(first, part)) as unit:
            self._units(rows, [code.sum(unit, code.product(part, i)) for i in range(streams)])
        with code.loop(code.sum(first, code.product(part, streams)), end) as unit:
            self._units(rows, [unit])

    def _data(self) -> list[Value]:
        """Return the address of each row as float32."""
        code, form = self.code, self.form
        at = code.params["data"]
        nbytes = code.product(self.features, _FLOAT)
        if form.kind == "float32":
            return [code.sum(at, code.product(nbytes, row)) for row in range(form.rows)]
        made = code.reserve(code.product(nbytes, form.rows))
        rows = [code.sum(made, code.product(nbytes, row)) for row in range(form.rows)]
        for row, to in enumerate(rows):
            self._convert(code.sum(at, code.product(self.features, form.itemsize, row)), to)
        return rows

    def _convert(self, source: Value, to: Value) -> None:
        """Convert a row to float32, each load's even elements before the odd ones."""
        code, form = self.code, self.form
        with code.loop(0, self.vectors, self.width) as at:
            target = code.sum(to, code.product(at, _FLOAT))
            for i, part in enumerate(code.load_pairs(self._at(source, at))):
                code.store(part, code.sum(target, i * lanes() * _FLOAT))
        with code.loop(self.vectors, self.features) as at:
            number = code.element(self._at(source, at), form.kind)
            code.store_float(number, code.sum(to, code.product(at, _FLOAT)))

    def _at(self, row: Value, feature: Value) -> Value:
        """Return the address of an element of a row."""
        return self.code.sum(row, self.code.product(feature, self.form.itemsize))

    def _loaded(self, row: Value, at: Value) -> tuple[Value, ...]:
        """Load features of a row of the weight."""
        address = self._at(row, at)
        if self.form.kind == "float32":
            return (self.code.load(address),)
        return self.code.load_pairs(address)

    def _units(self, rows: list[Value], units: list[Value]) -> None:
        """Compute some output features for all rows."""
        code, form = self.code, self.form
        nbytes = code.product(self.features, form.itemsize)
        start = code.params["weight"]
        weights = [code.sum(start, code.product(unit, nbytes)) for unit in units]
        pairs = len(rows) * len(units)

        def iteration(at: Value, sums: list[Value], loads: int) -> list[Value]:
            for load in range(loads):
                here = code.sum(at, load * self.width)
                if load * self.width * form.itemsize % _LINE == 0:
                    for row in weights:
                        code.prefetch(code.sum(self._at(row, here), _AHEAD))
                loaded = [self._loaded(row, here) for row in weights]
                for part in range(form.parts):
                    offset = code.product(code.sum(here, part * lanes()), _FLOAT)
                    data = [code.load(code.sum(row, offset)) for row in rows]
                    factors = [(x, parts[part]) for x in data for parts in loaded]
                    # The oldest sums are added to, and become the latest.
                    made = [code.fma(x, w, s) for (x, w), s in zip(factors, sums, strict=False)]
                    sums = [*sums[pairs:], *made]
            return sums

        def whole(at: Value, sums: list[Value]) -> list[Value]:
            return iteration(at, sums, form.unrolled)

        def one(at: Value, sums: list[Value]) -> list[Value]:
            return iteration(at, sums, 1)

        sums = [code.zeros()] * (form.chains * pairs)
        sums = code.fold(0, self.whole, form.unrolled * self.width, sums, whole)
        sums = code.fold(self.whole, self.vectors, self.width, sums, one)
        totals = [code.sum_of_lanes(self._added(sums[i::pairs])) for i in range(pairs)]
        for i, total in enumerate(self._rest(rows, weights, totals)):
            self._finish(total, i // len(units), units[i % len(units)])

    def _added(self, vectors: list[Value]) -> Value:
        total, *rest = vectors
        for vector in rest:
            total = self.code.add(total, vector)
        return total

    def _rest(self, rows: list[Value], weights: list[Value], sums: list[Value]) -> list[Value]:
        """Add the products of the features behind the last vector."""
        code, form = self.code, self.form

        def terms(at: Value, totals: list[Value]) -> list[Value]:
            wide = [code.element(self._at(x, at), form.kind) for x in weights]
            offset = code.product(at, _FLOAT)
            data = [code.element(code.sum(x, offset), "float32") for x in rows]
            products = [code.float_product(x, w) for x in data for w in wide]
            return [code.add(x, y) for x, y in zip(totals, products, strict=True)]

        return code.fold(self.vectors, self.features, 1, sums, terms)

    def _finish(self, total: Value, row: int, unit: Value) -> None:
        """Add bias and addend, apply the activation, and store an element."""
        code, form = self.code, self.form
        if form.bias:
            offset = code.product(unit, form.itemsize)
            total = code.add(total, code.element(code.sum(code.params["bias"], offset), form.kind))
        offset = code.product(code.sum(code.product(self.units, row), unit), form.itemsize)
        if form.addend:
            at = code.sum(code.params["addend"], offset)
            total = code.add(total, code.element(at, form.kind))
        if form.activation is not None:
            total = code.first(self._activated(code.filled(total)))
        code.store_element(total, code.sum(code.params["out"], offset), form.kind)

    def _activated(self, x: Value) -> Value:
        code = self.code
        if self.form.activation == "relu":
            return code.relu(x)
        if self.form.activation == "gelu":
            inner = code.function("erf", code.multiply(x, code.constant(math.sqrt(0.5))))
        else:
            cubic = code.multiply(code.multiply(x, x), code.constant(_CUBIC))
            scaled = code.multiply(x, code.add(cubic, code.constant(1.0)))
            inner = code.function("tanh", code.multiply(scaled, code.constant(_TANH_SCALE)))
        inner = code.add(inner, code.constant(1.0))
        return code.multiply(code.multiply(x, code.constant(0.5)), inner)


def _supports(
    data: Spec,
    weight: Spec,
    *rest: Spec,
    no_bias: bool,
    activation: str | None = None,
    **_: Any,
) -> bool:
    specs = (data, weight, *rest)
    if not MXNET_USE_FUSION.value or activation not in _ACTIVATIONS:
        return False
    if any(x.dtype != data.dtype for x in specs) or weight.size < _WORTH.get(data.dtype, math.inf):
        return False
    if not 0 < data.size <= _MOST_ELEMENTS:
        return False
    if not has_vector_bias(data, weight, *([] if no_bias else rest[:1])):
        return False
    return data.size // weight.shape[1] <= _MOST_ROWS


def _plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    (out,), (data, weight, *rest) = outputs, inputs
    if not all(x.flags.c_contiguous for x in (out, data, weight, *rest)):
        raise RefusedError("few_rows: expected contiguous arrays, got strided ones")
    units, features = weight.shape
    form = _Form(
        rows=data.size // features,
        kind=str(data.dtype),
        bias=not attrs["no_bias"],
        addend=attrs.get("with_sum", False),
        activation=attrs.get("activation"),
    )
    return Bound(_plan_of(form, units, features))


@lru_cache(1024)
def _plan_of(form: _Form, units: int, features: int) -> KernelPlan:
    width = max(form.streams, -(-units // _MOST_STEPS))
    params = [*[0] * (3 + form.bias + form.addend), units, features, width]
    grain = max(1, _LEAST_ELEMENTS // (width * features))
    return KernelPlan(_kernel(form), params, -(-units // width), grain)


KERNELS = tuple(
    (
        op,
        FastKernel(
            *(BackEnd.GENERATED, "few_rows", _supports),
            plan=_plan,
            enabled=available,
            makes=(FLOAT32, BFLOAT16),
        ),
    )
    for op in (FULLY_CONNECTED, FUSED_DENSE)
)
