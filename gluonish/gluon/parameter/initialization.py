"""Where the first values of a parameter come from: an initializer, which may wait, or a file."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ParameterError
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape
from gluonish.gluon.parameter.arguments import join_shapes, loaded_dtype
from gluonish.gluon.parameter.places import described
from gluonish.initializer import InitDesc, Initializer, create
from gluonish.ndarray import NDArray, zeros
from gluonish.numpy.array import gluon_array

if TYPE_CHECKING:
    from gluonish.gluon.parameter.parameter import Parameter

__all__ = ["Deferred", "Init", "fit"]

# An initializer, its name or JSON, or any function of a name and an array, as `mx.init.Mixed` is.
Init = Initializer | str | Callable[[str, NDArray], None]


class Deferred(NamedTuple):
    """An initialization that waits for the shape.

    Attributes:
        init: What fills the array.
        contexts: The devices.
        default_init: What the caller asked for; it decides how names in ``init`` are read.
        data: Values that were set in the meantime, in place of what ``init`` gives.
    """

    init: Init
    contexts: list[Context]
    default_init: Init
    data: NDArray | None

    def values(self, name: str, shape: Shape, dtype: Any) -> NDArray:
        """Return what a parameter of this name starts from."""
        if self.data is not None:
            return self.data
        # Initializers fill axes, so that a scalar is filled as an axis of one element.
        filled: NDArray = gluon_array(zeros(shape or (1,), cpu(), dtype))
        if isinstance(self.init, str | Initializer):
            outer = self.default_init
            caller = create(outer if isinstance(outer, str | Initializer) else self.init)
            caller(InitDesc(name, {"__init__": self.init}), filled)
        else:
            self.init(InitDesc(name), filled)
        return filled if shape else filled.reshape(())


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
