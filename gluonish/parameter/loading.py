"""Values for a parameter from a file: what fits, and what becomes of the parameter."""

from typing import TYPE_CHECKING

from gluonish.core.errors import ParameterError
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape
from gluonish.ndarray import NDArray
from gluonish.parameter.placement import loaded_dtype
from gluonish.parameter.places import described
from gluonish.parameter.shapes import join_shapes

if TYPE_CHECKING:
    from gluonish.parameter.parameter import Parameter

__all__ = ["fit"]


def fit(parameter: "Parameter", data: NDArray, cast_dtype: bool, dtype_source: str) -> None:
    """Give a parameter the shape, and where asked for the dtype, of the values to come.

    Args:
        parameter: The parameter.
        data: The values.
        cast_dtype: Whether to convert where dtypes differ; if not, that is an error.
        dtype_source: With ``cast_dtype`` the dtype to end up with: ``"current"``, the parameter's,
            or ``"saved"``, the file's.

    Raises:
        ParameterError: Shape or dtype do not fit; the parameter is as before then.
    """
    what = f"{described(parameter)}: loading"
    shape = _loaded_shape(parameter._shape, data.shape)
    if shape is None:
        raise ParameterError(f"{what} expected shape {parameter.shape}, got {data.shape}")
    dtype = loaded_dtype(parameter._dtype, data.dtype, what, cast_dtype, dtype_source)
    parameter._shape = shape
    if dtype is not parameter._dtype:
        parameter.cast(dtype)


def _loaded_shape(own: Shape | None, loaded: Shape) -> Shape | None:
    if own is None or (own == () and not is_np_shape()):
        return loaded
    return join_shapes(own, loaded)
