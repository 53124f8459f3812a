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
import hashlib
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.kernels.cupy.arrays import Array
from tests.kernels.cupy.cost_model.own_kernels import kernel_cost
from tests.kernels.cupy.cost_model.records import Cost
from tests.kernels.cupy.machine import Machine, Memory

COMPILER = shutil.which("g++") or shutil.which("clang++")
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

_PRELUDE = """
#include <setjmp.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __restrict__
struct alignas(4) ushort2 { unsigned short x, y; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
template <class T> static inline T __ldg(const T *source) { return *source; }
// Called for an address that is no multiple of its type's alignment: ends the launch.
static jmp_buf launch_at;
extern "C" void __ubsan_handle_type_mismatch_v1_abort(void *, void *) { _longjmp(launch_at, 1); }
struct Dimensions { unsigned x, y, z; };
static thread_local Dimensions threadIdx, blockIdx, blockDim, gridDim;
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static inline float __uint_as_float(unsigned u) { float x; memcpy(&x, &u, 4); return x; }
"""

# Threads of a block as fibers. `swapcontext` asks the system about signals each time, so that it
# only starts them; from then on they go to and fro by `longjmp`.
_BARRIERS = """
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#define __shared__ static
enum { MOST_THREADS = 1024, STACK = 1 << 16, WARP = 32 };
enum { READY, AT_BARRIER, IN_WARP, ENDED };
static jmp_buf fiber_at[MOST_THREADS], scheduler_at;
static ucontext_t scheduler_start, fiber_start;
static char *fiber_stacks;
static unsigned fiber;
static int fiber_state[MOST_THREADS];
static unsigned fiber_mask[MOST_THREADS];
static void (*fiber_work)(void **);
static void **fiber_values;
static inline void wait_as(int state) {
    fiber_state[fiber] = state;
    if (!_setjmp(fiber_at[fiber])) _longjmp(scheduler_at, 1);
}
static inline void __syncthreads() { wait_as(AT_BARRIER); }
static inline void __syncwarp(unsigned mask = 0xffffffff) {
    fiber_mask[fiber] = mask;
    wait_as(IN_WARP);
}
// Two sets of values in turn: a lane that goes on may give its next value before others have read.
static double given[2][MOST_THREADS];
static unsigned exchanges[MOST_THREADS];
template <class T> static inline T exchanged(unsigned mask, T value, int lane) {
    static_assert(sizeof(T) <= sizeof(double), "shuffles take at most 8 bytes");
    const unsigned turn = exchanges[fiber]++ % 2, first = fiber / WARP * WARP;
    memcpy(&given[turn][fiber], &value, sizeof(T));
    __syncwarp(mask);
    memcpy(&value, &given[turn][first + lane], sizeof(T));
    return value;
}
template <class T> static inline T __shfl_sync(unsigned mask, T x, int lane, int width = WARP) {
    const int here = fiber % WARP;
    return exchanged(mask, x, here - here % width + lane % width);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T x, int bits, int width = WARP) {
    const int here = fiber % WARP, lane = here ^ bits;
    return exchanged(mask, x, lane / width > here / width ? here : lane);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T x, int by, int width = WARP) {
    const int here = fiber % WARP;
    return exchanged(mask, x, here % width + by < width ? here + by : here);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T x, int by, int width = WARP) {
    const int here = fiber % WARP;
    return exchanged(mask, x, here % width >= by ? here - by : here);
}
static void run_fiber() {
    fiber_work(fiber_values);
    fiber_state[fiber] = ENDED;
    _longjmp(scheduler_at, 1);
}
static void resume_fiber(bool starts) {
    if (_setjmp(scheduler_at)) return;
    fiber_state[fiber] = READY;
    if (!starts) _longjmp(fiber_at[fiber], 1);
    exchanges[fiber] = 0;
    getcontext(&fiber_start);
    fiber_start.uc_stack.ss_sp = fiber_stacks + (size_t)fiber * STACK;
    fiber_start.uc_stack.ss_size = STACK;
    fiber_start.uc_link = NULL;
    makecontext(&fiber_start, run_fiber, 0);
    swapcontext(&scheduler_start, &fiber_start);
}
// Makes the threads ready from ``first`` to ``last`` that wait as ``state``, if all of them do, or
// all of the mask that they gave.
static bool release(unsigned first, unsigned last, int state) {
    unsigned mask = 0xffffffff;
    if (state == IN_WARP) {
        unsigned waiting = first;
        while (waiting < last && fiber_state[waiting] != IN_WARP) ++waiting;
        if (waiting == last) return false;
        mask = fiber_mask[waiting];
    }
    for (unsigned i = first; i < last; ++i) {
        if (!(mask >> i % WARP & 1)) continue;
        if (fiber_state[i] != state || (state == IN_WARP && fiber_mask[i] != mask)) return false;
    }
    for (unsigned i = first; i < last; ++i) {
        if (mask >> i % WARP & 1) fiber_state[i] = READY;
    }
    return true;
}
static bool release_some(unsigned count) {
    bool found = release(0, count, AT_BARRIER);
    for (unsigned i = 0; i < count; i += WARP) {
        found |= release(i, i + WARP < count ? i + WARP : count, IN_WARP);
    }
    return found;
}
// Runs a block; tells whether all its threads met at every barrier.
static bool run_block(void (*work)(void **), void **values) {
    unsigned count = blockDim.x * blockDim.y * blockDim.z, left = count;
    if (!fiber_stacks) fiber_stacks = (char *)malloc((size_t)MOST_THREADS * STACK);
    fiber_work = work;
    fiber_values = values;
    for (fiber = 0; fiber < count; ++fiber) fiber_state[fiber] = READY;
    for (bool starts = true; left; starts = false) {
        for (fiber = 0; fiber < count; ++fiber) {
            if (fiber_state[fiber] != READY) continue;
            threadIdx.x = fiber % blockDim.x;
            threadIdx.y = fiber / blockDim.x % blockDim.y;
            threadIdx.z = fiber / blockDim.x / blockDim.y;
            resume_fiber(starts);
            left -= fiber_state[fiber] == ENDED;
        }
        if (left && !release_some(count)) return false;
    }
    return true;
}
"""

