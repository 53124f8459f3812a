"""A stand-in for the functions of libcudnn.so.9 for recurrent layers, on a `Machine`.

Functions are C pointers made from `PROTOTYPES`, so that ctypes converts every argument as it would
for the library; a test holds the prototypes to the header. What cuDNN 9.19 refuses is refused with
its status: `cudnn_rnn_surface.json` has what the library itself answered, without a device, to
`make_cudnn_rnn_surface.py`. Weights lie as there; reserve and workspace have sizes of their own.
The reserve is marked: the gradient of data wants one that a forward pass in training left, and
makes it one for the gradient of weights only. Handles are those of the front end's double.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.kernels.cupy.cudnn_rnn_api import PROTOTYPES, adopt
from tests.kernels.cupy import cudnn_rnn_sums as sums
from tests.kernels.cupy.cost_model.records import Cost, Recurrence
from tests.kernels.cupy.cublas_double import Function
from tests.kernels.cupy.machine import Machine, Memory

SUCCESS, BAD_PARAM, NOT_SUPPORTED, EXECUTION_FAILED = 0, 2000, 3000, 5000
NAMES = {
    SUCCESS: "CUDNN_STATUS_SUCCESS",
    BAD_PARAM: "CUDNN_STATUS_BAD_PARAM",
    NOT_SUPPORTED: "CUDNN_STATUS_NOT_SUPPORTED",
    EXECUTION_FAILED: "CUDNN_STATUS_EXECUTION_FAILED",
}
_DTYPES = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float64),
    2: np.dtype(np.float16),
    9: np.dtype(ml_dtypes.bfloat16),
}
_PRECISIONS = {(0, 0), (1, 1), (2, 0), (2, 2), (9, 0)}  # of data and sums
_HEADER = 64  # bytes of a reserve before its numbers
_FORWARD, _GRADIENT = 0x1F0, 0x2F0  # marks of a reserve
_WORKSPACE = 1 << 16  # the real one takes 8 MiB and more


class _Refused(Exception):
    """A status that is not success."""

    def __init__(self, status: int) -> None:
        self.status = status


def _require(condition: bool, status: int = BAD_PARAM) -> None:
    if not condition:
        raise _Refused(status)


class _Descriptor:
    """A descriptor, with what was set in it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.set: Any = None


def _with_status(body: Callable[..., None]) -> Callable[..., int]:
    """Return a function that tells by its status what a body refuses."""

    def run(*args: Any) -> int:
        try:
            body(*args)
        except _Refused as refused:
            return refused.status
        return SUCCESS

    return run


