"""Prepared calls: what an eager call of an operator needs, saved for calls with equal signatures.

The signature is the class of the first array, the specs of all, and the attributes. Calls on the
host with one output are prepared, unless the operator depends on something else: on training mode,
random numbers, values, or a mode that its inference read. `gluonish.ndarray.eager.invoke` runs
them.
"""

from collections.abc import Hashable, Sequence

from gluonish.core.config import kernel_switches
from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.kernel import Kernel
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.memory_layout import follows_layout, starts_layout

# Channels-last memory pays above this many elements.
MIN_CHANNELS_LAST = 1 << 12

# Signatures of an operator; beyond, all are dropped, so that new shapes stay fast.
_MAX_CALLS = 256


class PreparedCall:
    """How an operator runs on inputs of some signature.

    Attributes:
        kernel: The kernel.
        count: Number of inputs.
        kind: Class of the result.
        spec: Spec of the result.
        shape: Its shape.
        dtype: Its dtype.
        inline: Whether the kernel is worth no worker.
        on_team: Whether it runs on a team of threads.
        small: Whether it may run at once in the calling thread.
        checks: Whether to call `holds` before each use.
    """

    __slots__ = (
        *("_contiguous", "_switches", "checks", "count", "dtype", "inline", "kernel", "kind"),
        *("on_team", "shape", "small", "spec"),
    )

    def __init__(
        self,
        choice: tuple[Kernel, bool, bool, bool],
        count: int,
        result: NDArray,
        follows: bool,
    ) -> None:
        self.kernel, inline, on_team, chosen = choice
        self.count = count
        self.kind = type(result)
        self.spec = result._spec
        self.shape, self.dtype = self.spec
        self.inline = inline
        self.on_team = on_team
        self.small = inline and not on_team
        self._switches = kernel_switches() if chosen else None
        self._contiguous = follows
        self.checks = chosen or follows

    def is_current(self) -> bool:
        """Whether the flags that select kernels are unchanged."""
        return self._switches is None or self._switches == kernel_switches()

    def holds(self, inputs: Sequence[NDArray]) -> bool:
        """Whether the flags that select kernels are unchanged, and the result is contiguous."""
        if not self.is_current():
            return False
        if self._contiguous:
            for x in inputs:
                if not x._data.flags.c_contiguous:
                    return False
        return True


def prepare(
    op: Operator,
    prepared: dict[Hashable, PreparedCall],
    key: Hashable,
    attrs: Attrs,
    specs: Sequence[Spec],
    result: NDArray,
    choice: tuple[Kernel, bool, bool, bool],
) -> None:
    """Prepare calls of an operator, unless they may differ.

    Args:
        op: An operator with one output, that depends on its inputs and attributes only.
        prepared: Its prepared calls, as they were when the call began.
        key: Signature of the calls.
        attrs: The attributes.
        specs: Specs of the inputs.
        result: The allocated result of such a call.
        choice: Kernel, whether it is worth no worker, whether it runs on a team, and whether it was
            chosen among several.
    """
    spec = result._spec
    kind = type(result)
    if kind.__init__ is not NDArray.__init__ or kind.__new__ is not NDArray.__new__:
        return
    partly = attrs and op.signature is not None  # whether `key` lacks attributes
    if partly and (choice[0] is not op.kernel or specs[0].dtype not in (FLOAT32, FLOAT64)):
        return
    several = len(spec.shape) > 2
    if several and spec.size > MIN_CHANNELS_LAST and starts_layout(op, attrs):
        return
    if len(prepared) >= _MAX_CALLS:
        prepared.clear()
    follows = several and follows_layout(op)
    prepared[key] = PreparedCall(choice, len(specs), result, follows)
