"""Parameter: a named array of a network, on every device it trains on, with its gradient.

A Parameter is in one of three states: not initialized; deferred, where initialization was asked for
and waits for the shape (``_deferred_init`` is set); or initialized (``_data`` holds one NDArray a
device). The NDArrays stay the same until `cast`, `reset_ctx`, a new ``grad_req`` or a new
`initialize`: everything else writes into them, because executors bind them.
"""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from gluonish.autograd import mark_variables, pause
from gluonish.core.context import Context, cpu
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, OutOfMemoryError, ParameterError
from gluonish.core.numpy_mode import is_np_array, is_np_shape
from gluonish.core.spec import Shape
from gluonish.core.timeout_lock import Turn
from gluonish.gluon.parameter.arguments import (
    ContextList,
    Deferred,
    Init,
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
    refuse_move,
    refuse_shape,
    refuse_uninitialized,
    refuse_unknown_shape,
)
from gluonish.gluon.parameter.places import described
from gluonish.initializer import Constant as ConstantInitializer
from gluonish.initializer import Uniform
from gluonish.ndarray import NDArray, array, zeros
from gluonish.ndarray.memory_transfer import write_into
from gluonish.numpy.array import gluon_array
from gluonish.symbol import Symbol, var

__all__ = ["Constant", "Init", "Parameter", "tensor_types"]

tensor_types = (Symbol, NDArray)

_UNIFORM = Uniform()

# Threads that make the first call of one network together get one and the same array, and draw its
# random numbers once. An initializer may use parameters itself.
_FINISHING = Turn()


