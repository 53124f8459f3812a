"""Plans of cuDNN's front end: one operation each, built and run by the exact calls of 1.18 to 1.26.

Dimensions are logical, NCHW and KCRS; strides say the layout. Tensors go by numbers of ours, so
that a plan runs with ``{number: address}``.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

# The type of cuDNN's tensors, that of arrays, and whether tensor cores may round float32.
DTYPES = {
    "float32": ("FLOAT", np.dtype(np.float32), False),
    "TF32": ("FLOAT", np.dtype(np.float32), True),
    "float16": ("HALF", np.dtype(np.float16), True),
    "bfloat16": ("BFLOAT16", np.dtype(ml_dtypes.bfloat16), True),
}
# Arrays of CuPy hold bits: not every function of it takes bfloat16.
BITS = {2: np.uint16, 4: np.uint32}
X, W, Y = 1, 2, 3


def strides_of(dims: Sequence[int], layout: str) -> list[int]:
    """Return the strides, in elements, of dense (N, C, H, W) in a layout."""
    _, c, h, w = dims
    return [h * w * c, 1, w * c, c] if layout == "NHWC" else [c * h * w, h * w, w, 1]


class Convolution(NamedTuple):
    """A convolution with square filters.

    Attributes:
        data: (N, C, H, W).
        filters: How many.
        kernel: Extent.
        stride: Of both axes.
        padding: Of both axes, on both sides.
        groups: How many.
    """

    data: tuple[int, int, int, int]
    filters: int
    kernel: int
    stride: int = 1
    padding: int = 0
    groups: int = 1

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """Shape of the filters."""
        return (self.filters, self.data[1] // self.groups, self.kernel, self.kernel)

    @property
    def output(self) -> tuple[int, int, int, int]:
        """Shape of the output."""
        n, _, h, w = self.data
        h, w = ((x + 2 * self.padding - self.kernel) // self.stride + 1 for x in (h, w))
        return (n, self.filters, h, w)

    @property
    def flops(self) -> int:
        """Operations, two for each multiplication."""
        return 2 * int(np.prod(self.output)) * int(np.prod(self.weight[1:]))


class Plan:
    """A graph with its plan and its workspace.

    Args:
        frontend: The compiled module.
        cupy: CuPy.
        handle: cuDNN's.
        precision: A key of `DTYPES`.

    Attributes:
        graph: The front end's; add operations to it, then call `build`.
        build_ms: What building took.
    """

    def __init__(self, frontend: Any, cupy: Any, handle: int, precision: str) -> None:
        kinds = frontend.data_type
        self.kind = getattr(kinds, DTYPES[precision][0])
        self.build_ms = 0.0
        self.frontend = frontend
        self.graph = frontend.pygraph(
            io_data_type=self.kind,
            intermediate_data_type=kinds.FLOAT,
            compute_data_type=kinds.FLOAT,
            handle=handle,
        )
        self._cupy = cupy
        self._handle = handle
        self._rounds = DTYPES[precision][2]
        self._workspace: Any = None
        self._address = 0

    def tensor(self, number: int, dims: Sequence[int], strides: Sequence[int], **more: Any) -> Any:
        """Return a new tensor that goes by a number; ``more`` as in the front end."""
        return self.graph._make_tensor(
            dim=list(dims), stride=list(strides), uid=number, name=f"t{number}", **more
        )

    def build(self) -> None:
        """Build the plan and take its workspace.

        Raises:
            Exception: the front end's cudnnGraphNotSupportedError, if cuDNN has nothing for it.
        """
        begin = time.perf_counter()
        graph, frontend = self.graph, self.frontend
        graph.validate()
        graph.build_operation_graph()
        modes = frontend.heur_mode
        graph.create_execution_plans([modes.A, modes.FALLBACK])
        if not self._rounds:
            notes = frontend.numerical_note
            graph.deselect_numeric_notes([notes.DOWN_CONVERT_INPUTS, notes.TENSOR_CORE])
        graph.check_support()
        graph.build_plans()
        self.build_ms = 1e3 * (time.perf_counter() - begin)
        self._workspace = self._cupy.empty(max(1, graph.get_workspace_size()), "uint8")
        self._address = self._workspace.data.ptr

    def run(self, addresses: Mapping[int, int]) -> None:
        """Run it on the handle's stream."""
        self.graph._execute(dict(addresses), self._address, self._handle)

    def run_in_order(self, addresses: Sequence[int]) -> None:
        """The same with addresses in the order of the tensors' numbers, which costs less."""
        self.graph._execute_with_ptrs(list(addresses), self._address, self._handle)


def convolution_plan(
    plan: Plan, kind: str, convolution: Convolution, layout: str
) -> tuple[int, int, int]:
    """Add a convolution, or a gradient of it, to a plan.

    Args:
        plan: A new one.
        kind: ``forward``, ``data`` or ``filter``.
        convolution: Its geometry.
        layout: ``NHWC`` or ``NCHW``.

    Returns:
        The numbers of the two tensors that it reads, and of the one that it writes.
    """
    dims = {X: convolution.data, W: convolution.weight, Y: convolution.output}
    reads, writes = {"forward": ((X, W), Y), "data": ((Y, W), X), "filter": ((X, Y), W)}[kind]
    strides = {number: strides_of(shape, layout) for number, shape in dims.items()}
    first, second = (plan.tensor(number, dims[number], strides[number]) for number in reads)
    pair = {
        "padding": [convolution.padding] * 2,
        "stride": [convolution.stride] * 2,
        "dilation": [1, 1],
    }
    graph = plan.graph
    if kind == "forward":
        out = graph.conv_fprop(image=first, weight=second, **pair)
    elif kind == "data":
        out = graph.conv_dgrad(loss=first, filter=second, **pair)
    else:
        out = graph.conv_wgrad(image=first, loss=second, **pair)
    out.set_output(True).set_uid(writes)
    # Gradients must be told their extents: filters' crash in validate() without.
    out.set_dim(list(dims[writes])).set_stride(strides[writes])
    return (*reads, writes)
