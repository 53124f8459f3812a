"""A stand-in for the compiled module of cuDNN's front end 1.22, on a `Machine`.

It takes the calls, names of arguments and order of steps that the front end takes, and refuses what
the front end refuses or dies of: a gradient whose extents were not told, tensors of the same
number, extents that do not fit, a plan that runs before it was built, addresses that are missing,
unaligned or too short, a workspace that is too small, tensors in different memory orders.
Convolutions and attention run with NumPy on the machine's memory, as one launch on the stream of
the handle. Other operations are checked and not run.

Engines are those that matter: one that adds in no fixed order comes first, one with tensor cores,
which lays channels last in its workspace, and one of plain sums. With more than a bias behind the
convolution there is one only, for tensor cores, channels last and whole vectors of channels, which
reads what is added while it writes the result: they must not share memory.
"""

import enum
import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from gluonish.kernels.cupy.cudnn import adopt
from tests.kernels.cupy.cost_model.records import Convolution
from tests.kernels.cupy.cudnn_attention_double import Attention, Hidden
from tests.kernels.cupy.cudnn_sums import RUN, out_extents
from tests.kernels.cupy.cudnn_tensors import DataType, Operations, Tensor
from tests.kernels.cupy.machine import Machine, Memory

Mode = enum.Enum("Mode", ["A", "B", "FALLBACK"])
Note = enum.Enum(
    "Note",
    ["TENSOR_CORE", "DOWN_CONVERT_INPUTS", "REDUCED_PRECISION_REDUCTION", "NONDETERMINISTIC"],
)
_WORKSPACE_ALIGNMENT = 256
_SAVED = b"plan "
_saved: list[Any] = []  # what all front ends serialized, as later processes would find it


class NotSupportedError(Exception):
    """What check_support raises."""


class _Engine(NamedTuple):
    """A way to compute a convolution."""

    name: str
    notes: frozenset[Note]
    nbytes: int  # of its workspace


class _Node(NamedTuple):
    """A convolution of a graph."""

    kind: str
    first: Tensor
    second: Tensor
    out: Tensor
    window: dict[str, list[int]]


class _Step(NamedTuple):
    """An operation on the result of a convolution."""

    name: str
    read: Tensor | None
    out: Tensor
    compute: Callable[..., Any]


class _Handle:
    """What create_handle makes."""

    def __init__(self, device: int) -> None:
        self.device = device
        self.stream: int | None = None


