"""Recurrent layers by cuDNN: the kernels of _reserved_rnn and its gradient.

`private_reserve` decides which calls of RNN run here, when a call is made or a graph is planned.
The reserve holds, from its beginning: the mask of dropout in RNN's layout, and for each call of
cuDNN its reserve. cuDNN's generator cannot be seeded in a CUDA graph, and its numbers are not ours.
So with dropout each layer is one call, between which kernels multiply by the mask; the reserve then
also holds outputs and inputs of these layers.

cuDNN gets the lengths of sequences on the host, so calls with lengths wait for them, and are never
part of a CUDA graph. Results are deterministic: cuDNN 9 multiplies by cuBLASLt with a workspace for
each of its streams. Float32 is not rounded to TensorFloat-32 unless
``MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION`` allows it.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import GLUONISH_CUDNN_RNN, MXNET_CUDNN_ENABLED
from gluonish.core.errors import DeviceError
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.cudnn_rnn_api import INFERENCE, TRAINING, WGRAD_ADD
from gluonish.kernels.cupy.cudnn_rnn_call import (
    Call,
    Results,
    Saved,
    chunks_of,
    find_network,
    layout_of,
    pointer,
    readable,
    weight_slices,
    weights_for,
)
from gluonish.kernels.cupy.cudnn_rnn_network import KINDS
from gluonish.kernels.cupy.random_numbers import key_arguments
from gluonish.kernels.cupy.source import launch
from gluonish.ops.kernel import Attrs, RefusedError
from gluonish.ops.recurrent.layout import GATES, Dims, dims_of
from gluonish.ops.recurrent.reference import Arguments
from gluonish.ops.recurrent.rnn import arguments
from gluonish.ops.support.precision import accumulator

_MAX_SIZE = 2**31  # elements per array, as cuDNN's descriptors count in 32 bits


def supports(data: Spec, *rest: Spec, **attrs: Any) -> bool:
    """Whether to try cuDNN for these inputs of RNN."""
    dims = dims_of(data.shape, attrs)
    return (
        data.dtype in KINDS
        and all(spec.size for spec in (data, *rest))
        and max(_gate_count(dims), *(spec.size for spec in (data, *rest))) < _MAX_SIZE
        and dims.clip is None
        and dims.width <= dims.units
    )


def _gate_count(dims: Dims) -> int:
    """Return the number of elements of one layer's gates over all steps."""
    return dims.steps * dims.batch * dims.directions * GATES[dims.mode] * dims.units


def supports_backward(*specs: Spec, heads: Shape, **attrs: Any) -> bool:
    """Whether to try cuDNN for the gradient of these inputs."""
    return supports(*specs[len(heads) : -2], **attrs)


