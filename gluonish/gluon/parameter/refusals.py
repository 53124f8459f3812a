"""Why a parameter cannot be used yet, and what to do about it."""

from typing import TYPE_CHECKING, NoReturn

from gluonish.core.errors import ArgumentError, DeferredInitializationError, ParameterError
from gluonish.gluon.parameter.places import described

if TYPE_CHECKING:
    from gluonish.gluon.parameter.arrays import ParameterArrays

__all__ = ["refuse_move", "refuse_shape", "refuse_uninitialized", "refuse_unknown_shape"]


def refuse_uninitialized(parameter: "ParameterArrays") -> NoReturn:
    """Raise the error of a parameter without arrays.

    Raises:
        DeferredInitializationError: It waits for its shape.
        ParameterError: It was not initialized.
    """
    what = f"{described(parameter)}: expected an initialized parameter, got one that"
    if parameter._deferred_init is not None:
        raise DeferredInitializationError(
            f"{what} waits for its shape {parameter.shape}; pass a batch through the network "
            "first, which has to reach the layer, or give in_units, in_channels and the like to it"
        )
    raise ParameterError(
        f"{what} is not; call initialize() on the network, and take its parameters from "
        "collect_params(): Block.params lacks those of its children"
    )


def refuse_shape(parameter: "ParameterArrays") -> NoReturn:
    """Raise the error of a parameter that may not wait for its shape.

    Raises:
        ArgumentError: Always.
    """
    remedy = (
        "a scalar needs NumPy's semantics of shapes, see util.set_np"
        if parameter._shape == ()
        else "give all extents, or allow_deferred_init=True"
    )
    raise ArgumentError(
        f"{described(parameter)}: expected a known shape, got {parameter.shape}; {remedy}"
    )


def refuse_unknown_shape(parameter: "ParameterArrays") -> NoReturn:
    """Raise the error of a parameter that waited for its shape in vain.

    Raises:
        ParameterError: Always.
    """
    raise ParameterError(
        f"{described(parameter)}: expected a known shape, got {parameter.shape}; "
        "give in_units, in_channels and the like to the layer"
    )


def refuse_move(parameter: "ParameterArrays") -> NoReturn:
    """Raise the error of a parameter without arrays that is to be on other devices.

    Raises:
        ArgumentError: Always.
    """
    raise ArgumentError(
        f"{described(parameter)}: reset_ctx expected an initialized parameter, got one that "
        "is not; call initialize(ctx=...)"
    )
