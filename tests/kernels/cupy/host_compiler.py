"""What turns a CUDA source into a library of this host: a prelude, headers and a compiler.

In the prelude the words of CUDA mean something on a CPU. It is compiled once for all sources, and
a library is made once for all processes: both are kept in a folder of this user's under a digest of
what they were made from and by, and go when none has used them for some days.
"""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.kernel_home import kernel_home

COMPILER = shutil.which("g++") or shutil.which("clang++")
_IS_GNU = Path(COMPILER or "").name == "g++"
_KEPT_S = 3 * 24 * 3600.0
_VECTORS = re.compile(r"\b(?:uint|int|float|double|ushort)[24]\b")

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
static Dimensions blockIdx, blockDim, gridDim;  // of the one launch that runs at a time
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
// Blocks run one after the other.
static inline void __threadfence() {}
static inline unsigned atomicInc(unsigned *at, unsigned most) {
    const unsigned before = *at;
    *at = before >= most ? 0 : before + 1;
    return before;
}
static inline unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static inline float __uint_as_float(unsigned u) { float x; memcpy(&x, &u, 4); return x; }
"""

# Threads of a block as fibers. A thread that waits switches to the next one, which takes a few
# instructions on x86-64; elsewhere `swapcontext` does it, which asks the system about signals each
# time. From one block to the next the fibers wait for work.
_BARRIERS = """
#include <stdio.h>
#include <stdlib.h>
#define __shared__ static
enum { MOST_THREADS = 1024, WARP = 32 };
enum { STACK = (1 << 16) + 448 };  // tops of stacks lie in different lines of a cache
enum { READY, AT_BARRIER, IN_WARP, ENDED, STATES };
#ifdef __x86_64__
typedef void *FiberPlace;  // the top of its stack, where the registers are that calls keep
static __attribute__((naked, noinline)) void switch_to(FiberPlace *, FiberPlace *) {
    __asm__("push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15;"
            "mov %rsp, (%rdi); mov (%rsi), %rsp;"
            "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
}
static void make_place(FiberPlace *place, char *stack, size_t size, void (*run)()) {
    void **top = (void **)(stack + size) - 2;  // at the start of a function 8 bytes beside 16
    top[0] = (void *)run;
    *place = memset(top - 6, 0, 6 * sizeof *top);
}
#else
#include <ucontext.h>
typedef ucontext_t FiberPlace;
static void switch_to(FiberPlace *from, FiberPlace *to) { swapcontext(from, to); }
static void make_place(FiberPlace *place, char *stack, size_t size, void (*run)()) {
    getcontext(place);
    place->uc_stack.ss_sp = stack;
    place->uc_stack.ss_size = size;
    place->uc_link = NULL;
    makecontext(place, run, 0);
}
#endif
static FiberPlace fiber_at[MOST_THREADS], scheduler_at;
static char *fiber_stacks;
static unsigned fiber, fibers, in_state[STATES];  // the running one, and how many there are
static unsigned char fiber_state[MOST_THREADS];
static unsigned fibers_made;
static bool block_runs;
static unsigned fiber_mask[MOST_THREADS];
static void (*fiber_work)(void **);
static void **fiber_values;
static Dimensions fiber_index[MOST_THREADS], fiber_dims;  // the indices are those of such a block
#define threadIdx fiber_index[fiber]
// Returns the next fiber that is ready; the scheduler, if there is none.
static FiberPlace *next_place() {
    do ++fiber; while (fiber < fibers && fiber_state[fiber] != READY);
    return fiber < fibers ? &fiber_at[fiber] : &scheduler_at;
}
static __attribute__((noinline, unused)) void wait_as(int state) {
    FiberPlace *const here = &fiber_at[fiber];
    fiber_state[fiber] = state;
    ++in_state[state];
    switch_to(here, next_place());
    __asm__ volatile("" ::: "memory");  // others ran
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
    while (true) {
        fiber_work(fiber_values);
        wait_as(ENDED);
    }
}
// Runs each fiber that is ready, until it waits.
static __attribute__((noinline)) void run_ready() {
    fiber = -1;
    FiberPlace *const first = next_place();
    if (first != &scheduler_at) switch_to(&scheduler_at, first);
    __asm__ volatile("" ::: "memory");  // others ran
}
// Makes the threads from ``first`` to ``last`` ready that wait in a warp, if all of the mask do
// that they gave.
static bool release_warp(unsigned first, unsigned last) {
    unsigned waiting = first, count = 0;
    while (waiting < last && fiber_state[waiting] != IN_WARP) ++waiting;
    if (waiting == last) return false;
    const unsigned mask = fiber_mask[waiting];
    for (unsigned i = first; i < last; ++i) {
        if (!(mask >> i % WARP & 1)) continue;
        if (fiber_state[i] != IN_WARP || fiber_mask[i] != mask) return false;
        ++count;
    }
    for (unsigned i = first; i < last; ++i) {
        if (mask >> i % WARP & 1) fiber_state[i] = READY;
    }
    in_state[IN_WARP] -= count;
    return true;
}
static bool release_some() {
    if (in_state[AT_BARRIER] == fibers) {
        memset(fiber_state, READY, fibers);
        in_state[AT_BARRIER] = 0;
        return true;
    }
    bool found = false;
    for (unsigned i = 0; in_state[IN_WARP] && i < fibers; i += WARP) {
        found |= release_warp(i, i + WARP < fibers ? i + WARP : fibers);
    }
    return found;
}
// Numbers the threads of a block.
static void set_indices() {
    if (!memcmp(&fiber_dims, &blockDim, sizeof blockDim)) return;
    fiber_dims = blockDim;
    for (unsigned i = 0; i < fibers; ++i) {
        const unsigned row = i / blockDim.x;
        fiber_index[i] = {i % blockDim.x, row % blockDim.y, row / blockDim.y};
    }
}
// Runs a block; tells whether all its threads met at every barrier.
static bool run_block(void (*work)(void **), void **values) {
    fibers = blockDim.x * blockDim.y * blockDim.z;
    if (!fiber_stacks) fiber_stacks = (char *)malloc((size_t)MOST_THREADS * STACK);
    if (block_runs) fibers_made = 0;  // the last one was left midway
    for (; fibers_made < fibers; ++fibers_made) {
        char *const stack = fiber_stacks + (size_t)fibers_made * STACK;
        make_place(&fiber_at[fibers_made], stack, STACK, run_fiber);
    }
    block_runs = true;
    fiber_work = work;
    fiber_values = values;
    set_indices();
    memset(fiber_state, READY, fibers);
    memset(exchanges, 0, fibers * sizeof *exchanges);
    memset(in_state, 0, sizeof in_state);
    while (true) {
        run_ready();
        if (in_state[ENDED] == fibers) break;
        if (!release_some()) return false;
    }
    block_runs = false;
    return true;
}
"""

_WAITS = ("__syncthreads", "__syncwarp", "__shfl_")

_NO_BARRIERS = """
static Dimensions threadIdx;
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


def _options(code: str) -> list[str]:
    """Return the compiler's options for a source."""
    options = ["-std=c++17", "-Og", "-ffp-contract=off", "-fPIC", "-pipe", "-Wall", "-Werror"]
    options += ["-U_FORTIFY_SOURCE", "-Wno-unknown-pragmas", "-Wno-tautological-compare"]
    # A generated source has what nobody reads where the pass is off that would drop it.
    options += ["-Wno-unused-variable"]
    if _IS_GNU:
        # Shared arrays of templates would be one array in the libraries of all sources.
        options += ["-fno-gnu-unique"]
    if _VECTORS.search(code):
        options += ["-fsanitize=alignment", "-fno-sanitize-recover=alignment"]
    return options


def library_of(code: str, entries: str) -> Any:
    """Return a source compiled, with what is added to it."""
    threads = _BARRIERS if any(word in code for word in _WAITS) else _NO_BARRIERS
    options = _options(code)
    folder = _folder_of("\n".join([_PRELUDE, threads]), tuple(options))
    path = folder / f"{_digest(code, entries)}.so"
    with suppress(FileNotFoundError):
        os.utime(path)  # it is in use
        return ctypes.CDLL(str(path))
    with tempfile.TemporaryDirectory(prefix="gluonish-host-") as made:
        source, library = Path(made) / "source.cpp", Path(made) / "library.so"
        source.write_text(f'#include "prelude.h"\n{code}\n{entries}', encoding="utf-8")
        # Without the sanitizer's library, whose one function that is called is in the prelude.
        link = ["-shared", "-nostdlib", "-o", str(library), str(source), "-lm", "-lc", "-lgcc"]
        _call([*options, f"-I{folder}", *link])
        library.replace(path)
    return ctypes.CDLL(str(path))


@cache
def _folder_of(prelude: str, options: tuple[str, ...]) -> Path:
    """Return where libraries with a prelude and options lie, with the headers."""
    digest = _digest(prelude, *_HEADERS.values(), *options, _version())
    folder = _home() / digest
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    for name, text in {**_HEADERS, "prelude.h": prelude}.items():
        _write(folder / name, text)
    if _IS_GNU and not (folder / "prelude.h.gch").exists():
        with tempfile.TemporaryDirectory(prefix="gluonish-host-") as made:
            compiled = Path(made) / "prelude.h.gch"
            header = ["-x", "c++-header", str(folder / "prelude.h"), "-o", str(compiled)]
            _call([*options, "-Wno-unused-function", *header])
            compiled.replace(folder / "prelude.h.gch")
    return folder


def _write(path: Path, text: str) -> None:
    """Write a file that other processes may write at the same time; leave one that is there."""
    if not path.exists():
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, delete=False
        ) as file:
            file.write(text)
        os.replace(file.name, path)


@cache
def _home() -> Path:
    """Return where all libraries lie, without those that nobody has used for long."""
    home, limit = kernel_home() / "host", time.time() - _KEPT_S
    for folder in home.glob("*"):
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
        for library in folder.glob("*.so"):
            with suppress(FileNotFoundError):
                if library.stat().st_mtime < limit:
                    library.unlink()
    return home


@cache
def _version() -> str:
    """Return the compiler's version."""
    assert COMPILER is not None, "no C++ compiler"
    done = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    return COMPILER + done.stdout


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def _call(arguments: list[str]) -> None:
    """Run the compiler."""
    assert COMPILER is not None, "no C++ compiler"
    done = subprocess.run([COMPILER, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
