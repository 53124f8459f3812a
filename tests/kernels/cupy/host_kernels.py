"""`RawModule` for the double of CuPy: CUDA C++ compiled by the host's compiler, thread by thread.

The same text that NVRTC gets is compiled with g++ behind a prelude in which the words of CUDA mean
something on a CPU. A launch runs all threads one after the other. Where a source waits at
``__syncthreads`` or for the other threads of a warp (shuffles, ``__syncwarp``), each thread of a
block has a stack of its own: it runs up to there, then the next one does, and a barrier that some
threads of a block or a warp never come to is an error. Loads and stores of vectors (``uint4`` and
the like) at addresses that a device refuses are errors, too. Arguments
are as strict as on a device or stricter: CuPy passes Python's ints as int64 and its floats as
double, whatever the kernel takes, and shows no strides.
A NumPy array of one structure is passed by value; the addresses in its fields ``read`` and
``written`` are what the kernel uses beside its arrays.
"""

import ctypes
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.kernels.cupy.arrays import Array
from tests.kernels.cupy.cost_model.own_kernels import kernel_cost
from tests.kernels.cupy.cost_model.records import Cost
from tests.kernels.cupy.host_compiler import library_of
from tests.kernels.cupy.machine import Machine, Memory
from tests.kernels.cupy.streams import CUDARuntimeError, KernelCall

_KERNEL = re.compile(
    r'extern "C" __global__ void\s+(?:__launch_bounds__\(\w+\)\s*)?(\w+)\s*\(([^)]*)\)'
)
_MOST_BLOCKS = (2**31 - 1, 65535, 65535)
_MOST_THREADS = 1024
_MOST_PARAMETERS = 4096  # bytes
_ITEMSIZES = {
    "float": 4,
    "double": 8,
    "__nv_bfloat16": 2,
    "__half": 2,
    "unsigned char": 1,
    "signed char": 1,
    "int": 4,
    "long long": 8,
    "unsigned": 4,
    "unsigned long long": 8,
}


def _entry(name: str, parameters: list[str]) -> str:
    """Return C++ that runs a kernel, and that tells what its parameters are."""
    types = [re.sub(r"\w+$", "", text).strip() for text in parameters]
    values = ", ".join(f"*({kind} *)values[{i}]" for i, kind in enumerate(types))
    facts = ", ".join(
        f"(std::is_pointer<{t}>::value ? 3 : std::is_floating_point<{t}>::value ? 2 :"
        f" std::is_class<{t}>::value ? 0 : 1) + 4 * (int)sizeof({t})"
        for t in types
    )
    return f"""
extern "C" const int facts_{name}[] = {{{facts}}};
static void call_{name}(void **values) {{ {name}({values}); }}
extern "C" int run_{name}(const unsigned *grid, const unsigned *block, void **values) {{
    if (_setjmp(launch_at)) return 2;
    gridDim = {{grid[0], grid[1], grid[2]}};
    blockDim = {{block[0], block[1], block[2]}};
    const unsigned long long blocks = 1ull * gridDim.x * gridDim.y * gridDim.z;
    for (unsigned long long i = 0; i < blocks; ++i) {{
        const unsigned long long at = grid[3] ? blocks - 1 - i : i;
        blockIdx.x = at % gridDim.x;
        blockIdx.y = at / gridDim.x % gridDim.y;
        blockIdx.z = at / gridDim.x / gridDim.y;
        if (!run_block(call_{name}, values)) return 1;
    }}
    return 0;
}}
"""


@cache
def _parameters_of(code: str) -> dict[str, list[str]]:
    """Return the parameters of a source's kernels, by their names."""
    kernels = {name: [p.strip() for p in text.split(",")] for name, text in _KERNEL.findall(code)}
    assert kernels, 'no `extern "C" __global__ void` in the source'
    return kernels


@cache
def _compiled(code: str) -> Any:
    """Return the library of a source."""
    kernels = _parameters_of(code)
    return library_of(code, "\n".join(_entry(name, kernels[name]) for name in kernels))


class _Order:
    """The order in which the blocks of a launch run."""

    backwards = False


_order = _Order()


@contextmanager
def backwards() -> Iterator[None]:
    """Run the last block of each launch first, inside the scope."""
    _order.backwards = True
    try:
        yield
    finally:
        _order.backwards = False


def _type_of(parameter: str) -> str:
    """Return the type of a parameter, or of what it points to."""
    return re.sub(r"const |\*.*|\w+$", "", parameter).strip()


def _bytes(arg: Any) -> bytes:
    """Return an argument's bytes on a machine that does not execute."""
    if isinstance(arg, Array):
        return int(arg.data.ptr).to_bytes(8, "little")
    return np.asarray(arg).tobytes()


def _is_written(parameter: str) -> bool:
    return "const" not in parameter.split()


