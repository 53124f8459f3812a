"""Cases of layers: convolution, pooling, normalization, dropout, upsampling, SoftmaxOutput, RNN."""

from typing import Any

from tests.golden.case import Case, distinct, integers, normal, uniform, values

_CONVOLUTIONS = [
    ((2, 3, 7), (4, 3, 3), {"kernel": (3,)}),
    ((2, 4, 7), (6, 2, 3), {"kernel": (3,), "stride": (2,), "pad": (1,), "num_group": 2}),
    ((1, 2, 5, 6), (3, 2, 3, 2), {"kernel": (3, 2)}),
    ((2, 2, 5, 6), (3, 2, 3, 2), {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 2)}),
    ((1, 2, 7, 6), (3, 2, 3, 2), {"kernel": (3, 2), "dilate": (2, 1)}),
    ((1, 4, 5, 5), (4, 1, 3, 3), {"kernel": (3, 3), "num_group": 4, "pad": (1, 1)}),
    ((1, 4, 5, 5), (2, 4, 1, 1), {"kernel": (1, 1)}),
    ((1, 2, 1, 1), (3, 2, 1, 1), {"kernel": (1, 1)}),
    ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"kernel": (2, 3, 2)}),
    ((1, 2, 4, 5, 4), (4, 1, 2, 2, 2), {"kernel": (2, 2, 2), "stride": (1, 2, 1), "num_group": 2}),
]

_TRANSPOSED = [
    ((2, 3, 4), (3, 4, 3), {"kernel": (3,), "num_filter": 4}),
    (
        (2, 4, 4),
        (4, 3, 3),
        {"kernel": (3,), "stride": (2,), "pad": (1,), "adj": (1,), "num_group": 2, "num_filter": 6},
    ),
    ((1, 2, 3, 4), (2, 3, 3, 2), {"kernel": (3, 2), "num_filter": 3}),
    (
        (2, 2, 3, 4),
        (2, 3, 3, 3),
        {"kernel": (3, 3), "stride": (2, 3), "pad": (1, 1), "adj": (1, 2), "num_filter": 3},
    ),
    ((1, 2, 3, 3), (2, 3, 3, 2), {"kernel": (3, 2), "dilate": (2, 1), "num_filter": 3}),
    (
        (2, 3, 4),
        (3, 2, 4),
        {"kernel": (4,), "stride": (2,), "target_shape": (8,), "num_filter": 2},
    ),
    ((1, 2, 2, 3, 2), (2, 2, 2, 2, 3), {"kernel": (2, 2, 3), "num_filter": 2}),
]


def _windows() -> list[Case]:
    cases = []
    loose = {"rtol": 1e-4, "atol": 1e-5}
    for data, weight, attrs in _CONVOLUTIONS:
        filters = {"num_filter": weight[0], **attrs}  # type: ignore[dict-item]
        arrays = [normal(*data), normal(*weight), normal(weight[0])]
        cases.append(Case("Convolution", arrays, filters, **loose))
        cases.append(Case("Convolution", arrays[:2], {"no_bias": True, **filters}, **loose))
    for data, weight, attrs in _TRANSPOSED:
        bias = normal(attrs["num_filter"])
        arrays = [normal(*data), normal(*weight)]
        given = {"no_bias": False, **attrs}
        wrong = "oneDNN refuses target_shape" if "target_shape" in attrs else ""
        cases.append(Case("Deconvolution", arrays, attrs, wrong=wrong, **loose))
        cases.append(Case("Deconvolution", [*arrays, bias], given, wrong=wrong, **loose))
    return cases


