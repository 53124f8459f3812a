"""Fused optimizer steps: one rule's step of several weights by few kernels, for each back end.

A back end makes a `FusedStep` of a rule and arrays. Optimizers ask for one by the device of their
weights (`gluonish.kernels.back_ends.fused_step`); the operators that update several weights have
kernels made of it.
"""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.ops.kernel import BackEnd, FastKernel, always
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.updates.multi_update import MULTI_UPDATES, MultiUpdate
from gluonish.ops.updates.rules import Rule

# A number for each weight, or one for all.
Column = float | Sequence[float]
# For each weight its arrays: weight, gradient, states and, unless all are float32, the float32
# weight.
Groups = Sequence[Sequence[Any]]


class FusedStep(Protocol):
    """One rule bound to the arrays of some weights, which must stay where they are.

    Not for several threads at once: the engine runs steps of the same weights one by one.
    """

    def run(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weights.

        Args:
            columns: For each of the rule's rates the numbers of the weights, which must not change
                while the same object is given.
            scalars: The rule's, with rescale_grad and clip_gradient.
        """


# ``make(xp, rule, outs, groups, mixed)`` returns the step of some weights; None where the reference
# kernels serve them. ``mixed`` says whether there are float32 weights beside 16-bit ones.
Make = Callable[[ModuleType, Rule, Sequence[Any], Groups, bool], FusedStep | None]


def fits_dtypes(groups: Sequence[Sequence[Any]], mixed: bool) -> bool:
    """Whether dtypes of arrays are float32, or with float32 weights those of others 16-bit floats.

    Args:
        groups: For each weight the dtypes of its arrays.
        mixed: Whether there are float32 weights.
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
    """Return a back end's kernels of the operators that update several weights.

    Args:
        make: Makes a step of an array module, a rule, outputs, arrays and whether these are mixed.
        worth: Whether so many weights, and elements of all together, are worth a kernel.
        enabled: As of `FastKernel`.
    """

    def fast(multi: MultiUpdate) -> tuple[Operator, FastKernel]:
        op = find_operator(multi.name)
        run, takes = _kernel(multi, op.kernel, make), _takes(multi, worth)
        return op, FastKernel(back_end, multi.name, takes, run=run, enabled=enabled)

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


def _takes(multi: MultiUpdate, worth: Callable[[int, int], bool]) -> Callable[..., bool]:
    def takes(*specs: Spec, **attrs: Any) -> bool:
        groups = list(multi.groups(specs))
        dtypes = [[spec.dtype for spec in group] for group in groups]
        enough = worth(len(groups), sum(group[0].size for group in groups))
        return enough and fits_dtypes(dtypes, multi.mixed)

    return takes
