"""What a back end offers: the one interface through which the packages of kernels are asked.

Each back end (`gluonish.ops.kernel.BackEnd`) is a package beside this module, and hands over

- kernels of operators, in modules that `gluonish.kernels.preference` puts in order;
- a `Support`, as ``SUPPORT`` of the package's module ``support``: the graph passes that pay with
  its kernels, fused steps of optimizers and, where its arrays are not NumPy's, devices.

Graphs, optimizers and contexts ask by the platform of a device, with the functions here, and never
for a back end by its name. A ``support`` module loads when its platform is first asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gluonish.core.device import Device, GPUSupport, Platform
from gluonish.core.loading import load
from gluonish.ops.kernel import BackEnd

if TYPE_CHECKING:
    from gluonish.kernels.fused_updates import FusedStep, Groups, Make
    from gluonish.ops.updates.rules import Rule

# Names of graph passes, each with the arguments that the back end wants for it.
Passes = Mapping[str, Mapping[str, Any]]


class Support(NamedTuple):
    """What a back end offers besides kernels of operators.

    Attributes:
        passes: Returns the passes of `gluonish.graph` that pay with its kernels, as it is switched
            on now; none while it is off.
        optimizer_step: Returns what makes fused steps of optimizers
            (`gluonish.kernels.fused_updates`); None where there are none.
        devices: Returns what makes devices with arrays of its own; None where arrays are NumPy's.
    """

    passes: Callable[[], Passes]
    optimizer_step: "Callable[[], Make] | None" = None
    devices: Callable[[], GPUSupport] | None = None


def _supports(platform: Platform) -> Iterator[Support]:
    for back_end in BackEnd:
        if back_end.platform == platform:
            found: Support = load(f"gluonish.kernels.{back_end.value}.support").SUPPORT
            yield found


def passes(platform: Platform) -> Passes:
    """Return the graph passes that pay with a platform's kernels, as these are switched on now.

    Args:
        platform: Of the device that is to run the graph.
    """
    return {
        name: options
        for support in _supports(platform)
        for name, options in support.passes().items()
    }


def fused_step(
    device: Device, rule: "Rule", outs: Sequence[Any], groups: "Groups", mixed: bool
) -> "FusedStep | None":
    """Return the fused step of some weights on a device; None where reference kernels serve.

    Args:
        outs: Where the new weights go, which may be the weights.
        groups: The arrays of each weight.
        mixed: Whether there are float32 weights beside 16-bit ones.
    """
    for support in _supports(device.platform):
        if support.optimizer_step is not None:
            made = support.optimizer_step()(device.xp, rule, outs, groups, mixed)
            if made is not None:
                return made
    return None


def gpu_support() -> GPUSupport:
    """Return what makes the devices of ``gpu`` contexts."""
    (make,) = (support.devices for support in _supports("gpu") if support.devices is not None)
    return make()
