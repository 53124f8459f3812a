"""Calls of every operator with small arrays, for tests that run kernels on other devices.

They come from the cases of check_operator and those below, with the calls that their gradients
make, in several dtypes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.ops.elementwise.arithmetic import Arithmetic
from gluonish.ops.fused.activation import ACTIVATIONS
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.registry import Attrs, Operator, find_operator
from gluonish.ops.support.composite import input_gradients
from gluonish.ops.updates.multi_update import MULTI_UPDATES
from tests.checking.values import run_kernel, runtime_attrs
from tests.golden.case import load_cases
from tests.ops.cases import CASES, Case, between, distinct, index, normal

_GOLDEN = Path(__file__).parents[1] / "golden" / "cases"
_GOLDEN_CASES = 6
_HALVES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
_WHOLE = tuple(np.dtype(kind) for kind in ("int32", "int64", "uint8", "int8"))


class Call(NamedTuple):
    """An operator with its arrays, its attributes and those that only a call knows."""

    op: Operator
    inputs: list[Any]
    attrs: dict[str, Any]
    runtime: dict[str, Any]

    def run(self) -> list[Any]:
        """Return what the reference kernel gives, overwriting copies of what it overwrites."""
        written = self.op.mutated_inputs(self.attrs)
        inputs = [x.copy() if i in written else x for i, x in enumerate(self.inputs)]
        return run_kernel(self.op, self.op.kernel, inputs, self.attrs, self.runtime)


class _Logged(Arithmetic):
    """An array that notes the operators that are applied to it."""

    log: list[Call] = []  # noqa: RUF012 (one list for all, emptied by `_gradient_calls`)

    def __init__(self, array: Any) -> None:
        self.array = array

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        plain = {name: value for name, value in attrs.items() if name not in ("train", "key")}
        call = Call(op, [x.array for x in inputs], plain, runtime_attrs(op, plain))
        _Logged.log.append(call)
        shown = [_Logged(out) for out in call.run()[: op.num_visible(plain)]]
        return shown[0] if len(shown) == 1 else shown


def _gradient_calls(call: Call) -> list[Call]:
    """Return the calls that the gradient of a call makes."""
    op = call.op
    if op.gradient is None or not any(is_floating(x.dtype) for x in call.inputs):
        return []
    outputs = call.run()
    shown = op.num_visible(call.attrs)
    heads = [
        _Logged(np.ones_like(y)) if i < shown and is_floating(y.dtype) else None
        for i, y in enumerate(outputs)
    ]
    if all(head is None for head in heads):
        return []
    _Logged.log.clear()
    wanted = [is_floating(x.dtype) for x in call.inputs]
    inputs, results = list(map(_Logged, call.inputs)), list(map(_Logged, outputs))
    input_gradients(op, heads, inputs, results, call.runtime, wanted)
    return list(_Logged.log)


def _call(name: str, inputs: Sequence[Any], given: dict[str, Any]) -> Call:
    op = find_operator(name)
    attrs = dict(given)
    if op.variadic is not None:
        attrs.setdefault(op.variadic, len(inputs))
    parsed = op.schema.parse(op.name, attrs)
    return Call(op, [np.asarray(x) for x in inputs], parsed, runtime_attrs(op, parsed))


def _window(**attrs: Any) -> dict[str, Any]:
    return {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 0), **attrs}


def _layers() -> Iterator[tuple[str, Case]]:
    """Cases of operators that test modules of their own check."""
    image, channel = normal(2, 4, 6, 5), between(0.5, 2, 4)
    for extra in ({}, {"fix_gamma": False}, {"use_global_stats": True}, {"axis": 2}):
        size = channel if extra.get("axis") is None else between(0.5, 2, 6)
        statistics = [size, size * 0.3, size * 0.1, size]
        yield "BatchNorm", Case([image, *statistics], extra)
        yield "_contrib_BatchNormWithReLU", Case([image, *statistics], extra)
    weight = normal(6, 2, 3, 2)
    convolution = _window(num_filter=6, num_group=2, dilate=(1, 2))
    yield "Convolution", Case([image, weight, normal(6)], convolution)
    transposed = _window(num_filter=6, num_group=2)
    yield (
        "Deconvolution",
        Case([image, normal(4, 3, 3, 2), normal(6)], {**transposed, "no_bias": False}),
    )
    last = {"num_filter": 3, "layout": "NHWC", "no_bias": True}
    yield "Convolution", Case([normal(2, 6, 5, 4), normal(3, 3, 2, 4)], _window(**last))
    yield (
        "Convolution",
        Case([normal(2, 3, 7), normal(4, 3, 3), normal(4)], {"kernel": (3,), "num_filter": 4}),
    )
    for kind in ("max", "avg", "sum", "lp"):
        yield "Pooling", Case([distinct(2, 4, 6, 5)], _window(pool_type=kind, p_value=2))
    yield "Pooling", Case([distinct(2, 6, 5, 4)], _window(layout="NHWC", pooling_convention="full"))
    yield (
        "Pooling",
        Case([distinct(2, 4, 6)], {"global_pool": True, "pool_type": "avg", "kernel": (1,)}),
    )
    uncounted = _window(pool_type="avg", count_include_pad=False)
    yield "Pooling", Case([image], uncounted)


def _batch_norm_parts() -> Iterator[tuple[str, Case]]:
    """The parts of BatchNorm, which appear in planned graphs only."""
    image, grad, beta = normal(2, 4, 6, 5), normal(2, 4, 6, 5), normal(4)
    gamma, mean, std, scale = (between(0.5, 2, 4) for _ in range(4))
    flat = {"half": False}
    for extra in ({}, {"fix_gamma": False}, {"use_global_stats": True}):
        yield "_batch_norm_statistics", Case([image, gamma, mean, std], extra, None, flat)
    arrays = [image, gamma, mean, std, beta]
    yield "_batch_norm_statistics", Case(arrays, {"has_bias": True}, None, flat)
    for bounds in ((), (0.0,), (0.0, 1.5)):
        flags = {"bounds": bounds, "fix_gamma": bool(bounds)}
        yield "_batch_norm_sums", Case([grad, image, mean, std, scale, beta], flags, None, flat)
        arrays = [grad, image, mean, scale, beta, beta, gamma]
        yield "_batch_norm_data_gradient", Case(arrays, {"bounds": bounds}, None, flat)


def _batch_norm_residual_sums() -> Iterator[tuple[str, Case]]:
    """The sums with the gradient of a relu behind a sum."""
    left, right, image = (normal(2, 4, 6, 5) for _ in range(3))
    relu = np.maximum(normal(2, 4, 6, 5), 0)
    mean, std, scale = (between(0.5, 2, 4) for _ in range(3))
    for flags in ({}, {"fix_gamma": False}, {"use_global_stats": True}):
        arrays = [left, right, relu, image, mean, std, scale]
        yield "_batch_norm_residual_sums", Case(arrays, flags, None, {"half": False})


def _sums_around_layer_norm() -> Iterator[tuple[str, Case]]:
    """LayerNorm of sums and its gradient, which appear in planned graphs only."""
    data, residual, grad, other, plus = (normal(3, 5) for _ in range(5))
    gamma, beta, mean, std, drawn = normal(5), normal(5), normal(3, 1), between(1, 2, 3, 1), [3, 7]
    for p in (0.0, 0.3):
        yield "_add_layer_norm", Case([data, residual, gamma, beta], {"p": p})
    rows = [gamma, mean, std]
    yield "_layer_norm_backward_sums", Case([grad, data, *rows])
    arrays = [grad, other, data, plus, *rows, np.array(drawn)]
    yield "_layer_norm_backward_sums", Case(arrays, {"two": True, "plus": True, "p": 0.3})


def _small_layers() -> Iterator[tuple[str, Case]]:
    """The same of operators without windows."""
    for kind in ("relu", "sigmoid", "softrelu", "softsign", "tanh"):
        yield "Activation", Case([distinct(3, 4) / 4], {"act_type": kind})
    yield "Dropout", Case([normal(8, 5)], {"p": 0.4})
    yield "Dropout", Case([normal(8, 5)], {"p": 0.4, "axes": (1,)})
    yield "_dropout_keyed", Case([normal(8, 5)], {"p": 0.4})
    rows = {"input_dim": 5, "output_dim": 3}
    yield "Embedding", Case([index([1, 4, 2], [0, 1, 1]), normal(5, 3)], rows)
    yield "LayerNorm", Case([normal(3, 4), normal(4), normal(4)])
    yield "LayerNorm", Case([normal(3, 4, 2), normal(4), normal(4)], {"axis": 1})
    yield "rotary_embedding", Case([normal(2, 2, 3, 4)], {"offset": 2})
    positions, options = np.array([[0, 5, 9], [3, 1, 7]]), {"layout": "NTHC", "dim": 2}
    given = {"use_positions": True, "pairing": "neighbours", **options}
    yield "rotary_embedding", Case([normal(2, 3, 2, 4), positions], given)
    stretched = {"scaling": "dynamic", "factor": 2, "original_max_position_embeddings": 2}
    yield "rotary_embedding", Case([normal(3, 4)], stretched)
    yield "swiglu", Case([normal(3, 4), normal(3, 4)], {"use_value": True})
    yield "swiglu", Case([normal(3, 4, 2)], {"axis": 1})
    yield "_gated", Case([normal(3, 4), normal(3, 4)])
    for form in ("erf", "tanh", "sigmoid"):
        yield "geglu", Case([normal(3, 4)], {"approximation": form})
        yield "geglu", Case([normal(3, 4)] * 2, {"approximation": form, "use_value": True})
    yield "rms_norm", Case([normal(3, 4), normal(4)])
    yield "rms_norm", Case([normal(3, 4, 2), normal(4)], {"axis": 1, "offset": True})
    yield "add_rms_norm", Case([normal(3, 4), normal(3, 4), normal(4)])
    groups = {"num_groups": 2, "output_mean_var": True}
    yield "GroupNorm", Case([normal(3, 4, 5), normal(2), normal(2)], groups)
    yield "InstanceNorm", Case([normal(3, 4, 5), normal(4), normal(4)])
    for kind in ("elu", "gelu", "gelu_tanh", "gelu_sigmoid", "leaky", "rrelu", "selu"):
        yield "LeakyReLU", Case([distinct(3, 4) / 4], {"act_type": kind})
    yield "LeakyReLU", Case([distinct(3, 4) / 4, between(0.1, 0.5, 4)], {"act_type": "prelu"})
    lengths = np.array([2, 4, 1], np.int32)
    yield "softmax", Case([normal(3, 4), lengths], {"use_length": True})
    for name in ("softmax", "log_softmax", "softmin"):
        yield name, Case([normal(3, 4)], {"temperature": 2.0})
        yield name, Case([normal(3, 4, 2)], {"axis": 1})
    yield "SoftmaxOutput", Case([normal(3, 4), index(1, 0, 3)])
    options = {"use_ignore": True, "ignore_label": 0, "normalization": "valid"}
    yield "SoftmaxOutput", Case([normal(3, 4), index(1, 0, 3)], {**options, "smooth_alpha": 0.1})
    multi = {"multi_output": True, "normalization": "batch", "out_grad": True}
    yield "SoftmaxOutput", Case([normal(3, 4, 2), index([1, 0], [3, 2], [0, 0])], multi)


def _fused_layers() -> Iterator[tuple[str, Case]]:
    """Layers with what follows them."""
    window = _window(num_filter=6, num_group=2, with_sum=True, activation="relu")
    arrays = [normal(2, 4, 6, 5), normal(6, 2, 3, 2), normal(6), normal(2, 6, 3, 4)]
    yield "_fused_convolution", Case(arrays, window)
    last = _window(num_filter=3, layout="NHWC", no_bias=True, activation="leaky", alpha=0.1)
    yield "_fused_convolution", Case([normal(2, 6, 5, 4), normal(3, 3, 2, 4)], last)
    rows = [normal(3, 2, 4), normal(5, 8), normal(5), normal(3, 5)]
    for name in ACTIVATIONS:
        attrs = {"num_hidden": 5, "with_sum": True, "activation": name, "alpha": 0.5, "beta": 0.75}
        yield "_fused_dense", Case(rows, attrs)
    vectors = [normal(3), normal(3), normal(3), between(0.5, 2, 3)]
    yield "_fold_batch_norm", Case([normal(3, 2, 2), *vectors], {"no_bias": True})
    folded = [normal(3, 2), normal(3), *vectors]
    yield "_fold_batch_norm", Case(folded, {"fix_gamma": False}, options={"half": False})
    weights = [normal(3, 2, 3, 3), normal(4), normal(2, 5)]
    yield "_cast_weights", Case(weights, {"num_args": 3, "dtype": np.dtype(np.float32)})
    yield "_zeros_like_many", Case(weights, {"num_args": 3, "dtype": np.dtype(np.float16)})


def _recurrent() -> Iterator[tuple[str, Case]]:
    """The same of operators on sequences: 3 steps of 2 samples of 2 features, 3 units."""
    data, length = normal(3, 2, 2), np.array([3, 1], np.int32)
    for mode, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        attrs = {"mode": mode, "state_size": 3, "num_layers": 2, "state_outputs": True}
        one_way = 3 * gates * (2 + 3 + 2) + 3 * gates * (3 + 3 + 2)
        states = [normal(2, 2, 3) for _ in range(1 + (mode == "lstm"))]
        yield "RNN", Case([data, normal(one_way), *states], {**attrs, "p": 0.4})
        both_ways = 2 * 3 * gates * (2 + 3 + 2) + 2 * 3 * gates * (6 + 3 + 2)
        states = [normal(4, 2, 3) for _ in range(1 + (mode == "lstm"))]
        options = {"bidirectional": True, "use_sequence_length": True}
        yield "RNN", Case([data, normal(both_ways), *states, length], {**attrs, **options})
    parts = [normal(3, 2), normal(3, 3), normal(3), normal(3)]
    alone = {"mode": "rnn_tanh", "state_size": 3, "num_layers": 1, "state_outputs": True}
    yield "_fused_rnn", Case([data, normal(1, 2, 3), *parts], alone)
    yield "_reserved_rnn", Case([data, normal(21), normal(1, 2, 3)], {**alone, "reserve": 0})
    saved = [normal(3, 2, 3), data, normal(21), normal(1, 2, 3), normal(3, 2, 3), normal(1)]
    yield "_reserved_rnn_backward", Case(saved, {**alone, "heads": (0,)})
    yield "_rnn_param_pack", Case(parts, {"num_args": 4})
    yield "_rnn_param_unpack", Case([normal(18), *parts[:3]], {"num_args": 3})
    attrs = {"mode": "lstm", "state_size": 3, "num_layers": 1, "projection_size": 2}
    limits = {"lstm_state_clip_min": -0.1, "lstm_state_clip_max": 0.1}
    arrays = [data, normal(3 * 4 * (2 + 2 + 2) + 6), normal(1, 2, 2), normal(1, 2, 3)]
    yield "RNN", Case(arrays, {**attrs, **limits})
    yield "_rnn_param_concat", Case([normal(3), normal(4)], {"dim": 0})
    for cell, gates in (("lstm", 4), ("gru", 3)):
        products = [normal(2, 5 * gates), normal(2, 5 * gates)]
        yield f"_{cell}_step", Case([*products, normal(2, 5)])
    kept = [normal(2, 20), normal(2, 20), normal(2, 5), normal(2, 20), normal(2, 5)]
    yield "_lstm_step_backward", Case([normal(2, 5), normal(2, 5), *kept])
    kept = [normal(2, 15), normal(2, 15), normal(2, 5), normal(2, 20)]
    yield "_gru_step_backward", Case([normal(2, 5), *kept])
    yield "_log_softmax_pick", Case([normal(3, 4), index(1, 0, 3)])
    yield "_log_softmax_pick", Case([normal(3, 4, 2), index([1, 0], [3, 2], [0, 0])], {"axis": 1})
    smoothed: dict[str, Any] = {"ignore_label": 1, "label_smoothing": 0.1, "z_loss": 0.1}
    scores, words = normal(3, 4), index(1, 0, 3)
    yield "cross_entropy", Case([scores, words], smoothed)
    yield "_cross_entropy_backward", Case([normal(3), scores, words], smoothed)
    linear = [scores, normal(5, 4), words, normal(5)]
    for reduction in ("none", "mean"):
        attrs = {**smoothed, "reduction": reduction, "use_bias": True}
        yield "linear_cross_entropy", Case(linear, attrs)
    head, saved = normal(1), [np.array([1]), scores, normal(5, 4), normal(5)]
    yield "_linear_cross_entropy_backward", Case([head, *linear, *saved], attrs)
    attrs["recompute"] = True
    yield "_linear_cross_entropy_backward", Case([head, *linear], attrs)
    three = [normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2)]
    name = "scaled_dot_product_attention"
    yield name, Case(three, {"scale": 0.5})
    optional = [np.ones((3, 5), bool), index(3, 5)]
    used = {"use_mask": True, "use_length": True, "causal": True, "softcap": 2.0}
    yield name, Case([*three, *optional], used)
    hiding = [normal(1, 3, 5), np.array([[3, 0], [2, 5]], np.int32)]
    yield name, Case([*three, *hiding], {"scale": 0.5, **used, "bounded": True})
    saved = [normal(2, 3, 2), normal(2, 3, 1), np.array([3, 7])]
    attrs = {"scale": 0.5, "dropout": 0.3}
    yield f"_{name}_backward", Case([normal(2, 3, 2), *three, *saved], attrs)
    counts = np.array([2, 0, 3], np.int32)
    integers = np.arange(12, dtype=np.int8).reshape(3, 4) - 6
    for scale, size in ((normal(3), None), (normal(3, 2), 2)):
        attrs = {"num_hidden": 3, "group_size": size}
        yield "weight_only_dense", Case([normal(2, 4), integers, scale, normal(3)], attrs)
    yield "_weight_only_dense_backward_data", Case([normal(2, 3), integers, scale])
    parts = [normal(2, 3), normal(2, 4), integers, scale]
    yield "_weight_only_dense_backward_scale", Case(parts)
    yield "_grouped_dense", Case([normal(5, 4), normal(3, 2, 4), counts])
    yield "_grouped_dense", Case([normal(5, 2), normal(3, 2, 4), counts], {"transpose": True})
    yield "_grouped_outer", Case([normal(5, 2), normal(5, 4), counts])
    caches = [normal(2, 2, 6, 4), normal(2, 2, 6, 2), np.array([1, 3])]
    new = [normal(2, 4, 3, 4), normal(2, 2, 3, 4), normal(2, 2, 3, 2)]
    yield "_cached_attention", Case([*new, *caches], {"window": 2})
    rounded = [np.zeros((2, 2, 6, width), np.int8) for width in (4, 2)]
    scales = [np.zeros((2, 2, 6), np.float32) for _ in range(2)]
    attrs = {"use_scales": True, "window": 2}
    yield "_cached_attention", Case([*new, *rounded, caches[2], *scales], attrs)
    hidden = {"use_mask": True, "use_length": True, "shape": (2, 3, 5)}
    yield "_attention_hidden", Case([three[0], *optional], hidden)
    factors = {"p": 0.3, "shape": (4, 5), "dtype": np.dtype(np.float32)}
    yield "_dropout_factors", Case([np.array([3, 7])], factors)
    yield "_npi_repeats", Case([normal(3, 2)], {"repeats": (2, 0, 1), "axis": 0})
    yield "_npi_repeats", Case([normal(2, 2)], {"repeats": (3,), "axis": None})
    yield "_run_sums", Case([normal(2, 4)], {"lengths": (3, 0, 1), "axis": 1})


def _weight_updates() -> Iterator[tuple[str, Case]]:
    """Steps of optimizers: w and h are arrays of a weight's shape, h in 16 bits, 1 is a number."""
    rates = {"lr": 0.1, "wd": 0.2, "clip_gradient": 0.6}
    scalars = {"lr": 0.1, "upper_bound": 0.4}
    for name, roles, attrs in (
        ("_adamw_update", "wwww1", {"eta": 0.7, **rates}),
        ("_mp_adamw_update", "hhwww1", {"eta": 0.7, **rates}),
        ("mp_lamb_update_phase1", "hhwww", {"t": 2, "wd": 0.2}),
        ("lamb_update_phase2", "ww11", scalars),
        ("mp_lamb_update_phase2", "hw11w", scalars),
        ("rmspropalex_update", "wwwww", {**rates, "clip_weights": 0.9}),
    ):
        yield name, Case([_of_weight(role) for role in roles], attrs)
    columns = {"lrs": (0.1, 0.2), "wds": (0.2, 0.0), "etas": (0.7, 1.0), "step_count": (1, 3)}
    every = {**columns, "learning_rates": columns["lrs"], "clip_gradient": 0.6}
    for multi in MULTI_UPDATES:
        narrow = "h" if multi.mixed else "w"
        arrays = [_of_weight(role) for role in 2 * (2 * narrow + "w" * (len(multi.roles) - 2))]
        shared = {0: [], 1: [_of_weight("1")], 2: [between(0.1, 0.2, 2), between(0, 0.2, 2)]}
        known = find_operator(multi.name).schema.attributes
        attrs = {key: value for key, value in every.items() if key in known}
        yield multi.name, Case([*arrays, *shared[multi.shared]], {**attrs, multi.count: 2})


