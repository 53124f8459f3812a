"""Parameter: a named array of a network, on every device it trains on, with its gradient.

A Parameter is in one of three states: not initialized; deferred, while the requested initialization
waits for the shape (``_deferred_init`` is set); or initialized (``_data`` holds one NDArray for
each device). The NDArrays stay the same until `cast`, `reset_ctx`, a new ``grad_req`` or a new
`initialize`: everything else writes into them, because executors bind them.
"""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from gluonish.autograd import mark_variables, pause
from gluonish.core.call_errors import explained
from gluonish.core.context import Context, cpu
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OutOfMemoryError, ParameterError
from gluonish.core.habit_tables import PARAMETER
from gluonish.core.habits import add_habits
from gluonish.core.loading import load
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.numpy_mode import is_np_array, is_np_shape
from gluonish.core.random_state import NewKeys
from gluonish.core.spec import Shape
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.gluon.parameter.arguments import (
    ContextList,
    Deferred,
    Init,
    Movable,
    as_contexts,
    check_loaded_contexts,
    check_stype,
    in_file,
    join_shapes,
    loaded_dtype,
    shape_is_known,
)
from gluonish.gluon.parameter.arrays import (
    ParameterArrays,
    attach_gradients,
    refuse_reset,
    refuse_shape,
    refuse_uninitialized,
    refuse_unknown_shape,
)
from gluonish.gluon.parameter.paths import described
from gluonish.initializer import Constant as ConstantInitializer
from gluonish.initializer import Uniform
from gluonish.ndarray import NDArray, array, zeros
from gluonish.ndarray.memory_transfer import write_into
from gluonish.numpy.array import gluon_array
from gluonish.symbol import Symbol, var

__all__ = ["Constant", "Init", "Parameter", "tensor_types"]

tensor_types = (Symbol, NDArray)

_UNIFORM = Uniform()

# Concurrent first calls of a network initialize each parameter once, and draw its random numbers
# once. The lock is reentrant, as an initializer may use parameters itself.
_INIT_LOCK = TimeoutLock()


