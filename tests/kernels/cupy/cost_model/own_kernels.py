"""The cost of a launch of CUDA C++, by its parameters.

Pointers to const are read, others are written, each array once. A Table of an optimizer names its
arrays by address; its source says which of them a kernel loads and stores, and in which type.

Instructions an element are those of ``tests/kernels/cupy/instructions.json``, counted in machine
code, where that has the kernel with the macros of its source; else of instructions.json beside this
file. Generated pointwise kernels are all called ``fused``: their number follows from their arrays.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.cupy.cost_model.records import Cost, cost_of

_POINTER = re.compile(r"(\w+) \*const (\w+)s = \(\w[\w ]*\*\)table\.(\w+)\[(\d+)\]\[owner\]")
_KINDS = {"0": 4, "1": 8, "2": 2, "14": 2}  # bytes of Scalar, by the macro KIND
# Arrays that a kernel reads again after it has written them.
_READ_AGAIN = {(name, "sums") for name in ("statistics", "gradient_sums", "residual_sums")}


class _Use(dict[tuple[str, int], tuple[bool, bool, int]]):
    """For arrays of a Table, by field and number: whether loaded, whether stored, and itemsize."""


@cache
def _uses(code: str, name: str) -> _Use:
    """Return what a kernel of a source does with the arrays of its Table."""
    body = code.split(f" {name}(", 1)[1].split('extern "C"', 1)[0]
    scalar = _itemsize(code)
    uses = _Use()
    for kind, array, field, number in _POINTER.findall(body):
        loads = re.search(rf"=[^=\n]*\b{array}s\[i\]", body) is not None
        stores = re.search(rf"\b{array}s\[i\] =", body) is not None
        uses[field, int(number)] = loads, stores, scalar if kind == "Scalar" else 4
    return uses


def _table_cost(name: str, code: str, table: Any, threads: int) -> Cost:
    """Return the cost of a kernel that works on the arrays of a Table."""
    sizes, instructions = _sizes(code, table), _counted(name, code)
    uses = list(_uses(code, name).values())
    if uses:
        read = sizes * sum(size for loads, _, size in uses if loads)
        written = sizes * sum(size for _, stores, size in uses if stores)
    elif name in _BY_BYTES:
        read, written, sizes = 0, sizes, sizes // 16  # an access stores 16 bytes
    else:
        source = 4 if "#define NARROWS 1" in code else _itemsize(code)
        read, written = sizes * source, sizes * _itemsize(code)
    return Cost("own", read, written, sizes, "float32", threads=threads, instructions=instructions)


def _copy_cost(name: str, code: str, table: Any, threads: int) -> Cost:
    """Return the cost of a copy between strides, whose Table has the extents of its loops."""
    macros, row = dict(_DEFINE.findall(code)), table[0]
    loops = [*zip(row["extents"], row["from"], strict=True)]
    if "VECTOR" in macros:
        loops.append((int(macros["VECTOR"]), row["apart"]))
    else:
        loops += [(row["down"], 1), (row["across"], row["across_step"])]
    elements = math.prod(int(extent) for extent, _ in loops)
    read = math.prod(int(extent) for extent, step in loops if step)  # repeated ones once
    codes = (macros["FROM"], macros["TO"])
    sizes = [int(code) - 100 if int(code) > 100 else _KINDS[code] for code in codes]
    return Cost(
        *("own", read * sizes[0], elements * sizes[1], elements, f"{8 * max(sizes)} bits"),
        threads=threads,
        instructions=_counted(name, code),
    )


def _itemsize(code: str) -> int:
    """Return the bytes of Scalar."""
    found = re.search(r"#define KIND (\d+)", code)
    return _KINDS[found[1]] if found else 4


def _sizes(code: str, table: Any) -> int:
    """Return the elements of all arrays of a Table: in it, or by rows of channels of a window."""
    if "sizes" in table.dtype.names:
        return int(table["sizes"].sum())
    row = table[0]
    count = int(row["count"])
    ends, channels, windows = (
        row[name][:count].astype(np.int64) for name in ("ends", "channels", "windows")
    )
    tile = int(dict(_DEFINE.findall(code))["TILE"])
    rows = np.diff(ends, prepend=0) // -(-channels // (tile // windows))
    return int((rows * channels * windows).sum())


_HERE = Path(__file__).resolve().parent
_COUNTED = _HERE.parent / "instructions.json"
_DEFINE = re.compile(r"^#define (\w+) (\d+)$", re.MULTILINE)
_OTHER = 40.0  # of a kernel that no table names
# Of generated pointwise kernels, as counted for eight of them: by array; with arrays that are
# repeated, which take an index each; with random numbers. The second number is with accesses of 16
# bytes, where only whole arrays count.
_BY_ARRAY, _REPEATED, _DRAWN = (5.2, 3.0), (5.0, 0.0), (35.0, 35.0)
# Their instructions are counted for an element that they write, not for one of the largest array.
_BY_BYTES = {"fill_zeros"}  # kernels whose Table has sizes in bytes
_BY_RESULT = {"first_maximum", "pool", "pool_backward"}
# Arrays of which a kernel accesses some rows, as many bytes as another array has.
_SOME_ROWS = {
    ("gather_rows", "data"): "out",
    ("put_rows", "out"): "data",
    ("sum_segments", "out"): "grad",
}


@cache
def _table() -> Mapping[str, float]:
    made: dict[str, float] = json.loads((_HERE / "instructions.json").read_text(encoding="utf-8"))
    if _COUNTED.exists():
        made |= json.loads(_COUNTED.read_text(encoding="utf-8"))["per_element"]
    return made


@cache
def _counted(name: str, code: str) -> float:
    """Return the instructions an element of a kernel, as its source is compiled."""
    # The first definition holds: those of a file, behind #ifndef, are defaults.
    table, macros = _table(), dict(reversed(_DEFINE.findall(code)))
    found: list[tuple[int, float]] = []
    for key, value in table.items():
        base, _, wanted = key.partition(":")
        if base == name and wanted:
            # A name without a value stands for several macros, which it does not tell.
            pairs = [pair.split("=") for pair in wanted.split(",") if "=" in pair]
            if all(macros.get(macro, "0") == number for macro, number in pairs):
                found.append((-len(pairs), value))
    # Of those that fit, the first of the most macros: others do not tell the width of accesses.
    return min(found, key=lambda row: row[0])[1] if found else table.get(name, _OTHER)


def _of_pointwise(code: str, arrays: Sequence[Any]) -> float:
    """Return the instructions an element of a generated pointwise kernel."""
    whole = max((x.size for x in arrays), default=0)
    wide = int("uint4" in code)
    full = sum(x.size == whole for x in arrays)
    repeated = _REPEATED[wide] if full < len(arrays) else 0.0
    drawn = _DRAWN[wide] if "philox(" in code else 0.0
    return _BY_ARRAY[wide] * (full if wide else len(arrays)) + repeated + drawn


def kernel_cost(
    name: str, code: str, parameters: Sequence[str], args: Sequence[Any], sizes: Any
) -> Cost:
    """Return the cost of a launch.

    Args:
        name: The kernel's.
        code: Its source.
        parameters: Texts of its parameters.
        args: What it is given.
        sizes: Extents of the grid and of a block.
    """
    threads = int(np.prod([n for dims in sizes for n in dims], dtype=np.int64))
    for arg in args:
        names = arg.dtype.names if isinstance(arg, np.ndarray) else None
        if names and "from" in names:
            return _copy_cost(name, code, arg, threads)
        if names and ("sizes" in names or "windows" in names):
            return _table_cost(name, code, arg, threads)
    reads: list[Any] = []
    writes: list[Any] = []
    row = 0
    names_of = [text.split()[-1].lstrip("*") for text in parameters]
    given = dict(zip(names_of, args, strict=True))
    for text, name_of in zip(parameters, names_of, strict=True):
        other = given.get(_SOME_ROWS.get((name, name_of), ""))
        arg = given[name_of]
        if other is not None and other.size < arg.size:
            arg = other
        if hasattr(arg, "_raw"):
            constant = "const" in text.split()
            if constant or (name, name_of) in _READ_AGAIN:
                reads.append(arg._raw)
            if not constant:
                writes.append(arg._raw)
        elif name_of == "size":
            row = int(arg)
    cost = cost_of("own", reads, writes, threads=threads)
    itemsize = max((x.itemsize for x in reads if x.size == cost.elements), default=4)
    if name in _BY_RESULT and writes:
        cost = cost._replace(elements=max(x.size for x in writes))
    instructions = _of_pointwise(code, [*reads, *writes]) if name == "fused" else 0.0
    return cost._replace(row=row * itemsize, instructions=instructions or _counted(name, code))
