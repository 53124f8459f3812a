"""UpSampling: scale images by integer factors, by repetition or with a filter per channel."""

import itertools
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, integer
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.precision import accumulator, widen


def _deconvolution_attrs(channels: int, scale: int) -> dict[str, Any]:
    """Return the attributes of the deconvolution that performs bilinear scaling."""
    width, pad = 2 * scale - scale % 2, scale // 2
    return {
        **DECONVOLUTION.schema.defaults,
        "kernel": (width, width),
        "stride": (scale, scale),
        "pad": (pad, pad),
        "num_filter": channels,
        "num_group": channels,
    }


def _infer(*inputs: Spec, sample_type: str, scale: int, **attrs: Any) -> tuple[Spec, ...]:
    data = inputs[0]
    if len(data.shape) != 4:
        raise OperatorError(f"UpSampling: expected data (N, C, H, W), got {data}")
    if sample_type == "bilinear":
        if len(inputs) != 2:
            raise OperatorError(
                f"UpSampling: expected data and weight for sample_type='bilinear', got "
                f"{len(inputs)} inputs"
            )
        plain = _deconvolution_attrs(data.shape[1], scale)
        try:
            return DECONVOLUTION.infer(*inputs, **plain)
        except OperatorError as error:
            raise OperatorError(f"UpSampling: {error}") from error
    return (Spec(_scaled([spec.shape for spec in inputs], scale, **attrs), _common(inputs)),)


def _common(inputs: tuple[Spec, ...]) -> Any:
    for spec in inputs[1:]:
        if spec.dtype != inputs[0].dtype:
            raise OperatorError(
                f"UpSampling: expected arrays of equal dtype, got {inputs[0]} and {spec}"
            )
    return inputs[0].dtype


def _scaled(shapes: list[Shape], scale: int, *, multi_input_mode: str, **_: Any) -> Shape:
    """Return the output's shape: each input is scaled to the output size of the first."""
    batch, channels, *spatial = shapes[0]
    height, width = (extent * scale for extent in spatial)
    joined = multi_input_mode == "concat"
    total = 0
    for shape in shapes:
        factor = height // shape[2] if len(shape) == 4 and shape[2] else 0
        fits = len(shape) == 4 and shape[0] == batch and (joined or shape[1] == channels)
        if not fits or (shape[2] * factor, shape[3] * factor) != (height, width):
            raise OperatorError(
                f"UpSampling: expected inputs that integer factors scale to ({height}, {width}), "
                f"{'of one batch size' if joined else 'with the same channels'}, got {shapes}"
            )
        total += shape[1]
    return (batch, total if joined else channels, height, width)


def _pieces(shapes: list[Shape], mode: str) -> list[tuple[int, int]]:
    """Return the range of output channels to which each input contributes."""
    if mode == "sum":
        return [(0, shape[1]) for shape in shapes]
    ends = list(itertools.accumulate(shape[1] for shape in shapes))
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    if attrs["sample_type"] == "bilinear":
        plain = _deconvolution_attrs(inputs[0].shape[1], attrs["scale"])
        DECONVOLUTION.kernel(xp, out, *inputs, **plain)
        return
    mode = attrs["multi_input_mode"]
    summed = mode == "sum" and len(inputs) > 1
    total = xp.zeros(out.shape, accumulator(out.dtype)) if summed else out
    pieces = _pieces([x.shape for x in inputs], mode)
    for x, (begin, end) in zip(inputs, pieces, strict=True):
        factor = out.shape[2] // x.shape[2]
        for i, j in itertools.product(range(factor), repeat=2):
            place = (slice(None), slice(begin, end), slice(i, None, factor), slice(j, None, factor))
            if summed:
                total[place] += x
            else:
                total[place] = x
    if summed:
        out[...] = total


