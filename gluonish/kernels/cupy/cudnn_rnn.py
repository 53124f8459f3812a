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

from gluonish.core.config import (
    GLUONISH_CUDNN_RNN,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
)
from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.errors import DeviceError
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy import cudnn, cudnn_rnn_api
from gluonish.kernels.cupy.cudnn_rnn_api import (
    DEFAULT_MATH,
    FMA_MATH,
    INFERENCE,
    TENSOR_OP_MATH,
    TRAINING,
    WGRAD_ADD,
)
from gluonish.kernels.cupy.cudnn_rnn_network import KINDS, Data, Network, Problem, network_of
from gluonish.kernels.cupy.random_numbers import key_arguments
from gluonish.kernels.cupy.source import launch
from gluonish.ops.kernel import Attrs, RefusedError
from gluonish.ops.recurrent.layout import GATES, Dims, dims_of, parameter_count, weight_shapes
from gluonish.ops.recurrent.reference import Arguments
from gluonish.ops.recurrent.reserved_rnn import mask_size
from gluonish.ops.recurrent.rnn import arguments
from gluonish.ops.support.precision import accumulator

_ALIGNED = 16  # bytes, of every address
_SPACE_ALIGNMENT = 256  # bytes, of the parts of a reserve
_MAX_SIZE = 2**31  # elements per array, as cuDNN's descriptors count in 32 bits