def _of_weight(role: str) -> Any:
    array = between(0.5, 1, 1 if role == "1" else 5)
    return array.astype(np.float16) if role == "h" else array


def _programs() -> Iterator[tuple[str, Case]]:
    """Programs of several operators: max(x y, 0), with the product as well, and with Dropout."""
    product = Instruction(find_operator("broadcast_mul"), (0, 1), {})
    positive = Instruction(find_operator("relu"), (2,), {})
    drop = find_operator("Dropout")
    dropped = Instruction(drop, (3,), {**drop.schema.parse("Dropout", {"p": 0.4}), "train": True})
    for name, instructions, outputs in (
        ("_fused_pointwise", [product, positive], (3,)),
        ("_fused_pointwise_many", [product, positive], (2, 3)),
        ("_fused_pointwise_random", [product, positive, dropped], (4, 5)),
    ):
        attrs = {"program": Program(2, instructions, outputs)}
        yield name, Case([distinct(3, 4) / 4, normal(4)], attrs)


def _branches() -> Iterator[tuple[str, Case]]:
    """Further branches of operators that are in the table of cases."""
    table = distinct(2, 3, 4) / 5
    for attrs in ({"axis": None}, {"axis": (0, 2), "keepdims": True}, {"axis": 1, "exclude": True}):
        for name in ("sum", "mean", "prod", "max", "min", "nansum"):
            yield name, Case([table], attrs)
    yield "norm", Case([table], {"ord": 1, "axis": (0, 1)})
    yield "argmax", Case([table], {"axis": None})
    for kind in ("mask", "indices", "both"):
        yield "topk", Case([table], {"k": 2, "ret_typ": kind, "axis": 1, "is_ascend": True})
    yield "sort", Case([table], {"axis": None, "is_ascend": False})
    for mode in ("wrap", "raise", "clip"):
        yield "take", Case([normal(3, 4), index(2, 0, 2)], {"axis": 1, "mode": mode})
    yield "dot", Case([normal(4, 3), normal(5, 4)], {"transpose_a": True, "transpose_b": True})
    yield "dot", Case([normal(2, 3, 4), normal(4, 2, 3)])
    yield (
        "batch_dot",
        Case([normal(2, 4, 3), normal(2, 5, 4)], {"transpose_a": True, "transpose_b": True}),
    )
    yield "batch_dot", Case([normal(2, 2, 3, 4), normal(2, 2, 4, 5)])
    yield "_linalg_gemm2", Case([normal(3, 2, 4), normal(4, 2, 5)], {"axis": -3})
    yield (
        "FullyConnected",
        Case([normal(2, 3, 4), normal(5, 4)], {"num_hidden": 5, "flatten": False, "no_bias": True}),
    )
    for mode in ("constant", "edge"):
        yield (
            "Pad",
            Case([normal(1, 2, 3, 4)], {"mode": mode, "pad_width": (0, 0, 0, 0, 1, 2, 3, 0)}),
        )
    for name, shape in (
        ("_random_gamma", (50,)),
        ("_random_uniform", (7,)),
        ("_random_normal", (7,)),
    ):
        for dtype in ("float16", "float64"):
            yield name, Case([], {"shape": shape, "dtype": dtype})
    yield "_random_gamma", Case([], {"shape": (50,), "alpha": 0.5})
    for name in ("_npi_hypot_scalar", "_npi_maximum_scalar", "_npi_minimum_scalar"):
        yield name, Case([distinct(3, 4)], {"scalar": 2.5, "is_int": False})
    yield from _arithmetic_of_numpy()
    yield from _functions_of_mxnet2()
    for dtype in ("int32", "uint8", "bool", "float16", "bfloat16"):
        yield "Cast", Case([distinct(3, 4)], {"dtype": dtype})


