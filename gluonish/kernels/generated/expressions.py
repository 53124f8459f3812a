"""The scalar expressions of all operators that generated kernels compute.

Templates are Python expressions in ``{a}``, ``{b}``, .. for the inputs at one element. ``W(..)``
converts to the computed type: float32 also for 16-bit floats, int64 for integers; ``flag(..)`` is 1
or 0 in that type. Conditionals are ``select``, never ``if``, for which LLVM would select between
addresses. Results equal those of the reference kernels, except for round-off in functions of
`vector_math`: no operator is simplified away, and 16-bit results are rounded after each operator.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64
from gluonish.core.spec import Shape, Spec
from gluonish.ops.nn.dropout import kept_factor
from gluonish.ops.nn.gelu import DENSITY, FORM_OF, FORMS, Approximation
from gluonish.ops.nn.leaky_relu import gamma_shape
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.precision import in_dtype

_NARROW = (BFLOAT16, FLOAT16)
REAL = (FLOAT32, FLOAT64, BFLOAT16, FLOAT16)
_INTEGERS = (INT32, INT64, np.dtype(np.uint8), np.dtype(np.int8))
KINDS = frozenset((*REAL, *_INTEGERS, BOOL))
# Klambauer et al., as in the operator.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717

# In expressions: the operator's second output, and its random number, a float32 in [0, 1).
SECOND, DRAW = "SECOND", "DRAW"
# Instead of an expression: an output that is the key of the operator's random numbers.
KEY = ""

Number = Callable[[float], str]


class Writer:
    """What a rule writes its expressions with; ``writer[i]`` is the name of input ``i``.

    Args:
        number: Function that returns the name of a constant in the computed type.
        typed: The same for a constant that is first rounded to the data's dtype.
        single: The same for a constant in float32.
        names: Names of the inputs.
        attrs: Attributes of the operator.
        dtype: Dtype of the data.
    """

    __slots__ = ("attrs", "dtype", "names", "number", "single", "typed")

    def __init__(
        self,
        number: Number,
        typed: Number,
        single: Number,
        names: Sequence[str],
        attrs: Attrs,
        dtype: np.dtype[Any],
    ) -> None:
        self.number = number
        self.typed = typed
        self.single = single
        self.names = names
        self.attrs = attrs
        self.dtype = dtype

    def __getitem__(self, index: int) -> str:
        return self.names[index]


class Rule(NamedTuple):
    """The expressions of an operator.

    Attributes:
        write: Function that returns the expression of each output.
        supports: Predicate: whether the rule supports some inputs and attributes.
        exact: Whether the result needs no rounding, as it is one of the inputs, or 0 or 1.
        by_output: Whether the output determines the computed type, not the first input.
    """

    write: Callable[[Writer], tuple[str, ...]]
    supports: Callable[[Sequence[Spec], Attrs], bool]
    exact: bool = False
    by_output: bool = False


def _one_dtype(*dtypes: np.dtype[Any]) -> Callable[[Sequence[Spec], Attrs], bool]:
    def supports(specs: Sequence[Spec], attrs: Attrs) -> bool:
        return specs[0].dtype in dtypes and all(s.dtype == specs[0].dtype for s in specs)

    return supports


_real = _one_dtype(*REAL)
_any = _one_dtype(*REAL, *_INTEGERS)


def _template(text: str, integers: bool, exact: bool) -> Rule:
    def write(w: Writer) -> tuple[str, ...]:
        return (text.format(**dict(zip("abcd", w.names, strict=False))),)

    return Rule(write, _any if integers else _real, exact)


RULES: dict[str, Rule] = {}


def _rows(rows: Mapping[str, str], *, integers: bool = False, exact: bool = False) -> None:
    for names, text in rows.items():
        for name in names.split():
            RULES[name] = _template(text, integers, exact)


_rows(
    {
        "sqrt": "sqrt({a})",
        "rsqrt": "W(1) / sqrt({a})",
        "reciprocal": "W(1) / {a}",
        "exp": "exp({a})",
        "expm1": "expm1({a})",
        "log": "log({a})",
        "log2": "log2({a})",
        "log10": "log10({a})",
        "log1p": "log1p({a})",
        "tanh": "tanh({a})",
        "sigmoid": "sigmoid({a})",
        "softsign": "{a} / (W(1) + fabs({a}))",
        "_softplus": "softplus({a})",
        "log_sigmoid": "-softplus(-{a})",
        "mish": "{a} * tanh(softplus({a}))",
        "degrees": f"{{a}} * W({180 / math.pi!r})",
        "radians": f"{{a}} * W({math.pi / 180!r})",
        "broadcast_div elemwise_div": "{a} / {b}",
    }
)
_rows(
    {
        "floor": "floor({a})",
        "ceil": "ceil({a})",
        "trunc fix": "trunc({a})",
        "round": "trunc({a}) + copysign(flag(fabs({a} - trunc({a})) >= W(0.5)), {a})",
        "rint": "floor({a}) + flag({a} - floor({a}) > W(0.5))",
        "broadcast_maximum _maximum": "maximum({a}, {b})",
        "broadcast_minimum _minimum": "minimum({a}, {b})",
    },
    exact=True,
)
_rows(
    {
        "square": "{a} * {a}",
        "broadcast_add elemwise_add": "{a} + {b}",
        "broadcast_sub elemwise_sub": "{a} - {b}",
        "broadcast_mul elemwise_mul": "{a} * {b}",
    },
    integers=True,
)
_rows({"negative": "-{a}"}, integers=True)
_rows({"abs": "fabs({a})"}, exact=True)
_rows(
    {
        "sign": "flag({a} > W(0)) - flag({a} < W(0))",
        "logical_not": "flag({a} == W(0))",
        "relu": "select({a} <= W(0), W(0), {a})",
        "_relu_slope": "select({a} == {a}, flag({a} > W(0)), {a})",
        "zeros_like": "W(0)",
        "ones_like": "W(1)",
        "_copy BlockGrad make_loss MakeLoss broadcast_to broadcast_axis": "{a}",
    },
    integers=True,
    exact=True,
)

COMPARISONS = {
    "equal": "==",
    "not_equal": "!=",
    "greater": ">",
    "greater_equal": ">=",
    "lesser": "<",
    "lesser_equal": "<=",
}
_rows(
    {
        f"broadcast_{name} _{name}": f"flag({{a}} {symbol} {{b}})"
        for name, symbol in COMPARISONS.items()
    },
    integers=True,
    exact=True,
)
_LOGIC = {"and": "&", "or": "|", "xor": "^"}
_rows(
    {
        f"broadcast_logical_{name} _logical_{name}": (
            f"flag(({{a}} != W(0)) {symbol} ({{b}} != W(0)))"
        )
        for name, symbol in _LOGIC.items()
    },
    integers=True,
    exact=True,
)


def _scalar(text: str, integers: bool, exact: bool, *, compares: bool = False) -> Rule:
    def write(w: Writer) -> tuple[str, ...]:
        return (text.format(a=w[0], s=w.typed(w.attrs["scalar"])),)

    def supports(specs: Sequence[Spec], attrs: Attrs) -> bool:
        if not (_any if integers else _real)(specs, attrs):
            return False
        dtype, scalar = specs[0].dtype, attrs["scalar"]
        if dtype in REAL or not math.isfinite(scalar):
            return dtype in REAL
        return not compares or int(in_dtype(dtype, scalar)) == int(scalar)

    return Rule(write, supports, exact)


for _name, _text in {
    "_plus_scalar": "{a} + {s}",
    "_minus_scalar": "{a} - {s}",
    "_rminus_scalar": "{s} - {a}",
    "_mul_scalar": "{a} * {s}",
}.items():
    RULES[_name] = _scalar(_text, integers=True, exact=False)
for _name, _text in {"_div_scalar": "{a} / {s}", "_rdiv_scalar": "{s} / {a}"}.items():
    RULES[_name] = _scalar(_text, integers=False, exact=False)
for _name, _text in {
    "_maximum_scalar": "maximum({a}, {s})",
    "_minimum_scalar": "minimum({a}, {s})",
}.items():
    RULES[_name] = _scalar(_text, integers=False, exact=True)
for _name, _symbol in COMPARISONS.items():
    _text = f"flag({{a}} {_symbol} {{s}})"
    RULES[f"_{_name}_scalar"] = _scalar(_text, integers=True, exact=True, compares=True)
for _name, _symbol in _LOGIC.items():
    _text = f"flag(({{a}} != W(0)) {_symbol} ({{s}} != W(0)))"
    RULES[f"_logical_{_name}_scalar"] = _scalar(_text, integers=True, exact=True)

# Powers computed without a logarithm.
_POWERS = {1.0: "{a}", 2.0: "{a} * {a}", 3.0: "{a} * {a} * {a}", -1.0: "W(1) / {a}"}

RULES["_power_scalar"] = Rule(
    lambda w: (_POWERS[w.attrs["scalar"]].format(a=w[0]),),
    lambda specs, attrs: _real(specs, attrs) and attrs["scalar"] in _POWERS,
)
RULES["add_n"] = Rule(lambda w: (" + ".join(w.names),), _any)
RULES["broadcast_like"] = Rule(lambda w: (w[0],), lambda s, attrs: _any(s[:1], attrs), exact=True)
RULES["where"] = Rule(
    lambda w: (f"select({w[0]} != 0, {w[1]}, {w[2]})",),
    lambda specs, attrs: specs[0].dtype in KINDS and _any(specs[1:], attrs),
    exact=True,
    by_output=True,
)


def _supports_cast(specs: Sequence[Spec], attrs: Attrs) -> bool:
    source, target = specs[0].dtype, attrs["dtype"]
    if source not in KINDS or target not in KINDS:
        return False
    # Reference kernels convert floats to integers, and round twice to 16 bits.
    if source in REAL and target in _INTEGERS:
        return False
    return not (target in _NARROW and source != FLOAT32)


RULES["Cast"] = Rule(lambda w: (w[0],), _supports_cast)

_ACTIVATIONS = {
    "relu": "select({a} <= W(0), W(0), {a})",
    "sigmoid": "sigmoid({a})",
    "softrelu": "softplus({a})",
    "softsign": "{a} / (W(1) + fabs({a}))",
    "tanh": "tanh({a})",
}
_SLOPES = {
    "relu": "flag({b} > W(0))",
    "sigmoid": "({b} * (W(1) - {b}))",
    "softrelu": "(-expm1(-{b}))",
    "softsign": "((W(1) - fabs({b})) * (W(1) - fabs({b})))",
    "tanh": "(W(1) - {b} * {b})",
}
RULES["Activation"] = Rule(lambda w: (_ACTIVATIONS[w.attrs["act_type"]].format(a=w[0]),), _real)
RULES["_activation_backward"] = Rule(
    lambda w: (f"{w[0]} * {_SLOPES[w.attrs['act_type']].format(b=w[1])}",), _real
)


def _gelu_inner(x: str, by: Approximation, number: Number) -> str:
    """Return the argument of the sigmoid of an approximation of GELU."""
    cubic = f" + {x} * {x} * {x} * {number(by.cubic)}" if by.cubic else ""
    return f"{x} * {number(by.linear)}{cubic}"


def _stable_sigmoid(inner: str) -> tuple[str, str, str]:
    """Return sigmoid(v), and p = exp(-|v|) and 1 / (1 + p) of which it is made."""
    power = f"exp(-fabs({inner}))"
    inverse = f"(W(1) / (W(1) + {power}))"
    return f"select({inner} > W(0), {inverse}, {power} * {inverse})", power, inverse


def gelu(x: str, form: str, number: Number) -> str:
    """Return the expression of GELU, in one of its forms."""
    by = FORMS[form]
    if by is None:
        return f"(erf({x} * {number(math.sqrt(0.5))}) + W(1)) * {x} / W(2)"
    return f"sigmoid({_gelu_inner(x, by, number)}) * {x}"


def gelu_slope(x: str, form: str, number: Number) -> str:
    """Return the expression of GELU's derivative."""
    by = FORMS[form]
    if by is None:
        density = f"exp({x} * {x} * W(-0.5)) * {number(DENSITY)}"
        return f"((erf({x} * {number(math.sqrt(0.5))}) + W(1)) * W(0.5) + {x} * {density})"
    value, power, inverse = _stable_sigmoid(_gelu_inner(x, by, number))
    cubic = f"{x} * {x} * {number(3 * by.cubic)} + " if by.cubic else ""
    rate = f"({cubic}{number(by.linear)})"
    return f"({value} + {power} * {inverse} * {inverse} * {x} * {rate})"


