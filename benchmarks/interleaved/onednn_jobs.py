"""Jobs of oneDNN alone, through gluonish's binding: what the machine allows.

Every memory has the layout that its primitive wants, so that no reorder is timed.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.interleaved.graph import Window, read_network, window
from gluonish.kernels.onednn.api import AlgorithmKind, Argument, DataType, PropagationKind, dims
from gluonish.kernels.onednn.backend import load
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor

Shape = tuple[int, ...]

_TRIALS = 3  # runs of each layout, of which the fastest counts
_ALIGNMENT = 64  # bytes
_TYPES = {"float32": DataType.F32, "bfloat16": DataType.BF16}
_DTYPES: dict[str, Any] = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16}


def _buffer(nbytes: int, dtype: str) -> Any:
    """At least ``nbytes`` of aligned memory with values between -1 and 1."""
    kind = np.dtype(_DTYPES[dtype])
    values = np.random.default_rng(0).random(nbytes // kind.itemsize + _ALIGNMENT, np.float32)
    raw = (values * 2 - 1).astype(kind).view(np.uint8)
    return raw[-raw.ctypes.data % _ALIGNMENT :]


class _Primitive:
    """One primitive on memories of the layouts that it wants.

    Args:
        engine: The engine.
        descriptor: What to run.
        reads: The arguments that it reads.
        writes: The arguments that it fills.
    """

    def __init__(
        self,
        engine: Engine,
        descriptor: PrimitiveDescriptor,
        reads: Sequence[Argument],
        writes: Sequence[Argument],
    ) -> None:
        builder = Builder(engine)
        roles = [*reads, *writes]
        layouts = {role: descriptor.layout_of(role) for role in roles}
        slots = {role: builder.operand(layout) for role, layout in layouts.items()}
        builder.step(
            descriptor,
            {role: slots[role] for role in reads},
            {role: slots[role] for role in writes},
        )
        self.plan: Plan = builder.build()
        self.nbytes = {role: layout.nbytes for role, layout in layouts.items()}


class _Memories:
    """One buffer for each argument, as large as the largest primitive wants it."""

    def __init__(self, primitives: Sequence[_Primitive], dtype: str) -> None:
        sizes: dict[Argument, int] = {}
        for primitive in primitives:
            for role, nbytes in primitive.nbytes.items():
                sizes[role] = max(sizes.get(role, 0), nbytes)
        self._buffers = {role: _buffer(nbytes, dtype) for role, nbytes in sizes.items()}

    def call(self, primitive: _Primitive) -> tuple[Plan, list[Any]]:
        """The primitive's plan and its arrays."""
        return primitive.plan, [self._buffers[role] for role in primitive.nbytes]


class _Job:
    """A sequence of primitives."""

    def __init__(self, threads: int, dtype: str) -> None:
        loaded = load()
        if loaded.backend is None:
            raise RuntimeError(f"oneDNN: expected the library, got {loaded.reason}")
        self.engine: Engine = loaded.backend.engine
        self.dtype = dtype
        self.calls: list[tuple[Plan, list[Any]]] = []
        self.versions: dict[str, str] = {}
        self.flops = 0

    def start(self) -> None:
        """Make the primitives and run them."""
        self.run(1)

    def run(self, count: int) -> None:
        """Run the sequence ``count`` times."""
        for _ in range(count):
            for plan, arrays in self.calls:
                plan.run(*arrays)

    def check(self) -> Any:
        """Nothing: these values are compared with no peer's."""
        return []

    def undecided(self, shape: Shape) -> Descriptor:
        """A layout that the primitive may choose."""
        return Descriptor.undecided(self.engine.api, shape, _TYPES[self.dtype])

    def channels_last(self, shape: Shape) -> Descriptor:
        """The layout of images with their channels last."""
        moved = (shape[0], *shape[2:], shape[1])
        ordered = [math.prod(moved[axis + 1 :]) for axis in range(len(moved))]
        strides = (ordered[0], ordered[-1], *ordered[1:-1])
        return Descriptor.strided(self.engine.api, shape, strides, _TYPES[self.dtype])


class PeakProduct(_Job):
    """One large matrix product.

    Args:
        threads: Compute threads; set by OMP_NUM_THREADS.
        dtype: ``float32`` or ``bfloat16``.
        size: Rows and columns of the three matrices.
    """

    def __init__(self, threads: int, dtype: str, size: int = 2048) -> None:
        super().__init__(threads, dtype)
        square = self.undecided((size, size)).handle
        descriptor = PrimitiveDescriptor(
            self.engine.api,
            "dnnl_matmul_primitive_desc_create",
            *(self.engine.handle, square, square, None, square, self.engine.attributes),
        )
        reads = (Argument.SRC, Argument.WEIGHTS)
        product = _Primitive(self.engine, descriptor, reads, (Argument.DST,))
        self.calls = [_Memories([product], dtype).call(product)]
        self.flops = 2 * size**3