class _RawKernel:
    """A kernel of a module."""

    def __init__(self, machine: Machine, code: str, name: str) -> None:
        kernels = _parameters_of(code)
        assert name in kernels, f"{name}: no such kernel"
        self.name = name
        self._machine = machine
        self._code = code
        self._parameters = kernels[name]
        self._seen: dict[tuple[bytes, ...], list[tuple[tuple[int, ...], Any]]] = {}
        if machine.executes:
            self._open()

    def _open(self) -> None:
        """Compile the source, and ask for the types of the parameters."""
        library, name = _compiled(self._code), self.name
        self._run = library[f"run_{name}"]
        facts = (ctypes.c_int * len(self._parameters)).in_dll(library, f"facts_{name}")
        # 3 pointer, 2 float, 1 int, 0 structure; bytes
        self._facts = [(fact % 4, fact // 4) for fact in facts]

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        assert not shared_mem, "shared memory: not known to this double"
        assert len(args) == len(self._parameters), f"{self.name}: {len(args)} arguments"
        sizes = [(*dims, 1, 1)[:3] for dims in (grid, block)]
        assert all(0 < n <= most for n, most in zip(sizes[0], _MOST_BLOCKS, strict=True))
        assert 0 < np.prod(sizes[1]) <= _MOST_THREADS
        used = []
        behind: list[tuple[Memory, bool]] = []
        if not self._machine.executes:
            self._note(args, sizes)
            return
        kept = []
        for arg, text, fact in zip(args, self._parameters, self._facts, strict=True):
            kept.append(self._value(arg, text, fact).tobytes())
            if isinstance(arg, Array):
                used.append((arg._block, _is_written(text)))
            if isinstance(arg, np.ndarray):
                behind += self._named(arg)
        assert sum(size for _, size in self._facts) <= _MOST_PARAMETERS
        call = KernelCall(
            id(self), sizes[0], sizes[1], tuple(kept), partial(self._bind, sizes, behind)
        )
        work, cost = self._work(sizes, kept), self._cost(args, sizes)
        self._machine.access(used, self.name, work, behind=behind, cost=cost, kernel=call)

    def _work(self, sizes: Any, arguments: Sequence[bytes]) -> Callable[[], None]:
        """Return what a launch with these arguments does."""
        if not self._machine.executes:
            return lambda: None
        kept = [np.frombuffer(bytearray(value), np.uint8) for value in arguments]
        values = (ctypes.c_void_p * len(kept))(*(value.ctypes.data for value in kept))

        def work() -> None:
            grid, block = sizes
            blocks = (ctypes.c_uint * 4)(*grid, _order.backwards)
            found = self._run(blocks, (ctypes.c_uint * 3)(*block), values)
            assert found != 1, f"{self.name}: some threads of a block never came to a barrier"
            assert found == 0, f"{self.name}: a vector at an address that is not aligned to it"
            assert kept

        return work

    def _bind(
        self, sizes: Any, behind: list[tuple[Memory, bool]], arguments: tuple[bytes, ...]
    ) -> tuple[list[tuple[Memory, bool]], Callable[[], None]]:
        """Return the memory that arguments of a graph refer to, and what the kernel does.

        Args:
            sizes: Grid and block.
            behind: Memory that structures have the addresses of.
            arguments: The bytes of each.
        """
        used = list(behind)
        for text, value in zip(self._parameters, arguments, strict=True):
            address = int.from_bytes(value, "little") if "*" in text else 0
            if address:
                memory = self._machine._behind(address)
                if memory is None:
                    raise CUDARuntimeError(700)
                used.append((memory, _is_written(text)))
        return used, self._work(sizes, arguments)

    @property
    def kernel(self) -> Any:
        """The function that the driver launches: CuPy's ``Function``."""
        self._machine.functions[id(self)] = self._launch
        return SimpleNamespace(ptr=id(self))

    def _launch(self, grid: Any, block: Any, stream_ptr: int, parameters: int) -> None:
        """Launch as the driver does, with addresses of the arguments."""
        machine = self._machine
        (stream,) = [one for one in machine.streams if one.ptr == stream_ptr]
        assert stream.device_id == machine.here.device, "a stream of another device's context"
        places = (ctypes.c_void_p * len(self._parameters)).from_address(parameters)
        used, args = self._addressed(places)
        cost = None
        if machine.recorder is not None:
            cost = kernel_cost(self.name, self._code, self._parameters, args, (grid, block))
        widths = [self._width(text) for text in self._parameters]
        given = tuple(ctypes.string_at(at, n) for at, n in zip(places, widths, strict=True))
        sizes = (grid, block)
        call = KernelCall(id(self), grid, block, given, partial(self._bind, sizes, []))
        machine.use(stream, used, self.name, self._work(sizes, given), cost=cost, kernel=call)

    def _addressed(self, places: Any) -> tuple[list[tuple[Memory, bool]], list[Any]]:
        """Return the memory that arguments point to, and arguments as the cost model needs them.

        Their shapes are those of an earlier launch with the same numbers. Without one, an array has
        as many elements as the kernel computes, or its memory has.
        """
        widths = [self._width(text) for text in self._parameters]
        given = [ctypes.string_at(at, n) for at, n in zip(places, widths, strict=True)]
        seen = iter(self._seen.get(self._numbers(given), ()))
        total = int.from_bytes(given[self._parameters.index("Index total")], "little")
        used, args = [], []
        for text, value in zip(self._parameters, given, strict=True):
            args.append(0)
            if "*" not in text:
                continue
            address = int.from_bytes(value, "little")
            memory = self._machine._behind(address)
            assert memory is not None, f"{self.name}: {address:#x} is no memory of a device"
            used.append((memory, _is_written(text)))
            rest = memory.raw[address - memory.start :]
            size = _ITEMSIZES[_type_of(text)]
            shape, dtype = next(seen, ((min(total, rest.size // size),), np.dtype(f"V{size}")))
            raw = rest[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
            args[-1] = SimpleNamespace(_raw=raw)
        return used, args

    def _numbers(self, given: Sequence[bytes]) -> tuple[bytes, ...]:
        """Return the arguments that are no addresses."""
        pairs = zip(given, self._parameters, strict=True)
        return tuple(value for value, text in pairs if "*" not in text)

    def _width(self, text: str) -> int:
        """Return the bytes of a parameter."""
        if "*" in text:
            return 8
        kind = _type_of(text)
        wide = "#define INDEX unsigned long long" in self._code
        return {"Index": 8 if wide else 4}.get(kind) or _ITEMSIZES[kind]

    def _see(self, args: Any) -> None:
        """Remember the shapes of arrays, for launches by the driver with the same numbers."""
        numbers = tuple(x.tobytes() for x in args if isinstance(x, np.generic))
        self._seen[numbers] = [(x.shape, x.dtype) for x in args if isinstance(x, Array)]

    def _note(self, args: Any, sizes: Any) -> None:
        """Launch on a machine that does not execute."""
        behind = [x for arg in args if isinstance(arg, np.ndarray) for x in self._named(arg)]
        pairs = zip(args, self._parameters, strict=True)
        used = [(x._block, _is_written(text)) for x, text in pairs if isinstance(x, Array)]
        cost, call = self._cost(args, sizes), None
        if self._machine.capturing():
            given = tuple(map(_bytes, args))
            call = KernelCall(
                id(self), sizes[0], sizes[1], given, partial(self._bind, sizes, behind)
            )
        self._machine.access(used, self.name, lambda: None, behind=behind, cost=cost, kernel=call)

    def _cost(self, args: Any, sizes: Any) -> Cost | None:
        self._see(args)
        if self._machine.recorder is None:
            return None
        return kernel_cost(self.name, self._code, self._parameters, args, sizes)

    def _named(self, structure: Any) -> list[tuple[Memory, bool]]:
        """Return the memory that a structure has addresses of, and whether it is written."""
        found = {}
        for field in [f for f in ("read", "written") if f in structure.dtype.names]:
            for address in structure[field][structure[field] != 0].tolist():
                memory = self._machine._behind(address)
                assert memory is not None, f"{self.name}: {address:#x} is no memory of a device"
                found[id(memory)] = (memory, field == "written")
        return list(found.values())

    def _value(self, arg: Any, text: str, fact: tuple[int, int]) -> Any:
        """Return an argument's bytes, as CuPy would copy them."""
        if isinstance(arg, Array):
            assert fact[0] == 3, f"{self.name}: an array for {text}"
            assert arg.flags.c_contiguous, f"{self.name}: {text} has gaps, which no kernel sees"
            return np.array([arg.data.ptr], np.uint64)
        if isinstance(arg, np.ndarray) and arg.dtype.names:
            assert arg.shape == (1,), f"{self.name}: expected one {text}, got {arg.shape}"
            assert (0, arg.dtype.itemsize) == fact, f"{self.name}: {text} was given {arg.dtype}"
            return np.frombuffer(arg.tobytes(), np.uint8)  # with the gaps, which copy() leaves out
        if isinstance(arg, bool | int):
            arg = np.int64(arg)
        if isinstance(arg, float) and not isinstance(arg, np.generic):
            arg = np.float64(arg)
        assert isinstance(arg, np.generic), f"{self.name}: unsupported type {type(arg)}"
        if fact[0] == 3 and arg.dtype == np.uint64 and not arg:
            return np.array([arg])  # a null pointer
        given = (2 if arg.dtype.kind == "f" else 1, arg.dtype.itemsize)
        assert given == fact, f"{self.name}: {text} was given {arg.dtype}"
        return np.array([arg])


class _RawModule:
    """A source, compiled when a kernel is asked for."""

    def __init__(self, machine: Machine, code: str, options: tuple[str, ...] = ()) -> None:
        self._machine = machine
        self._code = code

    def get_function(self, name: str) -> _RawKernel:
        """Return a kernel."""
        return _RawKernel(self._machine, self._code, name)


def install(cupy: Any, machine: Machine) -> None:
    """Give a double of CuPy its `RawModule`."""
    cupy.RawModule = lambda code=None, *, options=(): _RawModule(machine, code, options)
