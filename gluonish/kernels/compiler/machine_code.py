"""Compilation of kernels to object files, and linking of these into the process.

The code of a kernel is two object files: that of its body, and that of the launcher, which calls
the body in chunks and is the same for all kernels. They have a few KiB and reference only functions
of the C library, so they can be cached on disk.

A fork waits until no other thread is inside LLVM, whose locks would stay locked in the child.
"""

import ctypes
import hashlib
import struct
import threading
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import Any

from gluonish.core.loading import IMPORT_FAILURES
from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels import ahead
from gluonish.kernels.compiler import object_code, sources
from gluonish.kernels.compiler.errors import KernelError
from gluonish.kernels.compiler.helper_process import HelperProcess
from gluonish.kernels.compiler.object_code import Host

# ``launch(extent, address of params, grain, threads, address of GOMP_parallel or 0)``
Launch = Callable[[int, int, int, int, int], None]

_ENTRY = "gluonish_launch"
_CHUNK = "gluonish_chunk"
_SIZE = struct.Struct("<I")

_BODY_END = """
define void @gluonish_chunk(i64 %begin, i64 %end, i64 %params) noinline {
  %view = inttoptr i64 %params to i64*
  call void @gluonish_body(i64 %begin, i64 %end, i64* %view)
  ret void
}
"""