class Parameter(ParameterArrays, Movable):
    """A weight of a Block: its values and gradients on one or several devices.

    Args:
        name: Full name, which exported files and symbols use. A Block of which it becomes an
            attribute renames it after the attribute.
        grad_req: Whether backward overwrites the gradient (``"write"``), accumulates into it
            (``"add"``), or computes none (``"null"``).
        shape: Shape; an unknown size is 0 or -1. None if the number of axes is unknown, too.
        dtype: Element type of values and gradients.
        lr_mult: Factor of the Trainer's learning rate for this parameter.
        wd_mult: Factor of the Trainer's weight decay for this parameter.
        init: Initializer, or its name; None for the one passed to `initialize`.
        allow_deferred_init: Whether `initialize` may be called before the shape is known; the
            values are then created at the first call.
        differentiable: Whether the parameter can have a gradient; if not, ``grad_req`` stays
            ``"null"``.
        stype: Storage type: ``"default"`` (dense); ``"row_sparse"``, where a Trainer's kvstore
            holds all rows and `row_sparse_data` pulls the requested ones; or ``"csr"``, which can
            only be saved and loaded.
        grad_stype: Storage type of the gradient.

    Raises:
        ArgumentError: ``grad_req``, ``stype`` or ``grad_stype`` is unknown.

    Attributes:
        version: Class attribute: how often any Parameter's arrays were replaced. Cached arrays
            are valid while the number is the same as before they were collected.

    Example:
        >>> import gluonish as mx
        >>> weight = mx.gluon.Parameter("weight", shape=(2, 3))
        >>> weight.initialize(mx.init.One())
        >>> weight.data().shape, weight.grad().shape
        ((2, 3), (2, 3))
    """

    version: ClassVar[int] = 0

    @explained
    def __init__(
        self,
        name: str = "weight",
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Init | None = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        super().__init__(name, shape, check_stype("stype", stype, name))
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._grad_stype = check_stype("grad_stype", grad_stype, name)
        normalize_dtype(dtype)
        self._dtype = np.float32 if dtype is None else dtype
        self._allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._grad_req = "null"
        self.grad_req = grad_req

    def __repr__(self) -> str:
        name = "" if follows_mxnet2() else f"{self.name} "
        return f"{type(self).__name__} {name}(shape={self.shape}, dtype={self.dtype})"

    def _repr_html_(self) -> str:
        text: str = load("gluonish.gluon.parameter.parameter_html").parameter_html(self)
        return text

    @property
    def grad_req(self) -> str:
        """How backward stores the gradient: ``"write"``, ``"add"``, or ``"null"`` for none."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in ("write", "add", "null"):
            raise ArgumentError(
                f"{described(self)}: expected grad_req 'write', 'add' or 'null', got {req!r}"
            )
        if not self._differentiable:
            req = "null"
        if req == self._grad_req:
            return
        self._grad_req = req
        if self._arrays is not None:
            self._init_grad(self._arrays)

    @property
    def dtype(self) -> Any:
        """Element type, as passed to the constructor or `cast`."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    def initialize(
        self,
        init: Init | None = None,
        ctx: ContextList | None = None,
        default_init: Init = _UNIFORM,
        force_reinit: bool = False,
        device: ContextList | None = None,
    ) -> None:
        """Create values and gradients, now or as soon as the shape is known.

        Args:
            init: Initializer; None for the parameter's ``init``, or ``default_init`` without one.
            ctx: Device or devices; the current context by default.
            default_init: Initializer for parameters without one.
            force_reinit: Whether to replace existing values; if False, they stay, with a warning.
            device: ``ctx`` under the name it has in MXNet 2.0.

        Raises:
            ArgumentError: The shape is unknown, and ``allow_deferred_init`` was False.
        """
        if self._arrays is not None and not force_reinit:
            warnings.warn(
                f"{described(self)}: already initialized on {self.list_ctx()}, unchanged; "
                "set force_reinit=True to initialize again",
                UserWarning,
                stacklevel=2,
            )
            return
        self._replace_arrays(None)
        self._grads = None
        contexts = as_contexts(device if ctx is None else ctx, described(self))
        if init is None:
            init = default_init if self.init is None else self.init
        known = shape_is_known(self.shape)
        if not known and not self._allow_deferred_init:
            refuse_shape(self)
        self._deferred_init = Deferred(init, contexts, default_init, None)
        if known:
            self._finish_deferred_init()

    def _finish_deferred_init(self) -> None:
        """Run a deferred initialization, if any.

        Raises:
            ParameterError: The shape is still unknown.
            OutOfMemoryError: The memory is exhausted.
        """
        with _INIT_LOCK:
            deferred = self._deferred_init
            if deferred is None:
                return
            shape = self.shape
            if shape is None or not shape_is_known(shape):
                refuse_unknown_shape(self)
            try:
                with pause(), NewKeys():
                    data = deferred.values(self._full_name, shape, self._dtype)
                    is_new = deferred.data is None and shape != ()
                    copies = self._copies(data, deferred.contexts, donated=is_new)
                    arrays, gradients = self._with_gradients(copies)
            except OutOfMemoryError as error:
                raise OutOfMemoryError(f"{described(self)}: {error}") from error
            if self._deferred_init is deferred:  # an initializer may have finished it
                self._deferred_init = None
                self._arrays = arrays
                self._grads = gradients
            Parameter.version += 1  # last, as in `_replace_arrays`

    def _copies(
        self,
        source: NDArray,
        contexts: Sequence[Context],
        donated: bool = False,
        mapped: bool = False,
    ) -> dict[Context, NDArray]:
        """Return copies of ``source`` in this dtype, by device; see `_allocate`."""
        dtype, copies = normalize_dtype(self._dtype), {}
        same = source.stype == self._stype == "default" and source._spec.dtype == dtype
        for ctx in contexts:
            usable = donated and (mapped or not in_file(source))
            if usable and same and ctx == source.context:
                copies[ctx] = gluon_array(source)
                continue
            copies[ctx] = gluon_array(zeros(source.shape, ctx, self._dtype, self._stype))
            source.copyto(copies[ctx])
        return copies

    def _allocate(
        self,
        source: NDArray,
        contexts: Sequence[Context],
        donated: bool = False,
        mapped: bool = False,
    ) -> None:
        """Initialize the parameter on these devices with copies of ``source`` in this dtype.

        A ``donated`` source, which the caller does not use again, becomes the array on its device;
        one that is a mapped file is copied in any case, unless it may stay ``mapped``.
        """
        copies = self._copies(source, contexts, donated, mapped)
        self._replace_arrays(copies)
        self._init_grad(copies)

    def _replace_arrays(self, data: dict[Context, NDArray] | None) -> None:
        """Replace the arrays; the dict is never mutated."""
        self._arrays = data
        # Last, so that no reader pairs the old arrays with the new version.
        Parameter.version += 1

    def _init_grad(self, data: dict[Context, NDArray]) -> None:
        """Attach zero gradients to the arrays, or detach them if ``grad_req`` is null."""
        arrays, self._grads = self._with_gradients(data)
        if arrays is not data:
            self._replace_arrays(arrays)

    def _with_gradients(
        self, data: dict[Context, NDArray]
    ) -> tuple[dict[Context, NDArray], dict[Context, NDArray] | None]:
        """Return the arrays with zero gradients attached, and the gradients (None if null)."""
        if self._grad_req == "null":
            return {ctx: value.detach() for ctx, value in data.items()}, None
        return data, attach_gradients(data, self._dtype, self._grad_stype, self._grad_req)

    def _load_init(
        self,
        data: NDArray,
        ctx: ContextList | None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        donated: bool = False,
        mapped: bool = False,
    ) -> None:
        """Load values from a file, and initialize the parameter if it is not.

        Args:
            data: The values.
            ctx: Devices to initialize on; None for the parameter's, or else the CPU.
            cast_dtype: Whether to convert between dtypes; if False, a difference is an error.
            dtype_source: The resulting dtype with ``cast_dtype``: ``"current"``, the parameter's,
                or ``"saved"``, the file's.
            donated: Whether the caller does not use ``data`` again, so that no copy is needed.
            mapped: Whether donated values of a mapped file stay there.

        Raises:
            ParameterError: Shape, dtype or devices do not match.
        """
        what = f"{described(self)}: loading"
        contexts = None if ctx is None else as_contexts(ctx, what)
        present = self._waiting_contexts()
        check_loaded_contexts(what, present, contexts)
        self._fit(data, cast_dtype, dtype_source)
        if self._arrays is None:
            with pause():
                self._allocate(data, present or contexts or [cpu()], donated, mapped)
        elif donated and type(self).set_data is Parameter.set_data:
            self._set(data, donated=True)
        else:
            self.set_data(data)
        self._deferred_init = None

    def _fit(self, data: NDArray, cast_dtype: bool, dtype_source: str) -> None:
        """Adopt the shape, and if requested the dtype, of values to load; see `_load_init`.

        Raises:
            ParameterError: Shape or dtype do not match; the parameter is unchanged.
        """
        what = f"{described(self)}: loading"
        shape = _loaded_shape(self._shape, data.shape)
        if shape is None:
            raise ParameterError(f"{what} expected shape {self.shape}, got {data.shape}")
        dtype = loaded_dtype(self._dtype, data.dtype, what, cast_dtype, dtype_source)
        self._shape = shape
        if dtype is not self._dtype:
            self.cast(dtype)

    def reset_ctx(self, ctx: ContextList) -> None:
        """Move the parameter to other devices; the values of several devices are averaged.

        Args:
            ctx: The device, or a list of devices.

        Raises:
            ArgumentError: The parameter is not initialized.
        """
        contexts = as_contexts(ctx, described(self))
        if self._arrays is not None:
            data = self._reduce()
            with pause():
                self._allocate(data, contexts)
        elif self._deferred_init is not None:
            self._deferred_init = self._deferred_init._replace(contexts=contexts)
        else:
            refuse_reset(self)

    def set_data(self, data: Any) -> None:
        """Set the values on all devices; an unknown shape becomes that of the values.

        Args:
            data: NDArray or array-like of the parameter's shape; converted to its dtype.

        Raises:
            ParameterError: The shape does not match, or the parameter is not initialized.
        """
        self._set(data if isinstance(data, NDArray) else array(data))

    def _set(self, source: NDArray, donated: bool = False) -> None:
        if self._arrays is None:
            if self._deferred_init is None:
                refuse_uninitialized(self)
            self.shape = source.shape
            values = source.copy() if in_file(source) else source
            self._deferred_init = self._deferred_init._replace(data=values)
            return
        self.shape = source.shape
        if self._trainer is not None:
            self._trainer._parameter_was_set(self, donated)
        with pause():
            write_into(source, [*self._arrays.values()], donated)

    def cast(self, dtype: Any) -> None:
        """Convert values and gradients to another element type.

        Args:
            dtype: The new element type.
        """
        self._set_dtype(dtype)
        if self._arrays is None:
            return
        with pause():
            self._replace_arrays({ctx: value.astype(dtype) for ctx, value in self._arrays.items()})
            if self._grads is not None:
                self._grads = {ctx: grad.astype(dtype) for ctx, grad in self._grads.items()}
                mark_variables(self._list_arrays(), self.list_grad(), self._grad_req)

    def var(self) -> Symbol:
        """Return the Symbol variable of this parameter; the same one until `cast` is called."""
        if self._var is None:
            unknown = -1 if is_np_shape() else 0
            known = self._shape
            shape = None if known is None else tuple(n if n > 0 else unknown for n in known)
            self._var = var(
                self._full_name,
                shape=shape,
                dtype=self._dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init,
                stype=self._stype,
            )
        return self._var.as_np_ndarray() if is_np_array() else self._var


