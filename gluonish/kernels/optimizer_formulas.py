"""The update of one element by each optimizer rule, as source text for all back ends.

Operations have the order of the reference kernels, without contraction, so results equal the
reference bit for bit; only norms are summed in another order. Statements are in a subset of Python:
``+ - * /``, comparisons, ``&`` between these, ``float32`` of a number, ``minimum``, ``maximum``,
``sqrt``, ``fabs``, ``select(condition, then, else)`` and ``flag_float32(condition)``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gluonish.ops.updates.adaptive import (
    ADABELIEF,
    ADADELTA,
    ADAMAX,
    FTML_STEPS,
    FTRL,
    NADAM,
    RADAM,
    TINY,
)
from gluonish.ops.updates.layerwise import LANS, LARS, LARS_MOMENTUM
from gluonish.ops.updates.rules import (
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
from gluonish.ops.updates.rules2 import (
    ADADELTA2,
    ADAGRAD2,
    ADAM2,
    ADAMAX2,
    DCASGD2,
    DCASGD_MOMENTUM2,
    FTML2,
    NADAM2,
    RMSPROP2,
    RMSPROP_CENTERED2,
)
from gluonish.ops.updates.sign import DCASGD, DCASGD_MOMENTUM, LION, SIGNSGD, SIGNUM_STEPS

Scalars = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Norms:
    """A pass that sums squares over all elements of each weight, before the update.

    Args:
        lines: Statements for each element, which read the same names as the lines of a `Formula`.
        squared: Names of values whose squares are summed.
        finish: Statements for each weight, which read the norm of a value as ``norm_<name>``, and
            rates and scalars by name, and set some of the computed rates.
        states: The states that the lines change.
    """

    lines: tuple[str, ...]
    squared: tuple[str, ...]
    finish: tuple[str, ...]
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """The update of one element by a rule.

    Args:
        lines: Statements that read the weight ``w``, the scaled gradient ``g``, states, rates and
            scalars by name, and change ``w`` and the states.
        scalars: The float32 numbers that the lines read besides rescale, with a function that
            computes each from the rule's scalars.
        norms: Passes over the elements before the update.
        computed: Names of the rates that these passes compute.
        states: The states that the lines change; None for all.
    """

    lines: tuple[str, ...]
    scalars: Mapping[str, Callable[[Scalars], float]]
    norms: tuple[Norms, ...] = ()
    computed: tuple[str, ...] = ()
    states: tuple[str, ...] | None = None


def _same(*names: str) -> dict[str, Callable[[Scalars], float]]:
    return {name: lambda scalars, name=name: scalars[name] for name in names}  # type: ignore[misc]


def _rest(name: str) -> dict[str, Callable[[Scalars], float]]:
    return {f"{name}_rest": lambda scalars: 1 - scalars[name]}


def _limit(name: str, of: str) -> dict[str, Callable[[Scalars], float]]:
    """Return the scalar ``name``, the limit of a clip; infinity if the rule does not clip."""
    return {name: lambda scalars: scalars[of] if scalars[of] >= 0 else float("inf")}


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

_COMPENSATED = (
    _CLIPPED,
    "drift = g * g * lamda * (w - previous)",
    "g = (g + w * wd + drift) * lr",
    "previous = w",
)
_LARS_STEP = (_CLIPPED, _DECAYED, "g = g * step")
_LANS_SLOPE = ("g = g * grad_share", _CLIPPED)
_LANS_DIRECTIONS = (
    "root = sqrt(var / var_share) + epsilon",
    "decay = w * wd",
    "averaged = mean / mean_share / root + decay",
    "current = g / root + decay",
)


def _sign(name: str) -> str:
    """Return an expression for the sign of a value, which is NaN for NaN."""
    flags = f"flag_float32({name} > float32(0)) - flag_float32({name} < float32(0))"
    return f"select({name} == {name}, {flags}, {name})"


def _trusted(norm: str) -> str:
    """Return an expression for the weight's norm divided by another norm; 1 if either is 0."""
    usable = f"(size != float32(0)) & ({norm} != float32(0))"
    return f"select({usable}, size / select({usable}, {norm}, float32(1)), float32(1))"