def _functions_of_mxnet2() -> Iterator[tuple[str, Case]]:
    """Operators of MXNet 2.0's functions, and those behind its distributions."""
    shape = np.array([0.5, 1.5, 4.0], np.float32)
    share = np.array([0.2, 0.5, 0.7], np.float32)
    for name in ("_betainc", "_betainc_slopes", "_betaincinv"):
        yield name, Case([shape, shape[::-1].copy(), share])
    for name in ("_gammainc", "_gammainc_slopes", "_gamma_sample_slope"):
        yield name, Case([shape, shape[::-1].copy()])
    yield "_gammaincinv", Case([shape, share])
    for name in ("_draw_gamma", "_draw_poisson"):
        yield name, Case([shape], {"size": (2, 3)})
    for name in ("_draw_binomial", "_draw_negative_binomial"):
        yield name, Case([np.array([3.0, 5.0, 9.0], np.float32), share], {"size": (2, 3)})
    yield "_npi_cumprod", Case([distinct(3, 4)], {"axis": 1})
    yield "_cumprod_backward", Case([distinct(3, 4), distinct(3, 4) + 1], {"axis": 1})
    yield "_npi_triu", Case([distinct(3, 4)], {"k": 1})
    flags = np.array([[0.0, 1.0], [2.0, 0.0]], np.float32)
    for name in ("and", "or", "xor"):
        yield f"_npi_logical_{name}", Case([flags, flags.T.copy()])
        yield f"_npi_logical_{name}_scalar", Case([flags], {"scalar": 1.0, "is_int": True})
    bytes_ = np.arange(-6, 6, dtype=np.int8).reshape(3, 4)
    low, high = np.array([-1.0], np.float32), np.array([1.0], np.float32)
    yield "_npx_quantized_reshape", Case([bytes_, low, high], {"newshape": (4, 3)})
    yield "_npx_quantized_transpose", Case([bytes_, low, high], {"axes": (1, 0)})
    yield "_contrib_intgemm_maxabsolute", Case([distinct(3, 4)])
    yield "_contrib_intgemm_prepare_data", Case([distinct(3, 64), np.array([9.0], np.float32)])
    weight = np.arange(-256, 256, dtype=np.float32).reshape(8, 64)
    yield "_contrib_intgemm_prepare_weight", Case([weight, np.array([256.0], np.float32)])
    stored = (np.arange(512) % 255 - 127).astype(np.int8).reshape(8, 64)
    yield (
        "_contrib_intgemm_take_weight",
        Case([stored, np.array([7, 0, 3, 3, 1, 2, 4, 5], np.int32)]),
    )
    yield (
        "_contrib_intgemm_fully_connected",
        Case([stored[:3], stored], {"num_hidden": 8, "no_bias": True, "out_type": "int32"}),
    )


