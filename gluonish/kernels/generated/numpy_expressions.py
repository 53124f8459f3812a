"""Scalar expressions of the NumPy operators without a classic equivalent.

These return bool or have inputs of several dtypes; the others run as the classic operators of
`gluonish.ops.numpy.classic`.
"""

import math
from collections.abc import Sequence

from gluonish.core.dtype import FLOAT32, FLOAT64, is_floating, promote
from gluonish.core.spec import Spec
from gluonish.kernels.generated.expressions import COMPARISONS, KINDS, REAL, RULES, Rule, Writer
from gluonish.ops.registry import Attrs

_WIDE = (FLOAT32, FLOAT64)

# Operands of any two dtypes that promote to float32 or float64; both are converted first.
_MIXED = {
    "_npi_add": "W({a}) + W({b})",
    "_npi_subtract": "W({a}) - W({b})",
    "_npi_multiply": "W({a}) * W({b})",
    "_npi_true_divide": "W({a}) / W({b})",
}

_SYMBOLS = {
    f"_npi_{name.replace('lesser', 'less')}": symbol for name, symbol in COMPARISONS.items()
}


def _same(specs: Sequence[Spec]) -> bool:
    return all(spec.dtype == specs[0].dtype and spec.dtype in KINDS for spec in specs)


def _supports_mixed(specs: Sequence[Spec], attrs: Attrs) -> bool:
    a, b = (spec.dtype for spec in specs)
    return a != b and a in KINDS and b in KINDS and promote(a, b) in _WIDE


def _supports_same(specs: Sequence[Spec], attrs: Attrs) -> bool:
    return _same(specs)


def _supports_number(specs: Sequence[Spec], attrs: Attrs) -> bool:
    return specs[0].dtype in REAL


def _supports_where(specs: Sequence[Spec], attrs: Attrs) -> bool:
    number = attrs.get("scalar", 0.0)
    fits = is_floating(specs[1].dtype) or math.isfinite(number)
    return specs[0].dtype in KINDS and _same(specs[1:]) and specs[1].dtype.kind != "b" and fits


def _template(text: str) -> Rule:
    def write(w: Writer) -> tuple[str, ...]:
        return (text.format(**dict(zip("abc", w.names, strict=False))),)

    return Rule(write, _supports_mixed, by_output=True)


def _pair(symbol: str) -> Rule:
    return Rule(lambda w: (f"flag({w[0]} {symbol} {w[1]})",), _supports_same, exact=True)


def _number(symbol: str) -> Rule:
    def write(w: Writer) -> tuple[str, ...]:
        return (f"flag({w[0]} {symbol} {w.typed(w.attrs['scalar'])})",)

    return Rule(write, _supports_number, exact=True)


def _where(first: str, second: str) -> Rule:
    """Return the rule for ``where``; ``s`` is the scalar, ``b`` and ``c`` are the arrays."""

    def write(w: Writer) -> tuple[str, ...]:
        names = dict(zip("abc", w.names, strict=False))
        if "scalar" in w.attrs:
            names["s"] = w.typed(w.attrs["scalar"])
        return (f"select({w[0]} != 0, {names[first]}, {names[second]})",)

    return Rule(write, _supports_where, exact=True, by_output=True)


NUMPY_RULES: dict[str, Rule] = {
    **{name: _template(text) for name, text in _MIXED.items()},
    **{name: _pair(symbol) for name, symbol in _SYMBOLS.items()},
    **{f"{name}_scalar": _number(symbol) for name, symbol in _SYMBOLS.items()},
    "_npi_logical_not": Rule(lambda w: (f"flag({w[0]} == 0)",), _supports_same, exact=True),
    "_npi_where": _where("b", "c"),
    "_npi_where_lscalar": _where("s", "b"),
    "_npi_where_rscalar": _where("b", "s"),
}
RULES.update(NUMPY_RULES)