class Parameter(ParameterArrays):
    """A weight of a Block: its values and gradients on one or several devices.

    Args:
        name: Full name, which exported files and symbols use.
        grad_req: What backward does with the gradient: ``"write"`` it, ``"add"`` it to the previous
            one, or ``"null"``: there is none.
        shape: Shape; an unknown size is 0 or -1. None if the number of axes is unknown, too.
        dtype: Element type of values and gradients.
        lr_mult: Factor of the Trainer's learning rate for this parameter.
        wd_mult: Factor of the Trainer's weight decay for this parameter.
        init: Initializer, or its name; None for the one passed to `initialize`.
        allow_deferred_init: Whether `initialize` may be called before the shape is known; the
            values are then created at the first call.
        differentiable: Whether the parameter can have a gradient; if not, ``grad_req`` stays
            ``"null"``.
        stype: ``"default"``, that is dense; or ``"row_sparse"``: then a Trainer's kvstore has all
            rows, and `row_sparse_data` brings the ones that are needed; or ``"csr"``, whose values
            can be saved and loaded only.
        grad_stype: Storage type of the gradient.

    Raises:
        ArgumentError: ``grad_req``, ``stype`` or ``grad_stype`` is unknown.

    Attributes:
        moves: Of the class: how often any Parameter got other arrays. Whoever keeps arrays reads it
            before it gathers them, and need not look at each as long as it stays.

    Example:
        >>> import gluonish as mx
        >>> weight = mx.gluon.Parameter("weight", shape=(2, 3))
        >>> weight.initialize(mx.init.One())
        >>> weight.data().shape, weight.grad().shape
        ((2, 3), (2, 3))
    """

    moves: ClassVar[int] = 0

    def __init__(
        self,
        name: str,
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
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self) -> str:
        """What backward does with the gradient: ``"write"``, ``"add"`` or, for none, ``"null"``."""
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
        """Element type, as it was given."""
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
    ) -> None:
        """Create values and gradients, now or as soon as the shape is known.

        Args:
            init: Initializer; None for the parameter's own, or ``default_init`` if it has none.
            ctx: Device or devices; the current context by default.
            default_init: Initializer for parameters without one.
            force_reinit: Whether to replace existing values; if not, they stay, with a warning.

        Raises:
            ArgumentError: The shape is unknown, and ``allow_deferred_init`` was False.
        """
        if self._arrays is not None and not force_reinit:
            warnings.warn(
                f"{described(self)}: already initialized on {self.list_ctx()} and kept; "
                "set force_reinit=True to start again",
                UserWarning,
                stacklevel=2,
            )
            return
        self._hold(None)
        self._grads = None
        contexts = as_contexts(ctx, described(self))
        if init is None:
            init = default_init if self.init is None else self.init
        known = shape_is_known(self.shape)
        if not known and not self._allow_deferred_init:
            refuse_shape(self)
        self._deferred_init = Deferred(init, contexts, default_init, None)
        if known:
            self._finish_deferred_init()

    def _finish_deferred_init(self) -> None:
        """Allocate what waited for the shape, which is known by now; nothing if nothing waited.

        Raises:
            ParameterError: The shape is still unknown.
            OutOfMemoryError: There is no memory for it.
        """
        with _FINISHING:
            deferred = self._deferred_init
            if deferred is None:
                return
            shape = self.shape
            if shape is None or not shape_is_known(shape):
                refuse_unknown_shape(self)
            try:
                with pause():
                    data = deferred.values(self.name, shape, self._dtype)
                    copies = self._copies(data, deferred.contexts)
                    held, gradients = self._with_gradients(copies)
            except OutOfMemoryError as error:
                raise OutOfMemoryError(f"{described(self)}: {error}") from error
            if self._deferred_init is deferred:  # a step: nobody has finished it meanwhile
                self._deferred_init = None
                self._arrays = held
                self._grads = gradients
            Parameter.moves += 1  # afterwards, as in `_hold`

    def _copies(
        self, source: NDArray, contexts: Sequence[Context], taken: bool = False
    ) -> dict[Context, NDArray]:
        """Return copies of ``source`` in this dtype, by device; see `_allocate`."""
        dtype, copies = normalize_dtype(self._dtype), {}
        same = source.stype == self._stype == "default" and source._spec.dtype == dtype
        for ctx in contexts:
            if taken and same and ctx == source.context and not in_file(source):
                copies[ctx] = gluon_array(source)
                continue
            copies[ctx] = gluon_array(zeros(source.shape, ctx, self._dtype, self._stype))
            source.copyto(copies[ctx])
        return copies

    def _allocate(self, source: NDArray, contexts: Sequence[Context], taken: bool = False) -> None:
        """Become initialized on these devices, with copies of ``source`` in this dtype.

        If nobody else has ``source`` (``taken``), it is itself the copy on its device.
        """
        copies = self._copies(source, contexts, taken)
        self._hold(copies)
        self._init_grad(copies)

    def _hold(self, data: dict[Context, NDArray] | None) -> None:
        """Have these arrays from now on; the dict is never changed."""
        self._arrays = data
        # Afterwards: so nobody gathers the old arrays under the new number.
        Parameter.moves += 1

    def _init_grad(self, data: dict[Context, NDArray]) -> None:
        """Attach zero gradients to the arrays, or with ``grad_req`` null take them off."""
        held, self._grads = self._with_gradients(data)
        if held is not data:
            self._hold(held)

    def _with_gradients(
        self, data: dict[Context, NDArray]
    ) -> tuple[dict[Context, NDArray], dict[Context, NDArray] | None]:
        """Return arrays with zero gradients attached, and those; without for ``grad_req`` null."""
        if self._grad_req == "null":
            return {ctx: value.detach() for ctx, value in data.items()}, None
        return data, attach_gradients(data, self._dtype, self._grad_stype, self._grad_req)

    def _load_init(
        self,
        data: NDArray,
        ctx: ContextList | None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        taken: bool = False,
    ) -> None:
        """Take values from a file, initializing the parameter if it is not.

        Args:
            data: The values.
            ctx: Devices to initialize on; None for those it is on or waits for, else the CPU.
            cast_dtype: Whether to convert where dtypes differ; if not, that is an error.
            dtype_source: With ``cast_dtype`` the dtype to end up with: ``"current"``, the
                parameter's, or ``"saved"``, the file's.
            taken: Whether nobody else has ``data``, which then need not be copied.

        Raises:
            ParameterError: Shape, dtype or devices do not fit.
        """
        what = f"{described(self)}: loading"
        contexts = None if ctx is None else as_contexts(ctx, what)
        present = self._waiting_contexts()
        check_loaded_contexts(what, present, contexts)
        self._fit(data, cast_dtype, dtype_source)
        if self._arrays is None:
            with pause():
                self._allocate(data, present or contexts or [cpu()], taken)
        elif taken and type(self).set_data is Parameter.set_data:
            self._set(data, taken=True)
        else:
            self.set_data(data)
        self._deferred_init = None

    def _fit(self, data: NDArray, cast_dtype: bool, dtype_source: str) -> None:
        """Take the shape, and where asked for the dtype, of the values to come.

        Args:
            data: The values.
            cast_dtype: Whether to convert where dtypes differ; if not, that is an error.
            dtype_source: With ``cast_dtype`` the dtype to end up with: ``"current"``, the
                parameter's, or ``"saved"``, the file's.

        Raises:
            ParameterError: Shape or dtype do not fit; the parameter is as before then.
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
            refuse_move(self)

    def set_data(self, data: Any) -> None:
        """Set the values on all devices; an unknown shape becomes that of the values.

        Args:
            data: NDArray of its shape, or what `nd.array` takes; converted to its dtype.

        Raises:
            ParameterError: The shape does not fit, or the parameter is not initialized.
        """
        self._set(data if isinstance(data, NDArray) else array(data))

    def _set(self, source: NDArray, taken: bool = False) -> None:
        if self._arrays is None:
            if self._deferred_init is None:
                refuse_uninitialized(self)
            self.shape = source.shape
            kept = source.copy() if in_file(source) else source
            self._deferred_init = self._deferred_init._replace(data=kept)
            return
        self.shape = source.shape
        if self._trainer is not None:
            self._trainer._parameter_was_set(self, taken)
        with pause():
            write_into(source, [*self._arrays.values()], taken)

    def cast(self, dtype: Any) -> None:
        """Convert values and gradients to another element type.

        Args:
            dtype: The new element type.
        """
        self._take_dtype(dtype)
        if self._arrays is None:
            return
        with pause():
            self._hold({ctx: value.astype(dtype) for ctx, value in self._arrays.items()})
            if self._grads is not None:
                self._grads = {ctx: grad.astype(dtype) for ctx, grad in self._grads.items()}
                mark_variables(self._held(), self.list_grad(), self._grad_req)

    def var(self) -> Symbol:
        """Return the Symbol variable of this parameter, the same one until `cast` is called."""
        if self._var is None:
            unknown = -1 if is_np_shape() else 0
            known = self._shape
            shape = None if known is None else tuple(n if n > 0 else unknown for n in known)
            self._var = var(
                self.name,
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
        name: Full name, which exported files and symbols use.
        value: The value: NDArray, or what `nd.array` takes (which becomes float32).
    """

    def __init__(self, name: str, value: Any) -> None:
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
                f"Constant {self.name}: expected grad_req 'null', got {req!r}, which was ignored; "
                "use a Parameter for what has a gradient",
                UserWarning,
                stacklevel=2,
            )


def _loaded_shape(own: Shape | None, loaded: Shape) -> Shape | None:
    if own is None or (own == () and not is_np_shape()):
        return loaded
    return join_shapes(own, loaded)