def _gelu_beside_slope(x: str, form: str, number: Number) -> str:
    """Return the expression of GELU from the same exponential as `gelu_slope`."""
    by = FORMS[form]
    if by is None:
        return gelu(x, form, number)
    return f"{_stable_sigmoid(_gelu_inner(x, by, number))[0]} * {x}"


def supports_gelu(specs: Sequence[Spec], form: str) -> bool:
    """Whether the expressions of a form are exact enough; erf is computed in float32."""
    exact = _one_dtype(FLOAT32, *_NARROW) if FORMS[form] is None else _real
    return exact(specs, {})


def _leaky(w: Writer) -> tuple[str, ...]:
    x, kind, number = w[0], w.attrs["act_type"], w.number
    if kind in FORM_OF:
        return (gelu(x, FORM_OF[kind], number),)
    if kind == "prelu":
        return (f"select({x} > W(0), {x}, {x} * {w[1]})",)
    if kind == "leaky":
        return (f"select({x} > W(0), {x}, {x} * {number(w.attrs['slope'])})",)
    slope = number(w.attrs["slope"] if kind == "elu" else _SELU_ALPHA)
    below = f"select({x} > W(0), {x}, expm1(minimum({x}, W(0))) * {slope})"
    return (below if kind == "elu" else f"{below} * {number(_SELU_SCALE)}",)


