"""Kernels from generated Python source: compiled once, kept on disk, run on OpenMP's team.

A source defines ``def body(begin, end, words)``, which does the steps ``begin`` to ``end - 1`` of
an extent; several threads run it at once on different steps. ``words`` is a view of 64-bit words,
as the caller made them: addresses of arrays, sizes, bits of numbers. The function must neither
raise nor allocate. The language is a part of Python: assignments to variables and elements,
``for`` over ``range`` with steps of 1 or more, ``while``, ``if``, ``break``, ``continue``,
``return``, arithmetic, comparisons, ``and``, ``or``, ``not``, ``x if condition else y``, and the
names below. The source's other functions take values and views and return values; the code of one
is repeated for each call. A variable has one type; `typed_values` has the rules where types meet.

Names that a source may use:

- ``f32(address)``, ``f64``, ``i8`` to ``i64``, ``u8`` to ``u64``: a view of memory, indexed from 0
  without a check, for reading and writing. Its elements are numbers of that type: an operation of
  float32 and float32 gives float32, but of float32 and a number of the source or an int64 gives
  float64; write ``float32(2)``.
- ``as_float(word)``: the float64 with these bits; ``as_int`` back. ``float_of_bits(uint32)`` and
  ``bits_of_float(float32)`` the same in 32 bits.
- ``float32``, ``float64``, ``int8`` to ``int64``, ``uint8`` to ``uint64``: conversions.
  ``np.nan`` and ``np.inf``. ``min`` and ``max`` of two integers.
- ``load_bf16(uint16)`` and ``store_bf16(float32)``: bfloat16 as float32 and back, to the nearest,
  ties to even; ``load_f16`` and ``store_f16`` the same for float16. Use them on views ``u16``:
  ``y[i] = store_bf16(load_bf16(x[i]) * a)``.
- ``exp, expm1, log, log1p, log2, log10, tanh, sigmoid, softplus`` of float32 or float64, and
  ``erf`` of float32, which vectorize; ``sqrt, fabs, floor, ceil,
  trunc, rint`` (halves to even), ``copysign(x, sign)``, ``fma(x, y, z)``; ``maximum`` and
  ``minimum``, which keep NaN as NumPy's. Unless all arguments are float32 they become float64.
- ``select(condition, x, y)``: ``x`` or ``y``, both computed before. An ``if`` between
  two elements would make LLVM choose an address first, which is slow. ``flag_float32(condition)``,
  ``flag_float64``, ``flag_int64``: 1 or 0.
- ``philox_fill(view, place, block, seed, offset)``: writes the four words of a block of the draw
  with key ``(seed, offset)`` (see `gluonish.ops.support.philox`) to ``view[place]`` and behind, a
  view ``u32``; ``philox_word(index, seed, offset)``: one word, at the price of four.
  ``scratch()``: such a view of 1032 words on the thread's stack. ``scratch_sums()``: such a view
  of 4096 float64.
- ``independent()``, as first statement of an innermost loop: promises that no iteration reads or
  writes what another writes, but where both are the same element; LLVM then vectorizes without
  comparing addresses. Put it into every loop over elements that writes memory, in-place ones too;
  never where an iteration needs what an earlier one wrote to memory. Sums in local variables are
  no memory, and may stand beside it.

``fastmath`` names what LLVM may assume of floating-point instructions: ``contract`` (a * b + c
rounded once), ``reassoc`` (sums in any order, without which a sum does not vectorize), ``nsz``,
``arcp``. The default is the first two; it never assumes away NaN and infinities. With
``functions`` they hold inside ``exp``, ``log`` and their like, too, which are faster then and have
other last bits.

In a kernel called with a row an extent step, say in ``grain`` how many rows are worth a thread.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gluonish.core.config import changes
from gluonish.core.helper_thread import in_helper_thread
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.core.timeout_lock import Turn
from gluonish.kernels import (
    openmp,
)
from gluonish.kernels.compiler import (
    disk_cache,
    machine_code,
)
from gluonish.kernels.compiler.errors import KernelError
from gluonish.kernels.compiler.lowering import lower
from gluonish.kernels.compiler.tuning import FACTOR, Timing, fixed_border, is_tuned
from gluonish.ops.kernel import address

__all__ = [
    "GRAIN",
    "CompiledKernel",
    "KernelError",
    "available",
    "compile_assembly",
    "compile_kernel",
    "is_compiled",
]

GRAIN = 16384  # steps: about what a thread does in the time that waking it takes

_FASTMATH = ("contract", "reassoc")


class CompiledKernel:
    """A kernel ready to run, from any number of threads at once.

    Attributes:
        source: What it was compiled from, or its name.
    """

    __slots__ = (
        "_borders",
        "_code",
        "_launch",
        "_quick",
        "_stamp",
        "_team",
        "_tuned",
        "_waiting",
        "source",
    )

    def __init__(self, source: str, code: machine_code.Code) -> None:
        self.source = source
        self._code = code
        self._launch = code.launch
        self._quick = code.quick
        self._team = openmp.team
        self._stamp = -1  # of the flags by which the borders were found
        self._borders: dict[int, int] = {}  # by grain: the most steps in one thread
        self._waiting: dict[int, Timing] = {}  # those that are being measured
        self._tuned = False

    def __call__(self, extent: int, words: Any, grain: int = GRAIN) -> None:
        """Run the steps 0 to ``extent - 1``.

        Args:
            extent: How many steps.
            words: Contiguous int64 array; what it holds addresses of must live during the call.
            grain: Estimate of the fewest steps that are worth a thread; see
                `gluonish.kernels.compiler.tuning` for what becomes of it.
        """
        self.run_at(extent, address(words), grain)

    def run_at(self, extent: int, words: int, grain: int = GRAIN) -> None:
        """The same, with the address of the words."""
        if self._stamp != changes[0]:
            self._stamp = changes[0]
            self._tuned = is_tuned(self.source)
            self._borders, self._waiting = {}, {}
        if self._tuned and extent * FACTOR < grain:
            self._quick(extent, words, extent, 1, 0)
            return
        border = self._borders.get(grain)
        if border is None:
            if self._is_timed(extent, words, grain):
                return
            border = self._borders.get(grain, grain)
        if extent <= border:
            if extent <= grain:
                self._quick(extent, words, extent, 1, 0)
            else:
                self.run_alone(extent, words)
            return
        team = self._team()
        threads = 1 if openmp.is_barred() else team.threads()
        parallel = team.parallel if threads > 1 else 0
        self._launch(extent, words, min(grain, border), threads, parallel)

    def _is_timed(self, extent: int, words: int, grain: int) -> bool:
        """Take a step to find the border for a grain; whether the kernel was run for that."""
        if not self._tuned:
            self._borders[grain] = fixed_border(grain, 2 * GRAIN)
            return False
        found = self._waiting.get(grain)
        if found is None:
            found = self._waiting[grain] = Timing(grain)
        if openmp.is_barred() or not found.takes(extent):
            return False
        border = found.run(extent, lambda: self.run_alone(extent, words))
        if border:
            self._borders[grain] = border
        return True

    def run_alone(self, extent: int, words: int) -> None:
        """Run all steps in this thread, without the interpreter's lock; ``words`` is an address."""
        self._launch(extent, words, extent, 1, 0)


