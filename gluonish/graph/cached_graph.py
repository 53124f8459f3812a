"""CachedGraph: the traced graph of a hybridized block.

The graph is planned once for each signature, and a call is recorded as one tape node. A signature
consists of specs and device of the inputs, training mode, and which inputs require a gradient.
"""

from collections.abc import Callable, Sequence

from gluonish.core.collection_pause import CollectionPause
from gluonish.core.config import (
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_EXEC_BULK_EXEC_INFERENCE,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD,
    MXNET_EXEC_BULK_EXEC_TRAIN,
    Flag,
    launched_ranks,
)
from gluonish.core.device import Device, gpu_count
from gluonish.core.errors import DeviceError, GraphError, MixedDevicesError
from gluonish.core.program import Program, Programs
from gluonish.core.spec import Spec
from gluonish.graph.call_plan import CallPlan, Links
from gluonish.graph.ir import Node, Value
from gluonish.graph.pass_plans import PassOptions, plan_passes
from gluonish.graph.source_lines import SourceLines
from gluonish.ndarray.copying import gather_on_cpu
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING, mode

_MAX_PLANS = 64  # signatures; the oldest plan is dropped first
_MAX_PACKED = 4  # signatures whose plans of inference have copies of dense layers' weights
_UNLIMITED = 1 << 30  # segment size


