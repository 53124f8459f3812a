"""Optimizer steps as operators: the output is the new weight, the states change in place.

Callers pass the weight as ``out``. The gradient is scaled by rescale_grad, then clipped to
[-clip_gradient, clip_gradient] unless clip_gradient is negative; wd adds weight decay. In the mp
variants weight and gradient are 16-bit, and the step updates weight32. Several weights a call:
`gluonish.ops.updates.multi_update`.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen
from gluonish.ops.updates.rules import (
    ADAM,
    ADAMW,
    NAG,
    NESTEROV,
    RMSPROP,
    RMSPROP_CENTERED,
    SGD,
    SGD_MOMENTUM,
    Rule,
    apply_rule,
    lamb_direction,
    lamb_ratio,
)


def check_arrays(name: str, arrays: Sequence[Spec], mixed: bool) -> Spec:
    """Check the arrays of a weight, and return the spec of the new weight.

    Raises:
        OperatorError: Their shapes differ, or their dtypes do not match.
    """
    weight = arrays[0]
    if not is_floating(weight.dtype):
        raise OperatorError(f"{name}: expected a floating weight, got {weight.dtype.name}")
    if any(spec.shape != weight.shape for spec in arrays):
        raise OperatorError(
            f"{name}: expected arrays of the weight's shape {weight.shape}, "
            f"got {', '.join(str(spec.shape) for spec in arrays[1:])}"
        )
    if arrays[1].dtype != weight.dtype:
        raise OperatorError(
            f"{name}: expected a gradient of the weight's dtype {weight.dtype.name}, "
            f"got {arrays[1].dtype.name}"
        )
    states = FLOAT32 if mixed else weight.dtype
    if any(spec.dtype != states for spec in arrays[2:]):
        raise OperatorError(
            f"{name}: expected states of dtype {states.name}, "
            f"got {', '.join(spec.dtype.name for spec in arrays[2:])}"
        )
    return weight


def usable_scale(scale: float) -> bool:
    """Return whether a gradient scale is finite and not 0; otherwise AdamW skips the step."""
    return math.isfinite(scale) and scale != 0


_SCALING = {"rescale_grad": number(1.0), "clip_gradient": number(-1.0)}
_LAZY = {"lazy_update": boolean(True)}


def single_update(
    name: str,
    rule: Rule,
    parameters: dict[str, Attribute],
    *aliases: str,
    mixed: bool = False,
    tensor_scale: bool = False,
) -> Operator:
    """Register the update of one weight.

    Args:
        mixed: Whether there is a float32 weight.
        tensor_scale: Whether rescale_grad is the last input instead of an attribute.
    """
    inputs = ("weight", "grad", *rule.states) + (("weight32",) if mixed else ())
    states = tuple(range(2, len(inputs)))
    count = len(inputs)

    def infer(*arrays: Spec, **attrs: Any) -> tuple[Spec]:
        if tensor_scale and arrays[-1].size != 1:
            raise OperatorError(f"{name}: expected rescale_grad of 1 number, got {arrays[-1]}")
        return (check_arrays(name, arrays[:count], mixed),)

    def kernel(xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        if tensor_scale:
            attrs["rescale_grad"] = scale = float(arrays[-1].reshape(-1)[0])
            if not usable_scale(scale):
                out[...] = arrays[0]
                return
        rates = [attrs[rate] for rate in rule.rates]
        apply_rule(xp, rule, out, arrays[:count], mixed, rates, attrs)

    lazy = "; lazy_update only affects sparse gradients" if "lazy_update" in parameters else ""
    precision = " in mixed precision" if mixed else ""
    arrays_doc = "rescale_grad 1 element, the others" if tensor_scale else "all"
    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=(
                f"Take one step of {rule.title}{precision}.\n\n"
                f"Return the new weight, and update the states in place{lazy}.\n\n"
                f"Shapes: {arrays_doc} that of the weight."
            ),
            inputs=inputs + (("rescale_grad",) if tensor_scale else ()),
            schema=Schema(**parameters),
            aliases=aliases,
            execution=Execution(mutates=states, elementwise=not tensor_scale),
            shapes=ShapeFacts(complete=dtype_rule(0, 1)),
        )
    )


def _attributes(rule: Rule) -> dict[str, Attribute]:
    """Return the attributes of a rule in MXNet's usual order, clip_weights last."""
    scalars = dict(rule.scalars)
    last = {name: scalars.pop(name) for name in ("clip_weights",) if name in scalars}
    return {"lr": number(), **scalars, "wd": number(0.0), **_SCALING, **last}


_ADAMW_ATTRIBUTES = {
    "lr": number(),
    **ADAMW.scalars,
    "wd": number(0.0),
    "eta": number(),
    "clip_gradient": number(-1.0),
}

