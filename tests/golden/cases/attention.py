"""Cases of attention's products."""

import numpy as np

from tests.golden.case import Case, integers, normal, values

_ENCDEC_QK = "_contrib_interleaved_matmul_encdec_qk"
_ENCDEC_VALATT = "_contrib_interleaved_matmul_encdec_valatt"
_SELFATT_QK = "_contrib_interleaved_matmul_selfatt_qk"
_SELFATT_VALATT = "_contrib_interleaved_matmul_selfatt_valatt"
_NEW = "1.9.1 has no such operator"
_WINDOW = {"w": 2, "symmetric": True}
_CAUSAL = {"w": 2, "symmetric": False}


def _entries(length, dilation, w, symmetric):
    """Return (position, head, window entry, key position) of all entries that exist."""
    width = 2 * w + 1 if symmetric else w + 1
    return [
        (i, h, j, i + int(d) * (j - w))
        for i in range(length)
        for h, d in enumerate(dilation)
        for j in range(width)
        if 0 <= i + int(d) * (j - w) < length
    ]


def _score(w, symmetric):
    def expected(query, key, dilation):
        width = 2 * w + 1 if symmetric else w + 1
        out = np.zeros((*query.shape[:3], width), query.dtype)
        for i, h, j, k in _entries(query.shape[1], dilation, w, symmetric):
            out[:, i, h, j] = (query[:, i, h] * key[:, k, h]).sum(axis=1)
        return out

    return expected


def _context(w, symmetric):
    def expected(score, value, dilation):
        out = np.zeros_like(value)
        for i, h, j, k in _entries(value.shape[1], dilation, w, symmetric):
            out[:, i, h] += score[:, i, h, j, None] * value[:, k, h]
        return out

    return expected


def _mask(w, symmetric):
    def expected(score, dilation, valid_length):
        out = np.zeros_like(score)
        for n, valid in enumerate(valid_length):
            for i, h, j, k in _entries(score.shape[1], dilation, w, symmetric):
                out[n, i, h, j] = i < valid and k < valid
        return out

    return expected


_QKV_HALF = [normal(3, 2, 12, dtype="float16")]

CASES = [
    Case(_ENCDEC_QK, [normal(3, 2, 4), normal(5, 2, 8)], {"heads": 2}),
    Case(_ENCDEC_QK, [normal(1, 1, 1), normal(1, 1, 2)], {"heads": 1}),
    Case(_ENCDEC_QK, [normal(3, 2, 4), normal(5, 1, 8)], {"heads": 2}, invalid=True),
    Case(_ENCDEC_QK, [normal(3, 2, 4), normal(5, 2, 6)], {"heads": 2}, invalid=True),
    Case(_ENCDEC_QK, [normal(3, 4), normal(5, 8)], {"heads": 2}, invalid=True),
    Case(_ENCDEC_QK, [normal(3, 2, 4), normal(5, 2, 8)], {}, invalid=True),
    Case(_ENCDEC_VALATT, [normal(5, 2, 8), normal(4, 3, 5)], {"heads": 2}),
    Case(_ENCDEC_VALATT, [normal(5, 2, 8), normal(3, 3, 5)], {"heads": 2}, invalid=True),
    Case(_ENCDEC_VALATT, [normal(5, 2, 8), normal(4, 3, 4)], {"heads": 2}, invalid=True),
    Case(_SELFATT_QK, [normal(3, 2, 12)], {"heads": 2}),
    Case(_SELFATT_QK, [normal(4, 1, 12)], {"heads": 4}),
    Case(_SELFATT_QK, _QKV_HALF, {"heads": 2}, wrong="takes float32 only"),
    Case(_SELFATT_QK, [normal(3, 24)], {"heads": 2}, invalid=True),
    Case(_SELFATT_QK, [integers(0, 5, 3, 2, 12, dtype="int32")], {"heads": 2}, invalid=True),
    Case(_SELFATT_VALATT, [normal(3, 2, 12), normal(4, 3, 3)], {"heads": 2}),
    Case(_SELFATT_VALATT, [normal(3, 2, 12), normal(4, 3, 2)], {"heads": 2}, invalid=True),
    Case("_contrib_div_sqrt_dim", [normal(2, 5)]),
    Case("_contrib_div_sqrt_dim", [normal(7)]),
    Case("_contrib_div_sqrt_dim", [normal(2, 4, dtype="float16")]),
    Case("_contrib_div_sqrt_dim", [values([[3, 4, 5, 9]], "int32")]),
    *[
        Case(
            "_contrib_sldwin_atten_score",
            [normal(2, 6, 2, 3), normal(2, 6, 2, 3), values([1, 2], "int32")],
            attrs,
            wrong=_NEW,
            expected=_score(**attrs),
            check={"wrt": (0, 1)},
        )
        for attrs in (_WINDOW, _CAUSAL)
    ],
    *[
        Case(
            "_contrib_sldwin_atten_context",
            [
                normal(2, 6, 2, 5 - 2 * (not attrs["symmetric"])),
                normal(2, 6, 2, 3),
                values([1, 2], "int32"),
            ],
            attrs,
            wrong=_NEW,
            expected=_context(**attrs),
            check={"wrt": (0, 1)},
        )
        for attrs in (_WINDOW, _CAUSAL)
    ],
    *[
        Case(
            "_contrib_sldwin_atten_mask_like",
            [
                normal(2, 6, 2, 5 - 2 * (not attrs["symmetric"])),
                values([1, 2], "int32"),
                values([4, 6], "int32"),
            ],
            attrs,
            wrong=_NEW,
            expected=_mask(**attrs),
            check={"differentiable": False},
        )
        for attrs in (_WINDOW, _CAUSAL)
    ],
    Case(
        "_contrib_sldwin_atten_score",
        [normal(2, 6, 2, 3), normal(2, 6, 2, 3), values([1], "int32")],
        _WINDOW,
        wrong=_NEW,
        invalid=True,
    ),
]
