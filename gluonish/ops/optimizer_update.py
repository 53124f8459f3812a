"""One step of an optimizer as an operator: the output is the new weight, the states change in
place.

Callers pass the weight as ``out``. The gradient is scaled by rescale_grad, then clipped to
[-clip_gradient, clip_gradient] unless that is negative; wd adds decay of the weight. In the mp
variants the weight and gradient are 16-bit and weight32 is what is trained; the multi variants
update num_weights weights, whose arrays follow each other (weight, gradient, states).
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.dtype_rules import dtype_rule
from gluonish.ops.precision import widen
from gluonish.ops.registry import Attrs, Operator, register

__all__ = ["MULTI_UPDATES", "UPDATES"]

# (xp, weight, gradient, states, lr, wd, attrs) -> new weight; weight and gradient in float32 or
# float64. The gradient is a copy that the step may overwrite, and most work in it: for large
# weights a new array for every term costs more than the arithmetic.
Step = Callable[[ModuleType, Any, Any, Sequence[Any], float, float, Attrs], Any]


def _clipped(xp: ModuleType, gradient: Any, limit: float) -> Any:
    return gradient if limit < 0 else xp.clip(gradient, -limit, limit, out=gradient)


def _decayed(xp: ModuleType, w: Any, g: Any, wd: float, attrs: Attrs) -> Any:
    """Return the clipped gradient with the weight decay, in the gradient's memory."""
    slope = _clipped(xp, g, attrs["clip_gradient"])
    if wd:
        slope += w * wd
    return slope


def _sgd(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], lr: float, wd: float, attrs: Attrs
) -> Any:
    slope = _decayed(xp, w, g, wd, attrs)
    slope *= lr
    return xp.subtract(w, slope, out=slope)


def _momentum(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], lr: float, wd: float, attrs: Attrs
) -> Any:
    (mom,) = states
    slope = _decayed(xp, w, g, wd, attrs)
    slope *= lr
    moved = widen(mom)
    moved *= attrs["momentum"]
    moved -= slope
    _keep(mom, moved)
    return xp.add(w, moved, out=slope)


def _nag(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], lr: float, wd: float, attrs: Attrs
) -> Any:
    (mom,) = states
    step = _decayed(xp, w, g, wd, attrs)
    step *= lr
    moved = widen(mom)
    moved *= attrs["momentum"]
    moved -= step
    _keep(mom, moved)
    return xp.subtract(w + moved * attrs["momentum"], step, out=step)


def _adam(
    xp: ModuleType, w: Any, g: Any, states: Sequence[Any], lr: float, wd: float, attrs: Attrs
) -> Any:
    """Adam clips the gradient with the decay in it, unlike the others."""
    mean, var = states
    if wd:
        g += w * wd
    slope = _clipped(xp, g, attrs["clip_gradient"])
    beta1, beta2 = attrs["beta1"], attrs["beta2"]
    first, second = widen(mean), widen(var)
    first *= beta1
    first += slope * (1 - beta1)
    slope *= slope
    slope *= 1 - beta2
    second *= beta2
    second += slope
    _keep(mean, first)
    _keep(var, second)
    step = xp.sqrt(second, out=slope)
    step += attrs["epsilon"]
    xp.divide(first, step, out=step)
    step *= lr
    return xp.subtract(w, step, out=step)


def _keep(state: Any, wide: Any) -> None:
    """Put a state back that was widened for the arithmetic; else it changed in place."""
    if wide is not state:
        state[...] = wide


def _check_group(name: str, arrays: Sequence[Spec], mixed: bool) -> Spec:
    """Check the arrays of one weight, and return the spec of the new weight."""
    weight = arrays[0]
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


def _update(
    xp: ModuleType,
    out: Any,
    arrays: Sequence[Any],
    step: Step,
    mixed: bool,
    lr: float,
    wd: float,
    attrs: Attrs,
) -> None:
    """Update one weight; its memory may be that of ``out``."""
    weight, grad, *states = arrays
    master = states.pop() if mixed else weight
    w = widen(master)
    g = xp.multiply(grad, attrs["rescale_grad"], dtype=w.dtype)
    new = step(xp, w, g, states, lr, wd, attrs)
    if mixed:
        master[...] = new
    out[...] = new


_SCALING = {"rescale_grad": number(1.0), "clip_gradient": number(-1.0)}
_MOMENTUM = {"momentum": number(0.0)}
_LAZY = {"lazy_update": boolean(True)}


def _single(
    name: str,
    step: Step,
    inputs: tuple[str, ...],
    parameters: dict[str, Attribute],
    word: str,
    *aliases: str,
) -> Operator:
    mixed = inputs[-1] == "weight32"

    def infer(*arrays: Spec, **attrs: Any) -> tuple[Spec]:
        return (_check_group(name, arrays, mixed),)

    def kernel(xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        _update(xp, out, arrays, step, mixed, attrs["lr"], attrs["wd"], attrs)

    lazy = "; lazy_update concerns sparse gradients only" if "lazy_update" in parameters else ""
    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=f"One step of {word}: returns the new weight, changes the states in place{lazy}.",
            inputs=inputs,
            schema=Schema(**parameters),
            aliases=aliases,
            mutates=tuple(range(2, len(inputs))),
            complete=dtype_rule(0, 1),
            elementwise=True,
        )
    )


