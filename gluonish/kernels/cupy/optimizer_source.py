"""CUDA C++ sources of the kernels that update weights, for each optimizer rule.

A launch updates as many weights as fit its parameters, which CUDA limits to 4 KB: a Table of the
weights' addresses, sizes and rates, passed by value, so that nothing is uploaded. A block of
threads updates `BLOCK` elements of one weight.

Rules with norms have kernels before the update: ``norms0`` writes a sum of squares for each block,
and ``finish0``, with one block for each weight, adds these and computes rates from the norms. Each
sum has a fixed order without atomics, so that equal runs give equal bits.

Gated kernels read the state of a loss scale (`gluonish.kernels.loss_scale`): they change nothing in
a skipped step, and divide gradients by the scale. The rates in the Table are those of the update's
number on the host, which may not know of the last skipped steps. The kernels do, and take the rates
of an earlier number from ``rows``, where each launch stores its own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.cupy.source import KINDS, inputs_of, text_of, translated
from gluonish.kernels.loss_scale import State
from gluonish.kernels.optimizer_formulas import FORMULAS, Norms, state_names
from gluonish.ops.updates.rules import Rule

BLOCK = 1 << 14
THREADS = 256  # as in lanes.cuh
# Each operation is rounded, as in NumPy and the reference kernels.
OPTIONS = ("--fmad=false", "--prec-div=true", "--prec-sqrt=true")
_ELEMENT = re.compile(r"(\w+)\[i\]")
_LANE = re.compile(r"(\w+)\[k\]")
_LANES = 4  # elements that a thread loads at a time
ROWS = 32  # numbers of updates whose rates gated kernels store
_PARAMETERS = 4096 - 64  # bytes of a launch's parameters, minus those other than the Table


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a Table.

    Attributes:
        written: Names of the arrays that a step changes.
        read: Names of the arrays that a step only reads.
        most: Maximum number of weights per launch.
        table: The Table's dtype: addresses of written and read arrays, size and end block of each
            weight, rates, scalars (rescale_grad first), and the number of weights.
    """

    written: tuple[str, ...]
    read: tuple[str, ...]
    most: int
    table: np.dtype[Any]


@cache
def layout_of(rule: Rule, dtype: np.dtype[Any], separate: bool) -> Layout:
    """Return the layout for a rule.

    Args:
        dtype: Dtype of weights; 16-bit weights have float32 master copies.
        separate: Whether updated weights are written to arrays other than the weights.
    """
    first: tuple[str, ...]
    read: tuple[str, ...]
    first, read = ("out", "master"), ("grad",)
    if dtype == FLOAT32:
        first, read = (("out",), ("weight", "grad")) if separate else (("weight",), ("grad",))
    written = (*first, *state_names(rule))
    scalars = 1 + len(FORMULAS[rule].scalars)
    each = 8 * (len(written) + len(read) + 1) + 4 * (1 + len(rule.rates))
    most = (_PARAMETERS - 4 * (scalars + 1)) // each

    fields = [
        ("written", np.uint64, (len(written), most)),
        ("read", np.uint64, (len(read), most)),
        ("sizes", np.int64, (most,)),
        ("ends", np.uint32, (most,)),
        ("rates", np.float32, (len(rule.rates), most)),
        ("scalars", np.float32, (scalars,)),
        ("count", np.uint32),
    ]
    return Layout(written, read, most, np.dtype(fields, align=True))


@cache
def source_of(rule: Rule, dtype: np.dtype[Any], separate: bool, gated: bool = False) -> str:
    """Return the source of a rule's kernels.

    Args:
        rule: The rule.
        dtype: As for `layout_of`.
        separate: As for `layout_of`.
        gated: Whether the kernels depend on the state of a loss scale.
    """
    gate = _GATE if gated else ""
    sources = [_head(rule, dtype, separate), _GATED.format(parameters=gate) if gated else _UNGATED]
    for i, norms in enumerate(FORMULAS[rule].norms):
        sources.append(_norms(rule, norms, dtype, separate, i, gate))
        sources.append(_finish(rule, norms, i, gate))
    return "\n".join([*sources, _update(rule, dtype, separate, gate)])


