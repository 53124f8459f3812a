"""Sources of the kernels that update weights: a loop over elements for each optimizer rule.

Params of a kernel: number of weights; addresses of four tables: the start of each weight among all
elements (in blocks for a pass that sums squares) with the total at the end, int64; the addresses of
each weight's arrays, int64; each weight's rates and the scalars, float32; and for a pass that sums
squares the addresses of its sums and of the weights' sizes.
"""

from collections.abc import Sequence

from gluonish.kernels.optimizer_formulas import FORMULAS, Formula, Norms, state_names
from gluonish.ops.updates.rules import Rule

BLOCK = 4096  # elements of a norm summed at a time by one thread
LANES = 16  # partial sums of a block, a vector register's worth

# View, itemsize, load and store of weights and gradients by dtype; 16-bit weights have a float32
# master copy.
PRECISIONS = {
    "float32": ("f32", 4, "{}", "{}"),
    "bfloat16": ("u16", 2, "load_bf16({})", "store_bf16({})"),
    "float16": ("u16", 2, "load_f16({})", "store_f16({})"),
}


_HEAD = """\
def body(begin, end, params):
    starts = i64(params[1])
    addresses = i64(params[2])
    rates = f32(params[3])
    scalars = f32(params[4])
{names}
    low = 0
    high = params[0]
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= begin:
            low = middle
        else:
            high = middle
"""

_UPDATE = """\
    position = begin
    while position < end:
        stop = min(end, starts[low + 1])
        first = position - starts[low]
{views}
        for j in range(stop - position):
            independent()
{loads}
{lines}
{stores}
        position = stop
        low += 1
"""

# ``lanes`` sums of squares of each expression.
_NORMS = """\
    sizes = i64(params[6])
    for block in range(begin, end):
        while starts[low + 1] <= block:
            low += 1
        first = (block - starts[low]) * {block}
        rest = min(sizes[low] - first, {block})
        sums = f64(params[5] + block * {sum_bytes})
{views}
        for lane in range({all_lanes}):
            independent()
            sums[lane] = 0.0
        for base in range(0, rest, {lanes}):
            if rest - base >= {lanes}:
                for lane in range({lanes}):
                    independent()
                    j = base + lane
{statements}
            else:
                for lane in range(rest - base):
                    independent()
                    j = base + lane
{statements}
"""


def update_source(rule: Rule, precision: str) -> str:
    """Return the source of the kernel that updates elements; its extent is their number."""
    formula = FORMULAS[rule]
    states = state_names(rule) if formula.states is None else formula.states
    body = _UPDATE.format(
        views=_indented(8, _views(rule, precision)),
        loads=_indented(12, _loads(rule, precision)),
        lines=_indented(12, formula.lines),
        stores=_indented(12, (*_weight_stores(precision), *_state_stores(states))),
    )
    return _head(formula) + body


def norms_source(rule: Rule, norms: Norms, precision: str) -> str:
    """Return the source of a pass that sums squares; its extent is the blocks."""
    sums = [
        f"sums[lane + {i * LANES}] = sums[lane + {i * LANES}] + float64({x}) * float64({x})"
        for i, x in enumerate(norms.squared)
    ]
    statements = (*_loads(rule, precision), *norms.lines, *_state_stores(norms.states), *sums)
    all_lanes = len(norms.squared) * LANES
    body = _NORMS.format(
        views=_indented(8, _views(rule, precision)),
        statements=_indented(20, statements),
        block=BLOCK,
        lanes=LANES,
        all_lanes=all_lanes,
        sum_bytes=all_lanes * 8,
    )
    return _head(FORMULAS[rule]) + body


def _head(formula: Formula) -> str:
    names = ["rescale", *formula.scalars]
    return _HEAD.format(
        names=_indented(4, [f"{name} = scalars[{i}]" for i, name in enumerate(names)])
    )


def _views(rule: Rule, precision: str) -> list[str]:
    """Return lines for views of a weight's arrays from the first element on, and its rates."""
    kind, width, _, _ = PRECISIONS[precision]
    master = [] if precision == "float32" else ["master"]
    roles = ["out", "weight", "grad", *state_names(rule), *master]
    lines = []
    for i, role in enumerate(roles):
        half = role in ("out", "weight", "grad")
        view, size = (kind, width) if half else ("f32", 4)
        lines.append(f"{role}s = {view}(addresses[low * {len(roles)} + {i}] + first * {size})")
    names = (*rule.rates, *FORMULAS[rule].computed)
    rates = [f"{name} = rates[low * {len(names)} + {i}]" for i, name in enumerate(names)]
    return lines + rates


def _loads(rule: Rule, precision: str) -> list[str]:
    _, _, load, _ = PRECISIONS[precision]
    weight = "weights" if precision == "float32" else "masters"
    states = [f"{state} = {state}s[j]" for state in state_names(rule)]
    return [f"w = {weight}[j]", f"g = {load.format('grads[j]')} * rescale", *states]


def _weight_stores(precision: str) -> list[str]:
    _, _, _, store = PRECISIONS[precision]
    master = [] if precision == "float32" else ["masters[j] = w"]
    return [*master, f"outs[j] = {store.format('w')}"]


def _state_stores(states: Sequence[str]) -> list[str]:
    return [f"{state}s[j] = {state}" for state in states]


def _indented(width: int, lines: Sequence[str]) -> str:
    return "\n".join(" " * width + line for line in lines)
