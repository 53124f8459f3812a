"""A window that reaches everywhere is attention to everything."""

import numpy as np

import gluonish as mx


def test_wide_window_gives_all_products() -> None:
    length = 4
    query, key, value = np.random.default_rng(0).standard_normal((3, 1, length, 1, 3))
    q, k, v = (mx.nd.array(x, dtype="float64") for x in (query, key, value))
    dilation = mx.nd.array([1], dtype="int32")
    attrs = {"w": length, "symmetric": True}
    scores = mx.nd.contrib.sldwin_atten_score(q, k, dilation, **attrs)
    context = mx.nd.contrib.sldwin_atten_context(scores, v, dilation, **attrs)
    every = query[0, :, 0] @ key[0, :, 0].T
    np.testing.assert_allclose(context.asnumpy()[0, :, 0], every @ value[0, :, 0], atol=1e-12)


def test_mask_counts_what_lies_within() -> None:
    score = mx.nd.ones((2, 5, 1, 3))
    mask = mx.nd.contrib.sldwin_atten_mask_like(
        score,
        mx.nd.array([1], dtype="int32"),
        mx.nd.array([3, 5], dtype="int32"),
        w=1,
        symmetric=True,
    )
    assert mask.asnumpy().sum(axis=(1, 2, 3)).tolist() == [7, 13]
