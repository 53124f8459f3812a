"""Sources of the kernels that update weights: a loop over elements for each rule of optimizers.

Operations stand in the order of the reference kernels, and none is contracted, so that results are
the reference's bit by bit; only LAMB's norms are summed in another order.

Words of a kernel: number of weights; addresses of four tables: where each weight begins among all
elements (in blocks for LAMB's first pass) with the total at the end, int64; the addresses of each
weight's arrays, int64; each weight's rates and the scalars, float32; and for LAMB's first pass the
address of its sums and of the numbers of elements.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gluonish.ops.optimizer_rules import (
    ADAGRAD,
    ADAM,
    ADAMW,
    LAMB,
    NAG,
    NESTEROV,
    RMSPROP,
    RMSPROP_CENTERED,
    SGD,
    SGD_MOMENTUM,
    Rule,
)

__all__ = ["BLOCK", "FORMULAS", "LANES", "PRECISIONS", "Formula", "norms_source", "update_source"]

BLOCK = 4096  # elements whose share of a norm is summed by one thread
LANES = 16  # partial sums of a block, a vector register's worth

Scalars = Mapping[str, float]

# How the elements of weights and gradients are read and written, by the name of their dtype; other
# than float32 there is a float32 weight too.
PRECISIONS = {
    "float32": ("f32", 4, "{}", "{}"),
    "bfloat16": ("u16", 2, "load_bf16({})", "store_bf16({})"),
    "float16": ("u16", 2, "load_f16({})", "store_f16({})"),
}


@dataclass(frozen=True, slots=True)
class Formula:
    """What a rule does with one element.

    Args:
        lines: Statements; they find weight ``w``, scaled gradient ``g``, states, rates and scalars
            by name, and change ``w`` and the states.
        scalars: The float32 numbers that they use beside rescale, and how they come from those of
            the rule.
    """

    lines: tuple[str, ...]
    scalars: Mapping[str, Callable[[Scalars], float]]


def _same(*names: str) -> dict[str, Callable[[Scalars], float]]:
    return {name: lambda given, name=name: given[name] for name in names}  # type: ignore[misc]


def _rest(name: str) -> dict[str, Callable[[Scalars], float]]:
    return {f"{name}_rest": lambda given: 1 - given[name]}


def _limit(name: str, of: str) -> dict[str, Callable[[Scalars], float]]:
    """A limit under which nothing is cut where the rule says none."""
    return {name: lambda given: given[of] if given[of] >= 0 else float("inf")}


_CLIP = _limit("clip", "clip_gradient")
_CLIPPED = "g = minimum(maximum(g, -clip), clip)"
_DECAYED = "g = g + w * wd"
_MOMENTUM = (_CLIPPED, _DECAYED, "g = g * lr", "mom = mom * momentum - g")
_MOMENTS = ("mean = mean * beta1 + g * beta1_rest", "var = var * beta2 + g * g * beta2_rest")
_BETAS = {**_CLIP, **_same("beta1", "beta2"), **_rest("beta1"), **_rest("beta2")}
_ADAM = {**_BETAS, **_same("epsilon")}
_SQUARE = "n = n * gamma1 + g * g * gamma1_rest"
_GAMMA = {
    **_CLIP,
    **_same("gamma1", "epsilon"),
    **_rest("gamma1"),
    **_limit("widest", "clip_weights"),
}
_NARROWED = "w = minimum(maximum(w, -widest), widest)"
_DIRECTION = "g = (mean / mean_share) / (sqrt(var / var_share) + epsilon) + w * wd"

FORMULAS: Mapping[Rule, Formula] = {
    SGD: Formula((_CLIPPED, _DECAYED, "w = w - g * lr"), _CLIP),
    SGD_MOMENTUM: Formula((*_MOMENTUM, "w = w + mom"), {**_CLIP, **_same("momentum")}),
    NAG: Formula((*_MOMENTUM, "w = (w + mom * momentum) - g"), {**_CLIP, **_same("momentum")}),
    NESTEROV: Formula(
        (
            _CLIPPED,
            "w = (w * wd + g) * -lr * ahead + mom * momentum_squared + w",
            "mom = mom * momentum - (g + w * wd) * lr",
        ),
        {
            **_CLIP,
            **_same("momentum"),
            "ahead": lambda given: 1 + given["momentum"],
            "momentum_squared": lambda given: given["momentum"] * given["momentum"],
        },
    ),
    ADAM: Formula(
        (_DECAYED, _CLIPPED, *_MOMENTS, "w = w - mean / (sqrt(var) + epsilon) * lr"), _ADAM
    ),
    ADAMW: Formula(
        (_CLIPPED, *_MOMENTS, "w = w - (mean / (sqrt(var) + epsilon) * lr + w * wd) * eta"), _ADAM
    ),
    RMSPROP: Formula(
        (_DECAYED, _CLIPPED, _SQUARE, "w = w - g * lr / sqrt(n + epsilon)", _NARROWED), _GAMMA
    ),
    RMSPROP_CENTERED: Formula(
        (
            _DECAYED,
            _CLIPPED,
            _SQUARE,
            "centre = centre * gamma1 + g * gamma1_rest",
            "g = g * lr / sqrt(n - centre * centre + epsilon)",
            "delta = delta * gamma2 - g",
            "w = w + delta",
            _NARROWED,
        ),
        {**_GAMMA, **_same("gamma2")},
    ),
    ADAGRAD: Formula(
        (
            _CLIPPED,
            "history = history + g * g",
            "w = w - (g / sqrt(history + epsilon) + w * wd) * lr",
        ),
        {**_CLIP, **_same("epsilon")},
    ),
    # The second pass: the first has changed the states, and the learning rate holds the ratio.
    LAMB: Formula((_DIRECTION, "w = w - g * lr"), _ADAM),
}

_HEAD = """\
def body(begin, end, words):
    starts = i64(words[1])
    addresses = i64(words[2])
    rates = f32(words[3])
    scalars = f32(words[4])
{names}
    low = 0
    high = words[0]
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