class _Graph(Operations):
    """``pygraph`` of a front end."""

    def __init__(
        self,
        front_end: "_FrontEnd",
        *,
        io_data_type: DataType = DataType.NOT_SET,
        intermediate_data_type: DataType = DataType.NOT_SET,
        compute_data_type: DataType = DataType.NOT_SET,
        handle: int | None = None,
    ) -> None:
        assert {intermediate_data_type, compute_data_type} <= {DataType.FLOAT}
        front_end.check(handle)
        self._front_end = front_end
        self._kind = io_data_type
        self._device = front_end.handles[handle or 0].device
        self._tensors: list[Tensor] = []
        self._node: _Node | None = None
        self._attention: Attention | None = None
        self._epilogue: list[_Step] = []
        self._steps: list[str] = []
        self._engines: list[_Engine] = []
        self._listed: list[_Engine] = []  # by the heuristics, whether they are excluded or not
        self._built: set[int] = set()
        self._chosen: _Engine | None = None

    def _make_tensor(
        self,
        dim: list[int],
        stride: list[int],
        data_type: DataType = DataType.NOT_SET,
        is_virtual: bool = False,
        is_pass_by_value: bool = False,
        name: str = "",
        uid: int = -1,
    ) -> Tensor:
        assert len(dim) == len(stride)
        assert all(type(extent) is int for extent in [*dim, *stride])
        kind = self._kind if data_type is DataType.NOT_SET else data_type
        self._tensors.append(Tensor(kind, dim, stride, uid))
        return self._tensors[-1]

    def _made(self) -> Tensor:
        return self._make_tensor([], [])

    def _convolve(self, kind: str, first: Any, second: Any, *window: list[int]) -> Tensor:
        assert self._node is None, "several convolutions: not known to this double"
        assert all(type(n) is int for along in window for n in along)
        named = dict(zip(("padding", "stride", "dilation"), window, strict=True))
        self._node = _Node(kind, first, second, self._made(), named)
        return self._node.out

    def conv_fprop(
        self,
        image: Tensor,
        weight: Tensor,
        padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> Tensor:
        return self._convolve("forward", image, weight, padding, stride, dilation)

    def conv_dgrad(
        self,
        loss: Tensor,
        filter: Tensor,  # noqa: A002  # the front end's name
        padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> Tensor:
        return self._convolve("data", loss, filter, padding, stride, dilation)

    def conv_wgrad(
        self,
        image: Tensor,
        loss: Tensor,
        padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> Tensor:
        return self._convolve("filter", image, loss, padding, stride, dilation)

    def _after(
        self, given: Tensor, read: Tensor | None, compute: Callable[..., Any], name: str = ""
    ) -> Tensor:
        """Add an operation behind the convolution."""
        assert self._node is not None, "an operation on something else: not known to this double"
        assert given is self._last, "an operation on something else: not known to this double"
        self._epilogue.append(_Step(name, read, self._made(), compute))
        return self._last

    @property
    def _last(self) -> Tensor:
        assert self._node is not None
        return self._epilogue[-1].out if self._epilogue else self._node.out

    def bias(self, input: Tensor, bias: Tensor) -> Tensor:  # noqa: A002  # its name
        assert bias.dim == [1, bias.dim[1], *[1] * (len(bias.dim) - 2)]
        return self._after(input, bias, lambda x, y: x + y, "bias")

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        return self._after(a, b, lambda x, y: x + y)

    def relu(
        self,
        input: Tensor,  # noqa: A002  # its name
        negative_slope: float | None = None,
        upper_clip: float | None = None,
    ) -> Tensor:
        slope, top = negative_slope or 0.0, np.inf if upper_clip is None else upper_clip
        return self._after(input, None, lambda x: np.minimum(np.where(x < 0, slope * x, x), top))

    def sigmoid(self, input: Tensor) -> Tensor:  # noqa: A002  # its name
        return self._after(input, None, lambda x: 1 / (1 + np.exp(-x)))

    def tanh(self, input: Tensor) -> Tensor:  # noqa: A002  # its name
        return self._after(input, None, np.tanh)

    def swish(self, input: Tensor, swish_beta: float) -> Tensor:  # noqa: A002  # its name
        return self._after(input, None, lambda x: x / (1 + np.exp(-swish_beta * x)))

    def sdpa(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        attn_scale: float,
        generate_stats: bool,
        dropout: Any = None,
        bias: Tensor | None = None,
        use_padding_mask: bool = False,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
    ) -> list[Any]:
        assert generate_stats, "attention for inference: not known to this double"
        assert not (use_causal_mask and use_causal_mask_bottom_right)
        made = (self._made(), self._made())
        hidden = Hidden(
            bias, seq_len_q, seq_len_kv, use_padding_mask,
            use_causal_mask, use_causal_mask_bottom_right,
        )  # fmt: skip
        self._attention = Attention(
            (q, k, v), made, attn_scale, dropout, hidden, self._front_end.backend_version()
        )
        return list(made)

    def sdpa_backward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        o: Tensor,
        dO: Tensor,  # its name
        stats: Tensor,
        *,
        attn_scale: float,
        dropout: Any = None,
        bias: Tensor | None = None,
        use_padding_mask: bool = False,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        use_deterministic_algorithm: bool = False,
    ) -> list[Tensor]:
        import cudnn  # as the front end does

        assert cudnn is self._front_end, "another copy of the front end"
        made = (self._made(), self._made(), self._made())
        sources = (q, k, v, o, dO, stats)
        hidden = Hidden(
            bias, seq_len_q, seq_len_kv, use_padding_mask,
            use_causal_mask, use_causal_mask_bottom_right,
        )  # fmt: skip
        self._attention = Attention(
            sources, made, attn_scale, dropout, hidden, self._front_end.backend_version()
        )
        if not use_deterministic_algorithm:
            self._engines.append(_Engine("atomics", frozenset({Note.NONDETERMINISTIC}), 0))
        return list(made)

    def _then(self, step: str, *before: str) -> None:
        assert set(before) <= set(self._steps), f"{step} came before one of {before}"
        self._steps.append(step)

    def validate(self) -> None:
        self._then("validate")
        node = self._node
        if node is not None and not node.out.dim:
            assert node.kind != "filter", "no set_dim on a filter's gradient: the real one crashes"
            if node.kind == "data":
                raise ValueError("conv data: set_dim is missing")
        given = [tensor.uid for tensor in self._tensors if tensor.uid >= 0]
        if len(set(given)) < len(given):
            raise RuntimeError(f"uid among {given} has been already assigned to another tensor")

    def build_operation_graph(self) -> None:
        self._then("operations", "validate")
        if self._attention is not None:
            self._attention.validate()
        if self._node is None:
            return
        data, weight, out = self._by_role(self._node)
        wanted = out_extents(data.dim, weight.dim, self._node.window)
        groups = data.dim[1] / weight.dim[1]
        if out.dim != wanted or not groups.is_integer() or weight.dim[0] % groups:
            raise RuntimeError(f"CUDNN_STATUS_BAD_PARAM: {data.dim} {weight.dim} {out.dim}")
        for step in self._epilogue:
            assert (step.out.dim, step.out.stride) == (out.dim, out.stride)
            if step.read is not None:
                fits = zip(step.read.dim, out.dim, strict=True)
                assert all(n in (1, extent) for n, extent in fits)
                assert step.read.dim[1] == out.dim[1]

    def _by_role(self, node: _Node) -> tuple[Tensor, Tensor, Tensor]:
        """Return data, weight and output."""
        first, second, result = node.first, node.second, node.out
        return {
            "forward": (first, second, result),
            "data": (result, second, first),
            "filter": (first, result, second),
        }[node.kind]

    def create_execution_plans(self, modes: list[Mode], /) -> None:
        assert isinstance(modes, list)
        self._then("plans", "operations")
        if self._attention is not None and self._attention.is_supported():
            self._engines.append(_Engine("flash", frozenset(), 0))
        if self._node is None:
            return
        tensors = self._by_role(self._node)
        layouts = set.intersection(*(tensor.layouts for tensor in tensors))
        if not layouts or len(tensors[0].dim) not in (4, 5):
            return  # no engine for gaps, or for tensors of different orders
        if any(step.name != "bias" for step in self._epilogue):
            self._fuse(tensors, layouts)
            return
        moved = 0 if "NHWC" in layouts else sum(tensor.nbytes for tensor in tensors)
        quick = {Note.TENSOR_CORE}
        if self._kind is DataType.FLOAT:
            quick.add(Note.DOWN_CONVERT_INPUTS)
        self._engines = [
            _Engine("atomics", frozenset({Note.NONDETERMINISTIC}), 0),
            _Engine("tensor cores", frozenset(quick), moved),
            _Engine("plain", frozenset(), 0),
        ]

    def _fuse(self, tensors: tuple[Tensor, ...], layouts: set[str]) -> None:
        """Kernels with an epilogue are compiled for tensor cores and channels last only."""
        whole = 16 // tensors[0].dtype.itemsize  # channels of an aligned load
        if "NHWC" not in layouts or any(tensor.dim[1] % whole for tensor in tensors):
            return
        notes = {Note.TENSOR_CORE}
        if self._kind is DataType.FLOAT:
            notes.add(Note.DOWN_CONVERT_INPUTS)
        self._engines = [_Engine("fused", frozenset(notes), 0)]

    def deselect_numeric_notes(self, notes: list[Note], /) -> None:
        assert isinstance(notes, list)
        assert all(isinstance(note, Note) for note in notes)
        self._then("notes", "plans")
        self._listed = list(self._engines)
        self._engines = [e for e in self._engines if not e.notes & set(notes)]

    def deselect_workspace_greater_than(self, nbytes: int, /) -> None:
        assert type(nbytes) is int
        self._then("limit", "plans")
        self._engines = [e for e in self._engines if e.nbytes <= nbytes]

    def check_support(self) -> None:
        self._then("support", "plans")
        if (self._node or self._attention) is not None and not self._engines:
            raise NotSupportedError("No execution plans support the graph.")

    def build_plans(self) -> None:
        self._then("build", "support")
        self._front_end.built += 1
        self._chosen = self._engines[0] if self._engines else None

    def get_execution_plan_count(self) -> int:
        return len(self._listed)

    def build_plan_at_index(self, index: int) -> None:
        self._then("build", "support")
        engine = self._listed[index]
        if engine not in self._engines:
            raise RuntimeError("Deselecting execution plan")
        if engine.name in self._front_end.broken:
            raise NotSupportedError(f"{engine.name}: no plan")
        self._front_end.built += 1
        self._built.add(index)
        self._chosen = engine

    def get_workspace_size_plan_at_index(self, index: int) -> int:
        return self._listed[index].nbytes if index in self._built else 0

    def get_workspace_size(self) -> int:
        assert "build" in self._steps
        return self._chosen.nbytes if self._chosen else 0

    def serialize(self) -> list[int]:
        assert "build" in self._steps
        if not self._front_end.serializes:  # no process but this one could load it
            raise RuntimeError("a plan of the double")
        kept = (self._kind, self._tensors, self._node, self._attention, self._chosen)
        number = len(self._front_end.saved)
        self._front_end.saved.append((*kept, self._epilogue))
        return list(_SAVED + str(number).encode())

    def deserialize(self, handle_: int | None, pyobj: list[int]) -> None:
        self._front_end.check(handle_)
        assert isinstance(pyobj, list), "bytes are no list of integers for the real one"
        content = bytes(pyobj)
        if not content.startswith(_SAVED):
            raise RuntimeError("[json.exception.parse_error.112] syntax error")
        stream = self._front_end.handles[handle_ or 0].stream
        found = next(s for s in self._front_end.machine.streams if s.ptr == stream)
        assert not found._clock, "a warm-up is captured on a stream that is in use"
        made = self._front_end.saved[int(content[len(_SAVED) :])]
        self._kind, self._tensors, self._node, self._attention, self._chosen = made[:-1]
        self._epilogue = made[-1]
        self._steps.append("build")
        self._front_end.loaded += 1

    def _execute_plan_at_index(
        self, var_pack: dict[int, int], workspace: int, index: int, handle: int | None
    ) -> None:
        assert index in self._built, "a plan that was not built"
        kept, self._chosen = self._chosen, self._listed[index]
        try:
            self._execute(var_pack, workspace, handle)
        finally:
            self._chosen = kept

    def _execute(self, var_pack: dict[int, int], workspace: int, handle: int | None) -> None:
        assert "build" in self._steps
        self._front_end.check(handle)
        assert all(type(x) is int for x in (*var_pack, *var_pack.values(), workspace))
        numbers = {tensor.uid for tensor in self._tensors if tensor.uid >= 0}
        assert var_pack.keys() == numbers, f"addresses {sorted(var_pack)} for {sorted(numbers)}"
        if self._node is not None:
            self._launch(self._node, var_pack, workspace, self._front_end.handles[handle or 0])
        if self._attention is not None:
            self._attend(self._attention, var_pack, self._front_end.handles[handle or 0])

    def _execute_with_ptrs(self, user_ptrs: list[int], workspace: int, handle: int) -> None:
        numbers = sorted(t.uid for t in self._tensors if t.uid >= 0)
        self._execute(dict(zip(numbers, user_ptrs, strict=True)), workspace, handle)

    def _launch(
        self, node: _Node, addresses: dict[int, int], workspace: int, handle: _Handle
    ) -> None:
        machine, engine = self._front_end.machine, self._chosen
        assert engine is not None
        assert handle.device == self._device, "a plan of another device than the handle"
        result = self._last
        assert result.output, "a result that is no output"
        read = [step.read for step in self._epilogue if step.read is not None]
        tensors = [node.first, node.second, *read, result]
        found = [tensor.at(machine, addresses[tensor.uid]) for tensor in tensors]
        assert not any(np.may_share_memory(array, found[-1][1]) for _, array in found[:-1])
        used = [(memory, memory is found[-1][0]) for memory, _ in found]
        if engine.nbytes:
            used.append((_workspace(machine, workspace, engine.nbytes), True))
        *arrays, out = [array for _, array in found]

        def work() -> None:
            a, b = (_multiplied(array, engine) for array in arrays[:2])
            total = RUN[node.kind](a, b, tuple(node.out.dim), node.window)
            others = iter(arrays[2:])
            for step in self._epilogue:
                given = () if step.read is None else (next(others).astype(float),)
                total = step.compute(total, *given)
            if Note.NONDETERMINISTIC in engine.notes:
                total = total * (1 + 4e-7 * (next(self._front_end.ticks) % 2))
            np.copyto(out, total, casting="unsafe")

        stream = next(s for s in machine.streams if s.ptr == handle.stream)
        cost = machine.cost(
            "convolution", arrays, [out], problem=_problem(node.kind, self._by_role(node))
        )
        if cost is not None and Note.DOWN_CONVERT_INPUTS in engine.notes:
            cost = cost._replace(dtype="TF32")
        machine.use(stream, used, f"cuDNN {node.kind}", work, cost=cost)
        stream._us += self._front_end.times.get(engine.name, 10.0)

    def _attend(self, node: Attention, addresses: dict[int, int], handle: _Handle) -> None:
        machine = self._front_end.machine
        assert handle.device == self._device, "a plan of another device than the handle"
        found = [tensor.at(machine, addresses[tensor.uid]) for tensor in node.tensors]
        written = len(found) - len(node.results)
        used = [(memory, i >= written) for i, (memory, _) in enumerate(found)]
        arrays = [array for _, array in found]
        assert self._chosen is not None
        unsteady = Note.NONDETERMINISTIC in self._chosen.notes

        def work() -> None:
            node.run(arrays)
            if unsteady:
                arrays[-1][...] = arrays[-1] * (1 + 4e-3 * (next(self._front_end.ticks) % 2))

        stream = next(s for s in machine.streams if s.ptr == handle.stream)
        moved = [_once(array) for array in arrays]
        cost = machine.cost("attention", moved[:written], moved[written:], problem=node.problem)
        name = "cuDNN attention gradient" if len(node.results) == 3 else "cuDNN attention"
        machine.use(stream, used, name, work, cost=cost)


def _once(array: Any) -> Any:
    """Return each number of an array that repeats some along an axis, once."""
    return array[tuple(slice(1 if step == 0 else None) for step in array.strides)]


def _problem(kind: str, tensors: tuple[Tensor, Tensor, Tensor]) -> Convolution:
    """Return the problem of data, weight and output."""
    layout = "NHWC" if all("NHWC" in x.layouts for x in tensors) else "NCHW"
    data, weight, out = (tuple(x.dim) for x in tensors)
    return Convolution(kind, layout, data, weight, out)


def _workspace(machine: Machine, address: int, nbytes: int) -> Memory:
    memory = machine._behind(address)
    assert memory is not None, "a workspace outside device memory"
    assert address - memory.start + nbytes <= memory.raw.size, "a workspace that is too small"
    assert address % _WORKSPACE_ALIGNMENT == 0
    return memory


def _multiplied(array: Any, engine: _Engine) -> Any:
    """Return what a multiplier gets, in float64."""
    if Note.DOWN_CONVERT_INPUTS not in engine.notes:
        return array.astype(float)
    bits = np.ascontiguousarray(array).view(np.uint32)
    return ((bits + 0x1000) & 0xFFFFE000).view(np.float32).astype(float)  # drops 13 bits


class _FrontEnd(SimpleNamespace):
    """The module.

    Attributes:
        machine: Whose memory and streams it works on.
        handles: By their numbers.
        built: How many plans were built.
        ticks: Counts what is never the same twice in a row.
        version: Version of the library.
        times: Microseconds that a convolution takes by names of engines; 10 for others.
        broken: Names of engines whose plans cannot be built.
        serializes: Whether plans can be serialized, for this process only.
        saved: What was serialized.
        loaded: How many plans were deserialized.
    """

    machine: Machine
    handles: dict[int, _Handle]
    built: int
    ticks: "itertools.count[int]"
    version: int
    backend_version: Callable[[], int]
    times: dict[str, float]
    broken: set[str]
    serializes: bool
    saved: list[Any]
    loaded: int

    def check(self, handle: int | None) -> None:
        """Refuse a handle that is none, of another device, or without a stream."""
        found = self.handles.get(handle or 0)
        assert found is not None, f"{handle}: no handle"
        assert found.stream is not None, "a handle on the null stream"
        assert found.device == self.machine.here.device, "a handle of another device"


def make(machine: Machine) -> Any:
    """Return the stand-in on a machine."""
    handles: dict[int, _Handle] = {}
    count = itertools.count(0xC0D17)

    def create_handle() -> int:
        assert not machine.capturing(), "a handle takes memory, which a capture must not"
        number = next(count)
        handles[number] = _Handle(machine.here.device)
        return number

    def destroy_handle(handle: int, /) -> None:
        del handles[handle]

    def set_stream(handle: int, stream: int) -> None:
        assert type(stream) is int
        found = next(s for s in machine.streams if s.ptr == stream)
        assert found.device_id == handles[handle].device, "a stream of another device"
        handles[handle].stream = stream

    made = _FrontEnd(
        machine=machine,
        handles=handles,
        built=0,
        ticks=itertools.count(),
        version=92500,
        times={},
        broken=set(),
        serializes=False,
        saved=_saved,
        loaded=0,
        data_type=DataType,
        heur_mode=Mode,
        numerical_note=Note,
        norm_forward_phase=SimpleNamespace(INFERENCE=0, TRAINING=1),
        cudnnGraphNotSupportedError=NotSupportedError,
        backend_version_string=lambda: "9.25.0",
        create_handle=create_handle,
        destroy_handle=destroy_handle,
        set_stream=set_stream,
    )
    graph: Callable[..., _Graph] = lambda **options: _Graph(made, **options)  # noqa: E731
    made.pygraph = graph
    made.backend_version = lambda: made.version
    return made


def install(cupy: Any, machine: Machine) -> Any:
    """Let convolutions of a double of CuPy go to a stand-in of its own, and return that."""
    front_end = make(machine)
    adopt(cupy, front_end)
    machine.cudnn = front_end  # type: ignore[attr-defined]  # for tests that ask what was built
    return front_end
