"""PassPlans: plans of the forward and the backward pass of a graph, for one signature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gluonish.core.device import Device
from gluonish.core.spec import Spec
from gluonish.graph.execution_plan import ExecutionPlan, plan_execution
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.partition import Partition, split_passes
from gluonish.graph.pipeline import finish, fuse_layers, optimize, split_layers, without_history
from gluonish.graph.rewrite import constants, detached
from gluonish.graph.state import StateUse, state_offsets
from gluonish.graph.strided_views import channels_last_values
from gluonish.kernels import back_ends

Key = tuple[int, int]


class PassOptions(NamedTuple):
    """Options of the plans of a graph.

    Attributes:
        segment_sizes: Maximum number of operators in one engine job, forward and backward.
        data_count: Number of inputs that are data; they come before the parameters.
        repeats: Whether to repeat launches by CUDA graphs on a device that supports them.
        packs_weights: Whether plans of inference may have copies of dense layers' weights in the
            layout that is read fastest.
    """

    segment_sizes: tuple[int, int]
    data_count: int
    repeats: bool = False
    packs_weights: bool = True


class SavedLayout(NamedTuple):
    """Layout of the saved values in a state.

    Attributes:
        offsets: Offset of each value, in bytes.
        nbytes: Size of the state.
        channels_last: Whether the layout of each value is channels last.
    """

    offsets: Sequence[int]
    nbytes: int
    channels_last: Sequence[bool]


@dataclass(frozen=True, slots=True)
class PassPlans:
    """Plans of the forward and the backward pass for one signature.

    Attributes:
        graph: The graph with specs, before fusion.
        grad_inputs: Positions of the inputs that require a gradient.
        partition: The two passes.
        saved: Memory of the saved values.
        options: Options of the plan.
        forward: Plan of the forward pass.
        backward: Plan of a backward pass that may overwrite the state; None without gradients.
    """

    graph: Graph
    grad_inputs: Sequence[int]
    partition: Partition
    saved: SavedLayout
    options: PassOptions
    forward: ExecutionPlan
    backward: ExecutionPlan | None

    def __str__(self) -> str:
        text = f"forward: {self.forward}\nstate of {self.saved.nbytes} bytes"
        return text if self.backward is None else f"{text}\nbackward: {self.backward}"


def plan_passes(
    inputs: Sequence[Node],
    outputs: Sequence[Value],
    specs: Sequence[Spec],
    device: Device,
    *,
    training: bool,
    requires_grad: Sequence[bool],
    options: PassOptions,
) -> PassPlans:
    """Return the plans of a traced graph.

    Args:
        inputs: Variables of the graph.
        outputs: Values of the graph.
        specs: Specs of the inputs.
        device: Device that runs it.
        training: Whether in training mode.
        requires_grad: Whether each input requires a gradient; empty if none does.
        options: Options of the plan.
    """
    grad_inputs = [i for i, needed in enumerate(requires_grad) if needed]
    graph = optimize(specialize(inputs, outputs, specs, train=training))
    is_static = not (training or grad_inputs)
    constant = None
    if is_static:
        constant = graph.inputs[options.data_count :] if options.packs_weights else []
    planned = graph if grad_inputs else without_history(graph)
    partition = split_passes(
        fuse_layers(planned, device, constant, [planned.inputs[i] for i in grad_inputs]),
        grad_inputs,
        lambda joint: split_layers(joint, device, graph.inputs[options.data_count :]),
    )
    constant_inputs = range(options.data_count, len(inputs)) if is_static else range(0)
    forward, saved = _plan_forward(partition, device, constant_inputs, options, bool(requires_grad))
    backward = None
    if grad_inputs:
        backward = plan_backward(partition, saved, device, options, lasting=False)
    return PassPlans(graph, grad_inputs, partition, saved, options, forward, backward)


def _plan_forward(
    partition: Partition,
    device: Device,
    constant_inputs: Sequence[int],
    options: PassOptions,
    saves: bool,
) -> tuple[ExecutionPlan, SavedLayout]:
    inputs, count = [x.node for x in partition.inputs], len(partition.outputs)
    graph = finish(
        Graph(
            inputs,
            [*partition.outputs, *partition.saved],
            [*inputs, *constants(partition.forward), *partition.forward],
        ),
        device,
    )
    last = _channels_last(graph, [], count, device)
    saved = graph.outputs[count:]
    offsets, nbytes = state_offsets([value.spec for value in saved])
    plan = plan_execution(
        [node for node in graph.nodes if node.op is not None],
        [Value(node) for node in graph.inputs],
        graph.outputs[:count],
        device,
        segment_size=options.segment_sizes[0],
        constant_inputs=constant_inputs,
        channels_last=last,
        state=StateUse(saved, offsets, filled=False, lasting=True) if saves else None,
        repeats=options.repeats,
        reallocated=[*range(options.data_count), *range(len(inputs), len(inputs) + count)],
    )
    return plan, SavedLayout(offsets, nbytes, [value.key in last for value in saved])


def plan_backward(
    partition: Partition,
    saved: SavedLayout,
    device: Device,
    options: PassOptions,
    *,
    lasting: bool,
) -> ExecutionPlan:
    """Return the plan of a backward pass.

    Args:
        partition: The two passes.
        saved: Memory of the saved values.
        device: Device that runs it.
        options: Options of the plan.
        lasting: Whether the pass must leave the state unchanged.
    """
    externals = [
        *partition.heads,
        *[partition.inputs[i] for i in partition.read_inputs],
        *[partition.outputs[i] for i in partition.read_outputs],
    ]
    first = len(externals)
    results = partition.gradients
    graph = finish(detached(partition.backward, [*externals, *partition.saved], results), device)
    values = [Value(node) for node in graph.inputs]
    pairs = zip(values[first:], saved.channels_last, strict=True)
    last_inputs = [value.key for value, last in pairs if last]
    return plan_execution(
        [node for node in graph.nodes if node.op is not None],
        values[:first],
        graph.outputs,
        device,
        segment_size=options.segment_sizes[1],
        channels_last=_channels_last(graph, last_inputs, len(graph.outputs), device),
        state=StateUse(values[first:], saved.offsets, filled=True, lasting=lasting),
        repeats=options.repeats,
        reallocated=_reallocated(partition, first, options.data_count),
    )


def _reallocated(partition: Partition, external_count: int, data_count: int) -> list[int]:
    """Return the arguments of a backward pass that change from call to call.

    These are all arguments except parameters and their gradients.
    """
    heads = len(partition.heads)
    read = enumerate(partition.read_inputs, heads)
    parameters = {i for i, position in read if position >= data_count}
    results = enumerate(partition.gradient_positions, external_count)
    gradients = [i for i, position in results if position < data_count]
    return [*(i for i in range(external_count) if i not in parameters), *gradients]


def _channels_last(
    graph: Graph, last_inputs: Sequence[Key], contiguous_count: int, device: Device
) -> frozenset[Key]:
    """Return the values laid out channels last, except the first ``contiguous_count`` outputs."""
    offered = back_ends.passes(device.platform)
    if "channels_last" not in offered:
        return frozenset()
    options = offered["channels_last"]
    found = channels_last_values(graph.nodes, last_inputs, device.xp, **options)
    return found - {value.key for value in graph.outputs[:contiguous_count]}
