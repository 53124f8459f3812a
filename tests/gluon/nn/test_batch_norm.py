import inspect

import pytest

from gluonish.gluon import nn
from gluonish.gluon.nn.batch_norm import BatchNormLayer


@pytest.mark.parametrize(
    ("dtype", "kept"), [("float16", "float32"), ("bfloat16", "float32"), ("float64", "float64")]
)
def test_statistics_stay_in_full_precision(dtype: str, kept: str) -> None:
    layer = nn.BatchNorm(in_channels=3)
    layer.cast(dtype)
    assert {p.dtype for p in layer.params.values()} == {kept}


def test_without_scale_and_center_nothing_is_trained() -> None:
    layer = nn.BatchNorm(scale=False, center=False)
    assert {p.grad_req for p in layer.params.values()} == {"null"}
    layer.collect_params().setattr("grad_req", "write")
    assert {p.grad_req for p in layer.params.values()} == {"null"}


@pytest.mark.parametrize("kind", [nn.BatchNorm, nn.BatchNormReLU])
def test_signature_has_the_arguments_of_mxnet(kind: type) -> None:
    first, *names = inspect.signature(kind).parameters
    assert (first, names[4:6], names[-1]) == (
        "axis",
        ["use_global_stats", "beta_initializer"],
        "kwargs",
    )
    assert len(names) == 11


def test_programs_say_by_keyword_whether_relu_follows() -> None:
    assert BatchNormLayer(fuse_relu=True).fuse_relu
    assert not BatchNormLayer(fuse_relu=False).fuse_relu