def _arithmetic_of_numpy() -> Iterator[tuple[str, Case]]:
    """Functions of two arrays that MXNet 1.9 has no golden cases of."""
    whole = np.arange(12, dtype=np.int32).reshape(3, 4)
    for operands, names, reversed_names in (
        ([distinct(3, 4), distinct(3, 4)], ("floor_divide", "fmod"), ("rfloor_divide", "rfmod")),
        ([distinct(3, 4), distinct(3, 4)], ("fmax", "fmin", "logaddexp"), ()),
        (
            [whole, whole[::-1].copy()],
            ("gcd", "bitwise_left_shift", "bitwise_right_shift"),
            ("rbitwise_left_shift", "rbitwise_right_shift"),
        ),
    ):
        number = {"scalar": 3.0, "is_int": True}
        for name in names:
            yield f"_npi_{name}", Case(operands)
        for name in (*names, *reversed_names):
            yield f"_npi_{name}_scalar", Case(operands[:1], number)


def _sparse() -> Iterator[tuple[str, Case]]:
    """Parts of sparse arrays: rows, and a CSR matrix (3, 4) with an empty row and a pair."""
    rows = np.array([3, 0], np.int64)
    yield "_sparse_rows_to_dense", Case([normal(2, 3), rows], {"shape": (5, 3)})
    yield "_sparse_rows_to_dense", Case([normal(0, 3), rows[:0]], {"shape": (5, 3)})
    matrix = [normal(4), np.array([3, 0, 2, 2]), np.array([0, 2, 2, 4])]
    empty = [normal(0), matrix[1][:0], np.zeros(4, np.int64)]
    for parts in (matrix, empty):
        yield "_sparse_csr_to_dense", Case(parts, {"shape": (3, 4)})
        yield "_sparse_csr_dot", Case([*parts, normal(4, 2)], {"transpose": False, "rows": 3})
        yield "_sparse_csr_dot", Case([*parts, normal(3)], {"transpose": True, "rows": 4})
        for axis, count in ((0, 4), (1, 3)):
            yield "_sparse_csr_sums", Case(parts, {"axis": axis, "count": count})
    yield "reset_arrays", Case([normal(2, 3), index(1, 2).astype(np.float16)])