UPDATES = (
    single_update("sgd_update", SGD, {**_attributes(SGD), **_LAZY}, "_sparse_sgd_update"),
    single_update(
        "sgd_mom_update",
        SGD_MOMENTUM,
        {**_attributes(SGD_MOMENTUM), **_LAZY},
        "_sparse_sgd_mom_update",
    ),
    single_update("mp_sgd_update", SGD, {**_attributes(SGD), **_LAZY}, mixed=True),
    single_update(
        "mp_sgd_mom_update", SGD_MOMENTUM, {**_attributes(SGD_MOMENTUM), **_LAZY}, mixed=True
    ),
    single_update("nag_mom_update", NAG, _attributes(NAG)),
    # Unlike in nag_mom_update the momentum decays with the new weight, as in MXNet.
    single_update("mp_nag_mom_update", NESTEROV, _attributes(NESTEROV), mixed=True),
    single_update("adam_update", ADAM, {**_attributes(ADAM), **_LAZY}, "_sparse_adam_update"),
    single_update("rmsprop_update", RMSPROP, _attributes(RMSPROP)),
    single_update("rmspropalex_update", RMSPROP_CENTERED, _attributes(RMSPROP_CENTERED)),
    single_update("_adamw_update", ADAMW, _ADAMW_ATTRIBUTES, tensor_scale=True),
    single_update("_mp_adamw_update", ADAMW, _ADAMW_ATTRIBUTES, mixed=True, tensor_scale=True),
)


def _lamb_phase1(name: str, *, mixed: bool) -> Operator:
    inputs = ("weight", "grad", "mean", "var") + (("weight32",) if mixed else ())

    def infer(*arrays: Spec, **attrs: Any) -> tuple[Spec]:
        weight = check_arrays(name, arrays, mixed)
        return (Spec(weight.shape, FLOAT32 if mixed else weight.dtype),)

    def kernel(xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        if not out.ndim:  # arithmetic would turn arrays of no axes into numbers
            out, arrays = out.reshape(1), tuple(array.reshape(1) for array in arrays)
        w = widen(arrays[-1] if mixed else arrays[0])
        g = xp.multiply(arrays[1], attrs["rescale_grad"], dtype=w.dtype)
        t = attrs["t"] if attrs["bias_correction"] else math.inf
        corrections = np.subtract(1, np.power([attrs["beta1"], attrs["beta2"]], float(t)))
        rates = (attrs["wd"], *map(float, corrections))
        out[...] = lamb_direction(xp, w, g, arrays[2:4], rates, attrs)

    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=(
                "Compute the first phase of a LAMB step.\n\n"
                "Return the direction of the step, and update the states in place.\n\n"
                "Shapes: all that of the weight."
            ),
            inputs=inputs,
            schema=Schema(
                beta1=number(0.9),
                beta2=number(0.999),
                epsilon=number(1e-6),
                t=integer(),
                bias_correction=boolean(True),
                wd=number(),
                **_SCALING,
            ),
            execution=Execution(mutates=(2, 3), elementwise=not mixed),
            shapes=ShapeFacts(complete=dtype_rule(0, 1)),
        )
    )


def _lamb_phase2(name: str, *, mixed: bool) -> Operator:
    inputs = ("weight", "g", "r1", "r2") + (("weight32",) if mixed else ())

    def infer(weight: Spec, g: Spec, r1: Spec, r2: Spec, *weight32: Spec, **_: Any) -> tuple[Spec]:
        for spec in (weight, g, r1, r2, *weight32):
            if not is_floating(spec.dtype):
                raise OperatorError(f"{name}: expected floating arrays, got {spec.dtype.name}")
        if any(x.shape != weight.shape for x in (g, *weight32)) or (r1.size, r2.size) != (1, 1):
            raise OperatorError(
                f"{name}: expected g of the weight's shape {weight.shape} and norms of one "
                f"element, got {g.shape}, {r1.shape} and {r2.shape}"
            )
        return (weight,)

    def kernel(
        xp: ModuleType,
        out: Any,
        weight: Any,
        g: Any,
        r1: Any,
        r2: Any,
        *weight32: Any,
        **attrs: Any,
    ) -> None:
        w = widen(weight32[0] if mixed else weight)
        ratio = lamb_ratio(xp, widen(r1).reshape(-1)[0], widen(r2).reshape(-1)[0], attrs)
        out[...] = w - widen(g) * (ratio * attrs["lr"]).astype(w.dtype)

    note = "; weight32 is only read, as in MXNet 1.9.1" if mixed else ""
    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=(
                "Compute the second phase of a LAMB step.\n\nReturn the new weight from the "
                f"direction g, the norm r1 of the weight and the norm r2 of g{note}.\n\n"
                "Shapes: r1 and r2 1 element, the others that of the weight."
            ),
            inputs=inputs,
            schema=Schema(lr=number(), lower_bound=number(-1.0), upper_bound=number(-1.0)),
            shapes=ShapeFacts(complete=dtype_rule(0)),
        )
    )


LAMB_UPDATES = (
    _lamb_phase1("lamb_update_phase1", mixed=False),
    _lamb_phase2("lamb_update_phase2", mixed=False),
    _lamb_phase1("mp_lamb_update_phase1", mixed=True),
    _lamb_phase2("mp_lamb_update_phase2", mixed=True),
)
