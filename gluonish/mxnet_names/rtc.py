"""`mx.rtc`: CUDA kernels compiled at run time, with CuPy."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.context import Context, gpu
from gluonish.core.device import device_of
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.engine import current_engine
from gluonish.ndarray import NDArray

__all__ = ["CudaKernel", "CudaModule"]

_TYPES = {
    "float": "float32",
    "double": "float64",
    "__half": "float16",
    "half": "float16",
    "uint8_t": "uint8",
    "unsigned char": "uint8",
    "int8_t": "int8",
    "char": "int8",
    "int": "int32",
    "int32_t": "int32",
    "int64_t": "int64",
    "long long": "int64",
}
_PARAMETER = re.compile(r"(const\s+)?([A-Za-z_]\w*(?:\s+(?:char|long))?)\s*(\*?)\s*(\w+)?")


class _Parameter(NamedTuple):
    """A parameter of a kernel, as parsed from its signature."""

    dtype: np.dtype[Any]
    is_array: bool
    is_const: bool


class CudaModule:
    """CUDA source code, compiled for each GPU when a kernel is first launched on it.

    Args:
        source: The source code. Kernels are declared ``extern "C" __global__``, or named in
            ``exports``.
        options: Options of NVRTC, such as ``--use_fast_math``; a string or a list.
        exports: Names of kernels that are templates or in namespaces, such as ``axpy<float>``.

    Raises:
        DeviceError: CuPy is not installed, or there is no GPU.
    """

    __repr__ = default_repr

    def __init__(
        self, source: str, options: str | Sequence[str] = (), exports: str | Sequence[str] = ()
    ) -> None:
        cupy: Any = device_of(gpu(0)).xp
        self._exports = _as_tuple(exports)
        self.handle = cupy.RawModule(
            code=source, options=_as_tuple(options), name_expressions=self._exports or None
        )

    def get_kernel(self, name: str, signature: str) -> "CudaKernel":
        """Return a kernel.

        Args:
            name: Name of the kernel in the source or in ``exports``.
            signature: Parameters as in the source: ``"const float *x, float *y, int n"``. A pointer
                is an NDArray, which the kernel may write unless it is ``const``.

        Raises:
            ArgumentError: The signature cannot be parsed.
        """
        parameters = [_parameter(text.strip(), signature) for text in signature.split(",")]
        dtypes, arrays, consts = zip(*parameters, strict=True)
        return CudaKernel(self.handle, name, arrays, dtypes, consts)


class CudaKernel:
    """A CUDA kernel; created by `CudaModule.get_kernel`.

    Args:
        handle: CuPy's module.
        name: Name of the kernel.
        is_ndarray: Whether each parameter is an array.
        dtypes: Type of each parameter, or of the array's elements.
        is_const: Whether each array is read only; by default no array is.
    """

    __repr__ = default_repr

    def __init__(
        self,
        handle: Any,
        name: str,
        is_ndarray: Sequence[bool],
        dtypes: Sequence[Any],
        is_const: Sequence[bool] | None = None,
    ) -> None:
        self.handle = handle
        self._name = name
        consts = [False] * len(dtypes) if is_const is None else is_const
        kinds = zip(map(np.dtype, dtypes), is_ndarray, consts, strict=True)
        self._parameters = [_Parameter(*kind) for kind in kinds]

    def launch(
        self,
        args: Sequence[Any],
        ctx: Context,
        grid_dims: Sequence[int],
        block_dims: Sequence[int],
        shared_mem: int = 0,
    ) -> None:
        """Launch the kernel, after all earlier work on its arrays.

        Args:
            args: An NDArray or a number for each parameter.
            ctx: The GPU on which the arrays are.
            grid_dims: Number of blocks along x, y and z.
            block_dims: Number of threads in a block along x, y and z.
            shared_mem: Dynamic shared memory of a block, in bytes.

        Raises:
            ArgumentTypeError: ``ctx`` is not a GPU, or an argument is a number where an array is
                expected, or the reverse.
            ArgumentError: The number of arguments is wrong, or an array has another dtype or
                device, or is not contiguous.
        """
        if not isinstance(ctx, Context) or not ctx.is_gpu:
            raise ArgumentTypeError(f"{self._name}: expected ctx to be a GPU, got {ctx}")
        if len(args) != len(self._parameters):
            raise ArgumentError(
                f"{self._name}: expected {len(self._parameters)} arguments, got {len(args)}"
            )
        grid, block = (_three(self._name, dims) for dims in (grid_dims, block_dims))
        pairs = list(zip(self._parameters, args, strict=True))
        values = [self._value(number, *pair, ctx) for number, pair in enumerate(pairs)]
        arrays = [(parameter, arg) for parameter, arg in pairs if parameter.is_array]
        writes = {id(arg._var): arg._var for parameter, arg in arrays if not parameter.is_const}
        reads = {id(arg._var): arg._var for _, arg in arrays if id(arg._var) not in writes}
        current_engine().push(
            partial(self._run, grid, block, tuple(values), int(shared_mem)),
            list(reads.values()),
            list(writes.values()),
            device_of(ctx).lane,
            0,
            self._name,
        )

    def _run(
        self, grid: tuple[int, ...], block: tuple[int, ...], values: tuple[Any, ...], shared: int
    ) -> None:
        # CuPy loads the module on the current device, which the engine has set.
        self.handle.get_function(self._name)(grid, block, values, shared_mem=shared)

    def _value(self, number: int, parameter: _Parameter, arg: Any, ctx: Context) -> Any:
        if not parameter.is_array:
            if isinstance(arg, bool | np.bool_) or not isinstance(arg, int | float | np.number):
                raise ArgumentTypeError(
                    f"{self._name}: expected a number as argument {number}, got "
                    f"{type(arg).__name__}"
                )
            return parameter.dtype.type(arg)
        if not isinstance(arg, NDArray):
            raise ArgumentTypeError(
                f"{self._name}: expected an NDArray as argument {number}, got {type(arg).__name__}"
            )
        if arg.dtype != parameter.dtype or arg.context != ctx:
            raise ArgumentError(
                f"{self._name}: expected {parameter.dtype} on {ctx} as argument {number}, got "
                f"{np.dtype(arg.dtype)} on {arg.context}"
            )
        if not arg._data.flags.c_contiguous:
            raise ArgumentError(
                f"{self._name}: expected contiguous memory of argument {number}; pass a copy()"
            )
        return arg._data


def _as_tuple(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _three(name: str, dims: Sequence[int]) -> tuple[int, ...]:
    numbers = tuple(map(int, dims))
    if len(numbers) != 3 or min(numbers) < 1:
        raise ArgumentError(f"{name}: expected three positive dimensions, got {dims}")
    return numbers


def _parameter(text: str, signature: str) -> _Parameter:
    found = _PARAMETER.fullmatch(text)
    kind = re.sub(r"\s+", " ", found[2]) if found else ""
    if found is None or kind not in _TYPES:
        raise ArgumentError(
            f"CudaModule.get_kernel: expected parameters as in 'const float *x, int n' with types "
            f"among {', '.join(_TYPES)}, got {text!r} in {signature!r}"
        )
    return _Parameter(np.dtype(_TYPES[kind]), bool(found[3]), bool(found[1]))
