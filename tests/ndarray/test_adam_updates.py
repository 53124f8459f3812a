from typing import Any

import numpy as np
import pytest

import gluonish as mx

RATES = {"lr": 0.1, "eta": 0.5, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-8, "wd": 0.2}


def expected(weight: Any, grad: Any, mean: Any, var: Any, scale: float) -> Any:
    """AdamW of Loshchilov and Hutter, in NumPy."""
    grad = grad * scale
    mean = 0.8 * mean + 0.2 * grad
    var = 0.9 * var + 0.1 * grad * grad
    return weight - 0.5 * (0.1 * mean / (np.sqrt(var) + 1e-8) + 0.2 * weight)


def arrays(count: int) -> list[list[Any]]:
    random = np.random.default_rng(3)
    return [[mx.nd.array(random.uniform(0.5, 1, 4)) for _ in range(count)] for _ in range(4)]


@pytest.mark.parametrize("as_array", [False, True])
def test_adamw_takes_the_scale_as_a_number_or_an_array(as_array: bool) -> None:
    (w,), (g,), (m,), (v,) = arrays(1)
    want = expected(*[x.asnumpy() for x in (w, g, m, v)], 0.5)  # type: ignore[call-arg]
    scale = mx.nd.array([0.5]) if as_array else 0.5
    got = mx.nd.contrib.adamw_update(w, g, m, v, scale, **RATES)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


def test_many_weights_take_the_steps_of_single_ones() -> None:
    weights, grads, means, variances = arrays(2)
    wants = [
        expected(*[x.asnumpy() for x in group], 0.5)  # type: ignore[call-arg]
        for group in zip(weights, grads, means, variances, strict=True)
    ]
    shared = {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-8}
    mx.nd.contrib.multi_adamw_update(
        weights, grads, means, variances, 0.5, [0.1] * 2, [0.2] * 2, [0.5] * 2, weights, **shared
    )
    for weight, want in zip(weights, wants, strict=True):
        np.testing.assert_allclose(weight.asnumpy(), want, rtol=1e-6)


def test_mixed_precision_moves_the_wide_copy() -> None:
    (w,), (g,), (m,), (v,) = arrays(1)
    want = expected(*[x.asnumpy() for x in (w, g, m, v)], 1.0)  # type: ignore[call-arg]
    narrow = w.astype("float16")
    mx.nd.contrib.mp_adamw_update(narrow, g.astype("float16"), m, v, w, 1.0, out=narrow, **RATES)
    np.testing.assert_allclose(w.asnumpy(), want, rtol=1e-3)
    np.testing.assert_allclose(narrow.asnumpy(), want, rtol=2e-3)


def test_symbol_form_equals_the_imperative_one() -> None:
    (w,), (g,), (m,), (v,) = arrays(1)
    names = [mx.sym.var(name) for name in "wgmv"]
    step = mx.sym.contrib.adamw_update(*names, 0.5, **RATES)  # type: ignore[call-arg]
    given = dict(zip("wgmv", [x.copy() for x in (w, g, m, v)], strict=True))
    states = {name: given.pop(name) for name in step.list_auxiliary_states()}
    bound = step.bind(mx.cpu(), given, aux_states=states)
    want = mx.nd.contrib.adamw_update(w, g, m, v, 0.5, **RATES).asnumpy()
    np.testing.assert_allclose(bound.forward()[0].asnumpy(), want, rtol=1e-6)


def test_lamb_of_many_weights_moves_each() -> None:
    weights, grads, means, variances = arrays(2)
    before = [w.asnumpy() for w in weights]
    made = mx.nd.contrib.multi_lamb_update(
        weights, grads, means, variances, [1, 1], [0.1, 0.0], [0.0, 0.0]
    )
    assert not np.allclose(made[0].asnumpy(), before[0])
    np.testing.assert_array_equal(made[1].asnumpy(), before[1])