# Parameters of gated kernels.
_GATE = ", const float *state, float *rows, unsigned number, unsigned known"
_UNGATED = """\
#define START
#define RATE(i) table.rates[i][owner]
#define RESCALE table.scalars[0]
"""
# A row has the rates of all weights of a launch, one rate after the other.
_GATED = f"""\
#define NUMBERS (sizeof(table.rates) / sizeof(float))
#define ROW(number) (rows + (Offset)((number) % {ROWS}) * NUMBERS)
#define BEHIND ((unsigned)state[{State.SKIPPED:d}] - known)
#define EARLIER(i) ROW(number - BEHIND)[i * (NUMBERS / RATES) + owner]
#define RATE(i) (BEHIND ? EARLIER(i) : table.rates[i][owner])
#define RESCALE (table.scalars[0] / state[{State.DIVISOR:d}])
#define START \\
    if (!blockIdx.x) remember_rates(table, ROW(number)); \\
    if (state[{State.OVERFLOW:d}]) return;
__device__ inline void remember_rates(const Table &table, float *row) {{{{
    for (unsigned i = threadIdx.x; i < NUMBERS; i += THREADS) row[i] = table.rates[0][i];
}}}}
extern "C" __global__ void remember(const __grid_constant__ Table table{{parameters}}) {{{{
    remember_rates(table, ROW(number));
}}}}
"""
_TABLE = """\
#define KIND {kind}
#define INDEX unsigned int
#define BLOCK {block}
#define LANES {lanes}
#define RATES {rates}
{scalar}
struct Table {{
    unsigned long long written[{written}][{most}], read[{read}][{most}];
    long long sizes[{most}];
    unsigned ends[{most}];
    float rates[{rates}][{most}], scalars[{scalars}];
    unsigned count;
}};
{shared}
"""

# Accesses of vectors.cuh, where all arrays of the weight allow it, and the elements that are left.
_UPDATE = """\
extern "C" __global__ void {name}({parameters}) {{
    START
    const unsigned owner = owner_of(table, blockIdx.x);
    const Offset from = (Offset)(blockIdx.x - first_block(table, owner)) * BLOCK;
    const Offset rest = table.sizes[owner] - from;
    const int size = rest < BLOCK ? (int)rest : BLOCK;
{head}
    const int whole = (({addresses}) % 16) ? 0 : size / LANES * LANES;
    for (int i = LANES * threadIdx.x; i < whole; i += THREADS * LANES) {{
{lanes}
{vector_loads}
#pragma unroll
        for (int k = 0; k < LANES; ++k) {{
{lines}
        }}
{vector_stores}
    }}
    for (int i = whole + threadIdx.x; i < size; i += THREADS) {{
        const int k = 0;
{one_lane}
{loads}
{lines_of_one}
{stores}
    }}
}}
"""

# Several elements are loaded before any is stored, to overlap memory accesses. Threads add the
# squares of elements in an order that does not depend on addresses.
_PASS = """\
extern "C" __global__ void {name}({parameters}) {{
    START
    const unsigned owner = owner_of(table, blockIdx.x);
    const Offset from = (Offset)(blockIdx.x - first_block(table, owner)) * BLOCK;
    const Offset rest = table.sizes[owner] - from;
    const int size = rest < BLOCK ? (int)rest : BLOCK;
{head}
    for (int base = threadIdx.x; base < size; base += THREADS * LANES) {{
{lanes}
        for (int k = 0; k < LANES; ++k) {{
            const int i = base + k * THREADS;
            if (i < size) {{
{loads}
            }}
        }}
        for (int k = 0; k < LANES; ++k) {{
            if (base + k * THREADS < size) {{
{lines}
            }}
        }}
        for (int k = 0; k < LANES; ++k) {{
            const int i = base + k * THREADS;
            if (i < size) {{
{stores}
            }}
        }}
    }}
{tail}
}}
"""

_FINISH = """\
extern "C" __global__ void finish{number}(
    const __grid_constant__ Table table, float *computed, const double *sums, unsigned blocks{gate}
) {{
    START
    const unsigned owner = blockIdx.x, last = table.ends[owner];
{sums}
    for (unsigned i = first_block(table, owner) + threadIdx.x; i < last; i += THREADS) {{
{adding}
    }}
{over_block}
    if (threadIdx.x) return;
{lines}
}}
"""


