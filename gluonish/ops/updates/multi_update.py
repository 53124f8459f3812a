"""Optimizer steps for several weights in one call: the outputs are the new weights.

The inputs are the arrays of each weight in order (weight, gradient, states, and in the mp variants
the float32 weight), then the arrays shared by all weights. MXNet has such operators for SGD, AdamW
and LAMB; the names of the others begin with an underscore.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, number, numbers, shape
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.updates.rules import (
    ADAGRAD,
    ADAM,
    ADAMW,
    LAMB,
    NESTEROV,
    RMSPROP,
    RMSPROP_CENTERED,
    SGD,
    SGD_MOMENTUM,
    Rule,
    apply_rule,
)
from gluonish.ops.updates.update import check_arrays, usable_scale

# (attrs, shared arrays) -> one number for each weight
Column = Callable[[Attrs, Sequence[Any]], Sequence[float]]


# Documentation of the shared arrays, by their number.
_SHARED_DOCS = (
    "",
    ", then rescale_grad with 1 element",
    ", then lrs and wds (num_weights,)",
)


class MultiUpdate:
    """An operator that applies a rule to several weights, and how to read its arguments.

    Args:
        name: Operator name.
        rule: The optimizer rule to apply.
        parameters: Further attributes.
        columns: For each of the rule's rates, a function that returns its value for every weight.
        mixed: Whether each weight has a float32 weight.
        shared: Number of arrays shared by all weights.
        scale: Reads rescale_grad from the shared arrays; None for the attribute. The step is
            skipped if rescale_grad is not usable.
        count: Name of the attribute with the number of weights.
    """

    __slots__ = ("columns", "count", "mixed", "name", "roles", "rule", "scale", "shared")

    def __init__(
        self,
        name: str,
        rule: Rule,
        parameters: dict[str, Attribute],
        columns: Sequence[Column],
        *,
        mixed: bool,
        shared: int = 0,
        scale: Callable[[Sequence[Any]], float] | None = None,
        count: str = "num_weights",
    ) -> None:
        self.name = name
        self.rule = rule
        self.columns = columns
        self.mixed = mixed
        self.shared = shared
        self.scale = scale
        self.count = count
        self.roles = ("weight", "grad", *rule.states) + (("weight32",) if mixed else ())
        register(
            Operator(
                name,
                self._infer,
                self._kernel,
                None,
                doc=(
                    f"Take one step of {rule.title} for {count} weights"
                    f"{' in mixed precision' if mixed else ''}.\n\n"
                    "Return the new weights, and update the states in place. "
                    f"The arrays are {', '.join(self.roles)} of each weight in order"
                    f"{_SHARED_DOCS[shared]}.\n\n"
                    "Shapes: the arrays of a weight all have its shape."
                ),
                inputs=("data",),
                schema=Schema(**parameters, num_args=integer(low=2)),
                outputs=self._count,
                execution=Execution(mutates=self._mutated, elementwise=rule is not LAMB),
                variadic="num_args",
                shapes=ShapeFacts(complete=dtype_rule(0, 1)),
            )
        )

    def groups(self, arrays: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Yield the arrays of each weight."""
        size = len(self.roles)
        return (arrays[i : i + size] for i in range(0, len(arrays) - self.shared, size))

    def arguments(
        self, arrays: Sequence[Any], attrs: Attrs
    ) -> tuple[list[Sequence[float]], dict[str, Any]] | None:
        """Return the columns of rates, and the scalars; None if the step is skipped."""
        shared = arrays[len(arrays) - self.shared :]
        scalars = dict(attrs)
        if self.scale is not None:
            scalars["rescale_grad"] = scale = self.scale(shared)
            if not usable_scale(scale):
                return None
        return [column(attrs, shared) for column in self.columns], scalars

    def _count(self, attrs: Attrs) -> int:
        count: int = attrs[self.count]
        return count

    def _mutated(self, attrs: Attrs) -> tuple[int, ...]:
        end = attrs["num_args"] - self.shared
        return tuple(i for i in range(end) if i % len(self.roles) >= 2)

    def _infer(self, *arrays: Spec, **attrs: Any) -> tuple[Spec, ...]:
        count = self._count(attrs)
        if len(arrays) - self.shared != count * len(self.roles):
            raise OperatorError(
                f"{self.name}: expected {len(self.roles)} arrays for each of {count} weights "
                f"({', '.join(self.roles)}) and {self.shared} for all, got {len(arrays)}"
            )
        for name, value in attrs.items():
            if isinstance(value, tuple) and len(value) != count:
                raise OperatorError(
                    f"{self.name}: expected {name} of {count} numbers, got {len(value)}"
                )
        for spec in arrays[len(arrays) - self.shared :]:
            if self.scale is not None and spec.size != 1:
                raise OperatorError(f"{self.name}: expected rescale_grad of 1 number, got {spec}")
            if self.scale is None and spec.size != count:
                raise OperatorError(
                    f"{self.name}: expected rates of {count} numbers, got {spec.shape}"
                )
        return tuple(check_arrays(self.name, group, self.mixed) for group in self.groups(arrays))

    def _kernel(self, xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        found = self.arguments(arrays, attrs)
        if found is None:
            for y, group in zip(out, self.groups(arrays), strict=True):
                y[...] = group[0]
            return
        columns, scalars = found
        for y, group, *rates in zip(out, self.groups(arrays), *columns, strict=True):
            apply_rule(xp, self.rule, y, group, self.mixed, rates, scalars)


def _from_attribute(name: str) -> Column:
    """Return a column that reads an attribute."""

    def column(attrs: Attrs, shared: Sequence[Any]) -> Sequence[float]:
        values: Sequence[float] = attrs[name]
        return values

    return column


def _from_array(position: int) -> Column:
    """Return a column that reads a shared array."""

    def column(attrs: Attrs, shared: Sequence[Any]) -> Sequence[float]:
        values: Sequence[float] = shared[position].reshape(-1).tolist()
        return values

    return column


def _bias_share(beta: str) -> Column:
    """Return the column of bias corrections: the divisors of a running mean."""

    def column(attrs: Attrs, shared: Sequence[Any]) -> Sequence[float]:
        steps = attrs["step_count"]
        if not attrs["bias_correction"]:
            steps = [math.inf] * len(steps)
        shares = np.subtract(1, np.power(float(attrs[beta]), np.asarray(steps, np.float64)))
        return [float(share) for share in shares]

    return column


def _first_number(shared: Sequence[Any]) -> float:
    return float(shared[0].reshape(-1)[0])


_SCALING = {"rescale_grad": number(1.0), "clip_gradient": number(-1.0)}
_WEIGHTS = {"num_weights": integer(1, low=1)}
_RATES = {"lrs": numbers(), "wds": numbers()}


def _basic(name: str, rule: Rule, mixed: bool) -> MultiUpdate:
    return MultiUpdate(
        name,
        rule,
        {**_RATES, **rule.scalars, **_SCALING, **_WEIGHTS},
        (_from_attribute("lrs"), _from_attribute("wds")),
        mixed=mixed,
    )


def _preloaded(name: str, rule: Rule, mixed: bool) -> MultiUpdate:
    return MultiUpdate(
        name,
        rule,
        {**rule.scalars, **_SCALING, **_WEIGHTS},
        (_from_array(0), _from_array(1)),
        mixed=mixed,
        shared=2,
    )


def _adamw(name: str, rule: Rule, mixed: bool) -> MultiUpdate:
    return MultiUpdate(
        name,
        rule,
        {
            "lrs": numbers(),
            **rule.scalars,
            "wds": numbers(),
            "etas": numbers(),
            "clip_gradient": number(-1.0),
            **_WEIGHTS,
        },
        (_from_attribute("lrs"), _from_attribute("wds"), _from_attribute("etas")),
        mixed=mixed,
        shared=1,
        scale=_first_number,
    )


def _lamb(name: str, rule: Rule, mixed: bool) -> MultiUpdate:
    scalars = dict(rule.scalars)
    bounds = {bound: scalars.pop(bound) for bound in ("lower_bound", "upper_bound")}
    return MultiUpdate(
        name,
        rule,
        {
            "learning_rates": numbers(),
            **scalars,
            "wds": numbers(),
            "rescale_grad": number(1.0),
            **bounds,
            "clip_gradient": number(-1.0),
            "bias_correction": boolean(True),
            "step_count": shape(),
            "num_tensors": integer(1, low=1),
        },
        (
            _from_attribute("learning_rates"),
            _from_attribute("wds"),
            _bias_share("beta1"),
            _bias_share("beta2"),
        ),
        mixed=mixed,
        count="num_tensors",
    )


MULTI_UPDATES = (
    _basic("multi_sgd_update", SGD, False),
    _basic("multi_mp_sgd_update", SGD, True),
    _basic("multi_sgd_mom_update", SGD_MOMENTUM, False),
    _basic("multi_mp_sgd_mom_update", SGD_MOMENTUM, True),
    _preloaded("preloaded_multi_sgd_update", SGD, False),
    _preloaded("preloaded_multi_mp_sgd_update", SGD, True),
    _preloaded("preloaded_multi_sgd_mom_update", SGD_MOMENTUM, False),
    _preloaded("preloaded_multi_mp_sgd_mom_update", SGD_MOMENTUM, True),
    _adamw("_multi_adamw_update", ADAMW, False),
    _adamw("_multi_mp_adamw_update", ADAMW, True),
    _lamb("_multi_lamb_update", LAMB, False),
    _lamb("_multi_mp_lamb_update", LAMB, True),
    _basic("_multi_nag_update", NESTEROV, False),
    _basic("_multi_mp_nag_update", NESTEROV, True),
    _basic("_multi_adam_update", ADAM, False),
    _basic("_multi_mp_adam_update", ADAM, True),
    _basic("_multi_rmsprop_update", RMSPROP, False),
    _basic("_multi_mp_rmsprop_update", RMSPROP, True),
    _basic("_multi_rmspropalex_update", RMSPROP_CENTERED, False),
    _basic("_multi_mp_rmspropalex_update", RMSPROP_CENTERED, True),
    _basic("_multi_adagrad_update", ADAGRAD, False),
    _basic("_multi_mp_adagrad_update", ADAGRAD, True),
)
