"""Fused optimizer steps, by which a rule updates several weights in few kernels.

A back end creates a `FusedStep` from a rule and arrays. Optimizers get it by the device of their
weights (`gluonish.kernels.back_ends.fused_step`); the kernels of the multi-weight update operators
are built on it.
"""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.loss_scale import Gate
from gluonish.ops.kernel import BackEnd, FastKernel, always
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.updates.multi_update import MULTI_UPDATES, MultiUpdate
from gluonish.ops.updates.rules import Rule

# One number for each weight, or a single number for all.
Column = float | Sequence[float]
# The arrays of each weight: weight, gradient, states and, unless all are float32, the float32
# master weight.
Groups = Sequence[Sequence[Any]]


class FusedStep(Protocol):
    """One rule bound to the arrays of some weights, which must not be reallocated.

    Not thread-safe: the engine runs steps of the same weights one by one.
    """

    def run(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weights.

        Args:
            columns: One column for each of the rule's rates. A sequence that is passed again must
                still have the same values.
            scalars: The rule's scalars, including rescale_grad and clip_gradient.
        """


@runtime_checkable
class GatedStep(FusedStep, Protocol):
    """A fused step that skips itself on the device, by the state of a loss scale.

    Attributes:
        gated_numbers: Number of updates whose rates it stores.
    """

    gated_numbers: int

    def run_gated(
        self, gate: Gate, columns: Sequence[Sequence[Column]], scalars: Mapping[str, float]
    ) -> None:
        """Update the weights, unless the step is skipped, with gradients divided by the scale.

        Args:
            gate: The state, and the number of the update.
            columns: The columns of that number, of the number before it, and so on: as many as
                there are steps whose outcome is not known.
            scalars: As for `run`.
        """


# ``make(xp, rule, outs, groups, mixed)`` returns the step for some weights; None to use reference
# kernels. ``mixed``: whether 16-bit weights have float32 master copies.
Make = Callable[[ModuleType, Rule, Sequence[Any], Groups, bool], FusedStep | None]


def fits_dtypes(groups: Sequence[Sequence[Any]], mixed: bool) -> bool:
    """Whether all dtypes are float32 or, if mixed, weights and gradients share a 16-bit dtype.

    Args:
        groups: The dtypes of each weight's arrays.
        mixed: Whether the weights have float32 master copies.
    """
    narrow = groups[0][0]
    if narrow not in ((BFLOAT16, FLOAT16) if mixed else (FLOAT32,)):
        return False
    return all(
        group[0] == group[1] == narrow and all(dtype == FLOAT32 for dtype in group[2:])
        for group in groups
    )


def operator_kernels(
    back_end: BackEnd,
    make: Make,
    worth: Callable[[int, int], bool],
    enabled: Callable[[], bool] = always,
) -> tuple[tuple[Operator, FastKernel], ...]:
    """Return the multi-weight update operators, each with a back end's kernel.

    Args:
        worth: Predicate ``worth(weights, elements)``: whether this number of weights, with this
            total number of elements, is worth a fused kernel.
    """

    def fast(multi: MultiUpdate) -> tuple[Operator, FastKernel]:
        op = find_operator(multi.name)
        run, supports = _kernel(multi, op.kernel, make), _supports(multi, worth)
        return op, FastKernel(back_end, multi.name, supports, run=run, enabled=enabled)

    return tuple(map(fast, MULTI_UPDATES))


def _kernel(multi: MultiUpdate, reference: Callable[..., None], make: Make) -> Callable[..., None]:
    def kernel(xp: ModuleType, out: Any, *arrays: Any, **attrs: Any) -> None:
        step = make(xp, multi.rule, out, list(multi.groups(arrays)), multi.mixed)
        found = multi.arguments(arrays, attrs) if step is not None else None
        if step is None or found is None:
            reference(xp, out, *arrays, **attrs)
        else:
            step.run(*found)

    return kernel


def _supports(multi: MultiUpdate, worth: Callable[[int, int], bool]) -> Callable[..., bool]:
    def supports(*specs: Spec, **attrs: Any) -> bool:
        groups = list(multi.groups(specs))
        dtypes = [[spec.dtype for spec in group] for group in groups]
        enough = worth(len(groups), sum(group[0].size for group in groups))
        return enough and fits_dtypes(dtypes, multi.mixed)

    return supports