def _supports_leaky(specs: Sequence[Spec], attrs: Attrs) -> bool:
    kind = attrs["act_type"]
    if kind in FORM_OF:
        return supports_gelu(specs, FORM_OF[kind])
    return kind != "rrelu" and _real(specs, attrs)


RULES["LeakyReLU"] = Rule(_leaky, _supports_leaky)

for _name in ("erf", "gammaln", "digamma"):  # computed in float32
    _rule = _template(f"{_name}({{a}})", integers=False, exact=False)
    RULES[_name] = _rule._replace(supports=_one_dtype(FLOAT32, *_NARROW))
RULES["_gelu_backward"] = Rule(
    lambda w: (f"{w[0]} * {gelu_slope(w[1], w.attrs['form'], w.number)}",),
    lambda specs, attrs: supports_gelu(specs, attrs["form"]),
)
RULES["_gated"] = Rule(
    lambda w: (f"{gelu(w[0], w.attrs['form'], w.number)} * {w[1]}",),
    lambda specs, attrs: supports_gelu(specs, attrs["form"]),
)
RULES["_gated_backward"] = Rule(
    lambda w: (
        f"{w[0]} * {gelu_slope(w[1], w.attrs['form'], w.number)} * {w[2]}",
        f"{w[0]} * {_gelu_beside_slope(w[1], w.attrs['form'], w.number)}",
    ),
    lambda specs, attrs: supports_gelu(specs, attrs["form"]),
)
RULES["_leaky_relu_backward"] = Rule(
    lambda w: (f"select({w[1]} > W(0), {w[0]}, {w[0]} * {w.number(w.attrs['slope'])})",), _real
)


