"""Kernels from generated Python source, compiled once, cached on disk, run on an OpenMP team.

A source defines ``def body(begin, end, params)``, which computes the steps ``begin`` to ``end - 1``
of an extent; several threads run it concurrently on different steps. ``params`` is a view of the
caller's 64-bit integers: addresses of arrays, sizes, bits of numbers. The function must neither
raise nor allocate. The language is a subset of Python: assignments to variables and elements,
``for`` over ``range`` with steps of 1 or more, ``while``, ``if``, ``break``, ``continue``,
``return``, arithmetic, comparisons, ``and``, ``or``, ``not``, ``x if condition else y``, and the
names below. Other functions of the source take values and views and return values; they are
inlined. A variable has one type; `typed_values` has the rules of type promotion.

Names that a source may use:

- ``f32(address)``, ``f64``, ``i8`` to ``i64``, ``u8`` to ``u64``: a view of memory, indexed from 0
  without bounds checks, for loads and stores. Its elements have that type. Float32 and float32 give
  float32, but float32 and a literal or an int64 give float64; write ``float32(2)``.
- ``as_float(int64)``: the float64 with these bits; ``as_int`` back. ``float_of_bits(uint32)`` and
  ``bits_of_float(float32)`` the same in 32 bits.
- ``float32``, ``float64``, ``int8`` to ``int64``, ``uint8`` to ``uint64``: conversions.
  ``np.nan`` and ``np.inf``. ``min`` and ``max`` of two integers.
- ``load_bf16(uint16)`` and ``store_bf16(float32)``: bfloat16 to float32 and back, rounding to
  nearest, ties to even; ``load_f16`` and ``store_f16`` the same for float16. Use them on views
  ``u16``:
  ``y[i] = store_bf16(load_bf16(x[i]) * a)``.
- ``exp, expm1, log, log1p, log2, log10, tanh, sigmoid, softplus`` of float32 or float64, and
  ``erf`` of float32, which vectorize; ``sqrt, fabs, floor, ceil,
  trunc, rint`` (halves to even), ``copysign(x, sign)``, ``fma(x, y, z)``; ``maximum`` and
  ``minimum``, which propagate NaN as NumPy's. Unless all arguments are float32 they become float64.
- ``select(condition, x, y)``: ``x`` or ``y``, both computed. For an ``if`` between two elements
  LLVM would select an address first, which is slow. ``flag_float32(condition)``, ``flag_float64``,
  ``flag_int64``: 1 or 0.
- ``philox_fill(view, index, block, seed, offset)``: writes the four uint32 of a Philox block with
  key ``(seed, offset)`` (see `gluonish.ops.support.philox`) to a view ``u32`` from ``index``;
  ``philox_word(index, seed, offset)``: one uint32, at the cost of four. ``scratch()``: a view of
  1032 uint32 on the thread's stack. ``scratch_sums()``: a view of 4096 float64.
- ``flush_subnormals()``, in ``body`` outside of loops: subnormal floats are zeros from there on, on
  x86. These CPUs take over a hundred cycles for an operation with one.
- ``independent()``, as first statement of an innermost loop: promises that no iteration accesses
  memory that another one writes, except for the same element in place; LLVM then vectorizes without
  comparing addresses. Use it in every loop over elements that writes memory; never if an iteration
  reads memory that an earlier one wrote. Sums in local variables are allowed.

``fastmath`` are LLVM's flags of floating-point instructions: ``contract`` (a * b + c rounded once),
``reassoc`` (sums in any order, without which a sum does not vectorize), ``nsz``, ``arcp``. The
default is the first two; NaN and infinities are always respected. With ``functions`` the flags
apply inside ``exp``, ``log`` and similar functions, too, which makes them faster, with other last
bits.

If a step is a row, ``grain`` must be a number of rows.
"""

import hashlib
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from gluonish.core.config import changes
from gluonish.core.helper_thread import in_helper_thread
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels import ahead, openmp
from gluonish.kernels.compiler import (
    disk_cache,
    machine_code,
    progress,
    sources,
)
from gluonish.kernels.compiler.errors import KernelError
from gluonish.kernels.compiler.lowering import lower
from gluonish.kernels.compiler.tuning import FACTOR, Timing, fixed_border, is_tuned
from gluonish.ops.kernel import address

__all__ = [
    "GRAIN",
    "CompiledKernel",
    "KernelError",
    "Launch",
    "available",
    "compile_assembly",
    "compile_kernel",
    "is_compiled",
]

GRAIN = 16384  # steps: about as many as a thread computes in the time to wake it

# Runs in one thread of more steps than the grain, after which the border is determined again.
_AGAIN = (64, 1024, 16384)

_FASTMATH = ("contract", "reassoc")
_BY_TEXT = "kernels_by_text"  # folder of the kernels by their LLVM IR