class RnnDouble:
    """The library.

    Args:
        machine: Whose memory and streams it works on; its `cudnn` has the handles.

    Attributes:
        calls: Names of the functions that were called, in order.
        maths: cudnnMathType_t of the calls that computed, in order.
        statuses: What functions return instead of running, by name.
        descriptors: The descriptors that were not destroyed, by their addresses.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.calls: list[str] = []
        self.maths: list[int] = []
        self.statuses: dict[str, int] = {}
        self.descriptors: dict[int, _Descriptor] = {}
        self._made = 0xDE5C
        for name in PROTOTYPES:
            setattr(self, name, Function(PROTOTYPES[name], _with_status(self._guarded(name))))

    def _guarded(self, name: str) -> Callable[..., None]:
        short = name.removeprefix("cudnn")
        if short.startswith(("Create", "Destroy")):
            kind = short.removeprefix("Create").removeprefix("Destroy").removesuffix("Descriptor")
            make = short.startswith("Create")
            body = lambda *args: (self._create if make else self._destroy)(kind, *args)  # noqa: E731
        else:
            body = getattr(self, "_" + short)

        def call(*args: Any) -> None:
            self.calls.append(name)
            if name in self.statuses:
                raise _Refused(self.statuses[name])
            body(*args)

        return call

    def cudnnGetErrorString(self, status: int) -> bytes:
        return NAMES.get(status, "CUDNN_STATUS_OTHER").encode()

    def cudnnGetLastErrorString(self, message: Any, size: int) -> None:
        assert size <= len(message)
        message.value = b"reason of the double"

    def _create(self, kind: str, out: Any) -> None:
        self._made += 16
        self.descriptors[self._made] = _Descriptor(kind)
        out[0] = self._made

    def _destroy(self, kind: str, address: int) -> None:
        found = self.descriptors.pop(address)
        assert found.kind == kind, "a descriptor of another kind"

    def _of(self, address: int | None, kind: str) -> Any:
        """Return what was set in a descriptor."""
        found = self.descriptors.get(address or 0)
        assert found is not None, f"no {kind} descriptor, or a destroyed one"
        assert found.kind == kind, f"a {found.kind} descriptor for a {kind} one"
        assert found.set is not None, f"a {kind} descriptor that was not set"
        return found.set

    def _SetTensorNdDescriptor(
        self, address: int, kind: int, rank: int, dims: Any, strides: Any
    ) -> None:
        _require(rank >= 3)
        shape, steps = tuple(dims[:rank]), tuple(strides[:rank])
        dense = tuple(int(np.prod(shape[i + 1 :])) for i in range(rank))
        assert steps == dense, "strides with gaps: not known to this double"
        self.descriptors[address].set = (kind, shape)

    def _SetRNNDescriptor_v8(
        self, address: int, algorithm: int, mode: int, bias: int, directions: int,
        input_mode: int, kind: int, precision: int, math: int, features: int, hidden: int,
        projected: int, layers: int, dropout: int | None, flags: int,
    ) -> None:  # fmt: skip
        assert (algorithm, bias, input_mode) == (0, 2, 0), "not known to this double"
        assert dropout is None, "dropout: not known to this double"
        _require(flags in (0, 1))
        _require(min(features, hidden, layers, projected) >= 1)
        _require((kind, precision) in _PRECISIONS, NOT_SUPPORTED)
        _require(projected == hidden or (mode == sums.LSTM and projected < hidden), NOT_SUPPORTED)
        assert mode in sums.GATES
        assert directions in (0, 1)
        assert math in range(4)
        self.descriptors[address].set = (
            mode, directions + 1, kind, math, features, hidden, projected, layers, flags,
        )  # fmt: skip

    def _SetRNNDataDescriptor(
        self, address: int, kind: int, layout: int, steps: int, batch: int, features: int,
        lengths: Any, fill: int | None,
    ) -> None:  # fmt: skip
        _require(min(steps, batch, features) >= 1)
        given = tuple(lengths[:batch])
        _require(all(0 <= n <= steps for n in given))
        assert layout == 0, "another layout: not known to this double"
        value = None
        if fill:
            raw = (ctypes.c_char * _DTYPES[kind].itemsize).from_address(fill)
            value = float(np.frombuffer(raw, _DTYPES[kind])[0])
        self.descriptors[address].set = (kind, steps, batch, features, given, value)

    def _shape(self, network: int, x: int) -> sums.Shape:
        mode, directions, kind, _, features, hidden, projected, layers, flags = self._of(
            network, "RNN"
        )
        x_kind, steps, batch, wide, lengths, _ = self._of(x, "RNNData")
        _require(x_kind == kind)
        _require(wide == features)
        _require(flags == 1 or lengths == (steps,) * batch)
        return sums.Shape(mode, layers, directions, features, hidden, projected, lengths, steps)

    def _GetRNNTempSpaceSizes(
        self, handle: int, network: int, mode: int, x: int, workspace: Any, reserve: Any
    ) -> None:
        self._machine.cudnn.check(handle)  # type: ignore[attr-defined]  # see `cudnn_double`
        shape = self._shape(network, x)
        workspace[0] = _WORKSPACE + 64 * mode
        reserve[0] = _HEADER + 8 * sums.reserved(shape) if mode else 0

    def _GetRNNWeightSpaceSize(self, handle: int, network: int, size: Any) -> None:
        self._machine.cudnn.check(handle)  # type: ignore[attr-defined]
        size[0] = self._places(network)[1] * self._item(network)

    def _places(self, network: int) -> tuple[list[sums.Weights], int]:
        mode, directions, _, _, features, hidden, projected, layers, _ = self._of(network, "RNN")
        shape = sums.Shape(mode, layers, directions, features, hidden, projected, (1,), 1)
        return sums.places(shape)

    def _item(self, network: int) -> int:
        return _DTYPES[self._of(network, "RNN")[2]].itemsize

    def _GetRNNWeightParams(
        self, handle: int, network: int, run: int, nbytes: int, space: int, layer: int,
        matrix: int, matrix_at: Any, bias: int, bias_at: Any,
    ) -> None:  # fmt: skip
        self._machine.cudnn.check(handle)  # type: ignore[attr-defined]
        places, size = self._places(network)
        kind, item = self._of(network, "RNN")[2], self._item(network)
        _require(nbytes >= size * item and 0 <= run < len(places))
        weights = places[run]
        count = len(weights.matrices)
        _require(0 <= layer < count or (layer == 8 and weights.projection is not None))
        place = weights.matrices[layer] if layer < count else weights.projection
        matrix_at[0] = space + place[0] * item
        self.descriptors[matrix].set = (kind, (1, *place[1]))
        bias_at[0] = space + weights.biases[layer][0] * item if layer < count else 0
        if layer < count:
            self.descriptors[bias].set = (kind, (1, *weights.biases[layer][1], 1))

    def _RNNForward(
        self, handle: int, network: int, mode: int, lengths: int | None, xd: int, x: int,
        yd: int, y: int, hd: int, hx: int | None, hy: int | None, cd: int, cx: int | None,
        cy: int | None, weight_nbytes: int, weights: int, nbytes: int, workspace: int,
        reserve_nbytes: int, reserve: int | None,
    ) -> None:  # fmt: skip
        call = _Call(self, handle, network, lengths, xd, yd, hd, cd, nbytes, workspace, mode)
        shape, dtype = call.shape, call.dtype
        states = [call.array(p, d) for p, d in ((hx, hd), (cx, cd))]
        ends = [call.array(p, d, write=True) for p, d in ((hy, hd), (cy, cd))]
        data, out = call.rows(x, xd), call.rows(y, yd, write=True)
        space = call.weights(weight_nbytes, weights)
        kept = call.reserve(reserve_nbytes, reserve) if mode else None
        fill = self._of(yd, "RNNData")[-1]

        def work() -> None:
            numbers = None if kept is None else kept.numbers
            found = sums.forward(
                shape, _wide(data), call.first(states), _wide(space), numbers, call.product, dtype
            )
            out[...] = found[0].astype(dtype)
            if fill is not None:
                out[~shape.active()] = fill
            for target, values in zip(ends, found[1:], strict=True):
                if target is not None:
                    target[...] = values.astype(dtype)
            if kept is not None:
                kept.mark[0] = _FORWARD

        call.launch("forward", work)

    def _RNNBackwardData_v8(
        self, handle: int, network: int, lengths: int | None, yd: int, y: int, dy: int,
        xd: int, dx: int, hd: int, hx: int | None, dhy: int | None, dhx: int | None, cd: int,
        cx: int | None, dcy: int | None, dcx: int | None, weight_nbytes: int, weights: int,
        nbytes: int, workspace: int, reserve_nbytes: int, reserve: int,
    ) -> None:  # fmt: skip
        call = _Call(self, handle, network, lengths, xd, yd, hd, cd, nbytes, workspace, 1)
        assert dcx is None or call.shape.mode == sums.LSTM, "a cell's gradient without cells"
        shape, dtype = call.shape, call.dtype
        firsts = [call.array(p, d) for p, d in ((hx, hd), (cx, cd))]
        lasts = [call.array(p, d) for p, d in ((dhy, hd), (dcy, cd))]
        results = [call.array(p, d, write=True) for p, d in ((dhx, hd), (dcx, cd))]
        output, head = call.rows(y, yd), call.rows(dy, yd)
        out, space = call.rows(dx, xd, write=True), call.weights(weight_nbytes, weights)
        kept = call.reserve(reserve_nbytes, reserve)

        def work() -> None:
            if not call.captures:
                assert kept.mark[0] == _FORWARD, "a reserve that no forward pass left"
                states = kept.numbers.copy()
                tops = sums.unpack(shape, states)
                rows = sums.row_of(shape)[shape.active()]
                first = (shape.layers - 1) * shape.directions
                top = [tops["state", first + way][rows] for way in range(shape.directions)]
                same = np.concatenate(top, 1).astype(dtype) == output[shape.active()]
                assert same.all(), "another output than that of the forward pass"
            found = sums.backward_data(
                *(shape, _wide(head), call.first(firsts), call.first(lasts), _wide(space)),
                *(kept.numbers, call.product),
            )
            active = shape.active()
            out[active] = found[0].astype(dtype)[active]  # the rest stays as it was
            for target, values in zip(results, found[1:], strict=True):
                if target is not None:
                    target[...] = values.astype(dtype)
            kept.mark[0] = _GRADIENT

        call.launch("backward data", work)

    def _RNNBackwardWeights_v8(
        self, handle: int, network: int, add: int, lengths: int | None, xd: int, x: int,
        hd: int, hx: int | None, yd: int, y: int, weight_nbytes: int, weights: int,
        nbytes: int, workspace: int, reserve_nbytes: int, reserve: int,
    ) -> None:  # fmt: skip
        _require(add == 0, NOT_SUPPORTED)  # CUDNN_WGRAD_MODE_SET
        call = _Call(self, handle, network, lengths, xd, yd, hd, None, nbytes, workspace, 1)
        data, first = call.rows(x, xd), call.array(hx, hd)
        call.rows(y, yd)
        space = call.weights(weight_nbytes, weights, write=True)
        kept = call.reserve(reserve_nbytes, reserve)

        def work() -> None:
            if not call.captures:
                assert kept.mark[0] == _GRADIENT, "a reserve without the gradient of data"
            total = sums.backward_weights(
                call.shape, _wide(data), call.first([first, None])[0], kept.numbers, call.product
            )
            space[...] = (_wide(space) + total).astype(call.dtype)

        call.launch("backward weights", work)


class _Reserve:
    """A reserve: its mark, and numbers in float64."""

    def __init__(self, raw: Any, count: int) -> None:
        self.mark = raw[:8].view(np.int64)
        self.numbers = raw[_HEADER : _HEADER + 8 * count].view(np.float64)


class _Call:
    """A call that computes: checks what it is given, and launches.

    Attributes:
        captures: Whether its stream captures, so that memory may hold anything.
    """

    def __init__(
        self, library: RnnDouble, handle: int, network: int, lengths: int | None, xd: int,
        yd: int, hd: int, cd: int | None, nbytes: int, workspace: int, mode: int,
    ) -> None:  # fmt: skip
        self._library, self._machine = library, library._machine
        front_end: Any = self._machine.cudnn  # type: ignore[attr-defined]
        front_end.check(handle)
        pointer = front_end.handles[handle].stream
        self._stream = next(s for s in self._machine.streams if s.ptr == pointer)
        self.captures = self._stream.is_capturing()
        assert lengths is None, "lengths on the device, which cuDNN does not read since 8.9.1"
        assert mode in (0, 1)
        self.shape = library._shape(network, xd)
        settings = library._of(network, "RNN")
        self.dtype, self._math = _DTYPES[settings[2]], settings[3]
        kind, steps, batch, wide, given, _ = library._of(yd, "RNNData")
        shape = self.shape
        _require(kind == settings[2] and (steps, batch) == (shape.steps, len(shape.lengths)))
        _require(wide == shape.directions * shape.projected and given == shape.lengths)
        runs = shape.layers * shape.directions
        _require(library._of(hd, "Tensor") == (settings[2], (runs, batch, shape.projected)))
        if cd is not None and shape.mode == sums.LSTM:
            _require(library._of(cd, "Tensor") == (settings[2], (runs, batch, shape.hidden)))
        if self.captures:
            assert given == (steps,) * batch, "lengths of the host in a graph"
        self._used: list[tuple[Memory, bool]] = []
        _require(nbytes >= _WORKSPACE + 64 * mode)
        self._bytes(workspace, nbytes, write=True)

    def _bytes(self, address: int, nbytes: int, *, write: bool = False) -> Any:
        memory = self._machine._behind(address)
        assert memory is not None, "cuDNN was given an address outside device memory"
        start = address - memory.start
        assert start + nbytes <= memory.raw.size, "an array beyond its memory"
        assert address % 16 == 0, "an address that is not aligned"
        self._used.append((memory, write))
        return memory.raw[start : start + nbytes]

    def _view(self, address: int, shape: Sequence[int], *, write: bool = False) -> Any:
        nbytes = int(np.prod(shape)) * self.dtype.itemsize
        return self._bytes(address, nbytes, write=write).view(self.dtype).reshape(shape)

    def array(self, address: int | None, descriptor: int | None, *, write: bool = False) -> Any:
        """Return states at an address; None for NULL."""
        if address is None:
            return None
        return self._view(address, self._library._of(descriptor, "Tensor")[1], write=write)

    def rows(self, address: int, descriptor: int, *, write: bool = False) -> Any:
        """Return data (steps, samples, features)."""
        _, steps, batch, features, _, _ = self._library._of(descriptor, "RNNData")
        return self._view(address, (steps, batch, features), write=write)

    def weights(self, nbytes: int, address: int, *, write: bool = False) -> Any:
        """Return a weight space."""
        count = sums.places(self.shape)[1]
        _require(nbytes >= count * self.dtype.itemsize)
        return self._view(address, (count,), write=write)

    def reserve(self, nbytes: int, address: int | None) -> _Reserve:
        """Return the reserve."""
        count = sums.reserved(self.shape)
        _require(address is not None and nbytes >= _HEADER + 8 * count)
        return _Reserve(self._bytes(address or 0, nbytes, write=True), count)

    def first(self, states: Sequence[Any]) -> list[Any]:
        """Return states and cells in float64, zeros for NULL; no cells but an LSTM's."""
        shape = self.shape
        runs, batch = shape.layers * shape.directions, len(shape.lengths)
        wanted = [(runs, batch, shape.projected), (runs, batch, shape.hidden)]
        found = [
            np.zeros(extents) if x is None else _wide(x)
            for x, extents in zip(states, wanted, strict=True)
        ]
        return [found[0], found[1] if shape.mode == sums.LSTM else None]

    def product(self, a: Any, b: Any) -> Any:
        """Multiply, with factors that TensorFloat-32 has where that is allowed."""
        if self.dtype == np.float32 and self._math != 3:
            a, b = (_rounded(x) for x in (a, b))
        return a @ b

    def launch(self, what: str, work: Callable[[], None]) -> None:
        """Run on the handle's stream."""
        self._library.maths.append(self._math)

        def quiet() -> None:
            with np.errstate(all="ignore"):
                work()

        name = f"cuDNN RNN {what}"
        self._machine.use(self._stream, self._used, name, quiet, cost=self._cost(what))

    def _cost(self, what: str) -> Cost | None:
        if self._machine.recorder is None:
            return None
        shape = self.shape
        runs, batch = shape.layers * shape.directions, len(shape.lengths)
        count = sums.places(shape)[1]  # of weights
        cells = 0 if what == "backward weights" else runs * shape.steps
        problem = Recurrence(what, cells, 2 * count * shape.steps * batch)
        nbytes = (count + 4 * runs * shape.steps * batch * shape.hidden) * self.dtype.itemsize
        kind = "TF32" if self.dtype == np.float32 and self._math == 3 else str(self.dtype)
        launches = max(1, cells + shape.layers)
        return Cost("rnn", nbytes, nbytes // 2, count, kind, problem, launches)


def _wide(array: Any) -> Any:
    return array.astype(float)


def _rounded(array: Any) -> Any:
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x1000) & 0xFFFFE000).view(np.float32).astype(float)  # drops 13 bits


def install(cupy: Any, machine: Machine) -> RnnDouble:
    """Let recurrent layers of a double of CuPy go to a stand-in of its own, and return that."""
    library = RnnDouble(machine)
    adopt(cupy, library)
    machine.cudnn_rnn = library  # type: ignore[attr-defined]  # for tests that ask what was called
    return library