def _bytes() -> Iterator[tuple[str, Case]]:
    """Layers on bytes, what they are made with, and pictures of bytes."""
    random = np.random.default_rng(8)

    def drawn(*shape: int, kind: str = "int8") -> Any:
        limits = np.iinfo(kind)
        return random.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)

    low, high, one = (np.array([x], np.float32) for x in (-2.0, 2.0, 0.5))
    image, picture = drawn(2, 4, 6, 5), drawn(2, 3, 2, 4)
    vectors = [between(0.001, 0.01, 6), normal(6), one]
    window = _window(num_filter=6, num_group=2)
    convolution = [image, drawn(6, 2, 3, 2), *vectors]
    yield "_int8_convolution", Case(convolution, window)
    fused = {**window, "with_sum": True, "activation": "relu", "out_type": "int8"}
    yield "_int8_convolution", Case([*convolution, drawn(2, 6, 3, 4)], fused)
    dense = [drawn(3, 8, kind="uint8"), drawn(6, 8), *vectors]
    yield "_int8_dense", Case(dense, {"num_hidden": 6, "out_type": "uint8"})
    for kind in ("max", "avg"):
        yield "_int8_pooling", Case([image], _window(pool_type=kind))
        yield "_int8_pooling", Case([drawn(2, 4, 6, 5, kind="uint8")], _window(pool_type=kind))
    yield "_int8_weight", Case([normal(6, 2, 3)], {})
    yield "_int8_weight", Case([normal(6, 2, 3)], {"channel_wise": False})
    yield "_int8_range", Case([], {"low": -1.0, "high": 3.0})
    yield "_int8_quantize", Case([normal(2, 3), one * 100], {"out_type": "int8"})
    given = {"channels": 6, "data_type": "int8", "with_bias": True}
    yield "_int8_scales", Case([low, high, between(0.01, 0.1, 6), normal(6)], given)
    yield "_contrib_dequantize", Case([picture, low, high], {})
    yield "_contrib_quantized_act", Case([picture, low, high], {"act_type": "relu"})
    yield "_contrib_quantized_elemwise_add", Case([picture, picture, low, high, low, high], {})
    joined = [picture, picture, low, low, high, high]
    yield "_contrib_quantized_concat", Case(joined, {"num_args": 2, "dim": 1})