class Launch(NamedTuple):
    """A call of a kernel's launcher.

    Attributes:
        address: The launcher's address.
        extent: Number of steps.
        params: Address of the params.
        grain: Minimum steps for each thread.
        threads: Number of threads.
        parallel: Address of GOMP_parallel; 0 for one thread.
    """

    address: int
    extent: int
    params: int
    grain: int
    threads: int
    parallel: int


class CompiledKernel:
    """A compiled kernel, which any thread may run at any time.

    Attributes:
        source: The kernel's source, or the name given to `compile_assembly`.
    """

    __slots__ = (
        "_beyond",
        "_borders",
        "_code",
        "_launch",
        "_pending",
        "_quick",
        "_stamp",
        "_team",
        "_tuned",
        "source",
    )

    def __init__(self, source: str, code: machine_code.Code) -> None:
        self.source = source
        self._code = code
        self._launch = code.launch
        self._quick = code.quick
        self._team = openmp.team
        self._stamp = -1  # version of the flags for which the borders were determined
        self._borders: dict[int, int] = {}  # maximum steps in one thread, for each grain
        self._pending: dict[int, Timing] = {}  # unfinished measurements, for each grain
        self._beyond: dict[int, int] = {}  # runs of more steps in one thread, for each grain
        self._tuned = False

    @property
    def address(self) -> int:
        """Address of the launcher, which takes the fields of `Launch` after its own."""
        return self._code.address

    def __call__(self, extent: int, params: Any, grain: int = GRAIN) -> None:
        """Run the steps 0 to ``extent - 1``.

        Args:
            extent: Number of steps.
            params: A contiguous int64 array. Arrays whose addresses are in it must stay alive.
            grain: Estimated minimum steps for each thread, which
                `gluonish.kernels.compiler.tuning` may adjust.
        """
        self.run_at(extent, address(params), grain)

    def run_at(self, extent: int, params: int, grain: int = GRAIN) -> None:
        """Do the same as `__call__`, given the address of the params."""
        if self._stamp != changes[0]:
            self._stamp = changes[0]
            self._tuned = is_tuned(self.source)
            self._borders, self._pending = {}, {}
        if self._tuned and extent * FACTOR < grain:
            self._quick(extent, params, extent, 1, 0)
            return
        border = self._borders.get(grain)
        if border is None:
            if self._is_timed(extent, params, grain):
                return
            border = self._borders.get(grain, grain)
        if extent <= border:
            if extent <= grain:
                self._quick(extent, params, extent, 1, 0)
            else:
                self._run_beyond(extent, params, grain)
            return
        team = self._team()
        threads = 1 if openmp.is_disabled() else team.threads()
        parallel = team.parallel if threads > 1 else 0
        self._launch(extent, params, min(grain, border), threads, parallel)

    def _run_beyond(self, extent: int, params: int, grain: int) -> None:
        """Run more steps than the grain in this thread, because a team starts slowly.

        The border is determined again after some runs: perhaps the threads had no cores before.
        """
        runs = self._beyond[grain] = self._beyond.get(grain, 0) + 1
        if runs in _AGAIN and self._tuned:
            self._borders.pop(grain, None)
            self._pending.pop(grain, None)
        self.run_alone(extent, params)

    def _is_timed(self, extent: int, params: int, grain: int) -> bool:
        """Determine the border for a grain, or time one more run; return whether the kernel ran."""
        if not self._tuned:
            self._borders[grain] = fixed_border(grain, 2 * GRAIN)
            return False
        found = self._pending.get(grain)
        if found is None:
            found = self._pending[grain] = Timing(grain)
        if openmp.is_disabled() or not found.is_useful(extent):
            return False
        border = found.run(extent, lambda: self.run_alone(extent, params))
        if border:
            self._borders[grain] = border
        return True

    def run_threads(self, threads: int, params: int) -> None:
        """Run as many steps as there are threads, which take one each if they start in time.

        Args:
            threads: Number of steps and threads, at most that of the team.
            params: Address of the params.
        """
        self._launch(threads, params, 1, threads, self._team().parallel if threads > 1 else 0)

    def launch_of(self, extent: int, params: int, grain: int, threads: int) -> Launch | None:
        """Return what `run_at` does, for `Series`; None while runs are still timed.

        Args:
            extent: Number of steps.
            params: Address of the params.
            grain: See `__call__`.
            threads: How many threads a kernel may use.
        """
        if self._stamp != changes[0]:
            return None
        alone = Launch(self._code.address, extent, params, extent, 1, 0)
        if self._tuned and extent * FACTOR < grain:
            return alone
        border = self._borders.get(grain)
        if border is None:
            found = self._pending.get(grain)
            if found is None or (threads > 1 and found.is_useful(extent)):
                return None
            border = grain
        if extent <= border:
            return alone
        parallel = self._team().parallel if threads > 1 else 0
        return Launch(self._code.address, extent, params, min(grain, border), threads, parallel)

    def run_alone(self, extent: int, params: int) -> None:
        """Run all steps in the calling thread, without the GIL; ``params`` is an address."""
        self._launch(extent, params, extent, 1, 0)


