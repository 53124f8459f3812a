"""CachedGraph: what a hybridized block calls.

Traced once, planned once for each signature, recorded as one tape node. A signature is what a plan
depends on: specs and device of the inputs, training mode, and which inputs want a gradient.
"""

from collections.abc import Callable, Sequence

from gluonish.core.collection_pause import CollectionPause
from gluonish.core.config import (
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_EXEC_BULK_EXEC_INFERENCE,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD,
    MXNET_EXEC_BULK_EXEC_TRAIN,
)
from gluonish.core.device import Device
from gluonish.core.errors import DeviceError, GraphError, MixedDevicesError
from gluonish.core.program import Program, Programs
from gluonish.core.spec import Spec
from gluonish.graph.call_plan import CallPlan, Links
from gluonish.graph.ir import Node, Value
from gluonish.graph.source_lines import SourceLines
from gluonish.ndarray.copying import on_one_cpu
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING, mode

_MAX_PLANS = 64  # signatures kept; the oldest plan goes first
_WHOLE = 1 << 30  # segment size that never cuts


class CachedGraph:
    """A traced computation, called like a function on NDArrays.

    Args:
        inputs: Variables, in call order: data, parameters and auxiliary states.
        outputs: Values of the traced graph.
        static_alloc: Keep memory between calls.
        static_shape: With ``static_alloc`` and ``MXNET_ENABLE_CUDA_GRAPHS``, a GPU repeats what it
            did for a call at the same addresses.
        forward_bulk_size: Most operators in one engine job of the forward pass; None as the
            environment says.
        backward_bulk_size: The same of the backward pass.
        data_count: How many inputs, from the first, are data; the others are parameters, which
            rarely change at inference. None: all are data.
        name: For engine jobs and messages.
        lines: Where the nodes were made, for messages.
        inline_limit: As of `CallPlan`; with ``static_alloc`` it counts as 0.
    """

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Value],
        *,
        static_alloc: bool = False,
        static_shape: bool = False,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        data_count: int | None = None,
        name: str = "graph",
        lines: SourceLines | None = None,
        inline_limit: int | None = None,
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.name = name
        self._lines = lines
        self.static_alloc = static_alloc
        self._is_static = static_alloc and static_shape
        self.data_count = len(self.inputs) if data_count is None else data_count
        self._forward_bulk_size = forward_bulk_size
        self._backward_bulk_size = backward_bulk_size
        self._inline_limit = inline_limit
        self._plans = Programs[CallPlan](_MAX_PLANS)
        self._program: Program[CallPlan] | None = None  # of the last call

    def __call__(self, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Compute the outputs.

        Args:
            inputs: One array for each variable, all on one device.

        Returns:
            New arrays, one for each output.

        Raises:
            GraphError: The number of inputs is wrong.
            DeviceError: They lie on several devices.
            OperatorError: An operator refuses the shapes or dtypes; the message names its node.
        """
        device = inputs[0]._device
        specs = []
        for x in inputs:
            if x._device is not device:
                return self(self._gathered(inputs))
            specs.append(x._spec)
        for x in inputs[: self.data_count]:
            if not x._data.flags.c_contiguous:
                x._make_contiguous()
        plan, links = self._plan_for(inputs, specs, device)
        return plan(inputs, links)

    def fill(
        self,
        inputs: Sequence[NDArray],
        outputs: Sequence[NDArray | None],
        key: tuple[int, int] | None = None,
    ) -> tuple[list[NDArray], tuple[int, int]]:
        """Compute the outputs into arrays that are there.

        Args:
            inputs: One array for each variable, all on one device and contiguous.
            outputs: For each output an array like it in shape and dtype, or None for a new one.
            key: Where the random numbers of an earlier call started, to draw them again.

        Returns:
            The outputs, and the key that the call's random numbers started from.
        """
        device = inputs[0]._device
        plan, links = self._plan_for(inputs, [x._spec for x in inputs], device)
        filled = [
            empty_like_spec(spec, device) if y is None else y
            for y, spec in zip(outputs, plan.output_specs, strict=True)
        ]
        return filled, plan.fill(inputs, links, filled, key)

    def _plan_for(
        self, inputs: Sequence[NDArray], specs: list[Spec], device: Device
    ) -> tuple[CallPlan, Links]:
        """Return the plan for a call in the mode of the moment, and what the inputs link to."""
        flags = mode.get()
        links: Links = ()
        wanted: list[bool] = []
        if flags & RECORDING:
            links = [x._link for x in inputs]
            wanted = [link is not None for link in links]
            if True not in wanted:
                wanted = []
        # The last call's version is compared as it is: cheaper than to hash it.
        version = (specs, device, flags & TRAINING, wanted)
        program = self._program
        if program is None or not program.holds((), version):
            program = self._program = Program((), version, self._find_plan(*version))
        return program.work, links

    def repeated(
        self, inputs: Sequence[NDArray]
    ) -> Callable[[Sequence[NDArray]], list[NDArray]] | None:
        """Return the last call as a function of the data, which have equal specs.

        Args:
            inputs: Those of the last call; the parameters among them stay.

        Returns:
            None while recording, or if another thread's call came after it.
        """
        flags, program = mode.get(), self._program
        if flags not in (0, TRAINING) or program is None:
            return None
        wanted: list[bool] = []
        version = ([x._spec for x in inputs], inputs[0]._device, flags, wanted)
        if not program.holds((), version):
            return None
        return program.work.bind(inputs[self.data_count :])

    def _find_plan(
        self, specs: list[Spec], device: Device, training: int, wanted: list[bool]
    ) -> CallPlan:
        signature = (tuple(specs), device, training, tuple(wanted))
        plan = self._plans.get(signature)
        if plan is not None:
            return plan
        if len(specs) != len(self.inputs):
            raise GraphError(f"{self.name}: expected {len(self.inputs)} inputs, got {len(specs)}")
        with CollectionPause():
            plan = CallPlan(
                self.inputs,
                self.outputs,
                specs,
                device,
                training=training,
                wanted=wanted,
                static_alloc=self.static_alloc,
                repeats=self._is_static and MXNET_ENABLE_CUDA_GRAPHS.value,
                segment_sizes=self.segment_sizes(train=bool(training or any(wanted))),
                data_count=self.data_count,
                name=self.name,
                lines=self._lines,
                inline_limit=0 if self.static_alloc else self._inline_limit,
            )
        return self._plans.add(signature, plan)

    def _gathered(self, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Return the inputs on one device, which host memory beside a CPU allows.

        Parameters lie where their network does, so that only data are moved.

        Raises:
            DeviceError: The devices do not mix.
        """
        moved = on_one_cpu(inputs)
        if moved is None:
            raise self._mixed_devices(inputs)
        return moved

    def _mixed_devices(self, inputs: Sequence[NDArray]) -> DeviceError:
        device = inputs[0]._device
        node, x = next(
            (node, x)
            for node, x in zip(self.inputs, inputs, strict=True)
            if x._device is not device
        )
        return MixedDevicesError(
            f"{self.name}: expected all arrays on {device.context}, got {node.name} on "
            f"{x.context}; move it with as_in_context, or initialize parameters on both"
        )

    def segment_sizes(self, *, train: bool) -> tuple[int, int]:
        """Return the most operators in one engine job, forward and backward."""
        if not train:
            forward = _WHOLE if MXNET_EXEC_BULK_EXEC_INFERENCE.value else 1
            backward = 1
        elif not MXNET_EXEC_BULK_EXEC_TRAIN.value:
            forward = backward = 1
        else:
            forward = MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD.value
            backward = MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD.value
        return (
            max(1, self._forward_bulk_size or forward),
            max(1, self._backward_bulk_size or backward),
        )