# Each thread of the team claims a chunk until none is left, so that a thread that starts late or is
# interrupted does less. There are four chunks for each thread, fewer if they would be below the
# grain; if more chunks than threads, equal ones, as many for each thread. Long chunks begin at a
# multiple of 64 elements: threads do not share cache lines, and the scalar loop after full vectors
# computes the same elements for any number of threads and chunks.
#
# The calling thread takes chunks from the first on, the others from the last: with two threads,
# kernels that follow each other on the same arrays find the halves in the caches of the cores that
# used them before. The stack that the work is on tells the calling thread; a wrong answer would
# only change the order of the chunks.
_LAUNCHER = """
%team_work = type { i64, i64, i64, i64, i64, i64, i64 }

declare void @gluonish_chunk(i64, i64, i64)

define internal void @gluonish_team(%team_work* %work) {
entry:
  %here = alloca i64
  %here.at = ptrtoint i64* %here to i64
  %work.at = ptrtoint %team_work* %work to i64
  %above = sub i64 %work.at, %here.at
  %calls = icmp ult i64 %above, 65536
  %claimed.at = getelementptr %team_work, %team_work* %work, i64 0, i32 0
  %extent.at = getelementptr %team_work, %team_work* %work, i64 0, i32 1
  %chunk.at = getelementptr %team_work, %team_work* %work, i64 0, i32 2
  %params.at = getelementptr %team_work, %team_work* %work, i64 0, i32 3
  %count.at = getelementptr %team_work, %team_work* %work, i64 0, i32 4
  %front.at = getelementptr %team_work, %team_work* %work, i64 0, i32 5
  %back.at = getelementptr %team_work, %team_work* %work, i64 0, i32 6
  %extent = load i64, i64* %extent.at
  %chunk = load i64, i64* %chunk.at
  %params = load i64, i64* %params.at
  %count = load i64, i64* %count.at
  br label %take
take:
  %before = atomicrmw add i64* %claimed.at, i64 1 monotonic
  %some = icmp slt i64 %before, %count
  br i1 %some, label %claim, label %done
claim:
  br i1 %calls, label %first, label %last
first:
  %front = atomicrmw add i64* %front.at, i64 1 monotonic
  br label %run
last:
  %back = atomicrmw sub i64* %back.at, i64 1 monotonic
  br label %run
run:
  %number = phi i64 [ %front, %first ], [ %back, %last ]
  %begin = mul i64 %number, %chunk
  %after = add i64 %begin, %chunk
  %cut = icmp sgt i64 %after, %extent
  %end = select i1 %cut, i64 %extent, i64 %after
  call void @gluonish_chunk(i64 %begin, i64 %end, i64 %params)
  br label %take
done:
  ret void
}

define void @gluonish_launch(i64 %extent, i64 %params, i64 %grain, i64 %threads, i64 %parallel) {
entry:
  %small = icmp sle i64 %extent, %grain
  %none = icmp eq i64 %parallel, 0
  %serial = or i1 %small, %none
  br i1 %serial, label %alone, label %together
alone:
  call void @gluonish_chunk(i64 0, i64 %extent, i64 %params)
  ret void
together:
  %chunks = shl i64 %threads, 2
  %padded_extent = add i64 %extent, %chunks
  %above = sub i64 %padded_extent, 1
  %even = udiv i64 %above, %chunks
  %long = icmp sgt i64 %even, 1023
  %padded = add i64 %even, 63
  %aligned = and i64 %padded, -64
  %target = select i1 %long, i64 %aligned, i64 %even
  %fine = icmp slt i64 %target, %grain
  %enough = select i1 %fine, i64 %grain, i64 %target
  %rows = icmp slt i64 %enough, 64
  %more = add i64 %enough, 63
  %even.params = and i64 %more, -64
  %most = select i1 %rows, i64 %enough, i64 %even.params
  %least.end = add i64 %extent, %most
  %least.less = sub i64 %least.end, 1
  %least = udiv i64 %least.less, %most
  %many = icmp ugt i64 %least, %threads
  %least.up = add i64 %least, %threads
  %least.over = sub i64 %least.up, 1
  %turns = udiv i64 %least.over, %threads
  %each = mul i64 %turns, %threads
  %each.end = add i64 %extent, %each
  %each.less = sub i64 %each.end, 1
  %part = udiv i64 %each.less, %each
  %part.more = add i64 %part, 63
  %part.aligned = and i64 %part.more, -64
  %equal = select i1 %rows, i64 %part, i64 %part.aligned
  %chunk = select i1 %many, i64 %equal, i64 %most
  %rounded = add i64 %extent, %chunk
  %less = sub i64 %rounded, 1
  %count = udiv i64 %less, %chunk
  %final = sub i64 %count, 1
  %work = alloca %team_work
  %claimed.at = getelementptr %team_work, %team_work* %work, i64 0, i32 0
  %extent.at = getelementptr %team_work, %team_work* %work, i64 0, i32 1
  %chunk.at = getelementptr %team_work, %team_work* %work, i64 0, i32 2
  %params.at = getelementptr %team_work, %team_work* %work, i64 0, i32 3
  %count.at = getelementptr %team_work, %team_work* %work, i64 0, i32 4
  %front.at = getelementptr %team_work, %team_work* %work, i64 0, i32 5
  %back.at = getelementptr %team_work, %team_work* %work, i64 0, i32 6
  store i64 0, i64* %claimed.at
  store i64 %extent, i64* %extent.at
  store i64 %chunk, i64* %chunk.at
  store i64 %params, i64* %params.at
  store i64 %count, i64* %count.at
  store i64 0, i64* %front.at
  store i64 %final, i64* %back.at
  %function = inttoptr i64 %parallel to void (void (%team_work*)*, %team_work*, i32, i32)*
  %team = trunc i64 %threads to i32
  call void %function(void (%team_work*)* @gluonish_team, %team_work* %work, i32 %team, i32 0)
  ret void
}
"""


class Code:
    """A kernel loaded into the process; its memory is freed with this object.

    Attributes:
        launch: Function that runs the kernel without the GIL.
        quick: The same with the GIL held, for work that takes less time than releasing it.
        address: The function's address.
    """

    __slots__ = ("_library", "address", "launch", "quick")

    def __init__(self, address: int, library: Any) -> None:
        self._library = library
        self.address = address
        types = (ctypes.c_int64,) * 5
        self.launch: Launch = ctypes.CFUNCTYPE(None, *types)(address)
        self.quick: Launch = ctypes.PYFUNCTYPE(None, *types)(address)