_Key = tuple[str, ...]  # source or name, and fastmath flags
_kernels: dict[_Key, CompiledKernel | KernelError] = {}
_in_progress: dict[_Key, TimeoutLock] = {}  # prevent concurrent compilation of one kernel
on_fork(after_in_child=_in_progress.clear)


@cache
def available() -> bool:
    """Whether llvmlite is installed, so that kernels can be compiled; does not import llvmlite."""
    return find_spec("llvmlite") is not None


def compile_kernel(source: str, fastmath: Iterable[str] = _FASTMATH) -> CompiledKernel:
    """Return the kernel of a source, from memory, from disk, or newly compiled.

    Args:
        source: Text that defines ``body(begin, end, params)``; see the module.
        fastmath: Flags of floating-point instructions; see the module.

    Raises:
        KernelError: llvmlite is missing, or the source is not in the supported language.
    """
    allowed = tuple(sorted(fastmath))
    return _find((source, *allowed), lambda: lower(source, allowed))


def is_compiled(source: str, fastmath: Iterable[str] = _FASTMATH) -> bool:
    """Whether the kernel of a source is already compiled, in memory or on disk."""
    key = (source, *sorted(fastmath))
    return key in _kernels or disk_cache.is_saved(_digest(key))


def compile_assembly(name: str, text: Callable[[], str], *modules: str) -> CompiledKernel:
    """Return the kernel of a text in LLVM IR, cached like those of `compile_kernel`.

    Args:
        name: Cache key, which with the code of the modules must identify the text.
        text: Function that returns the text, called if the kernel is not cached. The text defines
            ``gluonish_body``, as `gluonish.kernels.compiler.vector_code.Assembler` does.
        *modules: Names of the modules outside this package that write the text.

    Raises:
        KernelError: llvmlite is missing, or LLVM rejects the text.
    """
    return _find((f"{name} {sources.digest_of(*modules)}",), text)


def _find(key: _Key, write: Callable[[], str]) -> CompiledKernel:
    kernel = _kernels.get(key)
    if kernel is None:
        kernel = in_helper_thread(lambda: _make(key, write))
    if isinstance(kernel, KernelError):
        raise kernel
    return kernel


def _make(key: _Key, write: Callable[[], str]) -> CompiledKernel | KernelError:
    """Return the kernel of a key, compiling it unless another thread has done so."""
    mine = TimeoutLock()
    lock = _in_progress.setdefault(key, mine)
    if lock is not mine and ahead.is_ahead():
        raise ahead.InProgressError
    with lock:
        try:
            kernel = _kernels.get(key)
            return _kernels.setdefault(key, _new_kernel(key, write)) if kernel is None else kernel
        finally:
            _in_progress.pop(key, None)


def _new_kernel(key: _Key, write: Callable[[], str]) -> CompiledKernel | KernelError:
    try:
        return CompiledKernel(key[0], _code(key, write))
    except KernelError as error:
        return error  # cached, too, since failing again takes as long as compiling


def _code(key: _Key, write: Callable[[], str]) -> machine_code.Code:
    digest = _digest(key)
    code = _loaded(disk_cache.find(digest))
    if code is not None:
        return code
    ahead.begin()
    text = write()
    # A version of this package that writes the same text for the kernel finds the same code.
    text_digest = _digest_of(*machine_code.versions(), text)
    saved = disk_cache.find(text_digest, _BY_TEXT)
    code = _loaded(saved)
    if code is None:
        with progress.shown():
            saved = machine_code.generate(text)
        code = machine_code.load(saved)
        disk_cache.save(text_digest, saved, _BY_TEXT)
    disk_cache.save(digest, saved or b"")
    return code


def _loaded(saved: bytes | None) -> machine_code.Code | None:
    """Return saved code; None if there is none that can be linked in this process."""
    if saved is None:
        return None
    try:
        return machine_code.load(saved)
    except KernelError:
        return None


def _digest(key: _Key) -> bytes:
    """Return the key under which a kernel is cached on disk."""
    source, *allowed = key
    return _digest_of(*_toolchain(), *machine_code.host(), *allowed, source)


def _digest_of(*fields: str) -> bytes:
    return hashlib.sha256("\0".join(fields).encode()).digest()


@cache
def _toolchain() -> tuple[str, ...]:
    """Return the version of llvmlite, and digests of this folder's modules."""
    digests = sources.digests_of(sys.modules[str(__package__)])
    try:
        import llvmlite
    except IMPORT_FAILURES as error:
        raise KernelError(
            f"compile_kernel: expected llvmlite, got {error}; pip install llvmlite"
        ) from None
    return (llvmlite.__version__, *digests)
