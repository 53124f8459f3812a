"""Programs of elementwise operators in one launch."""

import sys
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import (
    GLUONISH_CUDA_VECTORS,
    MXNET_FUSION_VERBOSE,
    MXNET_USE_FUSION,
)
from gluonish.core.config.flag import changes, encoded, environment
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous, copy
from gluonish.kernels.cupy.pointwise_source import (
    THREADS,
    PointwiseKernel,
    ScatteredKernel,
    key_values,
)
from gluonish.kernels.cupy.pointwise_vectors import VectorKernel, vector_length
from gluonish.kernels.cupy.random_numbers import key_arguments
from gluonish.kernels.cupy.source import VECTOR_NBYTES, compiled
from gluonish.kernels.generated.expressions import KINDS, REAL, supports, supports_keyed
from gluonish.kernels.generated.loops import find_loops, row_major, stretch
from gluonish.kernels.generated.pointwise import specs_and_shapes
from gluonish.ops.elementwise.cast import CAST
from gluonish.ops.fused.pointwise import (
    FUSED_POINTWISE,
    FUSED_POINTWISE_MANY,
    FUSED_POINTWISE_RANDOM,
    Instruction,
    Program,
)
from gluonish.ops.kernel import Attrs, BackEnd, FastKernel
from gluonish.ops.nn.dropout import DROPOUT, DROPOUT_FACTORS, DROPOUT_KEYED
from gluonish.ops.nn.gelu import FORM_OF, FORMS, GELU_BACKWARD
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from gluonish.ops.support.precision import is_narrow

_LIMIT_32 = 2**31
# Products are rounded before sums, as by separate operators.
_OPTIONS = ("--fmad=false",)
_VECTORS = encoded(GLUONISH_CUDA_VECTORS.name)
_DROPOUTS = (DROPOUT.name, DROPOUT_KEYED.name, DROPOUT_FACTORS.name)
_MAX_PLANS = 4096  # if exceeded, all are dropped, to bound memory if shapes never repeat


class _Plan(NamedTuple):
    """A kernel and its launch configuration for arrays of given dtypes, shapes and strides.

    Attributes:
        orders: For each array argument, its axes in memory order.
    """

    kernel: PointwiseKernel
    orders: tuple[tuple[int, ...], ...]


_plans: dict[tuple[Any, ...], _Plan] = {}


def enabled() -> bool:
    """Whether generated kernels are switched on."""
    return MXNET_USE_FUSION.value


def _order(array: Any) -> tuple[int, ...]:
    """Return the axes of a dense array in memory order."""
    axes = range(array.ndim)
    if array.flags.c_contiguous:
        return tuple(axes)
    return tuple(sorted(axes, key=lambda axis: -array.strides[axis]))


def _is_dense(array: Any) -> bool:
    if array.flags.c_contiguous:
        return True
    return bool(array.transpose(_order(array)).flags.c_contiguous)


