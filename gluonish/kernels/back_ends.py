"""The interface of a back end: its kernels, graph passes, fused optimizer steps and devices.

Each back end (`gluonish.ops.kernel.BackEnd`) is a subpackage of `gluonish.kernels`. It provides

- kernels of operators, in modules that `gluonish.kernels.preference` orders;
- a `Support`, as ``SUPPORT`` of the package's module ``support``: graph passes that its kernels
  make worthwhile, fused optimizer steps and, if its arrays are not NumPy's, devices.

Graphs, optimizers and contexts look a back end up by the platform of a device, with the functions
here, never by its name. A ``support`` module loads at the first look-up of its platform.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gluonish.core.device import Device, GPUSupport, Platform
from gluonish.core.loading import load
from gluonish.ops.kernel import BackEnd

if TYPE_CHECKING:
    from gluonish.kernels.fused_updates import FusedStep, Groups, Make
    from gluonish.kernels.loss_scale import Outcomes
    from gluonish.ops.updates.rules import Rule

# Names of graph passes, each with its arguments for this back end.
Passes = Mapping[str, Mapping[str, Any]]


class Support(NamedTuple):
    """What a back end provides besides the kernels of operators.

    Attributes:
        passes: Function that returns the graph passes to run for the back end's kernels, by the
            current flags; none while the back end is switched off.
        optimizer_step: Function that returns the factory of fused optimizer steps
            (`gluonish.kernels.fused_updates`); None if there is none.
        devices: Function that returns the factory of devices; None if arrays are NumPy's.
        outcomes: Function that returns the class of `gluonish.kernels.loss_scale.Outcomes`; None
            if steps with a loss scale are skipped by the host.
    """

    passes: Callable[[], Passes]
    optimizer_step: "Callable[[], Make] | None" = None
    devices: Callable[[], GPUSupport] | None = None
    outcomes: "Callable[[], type[Outcomes]] | None" = None


def _support_of(platform: Platform) -> Iterator[Support]:
    for back_end in BackEnd:
        if back_end.platform == platform:
            found: Support = load(f"gluonish.kernels.{back_end.value}.support").SUPPORT
            yield found


def passes(platform: Platform) -> Passes:
    """Return the graph passes to run for a platform's kernels, by the current flags."""
    return {
        name: options
        for support in _support_of(platform)
        for name, options in support.passes().items()
    }


def fused_step(
    device: Device, rule: "Rule", outs: Sequence[Any], groups: "Groups", mixed: bool
) -> "FusedStep | None":
    """Return a fused optimizer step for weights on a device; None to use reference kernels.

    Args:
        outs: Arrays for the updated weights; may be the weights themselves.
        mixed: Whether 16-bit weights have float32 master copies.
    """
    for support in _support_of(device.platform):
        if support.optimizer_step is not None:
            made = support.optimizer_step()(device.xp, rule, outs, groups, mixed)
            if made is not None:
                return made
    return None


def step_outcomes(device: Device, count: int) -> "Outcomes | None":
    """Return storage for the outcomes of steps with a loss scale; None if the host skips them."""
    for support in _support_of(device.platform):
        if support.outcomes is not None:
            return support.outcomes()(device.xp, count)
    return None


def gpu_support() -> GPUSupport:
    """Return the factory of devices for ``gpu`` contexts."""
    (make,) = (support.devices for support in _support_of("gpu") if support.devices is not None)
    return make()