_SIZE = "size = minimum(maximum(norm_w, least), most)"
_BOUNDS: dict[str, Callable[[Scalars], float]] = {
    "least": lambda scalars: max(scalars["lower_bound"], 0.0),
    **_limit("most", "upper_bound"),
}
_LAMB_STEP = (_SIZE, f"step = {_trusted('norm_g')} * lr")
_LARS_USABLE = "(norm_w > float32(0)) & (norm_g > float32(0)) & (eta >= float32(0))"
_LARS_NORMS = Norms(
    (),
    ("w", "g"),
    (
        "below = norm_g + norm_w * wd + epsilon",
        f"below = select({_LARS_USABLE}, below, float32(1))",
        f"step = select({_LARS_USABLE}, norm_w * eta / below, float32(1)) * lr",
    ),
)
_LARS = {**_CLIP, **_same("epsilon")}
_LANS_SHARE = (
    "below = select(norm_g > float32(0), norm_g, float32(1))",
    "grad_share = select(norm_g > float32(0), float32(1) / below, float32(1))",
)
_LANS_STEP = (
    _SIZE,
    f"near = {_trusted('norm_averaged')} * lr * beta1",
    f"far = {_trusted('norm_current')} * lr * beta1_rest",
)


def state_names(rule: Rule) -> tuple[str, ...]:
    """Return the names of a rule's states; the mean of gradients is ``centre`` instead of ``g``."""
    return tuple("centre" if name == "g" else name for name in rule.states)


_FORMULAS: Mapping[Rule, Formula] = {
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
            "ahead": lambda scalars: 1 + scalars["momentum"],
            "momentum_squared": lambda scalars: scalars["momentum"] * scalars["momentum"],
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
    ADADELTA: Formula(
        (
            _CLIPPED,
            "square = square * rho + g * g * rho_rest",
            "g = sqrt(moved + epsilon) / sqrt(square + epsilon) * g",
            "moved = moved * rho + g * g * rho_rest",
            "w = w - (g + w * wd)",
        ),
        {**_CLIP, **_same("rho", "epsilon"), **_rest("rho")},
    ),
    ADABELIEF: Formula(
        (
            _DECAYED,
            _CLIPPED,
            "mean = mean * beta1 + g * beta1_rest",
            "var = var * beta2 + (g - mean) * (g - mean) * beta2_rest + epsilon",
            "w = w - mean / (sqrt(var) + epsilon) * lr",
        ),
        _ADAM,
    ),
    ADAMAX: Formula(
        (
            _DECAYED,
            _CLIPPED,
            "mean = mean * beta1 + g * beta1_rest",
            "largest = maximum(largest * beta2, fabs(g))",
            "w = w - mean * lr / maximum(largest, tiny)",
        ),
        {**_CLIP, **_same("beta1", "beta2"), **_rest("beta1"), "tiny": lambda scalars: TINY},
    ),
    NADAM: Formula(
        (
            _DECAYED,
            _CLIPPED,
            *_MOMENTS,
            "w = w - (g * own + mean * ahead) / (sqrt(var / var_share) + epsilon) * lr",
        ),
        _ADAM,
    ),
    RADAM: Formula(
        (
            _CLIPPED,
            _DECAYED,
            *_MOMENTS,
            "divisor = select(adaptive > float32(0), sqrt(var) + epsilon, float32(1))",
            "w = w * kept - mean / divisor * lr",
        ),
        _ADAM,
    ),
    LION: Formula(
        (
            _CLIPPED,
            "blend = mean * beta1 + g * beta1_rest",
            f"w = w * kept - {_sign('blend')} * lr",
            "mean = mean * beta2 + g * beta2_rest",
        ),
        _BETAS,
    ),
    DCASGD: Formula((*_COMPENSATED, "w = w - g"), {**_CLIP, **_same("lamda")}),
    DCASGD_MOMENTUM: Formula(
        (*_COMPENSATED, "mom = mom * momentum - g", "w = w + mom"),
        {**_CLIP, **_same("lamda", "momentum")},
    ),
    FTML_STEPS: Formula(
        (
            _DECAYED,
            _CLIPPED,
            "v = v * beta2 + g * g * beta2_rest",
            "old = d * beta1",
            "d = (sqrt(v / var_share) + epsilon) * rate",
            "z = z * beta1 + g * beta1_rest - (d - old) * w",
            "w = -z / d",
        ),
        _ADAM,
    ),
    FTRL: Formula(
        (
            _CLIPPED,
            "total = n + g * g",
            "root = sqrt(total)",
            "z = z + g - (root - sqrt(n)) * w / lr",
            "n = total",
            f"g = ({_sign('z')} * lamda1 - z) / ((root + beta) / lr + wd)",
            "w = select(fabs(z) > lamda1, g, float32(0))",
        ),
        {**_CLIP, **_same("lamda1", "beta")},
    ),
    SIGNSGD: Formula((f"w = w * kept - {_sign('g')} * lr",), {}),
    SIGNUM_STEPS: Formula(
        (
            _CLIPPED,
            _DECAYED,
            "mom = mom * momentum - g * momentum_rest",
            f"w = w * kept + {_sign('mom')} * lr",
        ),
        {**_CLIP, **_same("momentum"), **_rest("momentum")},
    ),
    LAMB: Formula(
        (_DIRECTION, "w = w - g * step"),
        {**_ADAM, **_BOUNDS},
        (Norms((_CLIPPED, *_MOMENTS, _DIRECTION), ("w", "g"), _LAMB_STEP, LAMB.states),),
        ("step",),
        (),
    ),
    LARS: Formula((*_LARS_STEP, "w = w - g"), _LARS, (_LARS_NORMS,), ("step",)),
    LARS_MOMENTUM: Formula(
        (*_LARS_STEP, "mom = mom * momentum - g", "w = w + mom"),
        _LARS,
        (_LARS_NORMS,),
        ("step",),
    ),
    LANS: Formula(
        (*_LANS_SLOPE, *_LANS_DIRECTIONS, "w = w - (averaged * near + current * far)"),
        {**_ADAM, **_BOUNDS},
        (
            Norms((), ("g",), _LANS_SHARE),
            Norms(
                (*_LANS_SLOPE, *_MOMENTS, *_LANS_DIRECTIONS),
                ("w", "averaged", "current"),
                _LANS_STEP,
                LANS.states,
            ),
        ),
        ("grad_share", "near", "far"),
        (),
    ),
}


