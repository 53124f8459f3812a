"""One call of _reserved_rnn or its gradient: its networks, its memory, and the calls of cuDNN.

See `gluonish.kernels.cupy.cudnn_rnn`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
)
from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.errors import DeviceError
from gluonish.core.spec import Shape
from gluonish.kernels.cupy import cudnn, cudnn_rnn_api
from gluonish.kernels.cupy.copies import copy, duplicate
from gluonish.kernels.cupy.cudnn_rnn_api import (
    DEFAULT_MATH,
    FMA_MATH,
    TENSOR_OP_MATH,
    TRAINING,
)
from gluonish.kernels.cupy.cudnn_rnn_network import Data, Network, Problem, network_of
from gluonish.ops.kernel import RefusedError
from gluonish.ops.recurrent.layout import GATES, Dims, parameter_count, weight_shapes
from gluonish.ops.recurrent.reserved_rnn import mask_size
from gluonish.ops.support.precision import accumulator

_ALIGNED = 16  # bytes, of every address
_SPACE_ALIGNMENT = 256  # bytes, of the parts of a reserve


def _math_type(dtype: np.dtype[Any]) -> int:
    """Return cudnnMathType_t for a dtype, as environment variables allow."""
    if dtype == FLOAT64:
        return DEFAULT_MATH
    if not MXNET_CUDA_ALLOW_TENSOR_CORE.value:
        return FMA_MATH
    if dtype != FLOAT32:
        return TENSOR_OP_MATH
    return DEFAULT_MATH if MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.value else FMA_MATH


def chunks_of(dims: Dims, drops: bool) -> list[Dims]:
    """Return the extents of each call of cuDNN: one for all layers, or one for each layer."""
    plain = dims._replace(dropout=0.0, ragged=False)
    if not drops:
        return [plain]
    return [plain._replace(layers=1, inputs=dims.features(i)) for i in range(dims.layers)]


def find_network(xp: Any, chunk: Dims, dtype: np.dtype[Any]) -> Network | None:
    """Return the network of one call of cuDNN; None if cuDNN is missing or does not support it."""
    problem = Problem(chunk, dtype, _math_type(dtype))

    def make() -> Network | None:
        handles, api = cudnn.opened(xp), cudnn_rnn_api.opened(xp)
        if handles is None or api is None:
            return None
        return Network(api, problem, handles.handle(xp))

    return network_of(xp, xp.cuda.runtime.getDevice(), problem, make)


class Layout(NamedTuple):
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


def layout_of(dims: Dims, drops: bool, networks: Sequence[Network]) -> Layout:
    """Return the layout of the reserve of a call, from the network of each call of cuDNN."""
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
    return Layout(spaces, outputs, inputs, end)


def readable(xp: Any, array: Any) -> Any:
    """Return the array, or an aligned and contiguous copy."""
    aligned = array.flags.c_contiguous and array.data.ptr % _ALIGNED == 0
    return array if aligned else duplicate(xp, array)


def pointer(array: Any) -> int | None:
    """Return the address of an array; None for None."""
    return None if array is None else array.data.ptr


class Results:
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
            copy(self._xp, out, made)


class Call:
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
        for chunk in chunks_of(dims, drops):
            network = find_network(xp, chunk, dtype)
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
        workspace = self.xp.empty(nbytes, np.uint8)
        with self.handle.lock:
            network.api.call(
                *(name, self.handle.raw, network.raw, *args),
                *(*spaces[0], nbytes, workspace.data.ptr, *spaces[1]),
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


def weight_slices(dims: Dims, layer: int) -> tuple[slice, slice]:
    """Return the weights and the biases of a layer in the vector of parameters."""
    sizes = [
        dims.directions * sum(rows * columns for rows, columns in weight_shapes(dims, i))
        for i in range(dims.layers)
    ]
    biases = 2 * dims.directions * GATES[dims.mode] * dims.units
    start, first = sum(sizes[:layer]), sum(sizes) + layer * biases
    return slice(start, start + sizes[layer]), slice(first, first + biases)


def weights_for(call: Call, number: int, flat: Any) -> Any:
    """Return the parameters of one call of cuDNN."""
    if len(call.networks) == 1:
        return flat
    matrices, biases = weight_slices(call.dims, number)
    packed = call.xp.empty(parameter_count(call.networks[number].problem.dims), flat.dtype)
    count = matrices.stop - matrices.start
    packed[:count], packed[count:] = flat[matrices], flat[biases]
    return packed


class Saved:
    """The parts of a reserve, or temporaries where nothing is saved.

    Attributes:
        mask: The mask of dropout (layers - 1, T, N, features); None without dropout.

    Raises:
        RefusedError: The reserve is too small, in the forward and the backward pass alike; its
            size was planned for another device.
    """

    def __init__(self, call: Call, flat: Any) -> None:
        self._call = call
        self._flat = flat if flat.size else None
        self._layout = layout_of(call.dims, len(call.networks) > 1, call.networks)
        if call.mode == TRAINING and flat.nbytes < self._layout.nbytes:
            raise RefusedError(
                f"cuDNN: expected a reserve of {self._layout.nbytes} bytes or more, got "
                f"{flat.nbytes}"
            )
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
