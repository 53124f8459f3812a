"""Scalar expressions of the gradients of `gluonish.ops.elementwise.kinks`."""

from collections.abc import Sequence

from gluonish.core.spec import Spec
from gluonish.kernels.generated.expressions import REAL, RULES, Rule, Writer
from gluonish.ops.registry import Attrs

_TEXTS = {
    "_over_root": "select({b} == W(0), {a} * W(0), {a} / {b})",
    "_times_over_root": ("select({c} == W(0), {a} * {b} * W(0), {a} * {b} / {c})"),
    "_mod_backward_rhs": (
        "-{a} * floor(select(({b} == W(0)) & ({c} == W(0)), {b} * W(0), {b} / {c}))"
    ),
    "_power_backward_lhs": "select(({b} == W(0)) & ({c} == W(0)), {a} * W(0), {c} * {d} * {a})",
    "_power_backward_rhs": (
        "select(({b} == W(0)) & ({c} >= W(0)), {a} * W(0), {a} * {d} * log({b}))"
    ),
}


def _real(specs: Sequence[Spec], attrs: Attrs) -> bool:
    return all(spec.dtype == specs[0].dtype and spec.dtype in REAL for spec in specs)


def _over_square(w: Writer) -> tuple[str, ...]:
    x, a, b = w.names
    # Beyond these limits, squares overflow or underflow unless they are scaled by the factor.
    wide = w.number(1.0) != w.single(1.0)  # the two names differ if their types differ
    end, factor = (1e150, 2.0**800) if wide else (1e15, 2.0**100)
    size = f"maximum(fabs({a}), fabs({b}))"
    large, small = w.number(1 / factor), w.number(factor)
    within = f"select({size} < {w.number(1 / end)}, {small}, W(1))"
    scale = f"select({size} > {w.number(end)}, {large}, {within})"
    squares = f"({a} * {scale}) * ({a} * {scale}) + ({b} * {scale}) * ({b} * {scale})"
    quotient = f"{x} * {scale} / ({squares}) * {scale}"
    return (f"select({size} == W(0), {x} * W(0), {quotient})",)


def _template(text: str) -> Rule:
    def write(w: Writer) -> tuple[str, ...]:
        return (text.format(**dict(zip("abcd", w.names, strict=False))),)

    return Rule(write, _real)


_POWER = RULES["_power_scalar"]


def _supports_power(specs: Sequence[Spec], attrs: Attrs) -> bool:
    root, inverse = 0.5, -1.0
    return _real(specs, attrs) and (
        attrs["scalar"] in (root, inverse) or _POWER.supports(specs, attrs)
    )


def _flat_power(w: Writer) -> tuple[str, ...]:
    if w.attrs["scalar"] > 0:
        return _POWER.write(w) if w.attrs["scalar"] >= 1 else (f"sqrt({w[0]})",)
    return (f"select({w[0]} == W(0), {w[0]}, W(1) / {w[0]})",)


KINK_RULES: dict[str, Rule] = {
    **{name: _template(text) for name, text in _TEXTS.items()},
    "_over_square": Rule(_over_square, _real),
    "_flat_power": Rule(_flat_power, _supports_power),
}
RULES.update(KINK_RULES)