class Constant(Parameter):
    """A parameter with a fixed value and no gradient.

    Args:
        name: Full name, which exported files and symbols use; or the value, if it is the only
            argument, as in MXNet 2.0.
        value: NDArray, or array-like that `nd.array` converts to float32.
    """

    @explained
    def __init__(self, name: Any = None, value: Any = None) -> None:
        if value is None and not isinstance(name, str):
            name, value = "const", name
        if value is None:
            raise ArgumentTypeError(f"Constant {name or ''}: expected a value, got None")
        self.value = value if isinstance(value, NDArray) else array(value)
        super().__init__(
            name,
            grad_req="null",
            shape=self.value.shape,
            dtype=self.value.dtype,
            init=ConstantInitializer(self.value),
            differentiable=False,
        )

    @property
    def grad_req(self) -> str:
        """Always ``"null"``."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(
                f"Constant {self._full_name}: expected grad_req 'null', got {req!r}, which was "
                "ignored; use a Parameter for a value with a gradient",
                UserWarning,
                stacklevel=2,
            )


add_habits(Parameter, PARAMETER)


def _loaded_shape(current: Shape | None, loaded: Shape) -> Shape | None:
    if current is None or (current == () and not is_np_shape()):
        return loaded
    return join_shapes(current, loaded)
