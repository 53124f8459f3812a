"""amp_cast and amp_multicast: which dtypes come out, and gradients in the dtype of the input."""

import pytest

import gluonish as mx


@pytest.mark.parametrize(
    ("given", "narrow", "wanted"),
    [
        (("float16", "float32"), False, ("float32", "float32")),
        (("float16", "float32"), True, ("float16", "float16")),
        (("float16", "bfloat16"), False, ("float32", "float32")),
        (("float64", "int32"), False, ("float64", "int32")),
    ],
)
def test_floats_meet_and_integers_pass(
    given: tuple[str, ...], narrow: bool, wanted: tuple[str, ...]
) -> None:
    arrays = [mx.nd.ones((2,), dtype=name) for name in given]
    found = mx.nd.amp_multicast(*arrays, num_outputs=2, cast_narrow=narrow)
    assert tuple(x._spec.dtype.name for x in found) == wanted


def test_gradient_comes_back_in_the_dtype_of_the_data() -> None:
    data = mx.nd.ones((2,))
    data.attach_grad()
    with mx.autograd.record():
        out = mx.nd.amp_cast(data, dtype="float16") * 2
    out.backward()
    assert data.grad is not None
    assert data.grad.asnumpy().tolist() == [2, 2]
    assert data.grad._spec == data._spec
