"""Automatic casts of floating inputs in mixed precision.

A `Policy` consists of lists of operators. It applies to the process (`set_everywhere`), or to a
scope of one thread (`PolicyScope`). Arrays, traced arrays and Symbols read `current` when they
apply an operator, and pass their cast functions to `Policy.cast`. Casts are ordinary operators,
which autograd records and passes optimize.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, is_floating
from gluonish.core.value_scope import ValueScope
from gluonish.ops.registry import Attrs, Operator

# By operator and attribute: the values under which the operator computes in float32.
Conditions = Mapping[str, Mapping[str, Collection[str]]]

_LOW, _FULL, _WIDEST = "low", "float32", "widest"


class Policy:
    """The casts that mixed precision applies to each operator's floating inputs.

    Operators with a float64 input are not cast: float64 is always a deliberate choice.

    Args:
        dtype: float16 or bfloat16.
        low: Names of operators that compute in ``dtype``.
        full: Names of operators that compute in float32.
        widest: Names of operators whose inputs are cast to the widest dtype among them.
        either: Names of operators whose inputs are not cast, as for unlisted operators.
        conditions: Operators that compute in float32 under some values of an attribute.
        exempt: Inputs that are never cast, by operator: a network's float32 parameters.
    """

    __slots__ = ("_conditions", "_exempt", "_lists", "_rules", "dtype")

    def __init__(
        self,
        dtype: np.dtype[Any],
        *,
        low: Collection[str],
        full: Collection[str],
        widest: Collection[str],
        either: Collection[str],
        conditions: Conditions,
        exempt: Mapping[str, Collection[str]],
    ) -> None:
        self.dtype = dtype
        lists = {_LOW: low, _FULL: full, _WIDEST: widest, None: either}
        self._lists = {rule: frozenset(names) for rule, names in lists.items()}
        self._conditions = conditions
        self._exempt = exempt
        self._rules: dict[Operator, str | None] = {}

    def _rule(self, op: Operator, attrs: Attrs) -> str | None:
        """Return the name of the list that contains the operator or one of its aliases."""
        for name, values in self._conditions.get(op.name, {}).items():
            if str(attrs.get(name)) in values:
                return _FULL
        if op not in self._rules:
            self._rules[op] = next(
                (
                    rule
                    for called in (op.name, *op.aliases)
                    for rule, listed in self._lists.items()
                    if called in listed
                ),
                None,
            )
        return self._rules[op]

    def target_dtypes(
        self, op: Operator, attrs: Attrs, dtypes: Sequence[np.dtype[Any] | None]
    ) -> list[np.dtype[Any] | None]:
        """Return the dtype to cast each input to; None for no cast.

        Inputs of unknown dtype (None) are cast wherever a cast may be needed.
        """
        rule = self._rule(op, attrs)
        found: list[np.dtype[Any] | None] = [None] * len(dtypes)
        floats = {dtype for dtype in dtypes if dtype is not None and is_floating(dtype)}
        if rule is None or FLOAT64 in floats:
            return found
        target = {_LOW: self.dtype, _FULL: FLOAT32}.get(rule) or widest(floats)
        if rule == _WIDEST and None in dtypes:
            return found  # `cast` handles it with an operator
        exempt = self._exempt.get(op.name, ())
        names = op.input_names(attrs) if exempt else ()
        fixed = op.mutated_inputs(attrs) if op.mutates else ()
        for i, dtype in enumerate(dtypes):
            if i in fixed or (exempt and names[i] in exempt):
                continue
            if dtype is None or (is_floating(dtype) and dtype != target):
                found[i] = target
        return found

    def cast(
        self,
        op: Operator,
        inputs: Sequence[Any],
        attrs: Attrs,
        dtypes: Sequence[np.dtype[Any] | None],
        to: Callable[[Any, np.dtype[Any]], Any],
        to_widest: Callable[[Sequence[Any]], Sequence[Any]] | None = None,
    ) -> Sequence[Any]:
        """Cast an operator's inputs as required by the list that contains the operator.

        Args:
            dtypes: Dtypes of the inputs; None where unknown.
            to: Casts an input to a dtype if it is floating.
            to_widest: Casts floating inputs of unknown dtypes to the widest among them.
        """
        unknown = to_widest is not None and None in dtypes and len(inputs) > 1
        if unknown and self._rule(op, attrs) == _WIDEST:
            return to_widest(inputs)  # type: ignore[misc]  # not None here
        target_dtypes = self.target_dtypes(op, attrs, dtypes)
        if not any(dtype is not None for dtype in target_dtypes):
            return inputs
        return [
            x if dtype is None else to(x, dtype)
            for x, dtype in zip(inputs, target_dtypes, strict=True)
        ]


def widest(floats: Collection[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the narrowest dtype that represents all of these floating dtypes."""
    if len(floats) == 1:
        return next(iter(floats))
    return FLOAT64 if FLOAT64 in floats else FLOAT32


class _State:
    """The process-wide default policy.

    Attributes:
        policy: The default policy; None for no casts.
        used: Whether a policy was ever set; until then the check is skipped.
    """

    __slots__ = ("policy", "used")

    def __init__(self) -> None:
        self.policy: Policy | None = None
        self.used = False


state = _State()

# The policy of scopes without casts.
OFF = Policy(FLOAT32, low=(), full=(), widest=(), either=(), conditions={}, exempt={})

# The policy of a scope in this thread; None outside of scopes.
here: ContextVar[Policy | None] = ContextVar("gluonish_autocast", default=None)


def current() -> Policy | None:
    """Return the policy of this thread; None for no casts."""
    policy = here.get()
    if policy is None:
        return state.policy
    return None if policy is OFF else policy


def set_everywhere(policy: Policy | None) -> None:
    """Set the policy of all threads outside of scopes."""
    state.policy = policy
    state.used = True


class PolicyScope(ValueScope):
    """Scope that applies a policy to its thread (`OFF` for no casts); reusable and reentrant."""

    __slots__ = ("_policy",)

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self._policy = policy

    def __enter__(self) -> Any:
        state.used = True
        self._change(here, self._policy)
        return self


def switch_off(scope: Callable[[ContextVar[Any], Any], None]) -> bool:
    """Disable casts in this thread if a policy applies; return whether one did."""
    if not state.used or current() is None:
        return False
    scope(here, OFF)
    return True
