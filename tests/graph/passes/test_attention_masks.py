"""Each way of writing attention gives on CPUs, with the pass in use, what its operators give."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.kernels import back_ends
from tests.kernels.cupy.attention_forms import BATCH, FORMS, LENGTH, UNITS, Attend


@pytest.fixture(autouse=True)
def _fusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CPUs fuse attention, which their reference kernel computes in float32."""
    offered = back_ends.passes

    def passes(platform: Any) -> Any:
        return {**offered(platform), "fuse_attention": {"supports": lambda *specs: True}}

    monkeypatch.setattr(back_ends, "passes", passes)


def _results(name: str, *, hybridize: bool) -> tuple[Any, list[Any]]:
    form = FORMS[name]
    net = Attend(form, "float32")
    if hybridize:
        net.hybridize()
    random = np.random.default_rng(3)
    x = nd.array(random.standard_normal((BATCH, LENGTH, 3 * UNITS)))
    factors = random.standard_normal((BATCH, LENGTH, UNITS))
    if form.quiet is not None:
        factors *= ~form.quiet[..., None]
    arrays = [nd.array(a, dtype=a.dtype if a.dtype == np.int32 else "float32") for a in form.arrays]
    for a in (x, *(arrays if form.learned else ())):
        a.attach_grad()
    with autograd.record():
        y = net(x, *arrays)
        loss = (y * nd.array(factors)).sum()
    loss.backward()
    gradients = [] if form.lost else [x.grad, *(a.grad for a in arrays if form.learned)]
    return net, [a.asnumpy() for a in (y, *gradients)]


@pytest.mark.parametrize("name", FORMS)
def test_form_is_that_of_its_operators(name: str) -> None:
    net, got = _results(name, hybridize=True)
    (graph,) = net._graphs.values()
    (plan,) = graph._cached._plans.values()
    names = [x.op.name for x in plan.forward.layout.instructions]
    assert names.count("scaled_dot_product_attention") == (FORMS[name].inside is not None)
    for a, b in zip(got, _results(name, hybridize=False)[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * np.nanmax(np.abs(b)))
