"""einops on arrays of ours gives what it gives on NumPy's."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd

einops = pytest.importorskip("einops", reason="needs the package einops")

IMAGES = np.random.default_rng(0).standard_normal((2, 4, 6, 3)).astype(np.float32)
CALLS: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: einops.rearrange(x, "b h w c -> b c h w"),
    "merge": lambda x: einops.rearrange(x, "b h w c -> (b h) (w c)"),
    "patches": lambda x: einops.rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3),
    "ellipsis": lambda x: einops.rearrange(x, "b ... c -> b c ..."),
    "new axis": lambda x: einops.rearrange(x, "b h w c -> b 1 c h w 1"),
    "list": lambda x: einops.rearrange([x, x], "n b h w c -> b (n h) w c"),
    "mean": lambda x: einops.reduce(x, "b h w c -> b c", "mean"),
    "max": lambda x: einops.reduce(x, "b (h p) (w q) c -> b h w c", "max", p=2, q=2),
    "min": lambda x: einops.reduce(x, "b h w c -> h c", "min"),
    "sum": lambda x: einops.reduce(x, "b h w c -> 1 1 1 c", "sum"),
    "prod": lambda x: einops.reduce(x, "b h w c -> b h", "prod"),
    "repeat": lambda x: einops.repeat(x, "b h w c -> b (h 2) (w k) c n", k=3, n=2),
    "einsum": lambda x: einops.einsum(x, x, "b h w c, b h v c -> b w v"),
    "pack": lambda x: einops.pack([x, x[:, 0]], "b * c")[0],
    "unpack": lambda x: einops.unpack(x, [(1,), (2, 1)], "b h w *")[1],
}
EMPTY = np.zeros((0, 4, 6, 3), np.float32)
KINDS: dict[str, Any] = {"nd": mx.nd.array, "np": mx.np.array}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_result_is_that_of_numpy(name: str, kind: str) -> None:
    x = KINDS[kind](IMAGES)
    found, expected = CALLS[name](x), CALLS[name](IMAGES)
    assert type(found) is type(x)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_without_elements(kind: str) -> None:
    x = KINDS[kind](EMPTY)
    assert einops.rearrange(x, "b h w c -> b (h w) c").shape == (0, 24, 3)
    assert einops.reduce(x, "b h w c -> h", "sum").tolist() == [0] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_whole_array_is_reduced(kind: str) -> None:
    found = einops.reduce(KINDS[kind](IMAGES), "... -> ", "sum")
    assert found.item() == pytest.approx(float(IMAGES.sum()), rel=1e-4)
    with pytest.raises(Exception, match="mean"):
        einops.reduce(KINDS[kind](IMAGES).astype("int32"), "... -> ", "mean")


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_flow(kind: str) -> None:
    x = KINDS[kind](IMAGES)
    weight = KINDS[kind](np.arange(6, dtype=np.float32).reshape(2, 3))
    x.attach_grad()
    with autograd.record():
        means = einops.reduce(x, "b h w c -> b c", "mean")
        total = (means * weight).sum()
    total.backward()
    expected = np.broadcast_to(weight.asnumpy()[:, None, None] / 24, IMAGES.shape)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_hybridized_forward_is_traced(kind: str) -> None:
    class Attention(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            q, k = (einops.rearrange(x, "b h w c -> b c (h w)") for _ in range(2))
            scores = einops.einsum(q, k, "b c n, b c m -> b n m")
            return einops.reduce(scores, "b n m -> b n", "max")

    net = Attention()
    x = KINDS[kind](IMAGES)
    expected = net(x).asnumpy()
    net.hybridize()
    for _ in range(2):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5)


def test_symbol_of_hybrid_forward_names_the_way_out() -> None:
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return einops.rearrange(x, "b h w c -> b c h w")

    net = Net()
    net.hybridize()
    with pytest.raises(mx.base.MXNetError, match="shape"):
        net(mx.nd.array(IMAGES))


@pytest.mark.parametrize("order", ["gluonish, einops", "einops, gluonish"])
def test_order_of_imports_does_not_matter(order: str) -> None:
    program = (
        f"import {order}\n"
        "x = einops.rearrange(gluonish.nd.ones((2, 3)), 'a b -> b a')\n"
        "assert x.shape == (3, 2)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