def _clip(w: Writer) -> tuple[str, ...]:
    low, high = w.typed(w.attrs["a_min"]), w.typed(w.attrs["a_max"])
    return (f"select({w[0]} > {high}, {high}, select({w[0]} < {low}, {low}, {w[0]}))",)


RULES["clip"] = Rule(_clip, _real, exact=True)


def _clip_backward(w: Writer) -> tuple[str, ...]:
    low, high = w.typed(w.attrs["a_min"]), w.typed(w.attrs["a_max"])
    outside = f"({w[1]} < {low}) | ({w[1]} > {high})"
    return (f"select({outside}, {w.typed(0)}, {w[0]})",)


RULES["_clip_backward"] = Rule(_clip_backward, _real, exact=True)


def _hard_sigmoid(w: Writer) -> tuple[str, ...]:
    line = f"{w[0]} * {w.number(w.attrs['alpha'])} + {w.number(w.attrs['beta'])}"
    return (f"minimum(maximum({line}, W(0)), W(1))",)


RULES["hard_sigmoid"] = Rule(_hard_sigmoid, _real)


def _smooth_l1(w: Writer) -> tuple[str, ...]:
    square = w.attrs["scalar"] * w.attrs["scalar"]
    size = f"fabs({w[0]})"
    inner = f"{w[0]} * {w[0]} * {w.number(0.5 * square)}"
    outer = f"{size} - {w.number(0.5 / square)}"
    return (f"select({size} < {w.number(1 / square)}, {inner}, {outer})",)


