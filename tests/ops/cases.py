"""One row an operator for check_operator; test_registry runs them all."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """Inputs, attributes and expectation of one operator, and what of the check to leave out."""

    inputs: list[Any]
    attrs: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    expected: Callable[..., Any] | Any = None
    options: dict[str, Any] = {}  # noqa: RUF012 (never changed)


_random = np.random.default_rng(5)

FORWARD_ONLY = {"differentiable": False}
FIRST_ORDER = {"second_order": False}
EXACT_DTYPE = {"differentiable": False, "half": False}


def normal(*shape: int) -> Any:
    return _random.standard_normal(shape).astype(np.float32)


def between(low: float, high: float, *shape: int) -> Any:
    return _random.uniform(low, high, shape).astype(np.float32)


def distinct(*shape: int) -> Any:
    """Values far enough apart that a small step changes no order and crosses no whole number."""
    values = _random.permutation(math.prod(shape)) - math.prod(shape) / 2 + 0.3
    return values.reshape(shape).astype(np.float32)


def index(*values: Any) -> Any:
    return np.array(values, dtype=np.float32)


def vectorized(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: np.vectorize(function, otypes=[np.float64])(x.astype(np.float64))


def _unary() -> dict[str, Case]:
    real: dict[str, tuple[Any, Callable[[Any], Any]]] = {
        "abs": (distinct(3, 4), np.abs),
        "arccos": (between(-0.8, 0.8, 3, 4), np.arccos),
        "arccosh": (between(1.5, 3, 3, 4), np.arccosh),
        "arcsin": (between(-0.8, 0.8, 3, 4), np.arcsin),
        "arcsinh": (normal(3, 4), np.arcsinh),
        "arctan": (normal(3, 4), np.arctan),
        "arctanh": (between(-0.8, 0.8, 3, 4), np.arctanh),
        "cbrt": (between(0.5, 3, 3, 4), np.cbrt),
        "ceil": (distinct(3, 4), np.ceil),
        "cos": (normal(3, 4), np.cos),
        "cosh": (normal(3, 4), np.cosh),
        "degrees": (normal(3, 4), np.degrees),
        "erf": (normal(3, 4) * 2, vectorized(math.erf)),
        "exp": (normal(3, 4), np.exp),
        "expm1": (normal(3, 4), np.expm1),
        "fix": (distinct(3, 4), np.trunc),
        "floor": (distinct(3, 4), np.floor),
        "gamma": (between(0.5, 4, 3, 4), vectorized(math.gamma)),
        "gammaln": (between(0.5, 4, 3, 4), vectorized(math.lgamma)),
        "log": (between(0.5, 4, 3, 4), np.log),
        "log10": (between(0.5, 4, 3, 4), np.log10),
        "log1p": (between(0.5, 4, 3, 4), np.log1p),
        "log2": (between(0.5, 4, 3, 4), np.log2),
        "log_sigmoid": (normal(3, 4), lambda x: -np.log1p(np.exp(-x))),
        "logical_not": (index(0.0, 1.5, -2.0), lambda x: x == 0),
        "mish": (normal(3, 4), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
        "negative": (normal(3, 4), np.negative),
        "radians": (normal(3, 4) * 50, np.radians),
        "rcbrt": (between(0.5, 3, 3, 4), lambda x: 1 / np.cbrt(x)),
        "reciprocal": (between(0.5, 3, 3, 4), lambda x: 1 / x),
        "relu": (distinct(3, 4), lambda x: np.maximum(x, 0)),
        "rint": (distinct(3, 4), np.rint),
        "round": (distinct(3, 4), np.round),
        "rsqrt": (between(0.5, 3, 3, 4), lambda x: 1 / np.sqrt(x)),
        "sigmoid": (normal(3, 4), lambda x: 1 / (1 + np.exp(-x))),
        "sign": (distinct(3, 4), np.sign),
        "sin": (normal(3, 4), np.sin),
        "sinh": (normal(3, 4), np.sinh),
        "softsign": (distinct(3, 4), lambda x: x / (1 + np.abs(x))),
        "_softplus": (normal(3, 4), lambda x: np.log1p(np.exp(x))),
        "sqrt": (between(0.5, 3, 3, 4), np.sqrt),
        "square": (normal(3, 4), np.square),
        "tan": (between(-1, 1, 3, 4), np.tan),
        "tanh": (normal(3, 4), np.tanh),
        "trunc": (distinct(3, 4), np.trunc),
    }
    cases = {name: Case([x], {}, f) for name, (x, f) in real.items()}
    # 180 / pi of a 16-bit rounding is more than the tolerance of results near 1.
    cases["degrees"].options["half_tolerance"] = 1.0
    cases["erfinv"] = Case([between(-0.9, 0.9, 3, 4)])
    cases["digamma"] = Case([between(0.5, 4, 3, 4)], options={"second_order": False})
    cases["_trigamma"] = Case([between(0.5, 4, 3, 4)], options=FORWARD_ONLY)
    return cases


def _binary() -> dict[str, Case]:
    a, b = distinct(3, 4), distinct(3, 4) * 0.7
    p, q = between(0.5, 2, 3, 4), between(0.5, 2, 3, 4)
    rows: list[tuple[str, str, str, Any, Any, Callable[[Any, Any], Any]]] = [
        ("add", "elemwise_add broadcast_add", "_plus_scalar", a, b, np.add),
        ("sub", "elemwise_sub broadcast_sub", "_minus_scalar _rminus_scalar", a, b, np.subtract),
        ("mul", "elemwise_mul broadcast_mul", "_mul_scalar", a, b, np.multiply),
        ("div", "elemwise_div broadcast_div", "_div_scalar _rdiv_scalar", p, q, np.divide),
        ("mod", "_mod broadcast_mod", "_mod_scalar _rmod_scalar", a, b, np.mod),
        ("power", "_power broadcast_power", "_power_scalar _rpower_scalar", p, q, np.power),
        ("maximum", "_maximum broadcast_maximum", "_maximum_scalar", a, b, np.maximum),
        ("minimum", "_minimum broadcast_minimum", "_minimum_scalar", a, b, np.minimum),
        ("hypot", "_hypot broadcast_hypot", "_hypot_scalar", p, q, np.hypot),
        ("equal", "_equal broadcast_equal", "_equal_scalar", a, b, np.equal),
        ("ne", "_not_equal broadcast_not_equal", "_not_equal_scalar", a, b, np.not_equal),
        ("greater", "_greater broadcast_greater", "_greater_scalar", a, b, np.greater),
        (
            "ge",
            "_greater_equal broadcast_greater_equal",
            "_greater_equal_scalar",
            a,
            b,
            np.greater_equal,
        ),
        ("lesser", "_lesser broadcast_lesser", "_lesser_scalar", a, b, np.less),
        ("le", "_lesser_equal broadcast_lesser_equal", "_lesser_equal_scalar", a, b, np.less_equal),
        ("and", "_logical_and broadcast_logical_and", "_logical_and_scalar", a, b, np.logical_and),
        ("or", "_logical_or broadcast_logical_or", "_logical_or_scalar", a, b, np.logical_or),
        ("xor", "_logical_xor broadcast_logical_xor", "_logical_xor_scalar", a, b, np.logical_xor),
    ]
    cases = {}
    for _, pairs, scalars, x, y, function in rows:
        same, broadcast = pairs.split()
        # A quotient next to a whole number would jump between 16 and 64 bits.
        options = {"half": "mod" not in same}
        cases[same] = Case([x, y], {}, function, options)
        cases[broadcast] = Case([x, y[:1]], {}, function, options)
        for name in scalars.split():
            reverse = name.startswith("_r")
            cases[name] = Case(
                [x],
                {"scalar": 1.6},
                (lambda v, f=function: f(1.6, v)) if reverse else (lambda v, f=function: f(v, 1.6)),
                options,
            )
    return cases


def _shapes() -> dict[str, Case]:
    x = normal(2, 3, 4)
    empty = {"zero_size": [np.zeros((0, 3, 4), np.float32)]}
    return {
        "Reshape": Case([x], {"shape": (0, -3)}, lambda v: v.reshape(2, 12), empty),
        "_reshape_exact": Case([x], {"shape": (4, 6)}, lambda v: v.reshape(4, 6)),
        "Flatten": Case([x], {}, lambda v: v.reshape(2, 12), empty),
        "reshape_like": Case([x, normal(6, 4)], {}, lambda v, w: v.reshape(6, 4)),
        "_sample_weight": Case([x[0, :, 0], x], {"batch_axis": 1}, lambda v, w: v[None, :, None]),
        "expand_dims": Case([x], {"axis": 1}, lambda v: v[:, None], empty),
        "squeeze": Case([x[:1]], {"axis": (0,)}, lambda v: v[0]),
        "transpose": Case([x], {"axes": (2, 0, 1)}, lambda v: v.transpose(2, 0, 1), empty),
        "SwapAxis": Case([x], {"dim1": 0, "dim2": 2}, lambda v: v.swapaxes(0, 2), empty),
        "broadcast_to": Case([x[:1]], {"shape": (5, 0, 4)}, lambda v: np.repeat(v, 5, 0)),
        "_sum_to_shape": Case([x], {"shape": (3, 1)}, lambda v: v.sum((0, 2))[:, None]),
        "broadcast_axis": Case(
            [x[:, :1]], {"axis": (1,), "size": (5,)}, lambda v: np.repeat(v, 5, 1)
        ),
        "broadcast_like": Case([x[:1], normal(5, 3, 4)], {}, lambda v, w: np.repeat(v, 5, 0)),
        "tile": Case([x], {"reps": (2, 1, 3)}, lambda v: np.tile(v, (2, 1, 3))),
        "repeat": Case([x], {"repeats": 3, "axis": 1}, lambda v: np.repeat(v, 3, 1)),
        "reverse": Case([x], {"axis": (0, 2)}, lambda v: v[::-1, :, ::-1], empty),
        "Pad": Case(
            [normal(1, 2, 3, 4)],
            {"mode": "reflect", "pad_width": (0, 0, 0, 0, 1, 2, 3, 0)},
            lambda v: np.pad(v, ((0, 0), (0, 0), (1, 2), (3, 0)), "reflect"),
        ),
        "_unpad": Case(
            [normal(2, 7)], {"shape": (2, 4), "mode": "edge", "pad_width": (0, 0, 1, 2)}
        ),
        "Concat": Case([x, normal(2, 1, 4)], {"dim": 1}, lambda *v: np.concatenate(v, 1)),
        "stack": Case([x, normal(2, 3, 4)], {"axis": 1}, lambda *v: np.stack(v, 1)),
        "SliceChannel": Case([x], {"num_outputs": 3}, lambda v: np.split(v, 3, 1)),
        "_split_v2": Case([x], {"indices": (0, 1), "axis": 2}, lambda v: [v[..., :1], v[..., 1:]]),
        "add_n": Case([x, normal(2, 3, 4), normal(2, 3, 4)], {}, lambda *v: sum(v)),
        "Cast": Case([x], {"dtype": "float64"}, lambda v: v, empty),
        "zeros_like": Case([x], {}, np.zeros_like),
        "ones_like": Case([x], {}, np.ones_like),
        "_copy": Case([x], {}, lambda v: v),
        "BlockGrad": Case([x], {}, lambda v: v),
        "make_loss": Case([x], {}, lambda v: v, FORWARD_ONLY),
        "MakeLoss": Case([x], {"grad_scale": 2.0}, lambda v: v, FORWARD_ONLY),
    }


def _products_and_reductions() -> dict[str, Case]:
    x = distinct(2, 3, 4) / 5
    a, b = normal(2, 3, 4), normal(2, 4, 5)
    none = {"zero_size": [np.zeros((0, 4), np.float32), np.zeros((4, 5), np.float32)]}
    return {
        "FullyConnected": Case(
            [normal(3, 4), normal(5, 4), normal(5)],
            {"num_hidden": 5},
            lambda x, w, b: x @ w.T + b,
        ),
        "_fully_connected_backward_weight_bias": Case(
            [normal(4, 3), normal(4, 5)], {}, lambda g, v: [g.T @ v, g.sum(0)]
        ),
        "dot": Case([normal(3, 4), normal(4, 5)], {}, np.dot, none),
        "_wide_dot": Case([normal(3, 4), normal(4, 5)], {}, np.dot, none),
        "batch_dot": Case([a, b], {}, np.matmul),
        "_linalg_gemm2": Case([a, b], {"alpha": 2.0}, lambda x, y: 2 * np.matmul(x, y)),
        "sum": Case([x], {"axis": 1}, lambda v: v.sum(1), {"zero_size": [x[:0]]}),
        "mean": Case([x], {"axis": (0, 2)}, lambda v: v.mean((0, 2))),
        "prod": Case([x], {"axis": 1}, lambda v: v.prod(1)),
        "nansum": Case([x], {"axis": 1}, lambda v: np.nansum(v, 1)),
        "nanprod": Case([x], {"axis": 1}, lambda v: np.nanprod(v, 1)),
        "_others_times": Case(
            [np.ones((2, 1, 4), np.float32), x, x.prod(1, keepdims=True)],
            {"axis": (1,)},
            lambda g, v, y: y / v,
            FORWARD_ONLY,
        ),
        "max": Case([x], {"axis": 1}, lambda v: v.max(1)),
        "min": Case([x], {"axis": 1, "keepdims": True}, lambda v: v.min(1, keepdims=True)),
        "norm": Case([x], {"axis": 1}, lambda v: np.sqrt((v * v).sum(1))),
        "argmax": Case([x], {"axis": 1}, lambda v: v.argmax(1)),
        "argmin": Case([x], {"axis": 1}, lambda v: v.argmin(1)),
        "argmax_channel": Case([x], {}, lambda v: v.argmax(1)),
        "topk": Case(
            [x],
            {"k": 2, "ret_typ": "value", "axis": 1},
            lambda v: np.sort(v, 1)[:, ::-1][:, :2],
        ),
        "sort": Case([x], {"axis": 1}, lambda v: np.sort(v, 1)),
        "argsort": Case([x], {"axis": 1}, lambda v: np.argsort(v, 1)),
        "UpSampling": Case(
            [normal(2, 3, 2, 4), normal(2, 1, 4, 8)],
            {"scale": 4, "sample_type": "nearest"},
            lambda x, y: np.concatenate(
                [x.repeat(4, 2).repeat(4, 3), y.repeat(2, 2).repeat(2, 3)], axis=1
            ),
        ),
        "LRN": Case(
            [normal(2, 5, 2, 3)],
            {"nsize": 3, "alpha": 0.3, "beta": 0.6, "knorm": 1.5},
            _local_response,
        ),
        "L2Normalization": Case(
            [normal(2, 3, 4)],
            {"mode": "channel"},
            lambda v: v / np.sqrt((v * v).sum(1, keepdims=True)),
        ),
        "clip": Case([distinct(3, 4)], {"a_min": -2, "a_max": 3}, lambda v: np.clip(v, -2, 3)),
        **_kinks(),
        "_clip_backward": Case(
            [distinct(3, 4), distinct(3, 4)],
            {"a_min": -2, "a_max": 3},
            lambda g, v: np.where((v < -2) | (v > 3), 0, g),
        ),
        "hard_sigmoid": Case([distinct(3, 4)], {}, lambda v: np.clip(0.2 * v + 0.5, 0, 1)),
        "smooth_l1": Case(
            [between(-2, 2, 3, 4)],
            {"scalar": 1.5},
            lambda v: np.where(np.abs(v) < 1 / 2.25, 0.5 * 2.25 * v * v, np.abs(v) - 0.5 / 2.25),
        ),
    }


def _kinks() -> dict[str, Case]:
    """Gradients that are 0 at kinks, away from them."""
    g, a, b = normal(3, 4), between(0.5, 2, 3, 4), between(0.5, 2, 3, 4)
    whole = np.floor(distinct(3, 4)) + 0.5  # over 1: no quotient is near a whole number
    one = np.ones((3, 4), np.float32)
    return {
        "_over_root": Case([g, b], {}, np.divide),
        "_times_over_root": Case([g, a, b], {}, lambda g, x, root: g * x / root),
        "_over_square": Case([g, a, b], {}, lambda x, a, b: x / (a * a + b * b)),
        "_mod_backward_rhs": Case([g, whole, one], {}, lambda g, a, b: -g * np.floor(a / b)),
        "_power_backward_lhs": Case(
            [g, a, b + 4, a ** (b + 3)], {}, lambda g, a, b, power: g * b * power, FORWARD_ONLY
        ),
        "_power_backward_rhs": Case(
            [g, a, b, a**b], {}, lambda g, a, b, y: g * y * np.log(a), FORWARD_ONLY
        ),
        "_flat_power": Case([a], {"scalar": 1.5}, lambda x: x**1.5),
    }


def _indexing() -> dict[str, Case]:
    x = normal(3, 4)
    region = {"begin": (2, None), "end": (0, 3), "step": (-1, 2)}
    lengths = index(1, 3)
    steps = normal(3, 2, 2)
    mask = np.arange(3)[:, None, None] < np.array([1, 3])[None, :, None]
    used = {"use_sequence_length": True}
    return {
        "take": Case([x, index([2, 0], [2, 1])], {}, lambda v, i: v[i.astype(int)]),
        "_take_add": Case([normal(2, 4), index(2, 2)], {"shape": (3, 4), "axis": 0}),
        "pick": Case([x, index(3, 0, 1)], {}, lambda v, i: v[range(3), i.astype(int)]),
        "batch_take": Case([x, index(3, 0, 1)], {}, lambda v, i: v[range(3), i.astype(int)]),
        "_take_along": Case(
            [x, index([3, 0], [1, 1], [2, 0])],
            {"axis": 1},
            lambda v, i: np.take_along_axis(v, i.astype(int), 1),
        ),
        "_add_along": Case(
            [normal(3, 2), index([3, 0], [1, 2], [2, 0])], {"shape": (3, 4), "axis": 1}
        ),
        "one_hot": Case([index(1, 3, 0)], {"depth": 3}, [[[0, 1, 0], [0, 0, 0], [1, 0, 0]]]),
        "gather_nd": Case(
            [x, index([0, 2, 0], [1, 3, 1])], {}, lambda v, i: v[[0, 2, 0], [1, 3, 1]]
        ),
        "scatter_nd": Case([normal(2), index([0, 2], [1, 3])], {"shape": (3, 4)}),
        "_backward_gather_nd": Case([normal(3), index([0, 2, 0], [1, 3, 1])], {"shape": (3, 4)}),
        "slice": Case([x], region, lambda v: v[2:0:-1, :3:2]),
        "_slice_put": Case([normal(2, 2)], {"shape": (3, 4), **region}),
        "slice_axis": Case([x], {"axis": 1, "begin": 1, "end": -1}, lambda v: v[:, 1:-1]),
        "slice_like": Case([x, normal(2, 3)], {}, lambda v, w: v[:2, :3]),
        "_slice_assign": Case([x, normal(2, 2)], region),
        "_slice_assign_scalar": Case([x], {"scalar": 7.0, **region}),
        "where": Case(
            [index(1, 0, 2), x, normal(3, 4)], {}, lambda c, v, w: np.where(c[:, None], v, w)
        ),
        "SequenceMask": Case(
            [steps, lengths], {"value": -1.0, **used}, lambda v, n: np.where(mask, v, -1)
        ),
        "SequenceLast": Case([steps, lengths], used, lambda v, n: v[[0, 2], [0, 1]]),
        "_sequence_put_last": Case([normal(2, 2), lengths], {"shape": (3, 2, 2), **used}),
        "SequenceReverse": Case(
            [steps, lengths],
            used,
            lambda v, n: np.stack([v[:, 0], v[::-1, 1]], 1),
        ),
    }


def _creation() -> dict[str, Case]:
    return {
        "_zeros": Case([], {"shape": (2, 3)}, [np.zeros((2, 3))], EXACT_DTYPE),
        "_ones": Case([], {"shape": (2, 3)}, [np.ones((2, 3))], EXACT_DTYPE),
        "_full": Case([], {"shape": (2,), "value": 2.7, "dtype": "int32"}, [[2, 2]], EXACT_DTYPE),
        "_arange": Case(
            [], {"start": 0, "stop": 5, "step": 2, "repeat": 2}, [[0, 0, 2, 2, 4, 4]], EXACT_DTYPE
        ),
        "_linspace": Case(
            [], {"start": 0, "stop": 1, "num": 5}, [[0, 0.25, 0.5, 0.75, 1]], EXACT_DTYPE
        ),
        "_eye": Case([], {"N": 2, "M": 3, "k": 1}, [[[0, 1, 0], [0, 0, 1]]], EXACT_DTYPE),
    }


def _random_cases() -> dict[str, Case]:
    cases = {
        name: Case([], {"shape": (3, 4)}, options=EXACT_DTYPE)
        for name in ("_random_uniform", "_random_normal", "_random_gamma", "_random_exponential")
    }
    cases |= {f"{name}_like": Case([normal(3, 4)], options=EXACT_DTYPE) for name in tuple(cases)}
    cases["_random_randint"] = Case([], {"low": 0, "high": 5, "shape": (3,)}, options=EXACT_DTYPE)
    cases["_sample_multinomial"] = Case(
        [between(0.5, 1, 2, 3)],
        {"shape": 4, "get_prob": True, "dtype": "float32"},
        options={"half": False},
    )
    cases["_shuffle"] = Case([normal(5, 2)], options=EXACT_DTYPE)
    return cases


def _updates() -> dict[str, Case]:
    def case(roles: str, attrs: dict[str, Any]) -> Case:
        kinds = {"w": np.float32, "h": np.float16}
        inputs = [np.abs(normal(4)).astype(kinds[role]) for role in roles]
        return Case(inputs, {"rescale_grad": 0.5, **attrs}, options=EXACT_DTYPE)

    one, many = {"lr": 0.1, "wd": 0.01}, {"lrs": (0.1, 0.2), "wds": (0.01, 0.0), "num_weights": 2}
    return {
        "sgd_update": case("ww", one),
        "sgd_mom_update": case("www", {"momentum": 0.9, **one}),
        "mp_sgd_update": case("hhw", one),
        "mp_sgd_mom_update": case("hhww", {"momentum": 0.9, **one}),
        "nag_mom_update": case("www", {"momentum": 0.9, **one}),
        "mp_nag_mom_update": case("hhww", {"momentum": 0.9, **one}),
        "adam_update": case("wwww", one),
        "multi_sgd_update": case("wwww", many),
        "multi_sgd_mom_update": case("wwwwww", {"momentum": 0.9, **many}),
        "multi_mp_sgd_update": case("hhwhhw", many),
        "multi_mp_sgd_mom_update": case("hhwwhhww", {"momentum": 0.9, **many}),
        "rmsprop_update": case("www", one),
        "lamb_update_phase1": case("wwww", {"t": 2, "wd": 0.01}),
        "_multi_adagrad_update": case("wwwwww", many),
    }


def _local_response(x: Any) -> Any:
    squares = np.pad(x.astype(np.float64) ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    around = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    return x / (1.5 + 0.3 / 3 * around) ** 0.6


def _normalized(x: Any, rows: int, gamma: Any, beta: Any, eps: float) -> Any:
    values = x.reshape(len(x), rows, -1)
    centred = values - values.mean(2, keepdims=True)
    scaled = centred / np.sqrt(values.var(2, keepdims=True) + eps)
    return (scaled * gamma[:, None] + beta[:, None]).reshape(x.shape)


def _transposed(x: Any, w: Any, b: Any) -> Any:
    """Deconvolution of (N, C, W) with kernel 3, stride 2, pad 1 and adj 1."""
    out = np.zeros((len(x), w.shape[1], 2 * x.shape[2] + 2))
    for i in range(x.shape[2]):
        out[:, :, 2 * i : 2 * i + 3] += np.einsum("nc,cfk->nfk", x[:, :, i], w)
    return out[:, :, 1 : 1 + 2 * x.shape[2]] + b[:, None]


def _attention(q: Any, k: Any, v: Any) -> Any:
    weights = np.exp(0.5 * q.astype(np.float64) @ k.swapaxes(-1, -2))
    return weights / weights.sum(-1, keepdims=True) @ v


def smoothed_cross_entropy(
    scores: Any, label: Any, smoothing: float, square: float, ignored: float
) -> Any:
    """Cross entropy of each row in float64, from logarithms of probabilities."""
    x = scores.astype(np.float64)
    log_sum = np.log(np.exp(x).sum(-1, keepdims=True))
    logs = x - log_sum
    keep = label != ignored
    target = np.eye(x.shape[-1])[np.where(keep, label, 0).astype(int)] * (1 - smoothing)
    loss = -(logs * (target + smoothing / x.shape[-1])).sum(-1) + square * log_sum[..., 0] ** 2
    return loss * keep


def _layers() -> dict[str, Case]:
    x, two, four = normal(2, 4, 3, 2), between(0.5, 2, 2), between(0.5, 2, 4)
    loose = {"half_tolerance": 5e-2}
    statistics = [between(0.5, 2, 4), normal(4), normal(4), between(0.5, 2, 4)]
    queries, keys, values = normal(2, 2, 3, 4), normal(2, 2, 5, 4), normal(2, 2, 5, 3)
    return {
        "cross_entropy": Case(
            [normal(2, 3, 4), index([0, 3, 1], [2, 9, 0])],
            {"label_smoothing": 0.1, "z_loss": 0.1, "ignore_label": 9},
            lambda x, y: smoothed_cross_entropy(x, y, 0.1, 0.1, 9),
            {"wrt": (0,), "zero_size": [normal(0, 4), index()]},
        ),
        "linear_cross_entropy": Case(
            [normal(2, 3, 4), normal(5, 4), index([0, 4, 1], [2, 9, 0]), normal(5)],
            {"label_smoothing": 0.1, "z_loss": 0.1, "ignore_label": 9, "use_bias": True},
            lambda x, w, y, b: smoothed_cross_entropy(x @ w.T + b, y, 0.1, 0.1, 9),
            {"wrt": (0, 1, 3), **loose},
        ),
        "weight_only_dense": Case(
            [normal(2, 4), np.arange(12, dtype=np.int8).reshape(3, 4) - 6, normal(3), normal(3)],
            {"num_hidden": 3},
            lambda x, w, s, b: x @ (w * s[:, None]).T + b,
            {"wrt": (0, 2, 3), **loose},
        ),
        "scaled_dot_product_attention": Case(
            [queries, keys, values],
            {"scale": 0.5},
            _attention,
        ),
        "GroupNorm": Case(
            [x, two, normal(2)],
            {"num_groups": 2, "eps": 0.01},
            lambda v, g, b: _normalized(v, 2, g, b, 0.01),
            {"zero_size": [x[:0], two, two], **loose},
        ),
        "InstanceNorm": Case(
            [x, four, normal(4)],
            {"eps": 0.1},
            lambda v, g, b: _normalized(v, 4, g, b, 0.1),
            {"zero_size": [x[:0], four, four], **loose},
        ),
        "Deconvolution": Case(
            [normal(2, 4, 3), normal(4, 2, 3), normal(2)],
            {
                "kernel": (3,),
                "num_filter": 2,
                "stride": (2,),
                "pad": (1,),
                "adj": (1,),
                "no_bias": False,
            },
            _transposed,
            {"half_tolerance": 5e-2},
        ),
        "_batch_norm_apply": Case(
            [x, *statistics],
            {"fix_gamma": False},
            lambda v, g, b, m, s: (
                (v - m[:, None, None]) * (s * g)[:, None, None] + b[:, None, None]
            ),
            {**FORWARD_ONLY, "half": False},
        ),
        "_contrib_BatchNormWithReLU": Case(
            [x, *statistics],
            {"fix_gamma": False, "eps": 0.1},
            lambda v, g, b, *_: np.maximum(
                _normalized(v.swapaxes(0, 1)[None], 4, g, b, 0.1)[0].swapaxes(0, 1), 0
            ),
            {"wrt": (0, 1, 2), "half": False},
        ),
    }


def _gpu_only() -> dict[str, Case]:
    """Operators that MXNet's wheel for CPUs lacks, so that there is no golden case of them."""
    rois = np.array([[[0, 0, 3, 2], [1, 1, 4, 4]]], np.float32)
    masks = (np.arange(50).reshape(1, 2, 5, 5) % 3 == 0).astype(np.float32)
    attrs = {"num_rois": 2, "num_classes": 3, "mask_size": (2, 2)}
    given = [rois, masks, index(1, 0)[None], index(2, 0)[None]]
    return {"_contrib_mrcnn_mask_target": Case(given, attrs, None, EXACT_DTYPE)}


CASES: dict[str, Case] = {
    **_unary(),
    **_binary(),
    **_shapes(),
    **_products_and_reductions(),
    **_indexing(),
    **_creation(),
    **_random_cases(),
    **_updates(),
    **_layers(),
    **_gpu_only(),
}