def _strides(array: Any) -> tuple[int, ...]:
    if array.flags.c_contiguous:  # strides of axes of length 1 are arbitrary
        return row_major(array.shape)
    return tuple(step // array.itemsize for step in array.strides)


def _alignment(arrays: Sequence[Any]) -> int:
    """Return the bytes of which all addresses are multiples, at most those of a vector."""
    every = VECTOR_NBYTES
    for array in arrays:
        every |= array.data.ptr
    return every & -every


def _new_plan(
    outputs: Sequence[Any], inputs: Sequence[Any], program: Program, alignment: int
) -> _Plan:
    keys = key_values(program)
    made = [x for x, value in zip(outputs, program.outputs, strict=True) if value not in keys]
    specs, array_shapes = specs_and_shapes(made, inputs, program)
    array_shapes[len(made) : len(made)] = [(1,)] * (len(outputs) - len(made))
    shape = outputs[0].shape
    arrays = (*outputs, *inputs)
    values = (*program.outputs, *range(program.num_inputs))
    strides = [
        (0,) * len(shape)  # all elements have the same key
        if value in keys
        else stretch([*_strides(x), *(0,) * (len(aligned) - x.ndim)], aligned, shape)
        for value, x, aligned in zip(values, arrays, array_shapes, strict=True)
    ]
    loops = find_loops(shape, [*strides, row_major(shape)])
    wide = outputs[0].size >= _LIMIT_32
    kernel: PointwiseKernel
    itemsizes = [x.itemsize for x in arrays]
    draws = any(op.name in _DROPOUTS for op, _, _ in program.instructions)
    length = vector_length(itemsizes, loops, alignment, draws=draws)
    if length and GLUONISH_CUDA_VECTORS.value:
        kernel = VectorKernel(program, specs, loops, length, wide=wide)
    else:
        kernel = ScatteredKernel(program, specs, loops, wide=wide)
    if MXNET_FUSION_VERBOSE.value:
        sys.stderr.write(f"# {program}\n{kernel.text}\n")
    return _Plan(kernel, tuple(_order(arrays[i]) for i in kernel.used))


def _plan_of(arrays: Sequence[Any], outputs: int, program: Program, alignment: int) -> _Plan:
    """Return the plan for dense arrays, of which the first are the outputs."""
    setting = GLUONISH_CUDA_VECTORS.state
    key = (program, alignment, setting, *[(x.dtype, x.shape, x.strides) for x in arrays])
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _new_plan(arrays[:outputs], arrays[outputs:], program, alignment)
        _plans[key] = plan
    return plan


def _run(
    xp: Any,
    out: Any,
    *inputs: Any,
    num_args: int,
    program: Program,
    key: tuple[int, int] = (0, 0),
) -> None:
    outputs = out if isinstance(out, tuple) else (out,)
    targets = [x if _is_dense(x) else xp.empty(x.shape, x.dtype) for x in outputs]
    arrays = (*targets, *(x if _is_dense(x) else contiguous(xp, x) for x in inputs))
    plan = _plan_of(arrays, len(targets), program, _alignment(arrays))
    kernel = plan.kernel
    args = [arrays[i] for i in kernel.used]
    for i, order in enumerate(plan.orders):
        if not args[i].flags.c_contiguous:
            args[i] = args[i].transpose(order)
    args += kernel.numbers
    if kernel.draws:
        args += key_arguments(key)
    function = _compiled(xp, kernel)
    function((kernel.blocks,), (THREADS,), tuple(args))
    for output, target in zip(outputs, targets, strict=True):
        if output is not target:
            copy(xp, output, target)


def _compiled(xp: Any, kernel: PointwiseKernel) -> Any:
    source_key = ("pointwise", kernel.text)
    return compiled(xp, source_key, "fused", lambda: kernel.text, _OPTIONS)


def contiguous_kernel(
    xp: Any, out: Any, inputs: Sequence[Any], program: Program
) -> tuple[PointwiseKernel, Any]:
    """Return the kernel of a program of one output, and its compiled function.

    Its arguments are the addresses of the arrays in ``used``, and its ``numbers``. It serves all
    arrays of these shapes and dtypes that are contiguous, and aligned to VECTOR_NBYTES.
    """
    kernel = _new_plan([out], inputs, program, VECTOR_NBYTES).kernel
    return kernel, _compiled(xp, kernel)


def packed_arguments(arrays: int, numbers: Sequence[Any]) -> tuple[Any, Any]:
    """Return memory for the arguments of a kernel, and the address of each.

    Args:
        arrays: Number of arrays, whose addresses are the first arguments.
        numbers: The other arguments.
    """
    values = np.zeros(arrays + len(numbers), np.uint64)
    memory = values.view(np.uint8)
    for i, number in enumerate(numbers, arrays):
        memory[8 * i : 8 * i + number.nbytes] = np.frombuffer(number.tobytes(), np.uint8)
    return values, values.ctypes.data + 8 * np.arange(values.size, dtype=np.uint64)


class AttachedProgram:
    """A program bound to memory of a graph: each run is one call of the driver.

    Args:
        operands: Index of each output and input among the arrays of `run`.
        movable: Indices of arrays that may be reallocated between calls.
    """

    __slots__ = (
        *("_after", "_alignment", "_before", "_changes", "_kept", "_launch", "_memory", "_movable"),
        *("_operands", "_outputs", "_program", "_setting", "_stream", "_to_move", "_xp"),
    )

    def __init__(
        self, program: Program, operands: Sequence[int], movable: Collection[int], xp: Any
    ) -> None:
        self._xp = xp
        self._program = program
        self._operands = operands
        self._to_move = movable
        self._outputs = len(program.outputs)
        self._launch = xp.cuda.driver.launchKernel
        self._stream = xp.cuda.get_current_stream
        self._memory: Any = None  # of the arguments; None while not bound

    def run(self, arrays: Sequence[Any]) -> None:
        """Launch the kernel on the current stream."""
        memory = self._memory
        if (
            memory is None
            or changes[0] != self._changes
            or environment.get(_VECTORS) != self._setting
        ):
            self._run_otherwise(arrays)
            return
        every = self._alignment
        for place, index, strides in self._movable:
            array = arrays[index]
            if array.strides != strides:
                self._run_otherwise(arrays)
                return
            memory[place] = address = array.data.ptr
            every |= address
        if every & (self._alignment - 1):
            self._run_otherwise(arrays)
            return
        self._launch(*self._before, self._stream().ptr, *self._after)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""

    def _run_otherwise(self, arrays: Sequence[Any]) -> None:
        """Run on arrays that the arguments are not for, and bind these for the next call."""
        used = [arrays[i] for i in self._operands]
        out = used[0] if self._outputs == 1 else tuple(used[: self._outputs])
        inputs = used[self._outputs :]
        _run(self._xp, out, *inputs, num_args=len(inputs), program=self._program)
        if all(map(_is_dense, used)):
            self._bind(used)

    def _bind(self, used: Sequence[Any]) -> None:
        alignment = _alignment(used)
        kernel = _plan_of(used, self._outputs, self._program, alignment).kernel
        values, places = packed_arguments(len(kernel.used), kernel.numbers)
        movable = []
        for place, i in enumerate(kernel.used):
            values[place] = used[i].data.ptr
            if self._operands[i] in self._to_move:
                movable.append((place, self._operands[i], used[i].strides))
        self._movable = movable
        self._alignment = alignment
        self._setting = environment.get(_VECTORS)
        self._changes = changes[0]
        function = _compiled(self._xp, kernel).kernel
        self._before = (function.ptr, kernel.blocks, 1, 1, THREADS, 1, 1, 0)
        self._after = (int(places.ctypes.data), 0)
        self._kept = (places, function)
        self._memory = values.data


def _attach(
    xp: Any, operands: Sequence[int], movable: Collection[int], attrs: Attrs
) -> AttachedProgram:
    return AttachedProgram(attrs["program"], operands, movable, xp)


def _supports(*inputs: Spec, program: Program, **_: Any) -> bool:
    specs = program.specs(inputs)
    return not any(0 in spec.shape for spec in specs) and all(
        supports_keyed(op, attrs, [specs[i] for i in numbers])
        for op, numbers, attrs in program.instructions
    )


@lru_cache
def _keyed_program(p: float) -> Program:
    return Program(1, [Instruction(DROPOUT_KEYED, (0,), {"p": p})], [1, 2])


def _dropout_keyed(xp: Any, outputs: Any, data: Any, *, p: float, key: Any) -> None:
    _run(xp, outputs, data, num_args=1, program=_keyed_program(p), key=key)


def _dropout_factors(xp: Any, out: Any, drawn: Any, **attrs: Any) -> None:
    program = Program(1, [Instruction(DROPOUT_FACTORS, (0,), attrs)], [1])
    _run(xp, out, drawn, num_args=1, program=program)


def _supports_keyed(data: Spec, **_: Any) -> bool:
    return data.size > 0 and supports_keyed(DROPOUT_KEYED, {}, [data])


def _supports_factors(drawn: Spec, **attrs: Any) -> bool:
    return 0 not in attrs["shape"] and supports_keyed(DROPOUT_FACTORS, attrs, [drawn])


@lru_cache
def _cast_program(dtype: np.dtype[Any]) -> Program:
    return Program(1, [Instruction(CAST, (0,), {"dtype": dtype})], [1])


def _cast(xp: Any, out: Any, data: Any, *, dtype: np.dtype[Any]) -> None:
    _run(xp, out, data, num_args=1, program=_cast_program(dtype))


def _gelu(xp: Any, outputs: Any, data: Any, *, act_type: str, **_: Any) -> None:
    _run(xp, outputs[0], data, num_args=1, program=_GELU[act_type])


def _gelu_backward(xp: Any, out: Any, grad: Any, data: Any, *, form: str) -> None:
    _run(xp, out, grad, data, num_args=2, program=_GELU_BACKWARD[form])


_GELU = {
    kind: Program(1, [Instruction(LEAKY_RELU, (0,), {"act_type": kind})], [1]) for kind in FORM_OF
}
_GELU_BACKWARD = {
    form: Program(2, [Instruction(GELU_BACKWARD, (0, 1), {"form": form})], [2]) for form in FORMS
}


def _supports_gelu(
    *specs: Spec, act_type: str | None = None, form: str | None = None, **_: Any
) -> bool:
    """Whether a call is GELU or its gradient; the exact form in 16 bits, as erf allows."""
    data = specs[-1]
    form = form if act_type is None else FORM_OF.get(act_type)
    if form is None or not data.size:
        return False
    return all(is_narrow(x.dtype) or (form != "erf" and x.dtype in REAL) for x in specs)


def _supports_cast(data: Spec, *, dtype: np.dtype[Any]) -> bool:
    return data.size > 0 and supports(CAST, {"dtype": dtype}, [data])


_KERNEL: dict[str, Any] = {"enabled": enabled, "makes": KINDS}

KERNELS = (
    *(
        (
            op,
            FastKernel(
                BackEnd.CUPY,
                "fused_pointwise",
                _supports,
                run=_run,
                attach=_attach,
                packs=False,
                **_KERNEL,
            ),
        )
        for op in (FUSED_POINTWISE, FUSED_POINTWISE_MANY, FUSED_POINTWISE_RANDOM)
    ),
    # CuPy's own accesses one element at a time.
    (CAST, FastKernel(BackEnd.CUPY, "cast", _supports_cast, run=_cast, **_KERNEL)),
    (
        DROPOUT_KEYED,
        FastKernel(BackEnd.CUPY, "dropout_keyed", _supports_keyed, run=_dropout_keyed, **_KERNEL),
    ),
    (
        DROPOUT_FACTORS,
        FastKernel(
            *(BackEnd.CUPY, "dropout_factors", _supports_factors), run=_dropout_factors, **_KERNEL
        ),
    ),
    (LEAKY_RELU, FastKernel(BackEnd.CUPY, "gelu_16", _supports_gelu, run=_gelu, **_KERNEL)),
    (
        GELU_BACKWARD,
        FastKernel(
            *(BackEnd.CUPY, "gelu_16_backward", _supports_gelu), run=_gelu_backward, **_KERNEL
        ),
    ),
)
