"""nn.RMSNorm: its parameter, both forms, dtypes, devices and files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.errors import GluonishError

_GOLDEN = np.load(Path(__file__).resolve().parents[2] / "golden" / "transformer_operators.npz")
nn = mx.gluon.nn


def _layer(**kwargs: Any) -> Any:
    net = nn.RMSNorm(**kwargs)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    return net


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(
    ("case", "kwargs"), [("rms_norm", {"epsilon": 1e-5}), ("rms_norm_offset", {"offset": True})]
)
def test_the_layer_is_pytorchs_with_the_same_weight(
    case: str, kwargs: dict[str, Any], hybridize: bool
) -> None:
    net = _layer(**kwargs)
    net.hybridize(hybridize)
    for device in (mx.cpu(0), mx.cpu(1)):
        x = mx.nd.array(_GOLDEN[f"{case}.x0"], ctx=device)
        net(x)
        net.gamma.set_data(mx.nd.array(_GOLDEN[f"{case}.x1"]))
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
        y.backward(mx.nd.array(_GOLDEN[f"{case}.head"], ctx=device))
        for got, role in ((y, "y"), (x.grad, "dx0"), (net.gamma.grad(device), "dx1")):
            wanted = _GOLDEN[f"{case}.{role}"]
            assert np.abs(got.asnumpy() - wanted).max() < 2e-6 * np.abs(wanted).max()


def test_gamma_begins_at_one_and_with_offset_at_zero() -> None:
    x = mx.nd.array([[3.0, 4.0]])
    plain, offset = _layer(), _layer(offset=True)
    np.testing.assert_array_equal(plain(x).asnumpy(), offset(x).asnumpy())
    assert plain.gamma.data().asnumpy().tolist() == [1, 1]
    assert offset.gamma.data().asnumpy().tolist() == [0, 0]
    assert _layer(scale=False).gamma.grad_req == "null"


def test_the_repr_says_what_it_normalizes() -> None:
    assert repr(nn.RMSNorm(in_channels=4)) == (
        "RMSNorm(eps=1e-06, axis=-1, offset=False, in_channels=4)"
    )


def test_files_hold_gamma(tmp_path: Path) -> None:
    net = _layer(in_channels=3)
    net.gamma.set_data(mx.nd.array([1.0, 2.0, 3.0]))
    net.save_parameters(str(tmp_path / "x.params"))
    other = nn.RMSNorm()
    other.load_parameters(str(tmp_path / "x.params"))
    x = mx.nd.array([[1.0, -2.0, 0.5]])
    np.testing.assert_array_equal(other(x).asnumpy(), net(x).asnumpy())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_cast_layer_computes_in_float32_inside(dtype: str) -> None:
    net = _layer(in_channels=4)
    net.cast(dtype)
    x = mx.nd.array([[300.0, 400.0, 0.0, 0.0]]).astype(dtype)  # whose squares float16 cannot hold
    y = net(x)
    assert y.dtype == x.dtype
    np.testing.assert_allclose(y.astype("float32").asnumpy(), [[1.2, 1.6, 0, 0]], rtol=1e-2)


def test_mixed_precision_keeps_gamma_in_float32() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(8, flatten=False), nn.RMSNorm(), nn.Dense(2, flatten=False))
    net.initialize()
    net.hybridize()
    x = mx.nd.random.normal(shape=(2, 3, 4))
    exact = net(x).asnumpy()
    converted = amp.convert_hybrid_block(net, "bfloat16")
    got = converted(x).astype("float32").asnumpy()
    assert converted.collect_params()[net[1].gamma.name].dtype == np.float32
    assert np.abs(got - exact).max() < 0.05 * np.abs(exact).max()


def test_an_epsilon_that_is_no_number_is_refused() -> None:
    with pytest.raises(GluonishError, match=r"RMSNorm: expected .*epsilon"):
        nn.RMSNorm(epsilon="small")  # type: ignore[arg-type]