class _Convolution:
    """The primitives of one convolution.

    Args:
        job: Whose engine and dtype they have.
        shapes: Of data, weight (with groups an axis of their own) and output.
        geometry: Strides and so on.
        layout: Makes the layout of data and output from a shape.
    """

    def __init__(
        self, job: _Job, shapes: tuple[Shape, Shape, Shape], geometry: Window, layout: Any
    ) -> None:
        data, weight, output = shapes
        self.job = job
        self.data, self.output = layout(data), layout(output)
        self.weight = job.undecided(weight)
        self.window = (
            dims(geometry.stride),
            dims(tuple(step - 1 for step in geometry.dilate)),
            dims(geometry.pad),
            dims(geometry.pad),
        )

    def _descriptor(self, kind: str, arguments: Sequence[Any], rest: Sequence[Any]) -> Any:
        function = f"dnnl_convolution_{kind}_primitive_desc_create"
        engine = self.job.engine
        settled = (*arguments, *self.window, *rest, engine.attributes)
        return PrimitiveDescriptor(engine.api, function, engine.handle, *settled)

    def forward(self, propagation: PropagationKind) -> PrimitiveDescriptor:
        """The forward primitive's descriptor."""
        layouts = (self.data.handle, self.weight.handle, None, self.output.handle)
        return self._descriptor(
            "forward", (propagation, AlgorithmKind.CONVOLUTION_DIRECT, *layouts), ()
        )

    def inference(self) -> list[_Primitive]:
        """What inference runs."""
        return [self._forward(self.forward(PropagationKind.FORWARD_INFERENCE))]

    def training(self, data_gradient: bool) -> list[_Primitive]:
        """What a training step runs: forward, and the gradients of weight and data."""
        ahead = self.forward(PropagationKind.FORWARD_TRAINING)
        made = [self._forward(ahead)]
        algorithm = AlgorithmKind.CONVOLUTION_DIRECT
        layouts = (self.data.handle, self.weight.handle, None, self.output.handle)
        back = self._descriptor("backward_weights", (algorithm, *layouts), (ahead.handle,))
        reads = (Argument.SRC, Argument.DIFF_DST)
        made.append(_Primitive(self.job.engine, back, reads, (Argument.DIFF_WEIGHTS,)))
        if data_gradient:
            layouts = (self.data.handle, self.weight.handle, self.output.handle)
            back = self._descriptor("backward_data", (algorithm, *layouts), (ahead.handle,))
            reads = (Argument.WEIGHTS, Argument.DIFF_DST)
            made.append(_Primitive(self.job.engine, back, reads, (Argument.DIFF_SRC,)))
        return made

    def _forward(self, descriptor: PrimitiveDescriptor) -> _Primitive:
        reads = (Argument.SRC, Argument.WEIGHTS)
        return _Primitive(self.job.engine, descriptor, reads, (Argument.DST,))


class PeakConvolution(_Job):
    """One convolution that suits the machine: 3x3, 256 channels, 14x14, 32 images.

    Args:
        threads: Compute threads; set by OMP_NUM_THREADS.
        dtype: ``float32`` or ``bfloat16``.
    """

    def __init__(self, threads: int, dtype: str) -> None:
        super().__init__(threads, dtype)
        images, weight = (32, 256, 14, 14), (256, 256, 3, 3)
        geometry = Window((3, 3), (1, 1), (1, 1), (1, 1))
        shapes = (images, weight, images)
        made = _Convolution(self, shapes, geometry, self.channels_last).inference()
        memories = _Memories(made, dtype)
        self.calls = [memories.call(primitive) for primitive in made]
        self.flops = 2 * math.prod(images) * math.prod(weight[1:])


class Convolutions(_Job):
    """All convolutions of a network one after another, each in its fastest layout.

    Args:
        threads: Compute threads; set by OMP_NUM_THREADS.
        network: Path of the network's description.
        batch_size: Images.
        dtype: ``float32`` or ``bfloat16``.
        training: Run forward and both backwards; else inference alone.
    """

    def __init__(
        self, threads: int, network: str, batch_size: int, dtype: str, training: bool
    ) -> None:
        super().__init__(threads, dtype)
        self.training = training
        found = read_network(network).convolutions
        self.rows = [(self._shapes(row, batch_size), window(row["attrs"])) for row in found]
        self.flops = sum(
            2 * math.prod(output) * math.prod(row["weight"][1:])
            for row, ((_, _, output), _) in zip(found, self.rows, strict=True)
        )

    def _shapes(self, row: dict[str, Any], batch_size: int) -> tuple[Shape, Shape, Shape]:
        weight, groups = tuple(row["weight"]), row["attrs"].get("num_group", 1)
        if groups > 1:
            weight = (groups, weight[0] // groups, *weight[1:])
        data, output = ((batch_size, *row[key][1:]) for key in ("data", "output"))
        return data, weight, output

    def start(self) -> None:
        """Make the primitives, and choose among the layouts by time."""
        chosen: dict[Any, list[_Primitive]] = {}
        for index, (shapes, geometry) in enumerate(self.rows):
            key = (shapes, geometry, index == 0)
            if key not in chosen:
                chosen[key] = self._fastest(shapes, geometry, index == 0)
        everything = [
            primitive
            for index, row in enumerate(self.rows)
            for primitive in chosen[*row, index == 0]
        ]
        memories = _Memories(everything, self.dtype)
        self.calls = [memories.call(primitive) for primitive in everything]
        self.run(1)

    def _fastest(
        self, shapes: tuple[Shape, Shape, Shape], geometry: Window, first: bool
    ) -> list[_Primitive]:
        """Each primitive in the layout in which it is fastest; the layouts need not agree."""
        candidates = []
        for layout in (self.undecided, self.channels_last):
            convolution = _Convolution(self, shapes, geometry, layout)
            candidates.append(
                convolution.training(not first) if self.training else convolution.inference()
            )
        return [min(alike, key=self._seconds) for alike in zip(*candidates, strict=True)]

    def _seconds(self, primitive: _Primitive) -> float:
        plan, arrays = _Memories([primitive], self.dtype).call(primitive)
        plan.run(*arrays)
        times = []
        for _ in range(_TRIALS):
            begin = time.perf_counter()
            plan.run(*arrays)
            times.append(time.perf_counter() - begin)
        return min(times)