RULES["smooth_l1"] = Rule(_smooth_l1, lambda s, attrs: _real(s, attrs) and attrs["scalar"] != 0)


def _dropout(w: Writer) -> tuple[str, ...]:
    if not _drops(w.attrs):
        return f"{w[0]} * {SECOND}", "W(1)"
    p = w.attrs["p"]
    scale = w.number(1 / (1 - p) if p < 1 else 0.0)
    return f"{w[0]} * {SECOND}", f"select({DRAW} >= {w.single(p)}, {scale}, W(0))"


def _drops(attrs: Attrs) -> bool:
    return bool(attrs["p"] and (attrs.get("train") or attrs["mode"] == "always"))


def _supports_dropout(specs: Sequence[Spec], attrs: Attrs) -> bool:
    return _real(specs, attrs) and attrs["axes"] == ()


RULES["Dropout"] = Rule(_dropout, _supports_dropout)


def _kept(w: Writer) -> str:
    """Return the expression of a factor of Dropout."""
    p = w.attrs["p"]
    factor = w.number(float(kept_factor(w.dtype, p)))
    return f"select({DRAW} >= {w.single(p)}, {factor}, W(0))"


# Rules of operators that make or read the key of random numbers, which few back ends support.
KEYED_RULES: Mapping[str, Rule] = {
    "_dropout_keyed": Rule(lambda w: (f"{w[0]} * {_kept(w)}", KEY), _real),
    "_dropout_factors": Rule(
        lambda w: (_kept(w),), lambda s, attrs: attrs["dtype"] in REAL, exact=True, by_output=True
    ),
}


def supports_keyed(op: Operator, attrs: Attrs, specs: Sequence[Spec]) -> bool:
    """Return what `supports` does where kernels store and read keys of random numbers."""
    rule = KEYED_RULES.get(op.name)
    return supports(op, attrs, specs) if rule is None else rule.supports(specs, attrs)


def supports(op: Operator, attrs: Attrs, specs: Sequence[Spec]) -> bool:
    """Whether generated kernels can compute an operator."""
    rule = RULES.get(op.name)
    return rule is not None and rule.supports(specs, attrs)


def draws(op: Operator, attrs: Attrs) -> bool:
    """Whether an operator of the table draws random numbers; LeakyReLU's rule never does."""
    return op.name == "_dropout_keyed" or (op.name == "Dropout" and _drops(attrs))


def aligned_shape(op: Operator, attrs: Attrs, specs: Sequence[Spec], index: int) -> Shape:
    """Return the shape of an input, aligned at the last axis for broadcasting."""
    shape, data = specs[index].shape, specs[-1 if op.name == "where" else 0].shape
    if op.name == "where" and index == 0 and len(shape) == 1 < len(data):
        return (*shape, *(1,) * (len(data) - 1))
    if op.name == "LeakyReLU" and index == 1:
        return gamma_shape(data, shape)
    return shape


def constant(dtype: np.dtype[Any], value: float) -> int | float:
    """Convert an operator's scalar to a dtype.

    Raises:
        OperatorError: Infinity or NaN for an integer dtype.
    """
    found = in_dtype(dtype, value)
    return float(found) if dtype in REAL else int(found)