class CachedGraph:
    """A traced computation, called like a function on NDArrays.

    Args:
        inputs: Variables, in call order: data, parameters and auxiliary states.
        outputs: Values of the traced graph.
        static_alloc: Whether to keep memory between calls.
        static_shape: With ``static_alloc``, a GPU repeats the launches of an earlier call with the
            same addresses, as a CUDA graph, unless ``MXNET_ENABLE_CUDA_GRAPHS`` is 0.
        forward_bulk_size: Maximum number of operators in one engine job of the forward pass; None
            for the value set in the environment.
        backward_bulk_size: The same for the backward pass.
        data_count: Number of inputs that are data; the inputs after them are parameters, which
            rarely change at inference. None: all are data.
        name: Name of engine jobs, and in messages.
        lines: Source lines of the nodes, for messages.
        inline_limit: See `CallPlan`; 0 with ``static_alloc``.
        packs_weights: Whether plans of inference may have copies of dense layers' weights in the
            layout that is read fastest: those of the first 4 signatures.
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
        packs_weights: bool = True,
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
        self._packs_weights = packs_weights
        self._plans = Programs[CallPlan](_MAX_PLANS)
        self._packed: set[object] = set()  # signatures
        self._program: Program[CallPlan] | None = None  # of the last call

    def __call__(self, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Compute the outputs.

        Args:
            inputs: One array for each variable, all on one device.

        Returns:
            New arrays, one for each output.

        Raises:
            GraphError: The number of inputs is wrong.
            DeviceError: The inputs are on different devices.
            OperatorError: An operator rejects shapes or dtypes; the message names the node.
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
        """Compute the outputs into existing arrays.

        Args:
            inputs: One array for each variable, all on one device and contiguous.
            outputs: For each output an array of its shape and dtype, or None to allocate one.
            key: Key of an earlier call, to draw its random numbers again.

        Returns:
            The outputs, and the key that the random numbers of the call started from.
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
        """Return the plan for a call in the current mode, and the tape links of the inputs."""
        flags = mode.get()
        links: Links = ()
        requires_grad: list[bool] = []
        if flags & RECORDING:
            links = [x._edge for x in inputs]
            requires_grad = [link is not None for link in links]
            if True not in requires_grad:
                requires_grad = []
        # Comparing the version of the last call is cheaper than hashing this one.
        version = (specs, device, flags & TRAINING, requires_grad)
        program = self._program
        if program is None or program.version != version:
            program = self._program = Program((), version, self._find_plan(*version))
        return program.work, links

    def repeated(
        self, inputs: Sequence[NDArray]
    ) -> Callable[[Sequence[NDArray]], list[NDArray]] | None:
        """Return a function that repeats the last call on other data of the same specs.

        Args:
            inputs: Inputs of the last call; the function reads the same parameters.

        Returns:
            The function; None while recording, or if another thread made the last call.
        """
        flags, program = mode.get(), self._program
        if flags not in (0, TRAINING) or program is None:
            return None
        requires_grad: list[bool] = []
        version = ([x._spec for x in inputs], inputs[0]._device, flags, requires_grad)
        if program.version != version:
            return None
        return program.work.bind(inputs[self.data_count :])

    def _find_plan(
        self, specs: list[Spec], device: Device, training: int, requires_grad: list[bool]
    ) -> CallPlan:
        signature = (tuple(specs), device, training, tuple(requires_grad))
        plan = self._plans.get(signature)
        if plan is not None:
            return plan
        if len(specs) != len(self.inputs):
            raise GraphError(f"{self.name}: expected {len(self.inputs)} inputs, got {len(specs)}")
        repeats = self._is_static and _has_graphs(device)
        trains = bool(training or any(requires_grad))
        options = PassOptions(
            self.segment_sizes(train=trains, repeats=repeats),
            self.data_count,
            repeats=repeats,
            packs_weights=not trains and self._may_pack(signature),
        )
        with CollectionPause():
            plans = plan_passes(
                self.inputs,
                self.outputs,
                specs,
                device,
                training=bool(training),
                requires_grad=requires_grad,
                options=options,
            )
            plan = CallPlan(
                plans,
                (self.inputs, self.outputs),
                device,
                static_alloc=self.static_alloc,
                name=self.name,
                lines=self._lines,
                inline_limit=0 if self.static_alloc else self._inline_limit,
            )
        return self._plans.add(signature, plan)

    def _may_pack(self, signature: object) -> bool:
        """Whether a plan of inference may copy weights: of the first signatures only.

        A signature whose plan was dropped gets the same kind of plan again, and so equal bits.
        """
        if self._packs_weights and len(self._packed) < _MAX_PACKED:
            self._packed.add(signature)
        return signature in self._packed

    def _gathered(self, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Return the inputs on one device, if all are on CPU devices, which share host memory.

        Parameters are on the device of their network, so that only data are copied.

        Raises:
            DeviceError: The devices do not share memory.
        """
        gathered = gather_on_cpu(inputs)
        if gathered is None:
            raise self._mixed_devices(inputs)
        return gathered

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

    def segment_sizes(self, *, train: bool, repeats: bool = False) -> tuple[int, int]:
        """Return the maximum number of operators in one engine job, forward and backward.

        A pass that a device repeats (a CUDA graph) is one job unless variables say otherwise, or
        sums of gradients over devices should overlap with the rest of the backward pass.
        """
        if not train:
            forward = _UNLIMITED if MXNET_EXEC_BULK_EXEC_INFERENCE.value else 1
            backward = 1
        elif not MXNET_EXEC_BULK_EXEC_TRAIN.value:
            forward = backward = 1
        else:
            forward = MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD.value
            backward = MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD.value
            if repeats and _is_default(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD):
                forward = _UNLIMITED
            # Counting GPUs loads their libraries, which a CPU's first call must not pay for.
            if repeats and _is_default(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD):
                shares_gradients = gpu_count() > 1 or launched_ranks() > 1
                backward = backward if shares_gradients else _UNLIMITED
        return (
            max(1, self._forward_bulk_size or forward),
            max(1, self._backward_bulk_size or backward),
        )


def _has_graphs(device: Device) -> bool:
    """Whether to use CUDA graphs on a device.

    Work on several streams overlaps less as graphs, so that these need an explicit setting there.
    """
    flag = MXNET_ENABLE_CUDA_GRAPHS
    is_asked = flag.source != "default" or device.stream_count == 1
    return device.graphs is not None and is_asked and flag.value


def _is_default(size: Flag[int]) -> bool:
    """Whether neither a segment size nor the variable that provides its default is set."""
    return size.source == MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN.source == "default"
