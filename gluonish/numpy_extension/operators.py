"""The operators of ``mx.npx``: functions of registered operators for ``mx.np`` arrays.

Also functions of ``mx.npx`` whose argument names differ from those of their operators.
"""

import inspect
from collections.abc import Callable
from typing import Any

from gluonish.ndarray.namespace import make_operator_function
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import as_value, call, name_function
from gluonish.numpy.views import operator_view
from gluonish.numpy_extension.spellings import respelled
from gluonish.ops.frontend import Make
from gluonish.ops.numpy_names import ADDED_NAMES, NPX_PREFIX
from gluonish.ops.registry import Operator

__all__ = [
    "IMAGE_NAMES",
    "NAMES",
    "constraint_check",
    "make_function",
    "nonzero",
    "operator_function",
    "operator_names",
    "taking_np_arrays",
]

# Registry names of operators by function.
NAMES = {
    **{
        name.removeprefix(NPX_PREFIX): name
        for names in ADDED_NAMES.values()
        for name in names
        if name != "_npx_scalar_poisson"
    },
    **{
        name: f"_npx_{name}"
        for name in (
            *("activation", "arange_like", "batch_dot", "batch_flatten", "batch_norm", "cast"),
            *(
                "constraint_check",
                "convolution",
                "deconvolution",
                "digamma",
                "dropout",
                "embedding",
                "erf",
            ),
            *("erfinv", "fully_connected", "gamma", "gammaln", "gather_nd", "layer_norm"),
            *("leaky_relu", "log_softmax", "multibox_detection", "multibox_prior"),
            *("multibox_target", "nonzero", "one_hot", "pick", "pooling", "relu", "reshape"),
            *("add_rms_norm", "geglu", "rms_norm", "rotary_embedding", "swiglu"),
            *("reshape_like", "rnn", "roi_pooling", "sequence_mask", "shape_array", "sigmoid"),
            *(
                "cross_entropy",
                "linear_cross_entropy",
                "scaled_dot_product_attention",
                "slice",
                "smooth_l1",
                "softmax",
                "topk",
                "weight_only_dense",
            ),
            *("quantized_reshape", "quantized_transpose", "sldwin_atten_context"),
            *("sldwin_atten_mask_like", "sldwin_atten_score"),
        )
    },
    "quantized_npi_add": "_contrib_quantized_elemwise_add",
}
IMAGE_NAMES = {
    name: f"_npx__image_{name}"
    for name in (
        *("adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize"),
        *("random_brightness", "random_color_jitter", "random_contrast"),
        *("random_flip_left_right", "random_flip_top_bottom", "random_hue", "random_lighting"),
        *("random_saturation", "resize", "to_tensor"),
    )
}


def _argument(x: Any, what: str) -> Any:
    return as_value(x, what) if hasattr(x, "_spec") else x


def taking_np_arrays(make: Make) -> Make:
    """Wrap a factory of operator functions so that they take and return arrays of ``mx.np``.

    NDArrays of ``mx.nd`` are taken as `as_value` takes them.
    """

    def make_checked(op: Operator, name: str) -> Callable[..., Any]:
        unchecked = make(op, name)

        def function(*args: Any, **kwargs: Any) -> Any:
            for x in (*args, *kwargs.values()):
                if type(x) is not ndarray and hasattr(x, "_spec"):
                    args = tuple(_argument(x, name) for x in args)
                    named = {key: _argument(x, name) for key, x in kwargs.items()}
                    if "out" in kwargs:
                        named["out"] = kwargs["out"]  # which is returned
                    return unchecked(*args, **named)
            return unchecked(*args, **kwargs)

        return name_function(
            function,
            name,
            unchecked.__doc__ or "",
            inspect.signature(unchecked),
            "gluonish.numpy_extension",
        )

    return make_checked


make_function = taking_np_arrays(make_operator_function)


def _make_respelled(op: Operator, name: str) -> Callable[..., Any]:
    return respelled(make_function(op, name), name)


operator_function, operator_names = operator_view(
    NAMES, _make_respelled, "gluonish.numpy_extension"
)


def nonzero(a: Any) -> Any:
    """Return the indices of the elements that are not zero: int64 (count, axes).

    Args:
        a: Array of one axis or more.
    """
    return call("_npx_nonzero", (a,), what="nonzero")


def constraint_check(x: Any, msg: str = "Constraint violated.") -> Any:
    """Return whether all elements are true, as an array of shape ().

    Args:
        x: Array of bool.
        msg: Message of the error.

    Raises:
        ArgumentError: An element is false; raised when waiting for the result.
    """
    return call("_npx_constraint_check", (x,), {"msg": msg}, what="constraint_check")