_WAITS = ("__syncthreads", "__syncwarp", "__shfl_")

_NO_BARRIERS = """
static bool run_block(void (*work)(void **), void **values) {
    for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z)
    for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
        work(values);
    return true;
}
"""

_HEADERS = {
    # What a float is in 16 bits: to the nearest, and to even between two.
    "cuda_fp16.h": """
#pragma once
#define __CUDA_FP16_H__
struct __half { unsigned short bits; };
static inline float __half2float(__half h) {
    unsigned sign = (unsigned)(h.bits & 0x8000) << 16, exponent = h.bits >> 10 & 31;
    unsigned fraction = h.bits & 0x3ff;
    if (exponent == 31) return __uint_as_float(sign | 0x7f800000 | fraction << 13);
    if (exponent) return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
    float value = (float)fraction * 5.9604644775390625e-8f;
    return sign ? -value : value;
}
static inline __half __float2half_rn(float x) {
    unsigned u = __float_as_uint(x), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    if (rest > 0x7f800000) return {(unsigned short)(sign | 0x7e00)};
    if (rest >= 0x477ff000) return {(unsigned short)(sign | 0x7c00)};
    if (rest < 0x38800000) {  // below the least normal number: steps of 2^-24
        float steps = __uint_as_float(rest) * 16777216.0f;
        return {(unsigned short)(sign | (unsigned)rintf(steps))};
    }
    unsigned odd = rest >> 13 & 1;
    return {(unsigned short)(sign | ((rest + 0xfff + odd - 0x38000000) >> 13))};
}
struct alignas(4) __half2 { __half x, y; };
static inline __half2 __floats2half2_rn(float x, float y) {
    return {__float2half_rn(x), __float2half_rn(y)};
}
static inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
""",
    "cuda_bf16.h": """
#pragma once
#define __CUDA_BF16_H__
struct __nv_bfloat16 { unsigned short bits; };
static inline float __bfloat162float(__nv_bfloat16 h) {
    return __uint_as_float((unsigned)h.bits << 16);
}
static inline __nv_bfloat16 __float2bfloat16_rn(float x) {
    unsigned u = __float_as_uint(x);
    if ((u & 0x7fffffff) > 0x7f800000) return {0x7fff};
    return {(unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16)};
}
struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
static inline float2 __bfloat1622float2(__nv_bfloat162 h) {
    return {__bfloat162float(h.x), __bfloat162float(h.y)};
}
""",
}