def _golden() -> Iterator[tuple[str, Case]]:
    """The first cases of the golden tables for each operator, in the types that they have there."""
    counts: dict[str, int] = {}
    for path in sorted(_GOLDEN.glob("*.py")):
        for case in load_cases(path):
            counts[case.op] = counts.get(case.op, 0) + (not case.invalid)
            if not (case.invalid or case.mxnet_rules) and counts[case.op] <= _GOLDEN_CASES:
                yield case.op, Case(case.arrays(), case.attrs, None, {"half": False})


def _variants(call: Call) -> Iterator[Call]:
    """Yield the call with its floats narrowed, and with whole numbers where they are taken."""
    floats = [x for x in call.inputs if x.dtype == np.float32]
    if not floats or call.op.mutates:
        return
    kinds = _HALVES if not (call.op.elementwise or call.op.name in _INTEGRAL) else _HALVES + _WHOLE
    for kind in kinds:
        with np.errstate(all="ignore"):
            inputs = [x.astype(kind) if x.dtype == np.float32 else x for x in call.inputs]
            narrowed = call._replace(inputs=inputs)
            try:
                narrowed.run()
            except OperatorError:
                continue
        yield narrowed


_INTEGRAL = (
    *("sum", "mean", "prod", "max", "min", "take", "_take_add", "pick", "_add_along", "gather_nd"),
    *("_backward_gather_nd", "argmax", "argmin", "topk", "sort", "argsort", "one_hot", "where"),
    *("Concat", "stack", "add_n", "Embedding", "_embedding_backward", "clip", "norm"),
    *("broadcast_div", "broadcast_mod", "broadcast_power", "broadcast_add", "broadcast_hypot"),
)


