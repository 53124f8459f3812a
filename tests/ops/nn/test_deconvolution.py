from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from tests.checking.check_operator import check_operator

FLOAT = np.dtype(np.float32)
RANDOM = np.random.default_rng(4)


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def run(inputs: list[Any], **attrs: Any) -> Any:
    parsed = DECONVOLUTION.schema.parse("Deconvolution", attrs)
    (spec,) = DECONVOLUTION.infer(*[Spec(x.shape, x.dtype) for x in inputs], **parsed)
    out = np.empty(spec.shape, spec.dtype)
    DECONVOLUTION.kernel(np, out, *inputs, **parsed)
    return out


@pytest.mark.parametrize(
    ("shape", "weight", "attrs"),
    [
        ((1, 4, 3, 3), (4, 3, 3, 2), {"num_group": 2, "stride": (2, 1), "dilate": (1, 2)}),
        ((1, 2, 2, 3, 2), (2, 3, 2, 2, 2), {"stride": (2, 1, 1), "pad": (0, 1, 0)}),
        ((1, 3, 3, 4), (4, 2, 3, 6), {"layout": "NHWC", "no_bias": False, "stride": (1, 2)}),
    ],
)
def test_any_geometry_is_differentiable_twice(
    shape: tuple[int, ...], weight: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    kernel = weight[1:-1] if "layout" in attrs else weight[2:]
    inputs = [normal(*shape), normal(*weight)]
    if not attrs.get("no_bias", True):
        inputs.append(normal(6))
    filters = 3 if len(shape) == 5 else 6
    given = {"kernel": kernel, "num_filter": filters, **attrs}
    check_operator(DECONVOLUTION, inputs, given, half_tolerance=5e-2)


def test_channels_may_be_last() -> None:
    x, w = normal(2, 4, 3, 3), normal(4, 5, 2, 2)
    first = run([x, w], kernel=(2, 2), num_filter=5, stride=(2, 2))
    inputs = [np.moveaxis(x, 1, -1), np.moveaxis(w, 1, -1)]
    last = run(inputs, kernel=(2, 2), num_filter=5, stride=(2, 2), layout="NHWC")
    np.testing.assert_allclose(np.moveaxis(last, -1, 1), first, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("target", "pad", "adj"), [((7, 9), (3, 3), (1, 0)), ((12, 15), (0, 0), (0, 0))]
)
def test_target_shape_stands_for_padding_and_rest(
    target: tuple[int, int], pad: tuple[int, int], adj: tuple[int, int]
) -> None:
    inputs = [normal(1, 2, 4, 5), normal(2, 3, 3, 3)]
    options = {"kernel": (3, 3), "num_filter": 3, "stride": (3, 3)}
    aimed = run(inputs, target_shape=target, pad=(1, 1), **options)
    assert aimed.shape == (1, 3, *target)
    np.testing.assert_array_equal(aimed, run(inputs, pad=pad, adj=adj, **options))


@pytest.mark.parametrize(
    ("shapes", "attrs", "message"),
    [
        (((1, 2, 4), (2, 3, 3, 3)), {"kernel": (3, 3)}, r"data with 2 more, got \(3, 3\)"),
        (((1, 2, 4), (2, 3, 3)), {"kernel": (3,), "adj": (1,)}, r"below stride \(1,\), got \(1,\)"),
        (((1, 2, 4), (2, 3, 2)), {"kernel": (3,)}, r"expected weight float32\(2, 3, 3\)"),
        (((1, 2, 4), (2, 3, 3)), {"kernel": (3,), "num_group": 2}, "num_group=2 divides"),
        (((1, 2, 1), (2, 3, 3)), {"kernel": (3,), "pad": (2,)}, "padding that leaves output"),
        (((1, 2, 4), (2, 3, 3)), {"kernel": (3,), "target_shape": (7,)}, r"up to \(6,\), got \(7"),
        (((1, 2, 4), (2, 3, 3)), {"kernel": (3,), "layout": "NHWC"}, "layout NCW for kernel"),
    ],
)
def test_what_does_not_fit_is_refused(
    shapes: tuple[Any, ...], attrs: dict[str, Any], message: str
) -> None:
    parsed = DECONVOLUTION.schema.parse("Deconvolution", {"num_filter": 3, **attrs})
    with pytest.raises(OperatorError, match=message):
        DECONVOLUTION.infer(*[Spec(shape, FLOAT) for shape in shapes], **parsed)


def test_parameters_follow_from_the_data() -> None:
    inputs = [PartialSpec((2, 4, 5, -1), FLOAT), PartialSpec(), PartialSpec()]
    outputs = [PartialSpec()]
    attrs = DECONVOLUTION.schema.parse(
        "Deconvolution",
        {"kernel": (3, 2), "num_filter": 6, "num_group": 2, "stride": (2, 2), "no_bias": False},
    )
    assert DECONVOLUTION.complete is not None
    DECONVOLUTION.complete(inputs, outputs, attrs)
    assert [spec.shape for spec in inputs[1:]] == [(4, 3, 3, 2), (6,)]
    assert outputs[0] == PartialSpec((2, 6, 11, -1), FLOAT)