def _gradient(g: V, *inputs: V, **attrs: Any) -> Any:
    if attrs["sample_type"] == "bilinear":
        assert DECONVOLUTION.gradient is not None
        plain = _deconvolution_attrs(inputs[0].shape[1], attrs["scale"])
        return DECONVOLUTION.gradient(g, *inputs, **plain)
    mode = attrs["multi_input_mode"]
    entries = []
    pieces = _pieces([x.shape for x in inputs], mode)
    for x, (begin, end) in zip(inputs, pieces, strict=True):
        factor = g.shape[2] // x.shape[2]

        def entry(begin: int = begin, end: int = end, factor: int = factor) -> Any:
            part = g if end - begin == g.shape[1] else slice_axis(g, 1, begin, end)
            return apply(UPSAMPLING_BACKWARD, (part,), {"scale": factor})

        entries.append(entry)
    return tuple(entries)


def _completed(shapes: list[Shape | None], attrs: Attrs) -> Shape | None:
    known = [shape for shape in shapes if shape is not None and UNKNOWN not in shape]
    if len(known) < len(shapes):
        return None
    return _scaled(known, attrs["scale"], multi_input_mode=attrs["multi_input_mode"])


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    dtype = None
    for spec in (*inputs, *outputs):
        dtype = merge_dtypes(dtype, spec.dtype, "UpSampling")
    shapes = [spec.shape for spec in inputs]
    data = shapes[0]
    out: Shape | None = None
    if data is not None and UNKNOWN not in data and len(data) == 4:
        if attrs["sample_type"] == "bilinear":
            width = _deconvolution_attrs(data[1], attrs["scale"])["kernel"]
            if len(shapes) > 1:
                shapes[1] = merge_shapes((data[1], 1, *width), shapes[1], "UpSampling weight")
            out = (*data[:2], *(extent * attrs["scale"] for extent in data[2:]))
        else:
            out = _completed(shapes, attrs)
    inputs[:] = [PartialSpec(shape, dtype) for shape in shapes]
    outputs[0] = PartialSpec(merge_shapes(out, outputs[0].shape, "UpSampling output"), dtype)


UPSAMPLING = register(
    Operator(
        "UpSampling",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Enlarge images by the integer factor scale.\n\n"
            "'nearest' repeats pixels. Several inputs are each enlarged to scale times the size\n"
            "of the first one, and then joined along their channels or summed, as\n"
            "multi_input_mode says. 'bilinear' takes data and weight, with a filter of K = 2 *\n"
            "scale - scale % 2 rows and columns for each channel, and is a transposed\n"
            "convolution. num_filter and workspace are accepted and ignored.\n\n"
            "Shapes: data (N, C, H, W), weight (C, 1, K, K), output (N, C, H * scale, W *\n"
            "scale)."
        ),
        inputs=("data",),
        schema=Schema(
            scale=integer(low=1),
            num_filter=integer(0),
            sample_type=choice("bilinear", "nearest"),
            multi_input_mode=choice("concat", "sum", default="concat"),
            num_args=integer(low=1),
            workspace=integer(512, low=0),
        ),
        variadic="num_args",
        shapes=ShapeFacts(complete=_complete),
    )
)


def _backward_kernel(xp: ModuleType, out: Any, grad: Any, *, scale: int) -> None:
    total = xp.zeros(out.shape, accumulator(out.dtype))
    for i, j in itertools.product(range(scale), repeat=2):
        total += widen(grad[:, :, i::scale, j::scale])
    out[...] = total


def _backward_infer(grad: Spec, *, scale: int) -> tuple[Spec]:
    batch, channels, height, width = grad.shape
    return (Spec((batch, channels, height // scale, width // scale), grad.dtype),)


def _backward_gradient(g: V, grad: V, *, scale: int) -> tuple[Any]:
    attrs = {
        **UPSAMPLING.schema.defaults,
        "scale": scale,
        "sample_type": "nearest",
        "num_args": 1,
    }
    return (apply(UPSAMPLING, (g,), attrs),)


UPSAMPLING_BACKWARD = register(
    Operator(
        "_upsampling_backward",
        _backward_infer,
        _backward_kernel,
        _backward_gradient,
        doc="Sums over blocks of scale x scale pixels: the gradient of nearest upsampling.",
        inputs=("grad",),
        schema=Schema(scale=integer(low=1)),
    )
)
