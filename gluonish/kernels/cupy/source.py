"""CUDA sources, their compilation and launches, and the translation of formulas.

Constants of inner loops (a window, a type) are macros of the source. CuPy caches compiled kernels
on disk.
"""

import ast
import re
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64

KINDS = {FLOAT32: 0, FLOAT64: 1, FLOAT16: 2, BFLOAT16: 14}  # cudaDataType (library_types.h)
_FOLDER = Path(__file__).resolve().parent
VECTOR_NBYTES = 16  # the widest access of a thread, and the alignment that it needs
_THREADS = 256
_LIMIT_32 = 2**31
_INCLUDED = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)

Macros = tuple[tuple[str, int], ...]
_kernels: weakref.WeakKeyDictionary[ModuleType, dict[tuple[Any, ...], Any]] = (
    weakref.WeakKeyDictionary()
)


@cache
def text_of(name: str) -> str:
    """Return the text of a file of this folder, with its includes."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    # NVRTC has no include folder, so includes are inlined.
    return _INCLUDED.sub(lambda found: text_of(found[1]), text)


def source_text(name: str, dtype: np.dtype[Any], wide_index: bool, macros: Macros = ()) -> str:
    """Return the source to compile.

    Args:
        name: Name of a file ``name.cu`` of this folder.
        dtype: Dtype of the arrays, which is Scalar in the source.
        wide_index: Whether Index in the source has 64 bits.
        macros: Additional macros and their values.
    """
    index = "unsigned long long" if wide_index else "unsigned int"
    defined: Mapping[str, Any] = {"KIND": KINDS[dtype], "INDEX": index, **dict(macros)}
    lines = [f"#define {macro} {value}" for macro, value in defined.items()]
    return "\n".join([*lines, text_of("scalar.cuh"), text_of(f"{name}.cu")])


def is_aligned(*arrays: Any) -> bool:
    """Whether vectors.cuh can access all arrays, from their first elements on."""
    return all(x.data.ptr % VECTOR_NBYTES == 0 for x in arrays)


def compiled(
    xp: Any,
    key: tuple[Any, ...],
    function: str,
    text: Callable[[], str],
    options: tuple[str, ...] = (),
) -> Any:
    """Return a kernel, compiled on first call.

    Args:
        key: Key of the kernel; must differ from the keys of `launch`.
        function: Name of the kernel in the source.
        text: Function that returns the source.
        options: Compiler options for NVRTC.
    """
    made = _kernels.get(xp)
    if made is None:
        made = _kernels.setdefault(xp, {})
    kernel = made.get(key)
    if kernel is None:
        module = xp.RawModule(code=text(), options=options)
        kernel = made.setdefault(key, module.get_function(function))
    return kernel


def functions_of(xp: Any) -> set[int]:
    """Return the handles (CUfunction) of all kernels so far, on the current device."""
    return {kernel.kernel.ptr for kernel in tuple(_kernels.get(xp, {}).values())}


def launch(
    xp: Any,
    name: str,
    function: str,
    dtype: np.dtype[Any],
    arrays: tuple[Any, ...],
    total: int,
    numbers: tuple[Any, ...] = (),
    macros: Macros = (),
) -> None:
    """Run a kernel in ``total`` threads on the current stream.

    Args:
        name: Name of the file.
        function: The kernel, whose parameters are the arrays, ``Index total`` and the numbers.
        dtype: Dtype that is Scalar in the source.
        arrays: Contiguous arrays.
        total: Number of threads; 0 launches nothing.
        numbers: NumPy scalars of exactly the parameters' types.
        macros: As in `source_text`.
    """
    if not total:
        return
    wide = total >= _LIMIT_32
    blocks = -(-total // _THREADS)
    args = (*arrays, index(total, wide), *numbers)
    launch_blocks(xp, name, function, dtype, args, (blocks,), _THREADS, macros, wide=wide)


def index(number: int, wide: bool) -> Any:
    """Convert a number to the type that is Index in the source."""
    return np.uint64(number) if wide else np.uint32(number)


def launch_blocks(
    xp: Any,
    name: str,
    function: str,
    dtype: np.dtype[Any],
    args: tuple[Any, ...],
    blocks: tuple[int, ...],
    threads: int,
    macros: Macros = (),
    *,
    wide: bool = False,
) -> None:
    """Run a kernel in blocks of threads on the current stream.

    Args:
        name: Name of the file.
        dtype: Dtype that is Scalar in the source.
        args: All arguments: contiguous arrays, and NumPy scalars of exactly the parameters' types.
        blocks: Number of blocks along one or two axes.
        threads: Number of threads per block.
        macros: As in `source_text`.
        wide: Whether Index in the source has 64 bits.
    """
    key = (name, function, dtype, wide, macros)
    kernel = compiled(xp, key, function, lambda: source_text(name, dtype, wide, macros))
    kernel(blocks, (threads,), args)


_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.BitAnd: "&&",  # between comparisons only
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_CALLS = {
    "fabs": "fabsf({})",
    "flag_float32": "({} ? 1.0f : 0.0f)",
    "maximum": "maximum({}, {})",
    "minimum": "minimum({}, {})",
    "select": "({} ? {} : {})",
    "sqrt": "sqrtf({})",
}


def inputs_of(lines: Sequence[str], results: Iterable[str] = ()) -> set[str]:
    """Return the names that statements read before setting them, and ``results`` they never set."""
    found: set[str] = set()
    made: set[str] = set()
    for line in lines:
        target, value = _assignment(line)
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        found |= names - made - _CALLS.keys() - {"float32"}
        made.add(target)
    return found | (set(results) - made)


def translated(lines: Sequence[str], known: Iterable[str]) -> list[str]:
    """Translate statements to C++, declaring names that are not in ``known``."""
    declared = set(known)
    made = []
    for line in lines:
        target, value = _assignment(line)
        made.append(f"{'' if target in declared else 'auto '}{target} = {_text(value)};")
        declared.add(target)
    return made


def _assignment(line: str) -> tuple[str, ast.expr]:
    """Parse an assignment; return the target's name, and the value's syntax tree."""
    (node,) = ast.parse(line).body
    assert isinstance(node, ast.Assign), line
    (target,) = node.targets
    assert isinstance(target, ast.Name), line
    return target.id, node.value


def _text(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_text(operand)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return f"({_text(left)} {_OPERATORS[type(op)]} {_text(right)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return f"({_text(left)} {_OPERATORS[type(op)]} {_text(right)})"
        case ast.Call(func=ast.Name(id="float32"), args=[ast.Constant(value=int() | float() as x)]):
            return f"{float(x)!r}f"
        case ast.Call(func=ast.Name(id=name), args=args) if name in _CALLS:
            return _CALLS[name].format(*map(_text, args))
    raise NotImplementedError(
        f"formula: expected an expression that CUDA supports, got {ast.unparse(node)}"
    )
