"""From a kernel's Python source to LLVM's intermediate text, by Numba's inference and lowering.

Numba's own optimization and code generation are left out: `machine_code` does both once, and on a
text in which loops that the source calls independent are marked so. All memory accesses join one
access group; a marked loop tells LLVM that its accesses of that group in different iterations do
not meet, so that it vectorizes without comparing every pair of pointers, also where an output is
an input.
"""

import ast
import re
import warnings
from collections.abc import Iterable
from typing import Any

from gluonish.core.optional import IMPORT_FAILURES
from gluonish.kernels.compiler.plain_source import lower_plain
from gluonish.kernels.compiler.scope import MARKER, kernel_scope
from gluonish.ops.kernel import RefusedError

__all__ = ["KernelError", "Lowered", "lower"]

_GROUP, _LOOP, _PARALLEL = "!900000", "!900001", "!900002"
_METADATA = f"""
{_GROUP} = distinct !{{}}
{_PARALLEL} = !{{!"llvm.loop.parallel_accesses", {_GROUP}}}
"""
_BLOCK = re.compile(r'"?B(\d+)[^:\s]*:')
_BRANCH = re.compile(r'label %"B(\d+)"')
_ENTRY = "gluonish_body"


class KernelError(RefusedError):
    """A kernel's source cannot be compiled here."""


class Lowered:
    """A kernel before optimization.

    Attributes:
        text: LLVM's intermediate text; it defines ``i32 @gluonish_body(i64 begin, i64 end, i64*
            words)`` as Numba lays functions out, with places for a result and an exception first.
        libraries: Modules of Numba's that the text calls into.
    """

    __slots__ = ("libraries", "text")

    def __init__(self, text: str, libraries: list[Any]) -> None:
        self.text = text
        self.libraries = libraries


def lower(source: str, fastmath: Iterable[str]) -> Lowered:
    """Return the intermediate text of a source that defines ``body(begin, end, words)``.

    Args:
        source: Python; `compiler` says what it may use.
        fastmath: LLVM's names of what floating-point instructions may be taken to allow.

    Raises:
        KernelError: Numba cannot be imported, or cannot compile the source.
    """
    _require_marks_in_body(source)
    plain = lower_plain(source, tuple(fastmath))
    if plain is not None:
        return Lowered(_with_marks(plain), [])
    try:
        import numba
        from numba.core.errors import NumbaError
    except IMPORT_FAILURES as error:
        raise KernelError(
            f"compile_kernel: expected Numba, got {error}; pip install numba"
        ) from None
    scope = kernel_scope()
    known = set(scope)
    exec(compile(source, "<generated kernel>", "exec"), scope)
    flags = {"error_model": "numpy", "fastmath": set(fastmath) or False, "_nrt": False}
    for name, value in list(scope.items()):
        if callable(value) and name not in known and name != "body":
            scope[name] = numba.njit(**flags)(value)
    try:
        text, name, libraries = _lowered(scope["body"], fastmath)
    except NumbaError as error:
        raise KernelError(
            f"compile_kernel: expected a source that Numba takes, got {error}"
        ) from None
    return Lowered(_with_marks(text.replace(name, _ENTRY)), libraries)


def _require_marks_in_body(source: str) -> None:
    """Check that no other function calls independent().

    Numba loads other functions itself, and ends the process when one calls what is not there.
    """
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and function.name != "body":
            names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            if "independent" in names:
                raise KernelError(
                    f"compile_kernel: expected independent() in body, got it in {function.name}"
                )


def _lowered(body: Any, fastmath: Iterable[str]) -> tuple[str, str, list[Any]]:
    try:
        return _by_inner_parts(body, fastmath)
    except (AttributeError, ImportError) as error:
        import numba

        message = (
            "compile_kernel: expected a Numba whose inner parts are those of 0.61 to 0.69, got "
            f"{numba.__version__}, where {error}; pip install 'numba>=0.61,<0.70'"
        )
        warnings.warn(f"{message}. Until then NumPy does the work, slower", stacklevel=2)
        raise KernelError(message) from error


def _by_inner_parts(body: Any, fastmath: Iterable[str]) -> tuple[str, str, list[Any]]:
    from numba import types
    from numba.core import cgutils, compiler
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    class Captured(JITCodeLibrary):  # type: ignore[misc]  # Numba is not followed
        """Keeps what Numba would optimize and load."""

        def add_ir_module(self, ir_module: Any) -> None:
            texts.append(cgutils.normalize_ir_text(str(ir_module)))

        def add_linking_library(self, library: Any) -> None:
            if library.name != "nrt":
                libraries.append(library)

    texts: list[str] = []
    libraries: list[Any] = []
    flags: Any = compiler.Flags()  # its options are made at run time
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.nrt = False
    flags.error_model = "numpy"
    flags.fastmath = type(flags.fastmath)(set(fastmath) or False)
    arguments = (types.int64, types.int64, types.CPointer(types.int64))
    with global_compiler_lock:
        registry: Any = cpu_target  # its contexts are made at the first look
        typing, target = registry.typing_context, registry.target_context
        typing.refresh()
        target.refresh()
        library = Captured(target.codegen(), "kernel")
        library.enable_object_caching()
        result = compiler.compile_extra(
            typing, target, body, arguments, types.void, flags, {}, library=library
        )
        modules = [library._get_module_for_linking() for library in libraries]
    (text,) = texts
    return text, result.fndesc.llvm_func_name, modules


def _with_marks(text: str) -> str:
    """Put all accesses into the group, and the marks of loops onto their branches back."""
    lines = text.split("\n")
    backward, marks = _loops(lines)
    marked: dict[int, int] = {}  # line of a branch back: the loop
    for mark in marks:
        around = [line for line, (first, last) in backward.items() if first <= mark <= last]
        if not around:
            raise KernelError("compile_kernel: expected independent() in a loop, got it outside")
        first = max(backward[line][0] for line in around)
        marked |= {line: first for line in around if backward[line][0] == first}
    done = [_annotated(line, marked.get(i)) for i, line in enumerate(lines) if MARKER not in line]
    loops = [
        f"!{910000 + first} = distinct !{{!{910000 + first}, {_PARALLEL}}}"
        for first in sorted(set(marked.values()))
    ]
    return "\n".join(done + loops) + _METADATA


def _annotated(line: str, loop: int | None) -> str:
    bare = line.strip()
    if " = load " in bare or bare.startswith("store "):
        return f"{line}, !llvm.access.group {_GROUP}"
    return line if loop is None else f"{line}, !llvm.loop !{910000 + loop}"


def _loops(lines: list[str]) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """Find branches back, with the places they span, and the places of marks.

    Numba names blocks after the place in the bytecode that they begin at, which follows the source;
    a loop is what lies between the target of a branch back and the branch.
    """
    backward: dict[int, tuple[int, int]] = {}
    marks: list[int] = []
    place = -1
    for i, line in enumerate(lines):
        bare = line.strip()
        block = _BLOCK.match(bare)
        if block is not None:
            place = int(block[1])
        elif f'@"{MARKER}"' in bare and not bare.startswith("declare"):
            marks.append(place)
        elif bare.startswith("br "):
            for target in map(int, _BRANCH.findall(bare)):
                if target <= place:
                    backward[i] = (target, place)
    return backward, marks