@cache
def _folder() -> Path:
    """Return where this session's libraries lie, with the headers; gone with the process."""
    made = tempfile.TemporaryDirectory(prefix="host-kernels-", ignore_cleanup_errors=True)
    _kept.append(made)
    for name, text in _HEADERS.items():
        (Path(made.name) / name).write_text(text, encoding="utf-8")
    return Path(made.name)


_kept: list[Any] = []


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
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
        if (!run_block(call_{name}, values)) return 1;
    return 0;
}}
"""


_VECTORS = re.compile(r"\b(?:uint|int|float|double|ushort)[24]\b")


def _call(arguments: list[str]) -> None:
    """Run the compiler."""
    assert COMPILER is not None, "no C++ compiler"
    done = subprocess.run([COMPILER, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cache
def _parameters_of(code: str) -> dict[str, list[str]]:
    """Return the parameters of a source's kernels, by their names."""
    kernels = {name: [p.strip() for p in text.split(",")] for name, text in _KERNEL.findall(code)}
    assert kernels, 'no `extern "C" __global__ void` in the source'
    return kernels


@cache
def _compiled(code: str) -> Any:
    """Return the library of a source."""
    assert COMPILER is not None, "no C++ compiler"
    kernels = _parameters_of(code)
    entries = [_entry(name, parameters) for name, parameters in kernels.items()]
    path = _folder() / hashlib.sha256(code.encode()).hexdigest()[:24]
    source, library = path.with_suffix(".cpp"), path.with_suffix(".so")
    threads = _BARRIERS if any(word in code for word in _WAITS) else _NO_BARRIERS
    source.write_text("\n".join([_PRELUDE, threads, code, *entries]), encoding="utf-8")
    options = ["-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-Wall", "-Werror"]
    options += ["-U_FORTIFY_SOURCE", "-Wno-unknown-pragmas", "-Wno-tautological-compare"]
    # A generated source has what nobody reads where the pass is off that would drop it.
    options += ["-Wno-unused-variable"]
    compiled = path.with_suffix(".o")
    if Path(COMPILER or "").name == "g++":
        # Shared arrays of templates would be one array in the libraries of all sources.
        options += ["-fno-gnu-unique"]
    # Linked without the sanitizer, whose one function that is called is in the prelude.
    checks = ["-fsanitize=alignment", "-fno-sanitize-recover=alignment"]
    checks = checks if _VECTORS.search(code) else []
    _call([*options, *checks, f"-I{_folder()}", "-c", str(source), "-o", str(compiled)])
    _call(["-shared", str(compiled), "-o", str(library)])
    return ctypes.CDLL(str(library))


def _type_of(parameter: str) -> str:
    """Return the type of a parameter, or of what it points to."""
    return re.sub(r"const |\*.*|\w+$", "", parameter).strip()


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
        kept, used = [], []
        behind: list[tuple[Memory, bool]] = []
        if not self._machine.executes:
            self._note(args, sizes)
            return
        for arg, text, fact in zip(args, self._parameters, self._facts, strict=True):
            kept.append(self._value(arg, text, fact))
            if isinstance(arg, Array):
                used.append((arg._block, _is_written(text)))
            if isinstance(arg, np.ndarray):
                behind += self._named(arg)
        assert sum(size for _, size in self._facts) <= _MOST_PARAMETERS
        values = (ctypes.c_void_p * len(kept))(*(value.ctypes.data for value in kept))

        def work() -> None:
            found = self._run(*((ctypes.c_uint * 3)(*size) for size in sizes), values)
            assert found != 1, f"{self.name}: some threads of a block never came to a barrier"
            assert found == 0, f"{self.name}: a vector at an address that is not aligned to it"
            assert kept

        self._machine.access(used, self.name, work, behind=behind, cost=self._cost(args, sizes))

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
        if not machine.executes:
            machine.use(stream, used, self.name, lambda: None, cost=cost)
            return
        given = zip(places, self._facts, strict=True)
        kept = [np.frombuffer(ctypes.string_at(at, size), np.uint8) for at, (_, size) in given]
        values = (ctypes.c_void_p * len(kept))(*(value.ctypes.data for value in kept))

        def work() -> None:
            found = self._run(*((ctypes.c_uint * 3)(*size) for size in (grid, block)), values)
            assert found == 0, f"{self.name}: a vector at an address that is not aligned to it"
            assert kept

        machine.use(stream, used, self.name, work, cost=cost)

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
        cost = self._cost(args, sizes)
        self._machine.access(used, self.name, lambda: None, behind=behind, cost=cost)

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
            return arg.copy()
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
