import pytest

from gluonish.gluon import nn


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