def private_reserve(device: Any, specs: Sequence[Spec], attrs: Attrs) -> int | None:
    """Return the size of the reserve for cuDNN in elements; None if it does not support a call.

    Args:
        device: The GPU.
        specs: The specs of RNN's inputs.
        attrs: RNN's attributes.
    """
    switched_on = GLUONISH_CUDNN_RNN.value and MXNET_CUDNN_ENABLED.value
    if not switched_on or not supports(*specs, **attrs):
        return None
    xp, dtype = device.xp, specs[0].dtype
    dims = dims_of(specs[0].shape, attrs)
    sizes = []
    with xp.cuda.Device(device.context.device_id), device.compute.raw:
        for drops in (False, True) if dims.dropout else (False,):
            networks = [find_network(xp, chunk, dtype) for chunk in chunks_of(dims, drops)]
            found = [x for x in networks if x is not None and TRAINING not in x.refused]
            if len(found) < len(networks):
                return None
            sizes.append(layout_of(dims, drops, found).nbytes)
    return -(-max(sizes) // accumulator(dtype).itemsize)


def forward(
    xp: ModuleType,
    outputs: Sequence[Any],
    *arrays: Any,
    train: bool,
    key: Any,
    reserve: int,
    **attrs: Any,
) -> None:
    """Fill the outputs of _reserved_rnn; see `gluonish.ops.recurrent.reserved_rnn`.

    Raises:
        RefusedError: cuDNN does not support the call.
    """
    inputs = arguments([readable(xp, x) for x in arrays], attrs)
    dims = dims_of(inputs.data.shape, attrs)
    drops = train and dims.dropout > 0
    mode = TRAINING if reserve else INFERENCE
    call = Call(xp, dims, inputs.data.dtype, inputs.sequence_length, drops, mode)
    results = Results(xp)
    saved = Saved(call, outputs[-1])
    if saved.mask is not None:
        _fill_mask(xp, saved.mask, key, dims.dropout if drops else 0.0)
    output = results.of(outputs[0])
    states = (*outputs[1:-1], None)[:2]
    x = inputs.data
    for number in range(len(call.networks)):
        last = number + 1 == len(call.networks)
        y = output if last else saved.output(number)
        _forward(call, number, inputs, x, y, states, saved, results)
        if not last:
            assert saved.mask is not None  # there is one between two layers
            x = saved.input(number + 1)
            xp.multiply(y, saved.mask[number], out=x, casting="unsafe")
    results.finish()


def _fill_mask(xp: Any, mask: Any, key: Any, p: float) -> None:
    """Fill the mask of dropout as `gluonish.ops.recurrent.rnn.dropout_factors` does."""
    if not p:
        mask[...] = 1
        return
    scale = mask.dtype.type(np.float32(1 / (1 - p) if p < 1 else 0))
    numbers = (np.int64(mask.size), *key_arguments(key), np.float32(p), scale)
    launch(xp, "philox", "dropout_mask", mask.dtype, (mask,), -(-mask.size // 4), numbers)


def _forward(
    call: Call,
    number: int,
    inputs: Arguments,
    x: Any,
    y: Any,
    last: Sequence[Any],
    saved: Saved,
    results: Results,
) -> None:
    """Compute output and last states of one network."""
    network, data, runs = call.networks[number], call.data(number), call.runs(number)
    hidden, cell = network.states
    weights = weights_for(call, number, inputs.parameters)
    first = [_part_of(call.xp, array, runs) for array in (inputs.state, inputs.state_cell)]
    ends = [results.of(None if array is None else array[runs]) for array in last]
    try:
        call.run(
            *("cudnnRNNForward", number, call.mode, None),
            *(data.x.raw, pointer(x), data.y.raw, pointer(y)),
            *(hidden, pointer(first[0]), pointer(ends[0])),
            *(cell, pointer(first[1]), pointer(ends[1])),
            spaces=((weights.nbytes, weights.data.ptr), saved.space(number)),
        )
    except RefusedError as error:
        if call.mode in network.ran:
            raise DeviceError(f"{error}; the same call succeeded before") from error
        network.refused.add(call.mode)
        raise
    network.ran.add(call.mode)


def _part_of(xp: Any, array: Any, runs: slice) -> Any:
    return None if array is None else readable(xp, array[runs])


def backward(
    xp: ModuleType,
    outputs: Sequence[Any],
    *arrays: Any,
    heads: Shape,
    drops: bool,
    **attrs: Any,
) -> None:
    """Fill the outputs of _reserved_rnn's gradient.

    Raises:
        RefusedError: cuDNN does not support the call, or refused the forward pass.
    """
    inputs = arguments([readable(xp, x) for x in arrays[len(heads) : -2]], attrs)
    dims, dtype = dims_of(inputs.data.shape, attrs), inputs.data.dtype
    call = Call(xp, dims, dtype, inputs.sequence_length, drops, TRAINING)
    results = Results(xp)
    tops = dict(zip(heads, (readable(xp, x) for x in arrays), strict=False))
    y = readable(xp, arrays[-2])
    saved = Saved(call, arrays[-1].copy())  # cuDNN overwrites it
    dy = tops.get(0)
    if dy is None:
        dy = xp.zeros(y.shape, dtype)
    d_flat = results.of(outputs[1])
    d_flat[...] = 0
    grads = _Gradients(results.of(outputs[0]), d_flat, outputs[2:])
    for number in reversed(range(len(call.networks))):
        dx = grads.data if not number else xp.empty((*dy.shape[:2], _features(dims)), dtype)
        if call.lengths is not None:
            dx[...] = 0  # after the end of a sequence
        x = saved.input(number) if number else inputs.data
        _backward(call, number, inputs, (x, dx), (y, dy), tops, grads, saved, results)
        if number:
            y, dy = saved.output(number - 1), dx
            xp.multiply(dy, saved.mask[number - 1], out=dy, casting="unsafe")
    results.finish()


def _features(dims: Dims) -> int:
    return dims.directions * dims.width


class _Gradients(NamedTuple):
    """Arrays for the gradients of data, parameters and states."""

    data: Any
    parameters: Any
    states: Sequence[Any]


def _backward(
    call: Call,
    number: int,
    inputs: Arguments,
    below: tuple[Any, Any],
    above: tuple[Any, Any],
    tops: dict[int, Any],
    grads: _Gradients,
    saved: Saved,
    results: Results,
) -> None:
    """Compute the gradients of one network.

    Args:
        below: Its input, and an array for the input's gradient.
        above: Its output, and the output's gradient.
        tops: Gradients of the last states.
    """
    network, data, runs = call.networks[number], call.data(number), call.runs(number)
    hidden, cell = network.states
    flat = weights_for(call, number, inputs.parameters)
    first = [_part_of(call.xp, array, runs) for array in (inputs.state, inputs.state_cell)]
    last = [_part_of(call.xp, tops.get(i), runs) for i in (1, 2)]
    ends = [results.of(array[runs]) for array in grads.states]
    ends += [None] * (2 - len(ends))
    call.run(
        *("cudnnRNNBackwardData_v8", number, None),
        *(data.y.raw, pointer(above[0]), pointer(above[1]), data.x.raw, pointer(below[1])),
        *(hidden, pointer(first[0]), pointer(last[0]), pointer(ends[0])),
        *(cell, pointer(first[1]), pointer(last[1]), pointer(ends[1])),
        spaces=((flat.nbytes, flat.data.ptr), saved.space(number)),
    )
    single = len(call.networks) == 1
    d_flat = grads.parameters if single else call.xp.zeros(flat.shape, flat.dtype)
    call.run(
        *("cudnnRNNBackwardWeights_v8", number, WGRAD_ADD, None),
        *(data.x.raw, pointer(below[0]), hidden, pointer(first[0])),
        *(data.y.raw, pointer(above[0])),
        spaces=((d_flat.nbytes, d_flat.data.ptr), saved.space(number)),
    )
    if not single:
        matrices, biases = weight_slices(call.dims, number)
        count = matrices.stop - matrices.start
        grads.parameters[matrices] = d_flat[:count]
        grads.parameters[biases] = d_flat[count:]