_PLANE = {"kernel": (3, 3), "num_filter": 2}
_INVALID_CONVOLUTIONS = [
    Case(op, arrays, attrs, invalid=True)
    for op in ("Convolution", "Deconvolution")
    for arrays, attrs in (
        ([normal(1, 2, 5, 5), normal(2, 3, 3, 3)], {**_PLANE, "no_bias": True}),
        ([normal(1, 2, 5, 5), normal(2, 2, 3, 2)], {**_PLANE, "no_bias": True}),
        ([normal(1, 2, 5), normal(2, 2, 3, 3)], {**_PLANE, "no_bias": True}),
        ([normal(1, 2, 5, 5), normal(2, 2, 3, 3)], {"kernel": (3, 3), "no_bias": True}),
        ([normal(1, 2, 5, 5), normal(2, 2, 3, 3)], {**_PLANE, "num_group": 3, "no_bias": True}),
        ([normal(1, 2, 5, 5), normal(2, 2, 3, 3)], {**_PLANE, "layout": "XYZ", "no_bias": True}),
    )
] + [
    Case("Convolution", [normal(1, 2, 2, 5), normal(2, 2, 3, 3), normal(2)], _PLANE, invalid=True),
    Case("Convolution", [normal(1, 2, 5, 5), normal(2, 2, 3, 3), normal(3)], _PLANE, invalid=True),
]

_POOLS = [
    ((2, 2, 7), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    ((1, 2, 5, 6), {"kernel": (2, 3)}),
    ((2, 2, 5, 6), {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 1)}),
    ((1, 2, 6, 6), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}),
    ((1, 2, 4, 5, 4), {"kernel": (2, 3, 2), "stride": (2, 1, 2), "pad": (1, 1, 0)}),
    ((2, 3, 4, 5), {"global_pool": True, "kernel": (2, 2)}),
    ((2, 3, 4), {"global_pool": True}),
]


_HALF_COUNTED = "the gradient divides by the whole window's size, and the output does not"


