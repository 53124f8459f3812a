"""Plans of convolutions whose filters are packed: channels of an output in vectors, innermost."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel
from gluonish.kernels.compiler.vector_code import Assembler, Value
from gluonish.kernels.generated.winograd_tiles import Call, Params, TilesPlan, WhenPacked
from gluonish.kernels.onednn import convolution as direct
from gluonish.kernels.onednn.memory import aligned_bytes
from gluonish.kernels.onednn.native_calls import Row
from gluonish.ops.kernel import Array, Bound, RefusedError, address
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import is_channels_last, window_count

FLOAT = 4  # bytes
_GRAIN = 1 << 17  # multiplications for each thread

Arrays = Sequence[Array]


class PackedPlan(TilesPlan):
    """A plan of a convolution.

    Operands: out, data, weight (O, C / num_group, *kernel), contiguous; bias (O,), if any.

    Args:
        kernel: The kernel; its params are those of ``names``.
        names: Names of the params in order, with out, data, weights and bias among them.
        values: The other params.
        steps: Number of steps.
        weight: The weight.
        width: Channels of an output that are packed together; they divide those of the output.
        grain: Minimum steps for each thread.
    """

    __slots__ = ("_kernel", "_names", "_values", "_width", "grain", "nbytes", "steps")

    def __init__(
        self,
        kernel: CompiledKernel,
        names: str,
        values: Mapping[str, int],
        steps: int,
        weight: Array,
        width: int,
        grain: int,
    ) -> None:
        super().__init__()
        self._kernel = kernel
        self._names = names
        self._values = values
        self._width = width
        self.nbytes = weight.size * FLOAT
        self.steps = steps
        self.grain = grain

    def params(self) -> Params:
        """Return the params of the kernel, without addresses."""
        return Params(self._kernel, self._names, **self._values)

    def pack(self, weight: Array, packed: Array) -> None:
        """Pack filters: (O / width, C / num_group, *kernel, width)."""
        grouped = weight.reshape(-1, self._width, *weight.shape[1:])
        shape = (len(grouped), *weight.shape[1:], self._width)
        packed.view(np.float32).reshape(shape)[...] = np.moveaxis(grouped, 1, -1)

    def packing(self, constant: Collection[int]) -> Array | None:
        """Return memory for the packed filters if these are constant."""
        return aligned_bytes(self.nbytes) if 2 in constant else None

    def call(self, packed: Array | None = None) -> "_PackedCall":
        """Return a new call, for filters packed in ``packed``."""
        return _PackedCall(self, packed)


class _PackedCall(Call):
    """The state of one run of a plan."""

    __slots__ = ("_packed", "_params", "_plan", "is_native")

    def __init__(self, plan: PackedPlan, packed: Array | None) -> None:
        self._plan = plan
        self.is_native = packed is not None  # the filters are packed
        self._packed = aligned_bytes(plan.nbytes) if packed is None else packed
        self._params = plan.params()
        self._params.set(weights=address(self._packed))

    def run(self, arrays: Arrays) -> None:
        """Run on the operands."""
        if not self.is_native:
            self._plan.pack(arrays[2], self._packed)
        self.set_arrays(arrays)
        self._params.run(self._plan.steps, self._plan.grain)

    def set_arrays(self, arrays: Arrays) -> None:
        """Set the addresses of the operands."""
        out, data, _, *bias = map(address, arrays)
        self._params.set(data=data, out=out, bias=bias[0] if bias else 0)

    def rows(self, threads: int) -> list[Row] | None:
        """Return the launch; None while runs are timed."""
        return self._params.rows(self._plan.steps, threads, self._plan.grain)

    def pack(self, arrays: Arrays) -> None:
        """Pack constant filters."""
        if self.is_native:
            self._plan.pack(arrays[2], self._packed)


def when_packed(plan: PackedPlan, outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Return a plan for constant filters, and oneDNN's for others (training), if there is one."""
    with suppress(RefusedError):
        other = direct.convolution(outputs, inputs, attrs)
        return Bound(WhenPacked(plan, other.plan), other.operands)
    return Bound(plan)


def are_plain(specs: Sequence[Spec], attrs: Attrs) -> bool:
    """Whether a convolution is of images in float32, without dilation, with a known activation.

    Args:
        specs: Those of data, weight, and bias, if any.
        attrs: The attributes of Convolution, or of ``_fused_convolution``.
    """
    return (
        all(x.dtype == FLOAT32 and 0 not in x.shape for x in specs)
        and len(specs[0].shape) == 4
        and not is_channels_last(attrs["layout"])
        and not attrs.get("with_sum")
        and attrs.get("activation") in (None, "relu", "clip")
        and not set(attrs["dilate"]) - {1}
    )


def image_size(data: Spec, weight: Spec, attrs: Attrs) -> tuple[int, int]:
    """Return height and width of the output of a convolution without dilation."""
    pads, strides = attrs["pad"] or (0, 0), attrs["stride"] or (1, 1)
    extents, windows = data.shape[2:], weight.shape[2:]
    high, wide = map(window_count, extents, windows, strides, (1, 1), pads)
    return high, wide


def least_steps(products: int) -> int:
    """Return the minimum steps for each thread, given the multiplications of a step."""
    return max(1, _GRAIN // products)


def limits_of(attrs: Attrs) -> dict[str, int]:
    """Return the params ``low`` and ``top`` of an activation that clips: bits of float32."""
    low, top = (int(np.float32(attrs.get(name, 0)).view(np.int32)) for name in ("alpha", "beta"))
    return {"low": low, "top": top}


def activated(code: Assembler, activation: str | None, x: Value) -> Value:
    """Write an activation of a vector: None, ``"relu"`` or ``"clip"``; NaN stays NaN."""
    if activation == "relu":
        return code.relu(x)
    if activation == "clip":
        low, top = (code.number_of_bits(code.params[name]) for name in ("low", "top"))
        x = code.where(code.is_less(x, low), low, x)
        return code.where(code.is_less(top, x), top, x)
    return x