def _head(rule: Rule, dtype: np.dtype[Any], separate: bool) -> str:
    layout = layout_of(rule, dtype, separate)
    return _TABLE.format(
        kind=KINDS[dtype],
        block=BLOCK,
        lanes=_LANES,
        scalar=text_of("scalar.cuh"),
        shared=text_of("optimizer.cuh"),
        most=layout.most,
        written=len(layout.written),
        read=len(layout.read),
        rates=len(rule.rates),
        scalars=1 + len(FORMULAS[rule].scalars),
    )


def _update(rule: Rule, dtype: np.dtype[Any], separate: bool, gate: str) -> str:
    formula = FORMULAS[rule]
    states = state_names(rule) if formula.states is None else formula.states
    return _pass(rule, dtype, separate, "update", formula.lines, ("w", *states), (), gate)


def _vectors(loads: Sequence[str], stores: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return loads and stores of LANES adjacent elements, from those of one element."""
    found = []
    for text in loads:
        lane, _, value = text.partition("[k] = ")
        array = _ELEMENT.search(value)
        assert array, text
        found.append(f"load_vector<LANES>({array[1]} + i, {lane});")
    made = []
    for text in stores:
        target, _, value = text.partition("[i] = ")
        stored = _LANE.search(value)
        assert stored, text
        made.append(f"store_vector<LANES>({target} + i, {stored[1]});")
    return found, made


def _norms(
    rule: Rule, norms: Norms, dtype: np.dtype[Any], separate: bool, number: int, gate: str
) -> str:
    name = f"norms{number}"
    return _pass(rule, dtype, separate, name, norms.lines, norms.states, norms.squared, gate)


def _pass(
    rule: Rule,
    dtype: np.dtype[Any],
    separate: bool,
    name: str,
    lines: Sequence[str],
    stored: Sequence[str],
    squared: Sequence[str],
    gate: str,
) -> str:
    """Return a kernel that computes and stores values for each element, and sums squares."""
    needed = inputs_of(lines, (*stored, *squared))
    loaded = [name for name in ("w", "g", *state_names(rule)) if name in needed]
    pointers, loads, stores = _memory(rule, dtype, separate, loaded, stored)
    declared = [f"float {x} = {x}_[k]{' * rescale' if x == 'g' else ''};" for x in loaded]
    outer = needed - set(loaded) | ({"rescale"} if "g" in loaded else set())
    lanes = dict.fromkeys((*loaded, *stored))
    parameters = ["const __grid_constant__ Table table"]
    if FORMULAS[rule].norms:
        parameters.append("const float *computed")
    parameters += ["double *sums"] if squared else []
    computed = [*declared, *translated(lines, loaded), *(f"{x}_[k] = {x};" for x in stored)]
    parts = {
        "name": name,
        "parameters": ", ".join(parameters) + gate,
        "head": _indented(1, [*pointers, *_numbers(rule, outer), *_sums(squared)]),
        "lanes": _indented(2, [f"float {x}_[LANES] = {{}};" for x in lanes]),
    }
    if squared or stored[:1] != ("w",):
        added = [f"sum_{x} += (double){x} * (double){x};" for x in squared]
        return _PASS.format(
            loads=_indented(4, loads),
            lines=_indented(4, [*computed, *added]),
            stores=_indented(4, stores),
            tail=_indented(1, _tail(squared)),
            **parts,
        )
    vector_loads, vector_stores = _vectors(loads, stores)
    arrays = [pointer.split(" = ")[0].split("const ")[-1] for pointer in pointers]
    return _UPDATE.format(
        addresses=" | ".join(f"(unsigned long long){array}" for array in arrays),
        vector_loads=_indented(2, vector_loads),
        vector_stores=_indented(2, vector_stores),
        one_lane=_indented(2, [f"float {x}_[1];" for x in lanes]),
        loads=_indented(2, loads),
        lines=_indented(3, computed),
        lines_of_one=_indented(2, computed),
        stores=_indented(2, stores),
        **parts,
    )


def _sums(squared: Sequence[str]) -> list[str]:
    return [f"Sum sum_{x} = 0;" for x in squared]


def _over_block(squared: Sequence[str]) -> list[str]:
    """Return statements that reduce the threads' sums into the first thread's, two at a time."""
    lines = ["__shared__ Sum partial[2 * THREADS];"]
    names = [f"sum_{x}" for x in squared]
    if len(names) % 2:
        lines.append("Sum none = 0;")
        names.append("none")
    for i in range(0, len(names), 2):
        lines += ["__syncthreads();"] if i else []
        lines.append(f"add_lanes(partial, threadIdx.x, THREADS, 1, {names[i]}, {names[i + 1]});")
    return lines


def _tail(squared: Sequence[str]) -> list[str]:
    """Return statements that store the sums of squares of a block."""
    if not squared:
        return []
    lines = _over_block(squared)
    for i, x in enumerate(squared):
        element = f"sums[(Offset){i} * gridDim.x + blockIdx.x]"
        lines.append(f"if (!threadIdx.x) {element} = sum_{x};")
    return lines


def _memory(
    rule: Rule, dtype: np.dtype[Any], separate: bool, loaded: Iterable[str], stored: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return pointers, loads and stores of the values that a pass reads and stores."""
    single = dtype == FLOAT32
    states = state_names(rule)
    source = {"w": "weight" if single else "master", "g": "grad", **dict.fromkeys(states)}
    target = {"w": "out" if separate and single else source["w"]}
    loads = [(source[x] or x, f"{x}_[k] = {{}};", x == "g") for x in loaded]
    stores = [(target.get(x) or x, f"{x}_[k]", False) for x in stored]
    if not single and "w" in stored:
        stores.append(("out", "w_[k]", True))
    made = {array: narrow for array, _, narrow in (*loads, *stores)}
    return (
        _pointers(layout_of(rule, dtype, separate), made),
        [
            text.format(f"widen({array}s[i])" if narrow else f"{array}s[i]")
            for array, text, narrow in loads
        ],
        [
            f"{array}s[i] = {f'rounded({text})' if narrow else text};"
            for array, text, narrow in stores
        ],
    )


def _pointers(layout: Layout, arrays: Mapping[str, bool]) -> list[str]:
    """Return declarations of pointers to a weight's arrays, at the block's first element."""
    made = []
    for array, narrow in arrays.items():
        kind = "Scalar" if narrow else "float"
        if array in layout.written:
            pointer = f"table.written[{layout.written.index(array)}][owner]"
        else:
            kind, pointer = f"const {kind}", f"table.read[{layout.read.index(array)}][owner]"
        made.append(f"{kind} *const {array}s = ({kind} *){pointer} + from;")
    return made


def _numbers(rule: Rule, names: set[str]) -> list[str]:
    """Return declarations of the rates and scalars with these names."""
    formula = FORMULAS[rule]
    values = {name: f"RATE({i})" for i, name in enumerate(rule.rates)}
    computed = [f"computed[{i} * table.count + owner]" for i in range(len(formula.computed))]
    values |= zip(formula.computed, computed, strict=True)
    names_of_scalars = ("rescale", *formula.scalars)
    values |= {name: f"table.scalars[{i}]" for i, name in enumerate(names_of_scalars)}
    values["rescale"] = "RESCALE"
    assert names <= values.keys(), f"{rule.name}: unknown {names - values.keys()}"
    return [f"const float {name} = {value};" for name, value in values.items() if name in names]


def _finish(rule: Rule, norms: Norms, number: int, gate: str) -> str:
    """Return the kernel that computes rates from the norms of each weight."""
    needed = inputs_of(norms.finish)
    lengths = {f"norm_{x}": f"(float)sqrt(sum_{x})" for x in norms.squared}
    lines = [f"const float {name} = {value};" for name, value in lengths.items()]
    lines += _numbers(rule, needed - lengths.keys())
    lines += translated(norms.finish, needed)
    set_here = {line.partition(" = ")[0] for line in norms.finish}
    lines += [
        f"computed[{i} * table.count + owner] = {name};"
        for i, name in enumerate(FORMULAS[rule].computed)
        if name in set_here
    ]
    return _FINISH.format(
        number=number,
        gate=gate,
        sums=_indented(1, _sums(norms.squared)),
        adding=_indented(
            2,
            [f"sum_{x} += sums[(Offset){i} * blocks + i];" for i, x in enumerate(norms.squared)],
        ),
        over_block=_indented(1, _over_block(norms.squared)),
        lines=_indented(1, lines),
    )


def _indented(steps: int, lines: Iterable[str]) -> str:
    return "\n".join("    " * steps + line for line in lines)