def _clipping_first(rule: Rule, changed: Mapping[str, str] | None = None) -> Formula:
    """Return the formula of a rule, with the gradient clipped before weight decay is added.

    Args:
        rule: A rule whose formula adds weight decay before it clips.
        changed: New text by text of its lines.
    """
    lines = _FORMULAS[rule].lines[2:]
    for old, new in (changed or {}).items():
        lines = tuple(line.replace(old, new) for line in lines)
    return Formula((_CLIPPED, _DECAYED, *lines), _FORMULAS[rule].scalars)


_COMPENSATED2 = (
    _CLIPPED,
    _DECAYED,
    "g = (g + g * g * lamda * (w - previous)) * lr",
    "previous = w",
)

FORMULAS: Mapping[Rule, Formula] = {
    **_FORMULAS,
    ADAM2: _clipping_first(ADAM),
    NADAM2: _clipping_first(NADAM),
    FTML2: _clipping_first(FTML_STEPS),
    RMSPROP_CENTERED2: _clipping_first(RMSPROP_CENTERED),
    RMSPROP2: _clipping_first(RMSPROP, {"sqrt(n + epsilon)": "(sqrt(n) + epsilon)"}),
    ADAMAX2: Formula(
        _clipping_first(ADAMAX, {"maximum(largest, tiny)": "(largest + epsilon)"}).lines,
        {**_CLIP, **_same("beta1", "beta2", "epsilon"), **_rest("beta1")},
    ),
    ADAGRAD2: Formula(
        (
            _CLIPPED,
            _DECAYED,
            "history = history + g * g",
            "w = w - g * lr / (sqrt(history) + epsilon)",
        ),
        {**_CLIP, **_same("epsilon")},
    ),
    ADADELTA2: Formula(
        (
            _CLIPPED,
            _DECAYED,
            "square = square * rho + g * g * rho_rest",
            "g = sqrt(moved + epsilon) / sqrt(square + epsilon) * g",
            "moved = moved * rho + g * g * rho_rest",
            "w = w - g * lr",
        ),
        _FORMULAS[ADADELTA].scalars,
    ),
    DCASGD2: Formula((*_COMPENSATED2, "w = w - g"), _FORMULAS[DCASGD].scalars),
    DCASGD_MOMENTUM2: Formula(
        (*_COMPENSATED2, "mom = mom * momentum - g", "w = w + mom"),
        _FORMULAS[DCASGD_MOMENTUM].scalars,
    ),
}
