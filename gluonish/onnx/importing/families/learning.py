"""Optimizer steps (ai.onnx.preview.training), and numeric operators of ai.onnx.ml."""

from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32, INT64
from gluonish.onnx.importing.arrays import array_of, host
from gluonish.onnx.importing.nodes import Call, Rule
from gluonish.onnx.importing.tensors import Stored


def _groups(call: Call, given: Any, kinds: int) -> list[list[Any]]:
    """Group inputs by weight; the node has all weights first, then all gradients and so on."""
    count = len(given) // kinds
    if count * kinds != len(given) or not count:
        call.wrong(f"expected {kinds} arrays for each weight, got {len(given)}")
    return [list(given[i::count]) for i in range(count)]


def _spread(groups: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(x for column in zip(*groups, strict=True) for x in column)


def _momentum(call: Call, rate: Any, step: Any, *given: Any) -> tuple[Any, ...]:
    alpha, beta = call.attr("alpha"), call.attr("beta")
    factor = mnp.where(step == 0, mnp.ones_like(rate), mnp.full_like(rate, beta))
    found = []
    for x, gradient, velocity in _groups(call, given, 3):
        g = gradient + call.attr("norm_coefficient") * x
        new = alpha * velocity + factor * g
        way = g + alpha * new if call.attr("mode") == "nesterov" else new
        found.append((x - rate * way, new))
    return _spread(found)


def _adagrad(call: Call, rate: Any, step: Any, *given: Any) -> tuple[Any, ...]:
    found = []
    current = rate / (1 + step.astype(rate.dtype) * call.attr("decay_factor", 0.0))
    for x, gradient, squares in _groups(call, given, 3):
        g = gradient + call.attr("norm_coefficient", 0.0) * x
        new = squares + g * g
        found.append((x - current * g / (mnp.sqrt(new) + call.attr("epsilon", 1e-6)), new))
    return _spread(found)


def _adam(call: Call, rate: Any, step: Any, *given: Any) -> tuple[Any, ...]:
    alpha, beta = call.attr("alpha", 0.9), call.attr("beta", 0.999)
    t = step.astype(rate.dtype)
    bias = mnp.sqrt(1 - mnp.power(mnp.full_like(t, beta), t))
    bias = bias / (1 - mnp.power(mnp.full_like(t, alpha), t))
    current = mnp.where(step > 0, rate * bias, rate)
    found = []
    for x, gradient, mean, square in _groups(call, given, 4):
        g = gradient + call.attr("norm_coefficient", 0.0) * x
        first, second = alpha * mean + (1 - alpha) * g, beta * square + (1 - beta) * g * g
        new = x - current * first / (mnp.sqrt(second) + call.attr("epsilon", 1e-6))
        found.append((new * (1 - call.attr("norm_coefficient_post", 0.0)), first, second))
    return _spread(found)


def _binarizer(call: Call, x: Any) -> Any:
    return (x > call.attr("threshold", 0.0)).astype(x.dtype)


def _features(call: Call, x: Any, indices: Any) -> Any:
    chosen = mnp.reshape(indices, (-1,)).astype(INT64)
    rows = mnp.reshape(x, (1, -1)) if len(x.shape) == 1 else x
    return mnp.take(rows, chosen, axis=len(rows.shape) - 1, mode="clip")


def _label_encoder(call: Call, x: Any) -> Any:
    """Replace each number by its value in a table."""
    keys, values, default = (_table(call, word) for word in ("keys", "values", "default"))
    if keys is None or values is None:
        call.refuse("expected tables of numbers, got strings")
    missing = default.reshape(-1)[0] if default is not None else -1
    found = mnp.full_like(x, missing, dtype=values.dtype)
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        same = mnp.isnan(x) if key != key else x == key
        found = mnp.where(same, mnp.full_like(found, value), found)
    return found


def _table(call: Call, word: str) -> np.ndarray[Any, Any] | None:
    tensor = call.attr(f"{word}_tensor")
    if isinstance(tensor, Stored):
        return tensor.carried()
    for kind, dtype in (("int64", np.int64), ("float", np.float32)):
        given = call.attr(f"{word}_{kind}s", call.attr(f"{word}_{kind}"))
        if given is not None:
            return np.atleast_1d(np.asarray(given, dtype))
    return None


def _scaler(call: Call, x: Any) -> Any:
    offset, scale = (array_of(call.attr(w), FLOAT32) for w in ("offset", "scale"))
    return (x.astype(FLOAT32) - offset) * scale


def _normalizer(call: Call, x: Any) -> Any:
    x = x.astype(FLOAT32)
    size = {
        "MAX": lambda: mnp.max(mnp.abs(x), axis=-1, keepdims=True),
        "L1": lambda: mnp.sum(mnp.abs(x), axis=-1, keepdims=True),
        "L2": lambda: mnp.sqrt(mnp.sum(x * x, axis=-1, keepdims=True)),
    }[call.attr("norm", "MAX")]()
    return x / mnp.where(size == 0, mnp.ones_like(size), size)


_MODES = {
    0: np.less_equal,
    1: np.less,
    2: np.greater_equal,
    3: np.greater,
    4: np.equal,
    5: np.not_equal,
}


_AGGREGATES: dict[int, Any] = {0: np.mean, 1: np.sum, 2: np.min, 3: np.max}


def _tree_ensemble(call: Call, x: Any) -> Any:
    """Evaluate trees for each row, and combine their leaves by sum, min or max."""
    rows = host(x)
    splits, members = _numbers(call, "nodes_splits"), call.attr("membership_values")
    weights = _numbers(call, "leaf_weights")
    targets, leaf_targets = call.attr("n_targets", 1), call.attr("leaf_targetids")
    found: list[list[list[float]]] = [[[] for _ in range(targets)] for _ in rows]
    sets = _member_sets(call, members)
    for root in call.attr("tree_roots"):
        for row, out in zip(rows, found, strict=True):
            leaf = _leaf(call, row, int(root), splits, sets)
            out[leaf_targets[leaf]].append(float(weights[leaf]))
    add = _AGGREGATES[call.attr("aggregate_function", 1)]
    numbers = [[add(leaves) if leaves else 0.0 for leaves in out] for out in found]
    scores = array_of(np.array(numbers, rows.dtype).reshape(len(rows), targets))
    kind = call.attr("post_transform", 0)
    if kind not in (0, 2):
        call.refuse(f"expected no post_transform or LOGISTIC, got {kind}")
    return scores if kind == 0 else 1 / (1 + mnp.exp(-scores))


def _numbers(call: Call, name: str) -> np.ndarray[Any, Any]:
    stored: Stored = call.attr(name)
    return stored.carried()


def _member_sets(call: Call, members: Stored | None) -> list[set[float]]:
    """Return the sets of numbers of the nodes that test membership, in order of the nodes."""
    found: list[set[float]] = [set()]
    for number in [] if members is None else members.carried().tolist():
        if number != number:
            found.append(set())
        else:
            found[-1].add(number)
    return found


def _leaf(call: Call, row: Any, start: int, splits: Any, sets: list[set[float]]) -> int:
    """Return the leaf that a row reaches."""
    modes = _numbers(call, "nodes_modes").tolist()
    asks = [i for i, mode in enumerate(modes) if mode == 6]
    node = start
    for _ in range(len(modes) + 1):
        value = row[call.attr("nodes_featureids")[node]]
        if modes[node] == 6:
            holds = float(value) in sets[asks.index(node)]
        else:
            holds = bool(_MODES[modes[node]](value, splits[node]))
        missing = call.attr("nodes_missing_value_tracks_true")
        if missing and missing[node] and value != value:
            holds = True
        side = "true" if holds else "false"
        is_leaf = bool(call.attr(f"nodes_{side}leafs")[node])
        node = int(call.attr(f"nodes_{side}nodeids")[node])
        if is_leaf:
            return node
    return call.wrong("expected trees, got a cycle")


_TRAINING, _ML = "ai.onnx.preview.training", "ai.onnx.ml"
RULES: dict[str, Rule] = {
    f"{_TRAINING}/Momentum": _momentum,
    f"{_TRAINING}/Adagrad": _adagrad,
    f"{_TRAINING}/Adam": _adam,
    f"{_ML}/Binarizer": _binarizer,
    f"{_ML}/ArrayFeatureExtractor": _features,
    f"{_ML}/LabelEncoder": _label_encoder,
    f"{_ML}/Scaler": _scaler,
    f"{_ML}/Normalizer": _normalizer,
    f"{_ML}/TreeEnsemble": _tree_ensemble,
}
