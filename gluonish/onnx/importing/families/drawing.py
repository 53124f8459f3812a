"""Random numbers; each run draws new ones, whatever seed the file contains."""

from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32, INT32
from gluonish.onnx.importing.arrays import check_size, dtype_of, op
from gluonish.onnx.importing.families.casting import to_element
from gluonish.onnx.importing.nodes import Call, Rule


def _dtype(call: Call, like: Any = None) -> np.dtype[Any]:
    number = call.attr("dtype")
    if number is not None:
        return to_element(call, number).dtype
    return FLOAT32 if like is None else dtype_of(like)


def _normal(call: Call, like: Any = None) -> Any:
    shape = call.attr("shape") if like is None else like.shape
    options = {"loc": call.attr("mean", 0.0), "scale": call.attr("scale", 1.0)}
    found = mnp.random.normal(size=check_size(shape), **options)
    return found.astype(_dtype(call, like))


def _uniform(call: Call, like: Any = None) -> Any:
    shape = call.attr("shape") if like is None else like.shape
    low, high = call.attr("low", 0.0), call.attr("high", 1.0)
    found = mnp.random.uniform(low, high, size=check_size(shape))
    return found.astype(_dtype(call, like))


def _bernoulli(call: Call, x: Any) -> Any:
    draws = mnp.random.uniform(0.0, 1.0, size=tuple(x.shape))
    return (draws < x).astype(_dtype(call, x))


def _multinomial(call: Call, x: Any) -> Any:
    number = call.attr("dtype", 6)
    count = call.attr("sample_size", 1)
    dtype = to_element(call, number).dtype
    chances = op("softmax")(x.astype(FLOAT32), axis=-1)
    found = op("_sample_multinomial")(chances, shape=(count,), dtype=np.dtype(INT32).name)
    return found.astype(dtype)


RULES: dict[str, Rule] = {
    "RandomNormal": _normal,
    "RandomNormalLike": _normal,
    "RandomUniform": _uniform,
    "RandomUniformLike": _uniform,
    "Bernoulli": _bernoulli,
    "Multinomial": _multinomial,
}