def supports(data: Spec, *rest: Spec, **attrs: Any) -> bool:
    """Whether to try cuDNN for these inputs of RNN."""
    dims = dims_of(data.shape, attrs)
    return (
        data.dtype in KINDS
        and all(spec.size for spec in (data, *rest))
        and max(spec.size for spec in (data, *rest)) * dims.directions * GATES[dims.mode] < _MAX_SIZE
        and dims.clip is None
        and dims.width <= dims.units
    )


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
            networks = [_network(xp, chunk, dtype) for chunk in _chunks(dims, drops)]
            found = [x for x in networks if x is not None and TRAINING not in x.refused]
            if len(found) < len(networks):
                return None
            sizes.append(_layout(dims, drops, found).nbytes)
    return -(-max(sizes) // accumulator(dtype).itemsize)


def _math_type(dtype: np.dtype[Any]) -> int:
    """Return cudnnMathType_t for a dtype, as environment variables allow."""
    if dtype == FLOAT64:
        return DEFAULT_MATH
    if not MXNET_CUDA_ALLOW_TENSOR_CORE.value:
        return FMA_MATH
    if dtype != FLOAT32:
        return TENSOR_OP_MATH
    return DEFAULT_MATH if MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value else FMA_MATH


def _chunks(dims: Dims, drops: bool) -> list[Dims]:
    """Return the extents of each call of cuDNN: one for all layers, or one for each layer."""
    plain = dims._replace(dropout=0.0, ragged=False)
    if not drops:
        return [plain]
    return [plain._replace(layers=1, inputs=dims.features(i)) for i in range(dims.layers)]


def _network(xp: Any, chunk: Dims, dtype: np.dtype[Any]) -> Network | None:
    """Return the network of one call of cuDNN; None if cuDNN is missing or does not support it."""
    problem = Problem(chunk, dtype, _math_type(dtype))

    def make() -> Network | None:
        handles, api = cudnn.opened(xp), cudnn_rnn_api.opened(xp)
        if handles is None or api is None:
            return None
        return Network(api, problem, handles.handle(xp))

    return network_of(xp, xp.cuda.runtime.getDevice(), problem, make)


class _Layout(NamedTuple):
    """Layout of a reserve: offsets in bytes.

    Attributes:
        spaces: The reserve of each call of cuDNN.
        outputs: The output of each call but the last.
        inputs: The input of each call but the first.
        nbytes: Size of the whole.
    """

    spaces: list[int]
    outputs: list[int]
    inputs: list[int]
    nbytes: int


def _layout(dims: Dims, drops: bool, networks: Sequence[Network]) -> _Layout:
    dtype = networks[0].problem.dtype
    end = mask_size(dims) * accumulator(dtype).itemsize

    def put(nbytes: int) -> int:
        nonlocal end
        start = -(-end // _SPACE_ALIGNMENT) * _SPACE_ALIGNMENT
        end = start + nbytes
        return start

    spaces = [put(network.reserve) for network in networks]
    between = dims.steps * dims.batch * dims.directions * dims.width * dtype.itemsize
    outputs, inputs = ([put(between) for _ in networks[1:]] for _ in range(2))
    return _Layout(spaces, outputs, inputs, end)


def _readable(array: Any) -> Any:
    """Return the array, or an aligned and contiguous copy."""
    aligned = array.flags.c_contiguous and array.data.ptr % _ALIGNED == 0
    return array if aligned else array.copy()


def _pointer(array: Any) -> int | None:
    return None if array is None else array.data.ptr


class _Results:
    """Aligned arrays for cuDNN to fill, which `finish` copies where that is needed."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._copies: list[tuple[Any, Any]] = []

    def of(self, out: Any) -> Any:
        """Return ``out``, or an array in its place; None for None."""
        if out is None or (out.flags.c_contiguous and out.data.ptr % _ALIGNED == 0):
            return out
        made = self._xp.empty(out.shape, out.dtype)
        self._copies.append((out, made))
        return made

    def finish(self) -> None:
        """Fill the outputs that are not aligned."""
        for out, made in self._copies:
            out[...] = made


class _Call:
    """One call of an operator on the current stream.

    Args:
        dims: Extents and options of all layers.
        lengths: Lengths of the sequences, on the device; None if all have all steps.
        drops: Whether elements are dropped between layers.
        mode: `INFERENCE` or `TRAINING`.

    Attributes:
        networks: The network of each call of cuDNN.

    Raises:
        RefusedError: cuDNN refused the first call, or a sequence is empty.
        DeviceError: The stream captures a graph that cannot contain the call.
    """

    def __init__(
        self, xp: Any, dims: Dims, dtype: np.dtype[Any], lengths: Any, drops: bool, mode: int
    ) -> None:
        self.xp = xp
        self.dims = dims
        self.dtype = dtype
        self.mode = mode
        self.networks: list[Network] = []
        captures = xp.cuda.get_current_stream().is_capturing()
        for chunk in _chunks(dims, drops):
            network = _network(xp, chunk, dtype)
            if network is None:
                raise DeviceError(
                    "cuDNN: expected support of the recurrent layers that were planned for it, "
                    "got none; set switches before the network's first call"
                )
            if mode in network.refused:
                raise RefusedError("cuDNN: expected support of these recurrent layers, got none")
            if captures and mode not in network.ran:
                raise DeviceError(
                    "cuDNN: expected the same recurrent layers to run before the capture, got "
                    "their first call"
                )
            self.networks.append(network)
        if captures and lengths is not None:
            raise DeviceError("cuDNN: expected no sequence lengths in a CUDA graph, got an array")
        self.lengths = None if lengths is None else _lengths_on_host(lengths, dims)
        handles = cudnn.opened(xp)
        assert handles is not None  # as there are networks
        self.handle = handles.handle(xp)

    def run(self, name: str, number: int, *args: Any, spaces: Sequence[tuple[int, Any]]) -> None:
        """Call a function of cuDNN.

        Args:
            name: The function.
            number: Index of the network.
            args: Arguments between handle and network, and the sizes.
            spaces: Sizes and addresses of the weights and of the reserve.
        """
        network = self.networks[number]
        nbytes = self.data(number).workspaces[self.mode]
        workspace = self.xp.cuda.alloc(nbytes) if nbytes else None  # from the stream's pool
        address = None if workspace is None else workspace.ptr
        with self.handle.lock:
            network.api.call(
                *(name, self.handle.raw, network.raw, *args),
                *(*spaces[0], nbytes, address, *spaces[1]),
            )

    def data(self, number: int) -> Data:
        """Return the descriptors of a network's input and output."""
        found = self.networks[number].data(self.handle, self.lengths)
        if found.reserve > self.networks[number].reserve:
            raise DeviceError(
                f"cuDNN: expected a reserve of at most {self.networks[number].reserve} bytes for "
                f"sequences of lengths {self.lengths}, got {found.reserve}"
            )
        return found

    def runs(self, number: int) -> slice:
        """Return the runs of one call of cuDNN, in the arrays of states."""
        count = self.dims.layers * self.dims.directions // len(self.networks)
        return slice(number * count, (number + 1) * count)


def _lengths_on_host(lengths: Any, dims: Dims) -> Shape | None:
    """Return the length of each sequence, after waiting for them; None if all have all steps."""
    found = [min(int(length), dims.steps) for length in lengths.get()]
    if min(found) < 1:
        raise RefusedError(f"cuDNN: expected sequences of 1 step or more, got {min(found)}")
    return None if min(found) == dims.steps else tuple(found)


def _weight_slices(dims: Dims, layer: int) -> tuple[slice, slice]:
    """Return the weights and the biases of a layer in the vector of parameters."""
    sizes = [
        dims.directions * sum(rows * columns for rows, columns in weight_shapes(dims, i))
        for i in range(dims.layers)
    ]
    biases = 2 * dims.directions * GATES[dims.mode] * dims.units
    start, first = sum(sizes[:layer]), sum(sizes) + layer * biases
    return slice(start, start + sizes[layer]), slice(first, first + biases)


def _weights(call: _Call, number: int, flat: Any) -> Any:
    """Return the parameters of one call of cuDNN."""
    if len(call.networks) == 1:
        return flat
    matrices, biases = _weight_slices(call.dims, number)
    packed = call.xp.empty(parameter_count(call.networks[number].problem.dims), flat.dtype)
    count = matrices.stop - matrices.start
    packed[:count], packed[count:] = flat[matrices], flat[biases]
    return packed


class _Saved:
    """The parts of a reserve, or temporaries where nothing is saved.

    Attributes:
        mask: The mask of dropout (layers - 1, T, N, features); None without dropout.
    """

    def __init__(self, call: _Call, flat: Any) -> None:
        self._call = call
        self._flat = flat if flat.size else None
        self._layout = _layout(call.dims, len(call.networks) > 1, call.networks)
        dims, size = call.dims, mask_size(call.dims)
        self._between = (dims.steps, dims.batch, dims.directions * dims.width)
        self.mask: Any = None
        if size and (self._flat is not None or len(call.networks) > 1):
            mask = call.xp.empty(size, flat.dtype) if self._flat is None else flat[:size]
            self.mask = mask.reshape(dims.layers - 1, *self._between)

    def _part(self, offset: int) -> Any:
        """Return an array between layers."""
        call = self._call
        if self._flat is None:
            return call.xp.empty(self._between, call.dtype)
        nbytes = call.dtype.itemsize * int(np.prod(self._between))
        raw = self._flat.view(np.uint8)[offset : offset + nbytes]
        return raw.view(call.dtype).reshape(self._between)

    def output(self, number: int) -> Any:
        """Return the output of one call of cuDNN but the last."""
        return self._part(self._layout.outputs[number])

    def input(self, number: int) -> Any:
        """Return the input of one call of cuDNN but the first."""
        return self._part(self._layout.inputs[number - 1])

    def space(self, number: int) -> tuple[int, int | None]:
        """Return size and address of cuDNN's reserve for one call."""
        nbytes = self._call.data(number).reserve
        if self._flat is None or not nbytes:
            return 0, None
        return nbytes, self._flat.data.ptr + self._layout.spaces[number]


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
    inputs = arguments([*map(_readable, arrays)], attrs)
    dims = dims_of(inputs.data.shape, attrs)
    drops = train and dims.dropout > 0
    mode = TRAINING if reserve else INFERENCE
    call = _Call(xp, dims, inputs.data.dtype, inputs.sequence_length, drops, mode)
    results = _Results(xp)
    saved = _Saved(call, outputs[-1])
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
    call: _Call,
    number: int,
    inputs: Arguments,
    x: Any,
    y: Any,
    last: Sequence[Any],
    saved: _Saved,
    results: _Results,
) -> None:
    """Compute output and last states of one network."""
    network, data, runs = call.networks[number], call.data(number), call.runs(number)
    hidden, cell = network.states
    weights = _weights(call, number, inputs.parameters)
    first = [_part_of(array, runs) for array in (inputs.state, inputs.state_cell)]
    ends = [results.of(None if array is None else array[runs]) for array in last]
    try:
        call.run(
            *("cudnnRNNForward", number, call.mode, None),
            *(data.x.raw, _pointer(x), data.y.raw, _pointer(y)),
            *(hidden, _pointer(first[0]), _pointer(ends[0])),
            *(cell, _pointer(first[1]), _pointer(ends[1])),
            spaces=((weights.nbytes, weights.data.ptr), saved.space(number)),
        )
    except RefusedError as error:
        if call.mode in network.ran:
            raise DeviceError(f"{error}; the same call succeeded before") from error
        network.refused.add(call.mode)
        raise
    network.ran.add(call.mode)


def _part_of(array: Any, runs: slice) -> Any:
    return None if array is None else _readable(array[runs])


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
    inputs = arguments([*map(_readable, arrays[len(heads) : -2])], attrs)
    dims, dtype = dims_of(inputs.data.shape, attrs), inputs.data.dtype
    call = _Call(xp, dims, dtype, inputs.sequence_length, drops, TRAINING)
    results = _Results(xp)
    tops = dict(zip(heads, map(_readable, arrays), strict=False))
    y = _readable(arrays[-2])
    saved = _Saved(call, arrays[-1].copy())  # cuDNN overwrites it
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
    call: _Call,
    number: int,
    inputs: Arguments,
    below: tuple[Any, Any],
    above: tuple[Any, Any],
    tops: dict[int, Any],
    grads: _Gradients,
    saved: _Saved,
    results: _Results,
) -> None:
    """Compute the gradients of one network.

    Args:
        below: Its input, and an array for the input's gradient.
        above: Its output, and the output's gradient.
        tops: Gradients of the last states.
    """
    network, data, runs = call.networks[number], call.data(number), call.runs(number)
    hidden, cell = network.states
    flat = _weights(call, number, inputs.parameters)
    first = [_part_of(array, runs) for array in (inputs.state, inputs.state_cell)]
    last = [_part_of(tops.get(i), runs) for i in (1, 2)]
    ends = [results.of(array[runs]) for array in grads.states]
    ends += [None] * (2 - len(ends))
    call.run(
        *("cudnnRNNBackwardData_v8", number, None),
        *(data.y.raw, _pointer(above[0]), _pointer(above[1]), data.x.raw, _pointer(below[1])),
        *(hidden, _pointer(first[0]), _pointer(last[0]), _pointer(ends[0])),
        *(cell, _pointer(first[1]), _pointer(last[1]), _pointer(ends[1])),
        spaces=((flat.nbytes, flat.data.ptr), saved.space(number)),
    )
    single = len(call.networks) == 1
    d_flat = grads.parameters if single else call.xp.zeros(flat.shape, flat.dtype)
    call.run(
        *("cudnnRNNBackwardWeights_v8", number, WGRAD_ADD, None),
        *(data.x.raw, _pointer(below[0]), hidden, _pointer(first[0])),
        *(data.y.raw, _pointer(above[0])),
        spaces=((d_flat.nbytes, d_flat.data.ptr), saved.space(number)),
    )
    if not single:
        matrices, biases = _weight_slices(call.dims, number)
        count = matrices.stop - matrices.start
        grads.parameters[matrices] = d_flat[:count]
        grads.parameters[biases] = d_flat[count:]
