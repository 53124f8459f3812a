"""Reports of an Executor to a monitor: arrays of forward and backward passes, by name."""

from collections.abc import Callable, Collection, Sequence

from gluonish.ndarray import NDArray
from gluonish.ndarray.recording import Leaf, Node

MonitorCallback = Callable[[str, NDArray], object]


class ExecutionReport:
    """Passes the arrays of a forward or backward pass to a monitor, under MXNet's names.

    Args:
        callback: Function that receives a name and an array.
        monitor_all: Whether to report operators' inputs as well as their outputs.
        variables: Names of the graph's variables.
    """

    def __init__(
        self, callback: MonitorCallback, monitor_all: bool, variables: Collection[str]
    ) -> None:
        self._callback = callback
        self.monitor_all = monitor_all
        self._variables = variables
        self._names: dict[Node, str] = {}

    def begin(self) -> None:
        """Clear the names of the last forward pass."""
        self._names = {}

    def forward(self, name: str, op_name: str, array: NDArray) -> None:
        """Report an array of the forward pass.

        Args:
            name: Name of the variable; or of the node, with the suffix of an input or output.
            op_name: Name of the operator that reads or computes the array.
            array: The array, on the tape if the pass is recorded.
        """
        source = None if array._edge is None else array._edge[0]
        if source is not None and not isinstance(source, Leaf):
            # An operator's output is reported before its readers.
            self._names.setdefault(source, name.rpartition("_")[0])
        self._callback(name, array.detach())

    def backward(
        self, node: Node, heads: Sequence[NDArray | None], found: Sequence[NDArray | None]
    ) -> None:
        """Report the incoming and the computed gradients of one operator.

        Args:
            node: The recorded call of the operator.
            heads: Gradients of the outputs.
            found: Gradients of the inputs.
        """
        name = self._names.get(node)
        if name is None:
            return
        if self.monitor_all:
            for i, head in enumerate(heads):
                if head is not None:
                    self._callback(f"{name}_backward_input{i}", head.detach())
        for i, gradient in enumerate(found):
            if gradient is not None:
                suffix = i if len(found) > 1 else ""
                self._callback(f"{name}_backward_output{suffix}", gradient.detach())