@cache
def host() -> Host:
    """Return the name and the features of this CPU, as LLVM spells them.

    Raises:
        KernelError: llvmlite cannot be imported.
    """
    try:
        from llvmlite import binding
    except IMPORT_FAILURES as error:
        raise KernelError(f"compile_kernel: expected llvmlite, got {error}") from None
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return Host(binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())


def has_float16() -> bool:
    """Whether this CPU has instructions to convert float16, without a library call."""
    return "+f16c" in host()[1] or "+fullfp16" in host()[1]


@cache
def versions() -> tuple[str, ...]:
    """Return what the code of a kernel depends on in addition to its text: LLVM, and its use."""
    from llvmlite import binding

    llvm = ".".join(map(str, binding.llvm_version_info))
    options = hashlib.sha256(sources.code_of(object_code.__name__)).hexdigest()
    return (llvm, *host(), options, _LAUNCHER, _BODY_END)


def generate(text: str) -> bytes:
    """Optimize a kernel's LLVM IR, and compile it.

    Args:
        text: LLVM IR that defines ``void @gluonish_body(i64 begin, i64 end, i64* params)``.

    Raises:
        KernelError: The kernel calls a function that the process lacks, or LLVM rejects the text.
    """
    try:
        body = _generated(text + _BODY_END)
    except RuntimeError as error:
        raise KernelError(f"compile_kernel: expected valid LLVM IR, got {error}") from None
    _require_known(body.called)
    launcher = _launcher()
    return _SIZE.pack(len(launcher)) + launcher + body.data


_in_llvm = TimeoutLock()
on_fork(_in_llvm.__enter__, _in_llvm.__exit__, _in_llvm.__exit__)


class _Thread(threading.local):
    helper: HelperProcess | None = None


_thread = _Thread()


def _generated(text: str) -> object_code.ObjectCode:
    """Compile in the helper process of a thread that works ahead, or here."""
    helper = _thread.helper
    if ahead.is_ahead():
        if helper is None:
            helper = _thread.helper = HelperProcess(host())
            ahead.at_end(helper.close)
        made = helper.generate(text, _CHUNK)
        ahead.check()
        if made is not None:
            return made
    return _generated_here(text, _CHUNK)


def _generated_here(text: str, entry: str) -> object_code.ObjectCode:
    processor = host()
    with _in_llvm:
        return object_code.generate(text, entry, processor)


@cache
def _launcher() -> bytes:
    return _generated_here(_LAUNCHER, _ENTRY).data


def _require_known(called: Sequence[str]) -> None:
    from llvmlite import binding

    for name in called:
        if not binding.address_of_symbol(name):
            raise KernelError(f"compile_kernel: expected arithmetic only, got a call of {name}")


class _Loader:
    """Links object files into the process."""

    def __init__(self) -> None:
        from llvmlite import binding

        self._numbers = count()
        host()  # initializes LLVM
        # JITLink allocates a kernel contiguously; the older linker aborts the process if its
        # sections are more than 2 GiB apart, as may happen with many or large mappings.
        self._jit = binding.create_lljit_compiler(
            object_code.target_machine(host()), use_jit_link=True
        )

    def link(self, data: bytes) -> Code:
        from llvmlite import binding

        number = next(self._numbers)  # a unique name, also for concurrent links
        builder = binding.JITLibraryBuilder()
        end = _SIZE.size + _SIZE.unpack_from(data)[0]
        builder.add_object_img(data[_SIZE.size : end]).add_object_img(data[end:])
        builder.export_symbol(_ENTRY).add_current_process()
        with _in_llvm:
            library = builder.link(self._jit, f"kernel{number}")
        return Code(library[_ENTRY], library)


@cache
def _loader() -> _Loader:
    return _Loader()


def load(data: bytes) -> Code:
    """Link code that `generate` returned into the process.

    Raises:
        KernelError: The code cannot be linked.
    """
    try:
        return _loader().link(data)
    except (RuntimeError, struct.error) as error:
        raise KernelError(
            f"compile_kernel: expected code that can be linked, got {error}"
        ) from None
