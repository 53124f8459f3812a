"""Integer matrix products with a scale that the program chooses: intgemm's operators.

``prepare`` multiplies by ``127 / maxabs`` and rounds to int8. MXNet stores prepared weights in an
order that depends on the CPU; here they stay (units, features). Sums are exact, where MXNet's may
saturate.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, INT8, INT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer
from gluonish.core.spec import Spec
from gluonish.ops.nn.embedding import check_ids
from gluonish.ops.registry import Attrs, Operator, register

_FULLY_CONNECTED = "_contrib_intgemm_fully_connected"
_TAKE_WEIGHT = "_contrib_intgemm_take_weight"


def _check_float32(name: str, *specs: Spec) -> None:
    for spec in specs:
        if spec.dtype != FLOAT32:
            raise OperatorError(f"{name}: expected float32, got {spec.dtype.name}")


def _check_one(name: str, argument: str, spec: Spec) -> None:
    _check_float32(name, spec)
    if spec.size != 1:
        raise OperatorError(f"{name}: expected {argument} of one element, got {spec.shape}")


def _largest_infer(data: Spec) -> tuple[Spec]:
    _check_float32("_contrib_intgemm_maxabsolute", data)
    return (Spec((1,), FLOAT32),)


def _largest_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = xp.abs(data).max() if data.size else 0


register(
    Operator(
        "_contrib_intgemm_maxabsolute",
        _largest_infer,
        _largest_kernel,
        None,
        doc=(
            "The largest absolute value, which `intgemm_prepare_data` takes.\n\n"
            "Shapes: data any, output (1,)."
        ),
    )
)


def _scaled(xp: ModuleType, data: Any, maxabs: Any) -> Any:
    limit = xp.asarray(maxabs, dtype=FLOAT32).reshape(-1)[0]
    return xp.clip(xp.rint(data * (FLOAT32.type(127) / limit)), -127, 127)


def _data_infer(data: Spec, maxabs: Spec) -> tuple[Spec]:
    _check_float32("_contrib_intgemm_prepare_data", data)
    _check_one("_contrib_intgemm_prepare_data", "maxabs", maxabs)
    return (Spec(data.shape, INT8),)


def _data_kernel(xp: ModuleType, out: Any, data: Any, maxabs: Any) -> None:
    out[...] = _scaled(xp, data, maxabs)


register(
    Operator(
        "_contrib_intgemm_prepare_data",
        _data_infer,
        _data_kernel,
        None,
        doc=(
            "Convert data to int8: ``round(data * 127 / maxabs)``, clipped to [-127, 127].\n\n"
            "Shapes: data any, maxabs (1,), output that of data."
        ),
        inputs=("data", "maxabs"),
    )
)


def _weight_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("weight",) if attrs["already_quantized"] else ("weight", "maxabs")


def _weight_infer(
    weight: Spec, maxabs: Spec | None = None, *, already_quantized: bool
) -> tuple[Spec]:
    name = "_contrib_intgemm_prepare_weight"
    units, features = math.prod(weight.shape[:-1]), weight.shape[-1] if weight.shape else 0
    if len(weight.shape) < 2 or features % 64 or units % 8:
        raise OperatorError(
            f"{name}: expected weight (units, features) with units divisible by 8 and features by "
            f"64, got {weight.shape}"
        )
    if maxabs is not None:
        _check_float32(name, weight)
        _check_one(name, "maxabs", maxabs)
    elif weight.dtype != INT8:
        raise OperatorError(f"{name}: expected an int8 weight, got {weight.dtype.name}")
    return (Spec(weight.shape, INT8),)


def _weight_kernel(
    xp: ModuleType, out: Any, weight: Any, maxabs: Any = None, *, already_quantized: bool
) -> None:
    out[...] = weight if already_quantized else _scaled(xp, weight, maxabs)


register(
    Operator(
        "_contrib_intgemm_prepare_weight",
        _weight_infer,
        _weight_kernel,
        None,
        doc=(
            "Convert a weight to int8, for `intgemm_fully_connected`.\n\n"
            "With already_quantized the weight is int8, and there is no maxabs.\n\n"
            "Shapes: weight (units, features), maxabs (1,), output that of weight."
        ),
        inputs=("weight", "maxabs"),
        active_inputs=_weight_inputs,
        schema=Schema(already_quantized=boolean(False)),
    )
)


def _take_infer(weight: Spec, indices: Spec) -> tuple[Spec]:
    if weight.dtype != INT8 or len(weight.shape) != 2:
        raise OperatorError(f"{_TAKE_WEIGHT}: expected an int8 weight of 2 axes, got {weight}")
    if len(indices.shape) != 1 or indices.shape[0] % 8:
        raise OperatorError(
            f"{_TAKE_WEIGHT}: expected indices (N,) with N divisible by 8, got {indices.shape}"
        )
    return (Spec((indices.shape[0], weight.shape[1]), INT8),)


def _take_kernel(xp: ModuleType, out: Any, weight: Any, indices: Any) -> None:
    check_ids(_TAKE_WEIGHT, indices, weight.shape[0])
    out[...] = weight[indices.astype(xp.int64)]


register(
    Operator(
        _TAKE_WEIGHT,
        _take_infer,
        _take_kernel,
        None,
        doc=(
            "Select rows of a prepared weight.\n\n"
            "Shapes: weight (units, features), indices (N,), output (N, features)."
        ),
        inputs=("weight", "indices"),
    )
)


def _dense_inputs(attrs: Attrs) -> tuple[str, ...]:
    scaling = ("scaling",) if attrs["out_type"] == "float32" else ()
    return ("data", "weight", *scaling, *(() if attrs["no_bias"] else ("bias",)))


def _dense_infer(
    data: Spec,
    weight: Spec,
    *others: Spec,
    num_hidden: int,
    no_bias: bool,
    flatten: bool,
    out_type: str,
) -> tuple[Spec]:
    if data.dtype != INT8 or weight.dtype != INT8 or not data.shape:
        raise OperatorError(
            f"{_FULLY_CONNECTED}: expected prepared int8 data and weight, got {data} and {weight}"
        )
    features = math.prod(data.shape[1:]) if flatten else data.shape[-1]
    if weight.shape != (num_hidden, features):
        raise OperatorError(
            f"{_FULLY_CONNECTED}: expected weight ({num_hidden}, {features}) for data "
            f"{data.shape}, got {weight.shape}"
        )
    if out_type == "float32":
        _check_one(_FULLY_CONNECTED, "scaling", others[0])
    if not no_bias and others[-1].shape != (num_hidden,):
        raise OperatorError(
            f"{_FULLY_CONNECTED}: expected bias ({num_hidden},), got {others[-1].shape}"
        )
    leading = data.shape[:1] if flatten else data.shape[:-1]
    return (Spec((*leading, num_hidden), FLOAT32 if out_type == "float32" else INT32),)


def _dense_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    *others: Any,
    num_hidden: int,
    no_bias: bool,
    flatten: bool,
    out_type: str,
) -> None:
    rows = data.reshape(-1, weight.shape[1])
    # Sums of products of bytes are exact in float64, whose products are fast.
    total = rows.astype(xp.float64) @ weight.T.astype(xp.float64)
    if out_type == "float32":
        total = total * others[0].reshape(-1)[0]
    if not no_bias:
        total = total + others[-1]
    out[...] = total.reshape(out.shape)


register(
    Operator(
        _FULLY_CONNECTED,
        _dense_infer,
        _dense_kernel,
        None,
        doc=(
            "Multiply prepared data by a prepared weight: ``scaling * data weight^T + bias``.\n\n"
            "With out_type int32 there is no scaling.\n\n"
            "Shapes: data (N, ...) or with flatten=False (..., features), weight (num_hidden,\n"
            "features), scaling (1,), bias (num_hidden,), output (N, num_hidden) or\n"
            "(..., num_hidden)."
        ),
        inputs=("data", "weight", "scaling", "bias"),
        active_inputs=_dense_inputs,
        schema=Schema(
            num_hidden=integer(low=1),
            no_bias=boolean(False),
            flatten=boolean(True),
            out_type=choice("float32", "int32", default="float32"),
        ),
    )
)