_Key = tuple[str, ...]  # source or name, and what LLVM may assume
_kernels: dict[_Key, CompiledKernel | KernelError] = {}


_turn = Turn()  # so that nothing is compiled twice without need


@cache
def available() -> bool:
    """Whether llvmlite is installed, so that kernels can be compiled; does not import it."""
    return find_spec("llvmlite") is not None


def compile_kernel(source: str, fastmath: Iterable[str] = _FASTMATH) -> CompiledKernel:
    """Return the kernel of a source: the one made before, one from disk, or a new one.

    Args:
        source: Defines ``body(begin, end, words)``; see the module.
        fastmath: What LLVM may assume of floating-point instructions; see the module.

    Raises:
        KernelError: llvmlite is missing, or the source is outside the language.
    """
    allowed = tuple(sorted(fastmath))
    return _find((source, *allowed), lambda: lower(source, allowed))


def is_compiled(source: str, fastmath: Iterable[str] = _FASTMATH) -> bool:
    """Whether `compile_kernel` has the kernel of a source already: in memory, or on disk."""
    key = (source, *sorted(fastmath))
    return key in _kernels or disk_cache.is_kept(_digest(key))


def compile_assembly(name: str, text: Callable[[], str]) -> CompiledKernel:
    """Return the kernel of a text in LLVM's language, as `compile_kernel` does of a source.

    Args:
        name: The kernel's key, which tells the text from all others, also from those of other
            versions of what writes it.
        text: Called when there is no such kernel yet; it defines ``gluonish_body``, as
            `gluonish.kernels.compiler.vector_code.Assembler` does.

    Raises:
        KernelError: llvmlite is missing, or LLVM refuses the text.
    """
    return _find((name,), text)


def _find(key: _Key, write: Callable[[], str]) -> CompiledKernel:
    kernel = _kernels.get(key)
    if kernel is None:
        kernel = in_helper_thread(lambda: _make(key, write))
    if isinstance(kernel, KernelError):
        raise kernel
    return kernel


def _make(key: _Key, write: Callable[[], str]) -> CompiledKernel | KernelError:
    """Return the kernel of a key; of several that are made at once the first one counts."""
    with _turn:
        kernel = _kernels.get(key)
        return _kernels.setdefault(key, _new_kernel(key, write)) if kernel is None else kernel


def _new_kernel(key: _Key, write: Callable[[], str]) -> CompiledKernel | KernelError:
    try:
        return CompiledKernel(key[0], _code(key, write))
    except KernelError as error:
        return error  # kept, too: to find it out again takes as long as compiling


def _code(key: _Key, write: Callable[[], str]) -> machine_code.Code:
    digest = _digest(key)
    kept = disk_cache.find(digest)
    if kept is not None:
        try:
            return machine_code.load(kept)
        except KernelError:
            pass  # cannot be linked here, whatever it is
    made = machine_code.generate(write())
    disk_cache.keep(digest, made)
    return machine_code.load(made)


def _digest(key: _Key) -> bytes:
    """What a kernel is kept under on disk."""
    source, *allowed = key
    parts = (*_toolchain(), *machine_code.host(), *allowed, source)
    return hashlib.sha256("\0".join(parts).encode()).digest()


@cache
def _toolchain() -> tuple[str, ...]:
    """The version of LLVM's interface, and digests of this folder."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    own = [hashlib.sha256(path.read_bytes()).hexdigest() for path in modules]
    try:
        import llvmlite
    except IMPORT_FAILURES as error:
        raise KernelError(
            f"compile_kernel: expected llvmlite, got {error}; pip install llvmlite"
        ) from None
    return (llvmlite.__version__, *own)