def _pooling() -> list[Case]:
    cases = []
    for kind in ("max", "avg", "sum", "lp"):
        power = {"p_value": 2} if kind == "lp" else {}
        for shape, attrs in _POOLS:
            data = uniform(0.5, 3, *shape) if kind == "lp" else distinct(*shape)
            given = {"pool_type": kind, **power, **attrs}  # type: ignore[dict-item]
            wrong = _HALF_COUNTED if kind == "avg" and "pooling_convention" in attrs else ""  # type: ignore[operator]
            cases.append(Case("Pooling", [data], given, wrong_grad=wrong, rtol=1e-4))
    average = {"pool_type": "avg", "kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}
    for extra in (
        {"count_include_pad": False},
        {"count_include_pad": True, "pooling_convention": "full"},
        {"count_include_pad": False, "pooling_convention": "full"},
    ):
        cases.append(Case("Pooling", [distinct(1, 2, 6, 6)], {**average, **extra}))
    for power in (1, 3):  # type: ignore[assignment]
        attrs = {"pool_type": "lp", "p_value": power, "kernel": (2, 2)}
        cases.append(Case("Pooling", [uniform(0.5, 3, 1, 2, 4, 4)], attrs, rtol=1e-4))
    same = {"kernel": (3,), "stride": (2,), "pooling_convention": "same"}
    plain = {"kernel": (2, 2)}
    return [
        *cases,
        Case("Pooling", [distinct(1, 2, 8)], same, wrong="fails with one axis"),
        Case("Pooling", [normal(1, 1, 3, 3, dtype="float64")], {"pool_type": "avg", **plain}),
        Case("Pooling", [normal(1, 1, 3, 3, dtype="float16")], {"pool_type": "max", **plain}),
        Case("Pooling", [normal(1, 1, 1, 1)], {"kernel": (1, 1)}),
        Case("Pooling", [normal(1, 1, 3)], plain, invalid=True),
        Case("Pooling", [normal(1, 1, 3, 3)], {"kernel": (4, 4)}, invalid=True),
        Case("Pooling", [normal(1, 1, 3, 3)], {"pool_type": "median", **plain}, invalid=True),
        Case("Pooling", [normal(1, 1, 3, 3)], {"stride": (0, 1), **plain}, invalid=True),
        Case("Pooling", [normal(1, 1, 3, 3)], {"pad": (2, 2), **plain}, invalid=True),
        Case("Pooling", [normal(1, 1, 3, 3)], {"pool_type": "lp", **plain}, invalid=True),
        Case("Pooling", [normal(1, 1, 3, 3)], {"layout": "CHW", **plain}, invalid=True),
    ]


def _batch_norm(op: str) -> list[Case]:
    def arrays(channels: int, *shape: int, fixed: bool = False) -> list[Any]:
        return [
            normal(*shape),
            values([1.0] * channels) if fixed else uniform(0.5, 2, channels),
            normal(channels),
            normal(channels),
            uniform(0.5, 2, channels),
        ]

    # With fix_gamma MXNet also writes 1 into gamma, which nobody reads; ours leaves it.
    loose = {"rtol": 1e-4, "atol": 1e-5}
    options = {"wrt": (0, 1, 2), "half": False}  # the statistics are no arguments of the loss
    learned = {"fix_gamma": False}
    shape = (2, 3, 4, 2)
    onednn = "runs with oneDNN only" if "ReLU" in op else ""
    return [
        Case(op, arrays(3, 4, 3, 2, 2), learned, check=options, **loose),
        Case(op, arrays(3, 4, 3, 2, 2, fixed=True), {}, **loose),
        Case(op, arrays(3, *shape), {"eps": 0.1, **learned}, **loose),
        Case(op, arrays(3, *shape), {"momentum": 0.5, **learned}, **loose),
        Case(op, arrays(3, *shape), {"use_global_stats": True, **learned}, **loose),
        Case(op, arrays(3, *shape), learned, train=False, grad=False, **loose),
        Case(op, arrays(3, *shape, fixed=True), {}, train=False, grad=False, **loose),
        Case(op, arrays(3, *shape), {"output_mean_var": True, **learned}, grad=False, **loose),
        Case(op, arrays(3, 4, 3, 2), learned, wrong=onednn, **loose),
        Case(op, arrays(3, 4, 3), learned, wrong=onednn, **loose),
        Case(op, arrays(2, *shape), {"axis": -1, **learned}, wrong=onednn, **loose),
        Case(op, arrays(2, *shape), {"axis": 0, **learned}, wrong=onednn, **loose),
        Case(op, arrays(2, *shape), learned, invalid=True, wrong="reads past the end of gamma"),
        Case(op, arrays(3, *shape), {"axis": 4}, invalid=True),
        Case(op, arrays(3, *shape), {"momentum": "x"}, invalid=True),
    ]


def _norms() -> list[Case]:
    loose = {"rtol": 1e-4, "atol": 1e-5}
    scale = [uniform(0.5, 2, 3), normal(3)]
    narrow = normal(2, 3, dtype="float16")
    halves = [narrow, uniform(0.5, 2, 3, dtype="float16"), normal(3, dtype="float16")]
    return [
        Case("LayerNorm", [normal(4, 3), *scale], **loose),
        Case("LayerNorm", [normal(2, 3, 4), *scale], {"axis": 1, "eps": 0.1}, **loose),
        Case("LayerNorm", [normal(2, 4, 3), *scale], {"output_mean_var": True}, grad=False),
        Case("LayerNorm", [normal(3, 1), normal(1), normal(1)], grad=False),
        Case("LayerNorm", halves, rtol=2e-2, atol=1e-2),
        Case("LayerNorm", [normal(4, 2), *scale], invalid=True),
        Case("LayerNorm", [normal(4, 3), *scale], {"axis": 2}, invalid=True),
        Case("InstanceNorm", [normal(2, 3, 4), *scale], **loose),
        Case("InstanceNorm", [normal(2, 3, 2, 2), *scale], {"eps": 0.1}, **loose),
        Case("InstanceNorm", [normal(2, 2, 4), *scale], invalid=True),
        Case("GroupNorm", [normal(2, 4, 3), normal(2), normal(2)], {"num_groups": 2}, **loose),
        Case("GroupNorm", [normal(2, 4, 3, 2), normal(1), normal(1)], {"eps": 0.1}, **loose),
        Case("GroupNorm", [normal(2, 4, 3), normal(2), normal(2)], {"num_groups": 3}, invalid=True),
        *[
            Case("L2Normalization", [normal(2, 3, 4)], {"mode": mode}, **loose)
            for mode in ("instance", "channel", "spatial")
        ],
        Case("L2Normalization", [normal(2, 3)], {"eps": 0.5}, **loose),
        Case("L2Normalization", [normal(2, 3)], {"mode": "spatial"}, invalid=True),
        Case("L2Normalization", [values([[3, 4]], "int32")], invalid=True),
        Case("L2Normalization", [normal(2, 3)], {"mode": "all"}, invalid=True),
        Case("LRN", [normal(2, 5, 2, 3)], {"nsize": 3}, **loose),
        Case(
            "LRN",
            [normal(2, 5, 2, 3)],
            {"nsize": 5, "alpha": 0.3, "beta": 0.6, "knorm": 1.5},
            **loose,
        ),
        Case("LRN", [normal(2, 5, 2, 3)], {"nsize": 2}, **loose),
        Case("LRN", [normal(2, 5, 2, 3)], {}, invalid=True),
    ]


def _others() -> list[Case]:
    labels = integers(0, 3, 4)
    two = {"scale": 2, "sample_type": "nearest", "num_args": 1}
    bilinear = {"scale": 2, "sample_type": "bilinear", "num_filter": 2, "num_args": 2}
    both = [normal(1, 2, 4, 4), normal(1, 2, 2, 2)]
    plain = {"check": False}  # its gradient is not that of its output
    return [
        Case("Dropout", [normal(3, 4)], {"p": 0.0}),
        Case("Dropout", [normal(3, 4)], {"p": 0.4}, train=False),
        Case("Dropout", [normal(3, 4)], {"p": 0.4}, random=True),
        Case("Dropout", [normal(3, 4)], {"p": 0.4, "axes": (1,)}, random=True),
        Case("Dropout", [normal(3, 4)], {"p": 0.4, "mode": "always"}, random=True, train=False),
        Case("Dropout", [normal(3, 4, dtype="float16")], {"p": 0.4}, random=True),
        Case("Dropout", [normal(3, 4)], {"p": 1.5}, invalid=True),
        Case("Dropout", [normal(3, 4)], {"p": -0.5}, invalid=True),
        Case("Dropout", [normal(3, 4)], {"mode": "never"}, invalid=True),
        Case("UpSampling", [normal(1, 2, 2, 3)], two),
        Case("UpSampling", both, {**two, "num_args": 2}),
        Case("UpSampling", both, {**two, "num_args": 2, "multi_input_mode": "sum"}),
        Case("UpSampling", [normal(1, 2, 2, 3), normal(2, 1, 4, 4)], bilinear, rtol=1e-4),
        Case("UpSampling", [normal(2, 3)], two, invalid=True),
        Case("UpSampling", [normal(1, 2, 2, 3)], {**two, "sample_type": "cubic"}, invalid=True),
        Case("UpSampling", [normal(1, 2, 2, 3)], {**two, "scale": 0}, invalid=True),
        *[
            Case("SoftmaxOutput", [normal(4, 3), labels], attrs, grad=(0,), **plain)
            for attrs in (
                {},
                {"grad_scale": 2.0},
                {"normalization": "batch"},
                {"normalization": "valid"},
                {"use_ignore": True, "ignore_label": 1},
                {"use_ignore": True, "ignore_label": 1, "normalization": "valid"},
                {"smooth_alpha": 0.1},
                {"preserve_shape": True},
            )
        ],
        Case(
            "SoftmaxOutput",
            [normal(2, 3, 4), integers(0, 3, 2, 4)],
            {"multi_output": True, "normalization": "valid"},
            grad=(0,),
        ),
        Case(
            "SoftmaxOutput",
            [normal(4, 3), labels],
            {"out_grad": True},
            grad=(0,),
            wrong_grad="multiplies with the output, not with its gradient",
        ),
        Case("SoftmaxOutput", [normal(4, 3), normal(4, 3)], grad=(0,)),
        Case("SoftmaxOutput", [normal(4, 3), integers(0, 3, 5)], invalid=True),
        Case("SoftmaxOutput", [normal(4, 3), labels], {"normalization": "all"}, invalid=True),
    ]


_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_UNITS, _INPUTS, _STEPS, _BATCH, _LAYERS = 2, 3, 4, 2, 2


def _rnn(mode: str, directions: int, extra: dict[str, Any], **options: Any) -> Case:
    width = extra.get("projection_size") or _UNITS
    rows, count = _GATES[mode] * _UNITS, 0
    for layer in range(_LAYERS):
        features = width * directions if layer else _INPUTS
        projected = _UNITS * width if "projection_size" in extra else 0
        count += directions * (rows * (features + width + 2) + projected)
    arrays = [
        normal(_STEPS, _BATCH, _INPUTS),
        uniform(-0.8, 0.8, count),
        normal(_LAYERS * directions, _BATCH, width),
    ]
    if mode == "lstm":
        arrays.append(normal(_LAYERS * directions, _BATCH, _UNITS))
    if "use_sequence_length" in extra:
        arrays.append(values([4, 2], "int32"))
    attrs = {
        "mode": mode,
        "state_size": _UNITS,
        "num_layers": _LAYERS,
        "bidirectional": directions == 2,
        "state_outputs": True,
        **extra,
    }
    ignored = (
        "CPUs ignore it" if {"use_sequence_length", "lstm_state_clip_min"} & set(extra) else ""
    )
    options["wrong"] = ignored
    return Case("RNN", arrays, attrs, rtol=1e-4, atol=1e-5, **options)


def _recurrent() -> list[Case]:
    sequence = {"use_sequence_length": True}
    clipped = {"lstm_state_clip_min": -0.3, "lstm_state_clip_max": 0.4}
    short = [normal(4, 2, 3), normal(7), normal(2, 2, 2)]
    return [
        *[_rnn(mode, directions, {}) for mode in _GATES for directions in (1, 2)],
        *[_rnn(mode, 1, {"state_outputs": False}) for mode in _GATES],
        *[_rnn(mode, 1, {}, train=False, grad=False) for mode in _GATES],
        *[_rnn("lstm", directions, sequence, grad=(0, 1, 2, 3)) for directions in (1, 2)],
        _rnn("lstm", 1, clipped, train=False, grad=False),
        Case("RNN", short, {"mode": "gru", "state_size": 2, "num_layers": 2}, invalid=True),
        Case("RNN", short, {"mode": "elman", "state_size": 2, "num_layers": 2}, invalid=True),
        Case("RNN", short, {"mode": "gru", "num_layers": 2}, invalid=True),
        Case("_rnn_param_concat", [normal(3), normal(4)], {"num_args": 2, "dim": 0}),
        Case("_rnn_param_concat", [normal(2, 3), normal(1, 3)], {"num_args": 2, "dim": 0}),
        Case(
            "_rnn_param_concat",
            [normal(2, 3), normal(1, 2)],
            {"num_args": 2, "dim": 0},
            invalid=True,
        ),
    ]


CASES = [
    *_windows(),
    *_INVALID_CONVOLUTIONS,
    *_pooling(),
    *_batch_norm("BatchNorm"),
    *_batch_norm("_contrib_BatchNormWithReLU"),
    *_norms(),
    *_others(),
    *_recurrent(),
]