# ``lanes`` sums of squares of the weight, then as many of the direction.
_NORMS = """\
    sizes = i64(words[6])
    for block in range(begin, end):
        while starts[low + 1] <= block:
            low += 1
        first = (block - starts[low]) * {block}
        rest = min(sizes[low] - first, {block})
        sums = f64(words[5] + block * {sum_bytes})
{views}
        for lane in range({twice}):
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
    kept = () if rule is LAMB else _states(rule)
    body = _UPDATE.format(
        views=_indented(8, _views(rule, precision)),
        loads=_indented(12, _loads(rule, precision)),
        lines=_indented(12, formula.lines),
        stores=_indented(12, (*_weight_stores(precision), *_state_stores(kept))),
    )
    return _head(formula) + body


def norms_source(precision: str) -> str:
    """Return the source of LAMB's first pass, which updates states; its extent is the blocks."""
    statements = (
        *_loads(LAMB, precision),
        _CLIPPED,
        *_MOMENTS,
        *_state_stores(LAMB.states),
        _DIRECTION,
        "sums[lane] = sums[lane] + float64(w) * float64(w)",
        f"sums[lane + {LANES}] = sums[lane + {LANES}] + float64(g) * float64(g)",
    )
    body = _NORMS.format(
        views=_indented(8, _views(LAMB, precision)),
        statements=_indented(20, statements),
        block=BLOCK,
        lanes=LANES,
        twice=2 * LANES,
        sum_bytes=2 * LANES * 8,
    )
    return _head(FORMULAS[LAMB]) + body


def _head(formula: Formula) -> str:
    names = ["rescale", *formula.scalars]
    return _HEAD.format(
        names=_indented(4, [f"{name} = scalars[{i}]" for i, name in enumerate(names)])
    )


def _states(rule: Rule) -> tuple[str, ...]:
    """Names of the states; the centre of gradients must not be called as the gradient is."""
    return tuple("centre" if name == "g" else name for name in rule.states)


def _views(rule: Rule, precision: str) -> list[str]:
    """Views of a weight's arrays from its first element on, and its rates."""
    kind, width, _, _ = PRECISIONS[precision]
    plain = precision == "float32"
    roles = ["out", "weight", "grad", *_states(rule), *([] if plain else ["master"])]
    lines = []
    for i, role in enumerate(roles):
        half = role in ("out", "weight", "grad")
        view, size = (kind, width) if half else ("f32", 4)
        lines.append(f"{role}s = {view}(addresses[low * {len(roles)} + {i}] + first * {size})")
    rates = [f"{rate} = rates[low * {len(rule.rates)} + {i}]" for i, rate in enumerate(rule.rates)]
    return lines + rates


def _loads(rule: Rule, precision: str) -> list[str]:
    _, _, load, _ = PRECISIONS[precision]
    weight = "weights" if precision == "float32" else "masters"
    states = [f"{state} = {state}s[j]" for state in _states(rule)]
    return [f"w = {weight}[j]", f"g = {load.format('grads[j]')} * rescale", *states]


def _weight_stores(precision: str) -> list[str]:
    _, _, _, store = PRECISIONS[precision]
    master = [] if precision == "float32" else ["masters[j] = w"]
    return [*master, f"outs[j] = {store.format('w')}"]


def _state_stores(states: Sequence[str]) -> list[str]:
    return [f"{state}s[j] = {state}" for state in states]


def _indented(width: int, lines: Sequence[str]) -> str:
    return "\n".join(" " * width + line for line in lines)
