"""What a back end hangs on an operator: a kernel, and the inputs that it takes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.spec import Spec

__all__ = ["Attrs", "FastKernel", "Kernel"]

Attrs = Mapping[str, Any]
Kernel = Callable[..., None]


class FastKernel:
    """A kernel of a back end that takes some of an operator's inputs.

    Args:
        name: Back end and kernel, for profiles and tests: ``"onednn.convolution"``.
        takes: Called with the input specs and the attributes; True if the kernel can run them.
        kernel: Same call and same result (within round-off) as the reference kernel.
        enabled: Read when a call or a plan chooses its kernel; False switches the kernel off.
        plan: ``plan(outputs, inputs, attrs)``, with tuples of arrays, does once what depends on
            shapes and strides only. It returns what has ``run(*outputs, *inputs)`` for arrays laid
            out like those, and may refuse with an OperatorError's kin as the kernel would. None:
            the kernel does all its work in each call.
        packs: Whether plans may compute something ahead from inputs that rarely change.
        large_only: Whether it takes only what is too large to run in the calling thread.
        alone: Elements of the largest input up to which it runs in the calling thread alone,
            without the others of a team.
        makes: Dtypes of outputs that it can fill though no input has them. A call with another
            such output never comes to it: `takes` sees the inputs only, and a kernel that forgets
            that an attribute may ask for another dtype would fill memory of the wrong width.
    """

    __slots__ = (
        "alone",
        "enabled",
        "kernel",
        "large_only",
        "makes",
        "name",
        "packs",
        "plan",
        "takes",
    )

    def __init__(
        self,
        name: str,
        takes: Callable[..., bool],
        kernel: Kernel,
        enabled: Callable[[], bool] = lambda: True,
        plan: Callable[[Sequence[Any], Sequence[Any], Attrs], Any] | None = None,
        packs: bool = True,
        *,
        large_only: bool = False,
        alone: int = 0,
        makes: Collection[np.dtype[Any]] = (),
    ) -> None:
        self.alone = alone
        self.makes = makes
        self.name = name
        self.takes = takes
        self.packs = packs
        self.large_only = large_only
        self.kernel = kernel
        self.enabled = enabled
        self.plan = plan

    def fills(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> bool:
        """Whether it can fill outputs of these dtypes from these inputs."""
        known = [spec.dtype for spec in inputs]
        return all(spec.dtype in known or spec.dtype in self.makes for spec in outputs)