def _decay(**parameters: Attribute) -> dict[str, Attribute]:
    return {"lr": number(), **parameters, "wd": number(0.0), **_SCALING}


UPDATES = (
    _single(
        "sgd_update",
        _sgd,
        ("weight", "grad"),
        {**_decay(), **_LAZY},
        "gradient descent",
        "_sparse_sgd_update",
    ),
    _single(
        "sgd_mom_update",
        _momentum,
        ("weight", "grad", "mom"),
        {**_decay(**_MOMENTUM), **_LAZY},
        "gradient descent with momentum",
        "_sparse_sgd_mom_update",
    ),
    _single(
        "mp_sgd_update",
        _sgd,
        ("weight", "grad", "weight32"),
        {**_decay(), **_LAZY},
        "gradient descent in mixed precision",
    ),
    _single(
        "mp_sgd_mom_update",
        _momentum,
        ("weight", "grad", "mom", "weight32"),
        {**_decay(**_MOMENTUM), **_LAZY},
        "gradient descent with momentum in mixed precision",
    ),
    _single(
        "nag_mom_update",
        _nag,
        ("weight", "grad", "mom"),
        _decay(**_MOMENTUM),
        "Nesterov's accelerated gradient",
    ),
    _single(
        "mp_nag_mom_update",
        _nag,
        ("weight", "grad", "mom", "weight32"),
        _decay(**_MOMENTUM),
        "Nesterov's accelerated gradient in mixed precision",
    ),
    _single(
        "adam_update",
        _adam,
        ("weight", "grad", "mean", "var"),
        {
            **_decay(beta1=number(0.9), beta2=number(0.999), epsilon=number(1e-8)),
            **_LAZY,
        },
        "Adam without bias correction, which the caller puts into lr",
        "_sparse_adam_update",
    ),
)


def _groups(arrays: Sequence[Any], count: int) -> list[Sequence[Any]]:
    size = len(arrays) // count
    return [arrays[i * size : (i + 1) * size] for i in range(count)]


def _infer_multi(
    name: str, roles: tuple[str, ...], *arrays: Spec, **attrs: Any
) -> tuple[Spec, ...]:
    count = attrs["num_weights"]
    if len(arrays) != count * len(roles):
        raise OperatorError(
            f"{name}: expected {len(roles)} arrays for each of {count} weights "
            f"({', '.join(roles)}), got {len(arrays)}"
        )
    if not len(attrs["lrs"]) == len(attrs["wds"]) == count:
        raise OperatorError(
            f"{name}: expected lrs and wds of {count} numbers, "
            f"got {len(attrs['lrs'])} and {len(attrs['wds'])}"
        )
    mixed = roles[-1] == "weight32"
    return tuple(_check_group(name, group, mixed) for group in _groups(arrays, count))


def _weight_count(attrs: Attrs) -> int:
    count: int = attrs["num_weights"]
    return count


def _multi(
    name: str, step: Step, roles: tuple[str, ...], parameters: dict[str, Attribute], word: str
) -> Operator:
    """Register the update of several weights; ``roles`` are the arrays of one."""
    mixed = roles[-1] == "weight32"

    def kernel(xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        groups = _groups(arrays, attrs["num_weights"])
        for y, group, lr, wd in zip(out, groups, attrs["lrs"], attrs["wds"], strict=True):
            _update(xp, y, group, step, mixed, lr, wd, attrs)

    def mutates(attrs: Attrs) -> tuple[int, ...]:
        return tuple(i for i in range(attrs["num_args"]) if i % len(roles) >= 2)

    return register(
        Operator(
            name,
            partial(_infer_multi, name, roles),
            kernel,
            None,
            doc=(
                f"One step of {word} for num_weights weights: returns the new weights, "
                "changes the states in place."
            ),
            inputs=("data",),
            schema=Schema(
                lrs=numbers(),
                wds=numbers(),
                **parameters,
                **_SCALING,
                num_weights=integer(1, low=1),
                num_args=integer(low=2),
            ),
            outputs=_weight_count,
            mutates=mutates,
            variadic="num_args",
            complete=dtype_rule(0, 1),
            elementwise=True,
        )
    )


MULTI_UPDATES = (
    _multi("multi_sgd_update", _sgd, ("weight", "grad"), {}, "gradient descent"),
    _multi(
        "multi_sgd_mom_update",
        _momentum,
        ("weight", "grad", "mom"),
        _MOMENTUM,
        "gradient descent with momentum",
    ),
    _multi(
        "multi_mp_sgd_update",
        _sgd,
        ("weight", "grad", "weight32"),
        {},
        "gradient descent in mixed precision",
    ),
    _multi(
        "multi_mp_sgd_mom_update",
        _momentum,
        ("weight", "grad", "mom", "weight32"),
        _MOMENTUM,
        "gradient descent with momentum in mixed precision",
    ),
)