def calls() -> dict[str, list[Call]]:
    """Return calls of every operator by its name."""
    found: dict[str, list[Call]] = {}
    seen: set[str] = set()
    cases = [
        *CASES.items(),
        *_layers(),
        *_batch_norm_parts(),
        *_batch_norm_residual_sums(),
        *_sums_around_layer_norm(),
        *_small_layers(),
        *_fused_layers(),
        *_recurrent(),
        *_weight_updates(),
        *_programs(),
        *_branches(),
        *_sparse(),
        *((name, case._replace(options={"half": False})) for name, case in _bytes()),
        *_golden(),
    ]
    for name, case in cases:
        first = _call(name, case.inputs, case.attrs)
        made = [first, *_gradient_calls(first)]
        made += [second for call in made for second in _gradient_calls(call)]
        for call in made:
            shapes = [(x.shape, x.dtype) for x in call.inputs]
            key = repr((call.op.name, shapes, sorted(call.attrs.items(), key=str)))
            if key not in seen:
                seen.add(key)
                variants = _variants(call) if case.options.get("half", True) else ()
                found.setdefault(call.op.name, []).extend((call, *variants))
    return found


_calls: dict[str, list[Call]] = {}


def calls_of(name: str) -> list[Call]:
    """Return the calls of one operator; all are made at the first question."""
    if not _calls:
        _calls.update(calls())
    return _calls.get(name, [])
