"""Parameter: a named array of a network, on every device it trains on, with its gradient.

A Parameter is in one of three states: not initialized; deferred, where initialization was asked for
and waits for the shape (``_deferred_init`` is set); or initialized (``_data`` holds one NDArray a
device). The NDArrays stay the same until `cast`, `reset_ctx`, a new ``grad_req`` or a new
`initialize`: everything else writes into them, because executors bind them.
"""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from gluonish.autograd import mark_variables, pause
from gluonish.core.context import Context, cpu
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    ArgumentError,
    DeferredInitializationError,
    ParameterError,
)
from gluonish.core.numpy_mode import is_np_array, is_np_shape
from gluonish.core.spec import Shape
from gluonish.initializer import Uniform
from gluonish.ndarray import NDArray, array, recording, zeros
from gluonish.numpy.array import gluon_array
from gluonish.parameter.deferred import Deferred, Init
from gluonish.parameter.placement import (
    ContextList,
    array_on,
    as_contexts,
    check_loaded_contexts,
    check_stype,
    loaded_dtype,
    mean_on_cpu,
)
from gluonish.parameter.shapes import check_fits, join_shapes, shape_is_known
from gluonish.parameter.sparse_rows import TrainerLink, check_dense, pull_rows, whole_rows
from gluonish.symbol import Symbol, var

__all__ = ["Init", "Parameter", "tensor_types"]

tensor_types = (Symbol, NDArray)

_UNIFORM = Uniform()


class Parameter:
    """A weight of a Block, on one device or several.

    Args:
        name: Name in files of whole networks and in symbols.
        grad_req: ``"write"``, ``"add"`` or ``"null"``.
        shape: Extents; unknown ones are 0 or -1. None: not even their number is known.
        dtype: Element type.
        lr_mult: Multiplier of the Trainer's learning rate.
        wd_mult: Multiplier of the Trainer's weight decay.
        init: Initializer, or its name; None for the one that `initialize` is given.
        allow_deferred_init: Whether `initialize` may wait for an unknown shape.
        differentiable: If False, ``grad_req`` stays ``"null"``.
        stype: ``"default"``, that is dense; or ``"row_sparse"`` or ``"csr"``: then a Trainer's
            kvstore has all rows, and `row_sparse_data` brings the ones that are needed.
        grad_stype: Storage type of the gradient.

    Raises:
        ArgumentError: for an unknown ``grad_req``, ``stype`` or ``grad_stype``.

    Attributes:
        moves: Of the class: how often any Parameter got other arrays. Whoever keeps arrays reads it
            before it gathers them, and need not look at each as long as it stays.
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
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._data: dict[Context, NDArray] | None = None
        self._grad: dict[Context, NDArray] | None = None
        self._deferred_init: Deferred | None = None
        self._trainer: TrainerLink | None = None
        self._var: Symbol | None = None
        extents = (shape,) if isinstance(shape, int) else shape
        self._shape: Shape | None = None if extents is None else tuple(extents)
        check_stype("stype", stype, name)
        check_stype("grad_stype", grad_stype, name)
        self._stype = stype
        self._grad_stype = grad_stype
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
        """What a backward pass does: ``"write"``, ``"add"``, or ``"null"``: no gradient."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in ("write", "add", "null"):
            raise ArgumentError(
                f"Parameter {self.name}: expected grad_req 'write', 'add' or 'null', got {req!r}"
            )
        if not self._differentiable:
            req = "null"
        if req == self._grad_req:
            return
        self._grad_req = req
        if self._data is not None:
            self._init_grad(self._data)

    @property
    def dtype(self) -> Any:
        """Element type, as it was given."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def shape(self) -> Shape | None:
        """Extents; unknown ones are 0 or -1. Unknown extents may be set, known ones not changed.

        With NumPy's semantics of shapes, unknown ones read as -1.
        """
        if self._shape is None or not is_np_shape():
            return self._shape
        return tuple(n or -1 for n in self._shape)

    @shape.setter
    def shape(self, new_shape: Sequence[int]) -> None:
        shape = tuple(new_shape)
        if self._shape is not None:
            check_fits(self.name, self._shape, shape)
        self._shape = shape

    def initialize(
        self,
        init: Init | None = None,
        ctx: ContextList | None = None,
        default_init: Init = _UNIFORM,
        force_reinit: bool = False,
    ) -> None:
        """Allocate and fill the array and its gradient, now or as soon as the shape is known.

        Args:
            init: Initializer; None for the parameter's own, or ``default_init`` if it has none.
            ctx: Device or devices; the current context by default.
            default_init: Initializer for parameters without one.
            force_reinit: Whether to replace values that are there; else they stay, with a warning.

        Raises:
            ArgumentError: if the shape is unknown and the parameter may not wait for it.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter {self.name}: already initialized on {self.list_ctx()} and kept; "
                "set force_reinit=True to start again",
                UserWarning,
                stacklevel=2,
            )
            return
        self._hold(None)
        self._grad = None
        contexts = as_contexts(ctx, f"Parameter {self.name}")
        if init is None:
            init = default_init if self.init is None else self.init
        if not shape_is_known(self._shape) and not self._allow_deferred_init:
            raise ArgumentError(
                f"Parameter {self.name}: expected a known shape, got {self._shape}; "
                "give all extents, or allow_deferred_init=True"
            )
        self._deferred_init = Deferred(init, contexts, default_init, None)
        if shape_is_known(self._shape):
            self._finish_deferred_init()

    def _finish_deferred_init(self) -> None:
        """Allocate what waited for the shape, which is known by now; nothing if nothing waited.

        Raises:
            ParameterError: if the shape is still unknown.
        """
        deferred = self._deferred_init
        if deferred is None:
            return
        shape = self._shape
        if shape is None or not shape_is_known(shape):
            raise ParameterError(
                f"Parameter {self.name}: expected a known shape, got {shape}; "
                "give in_units, in_channels and the like to the layer"
            )
        with pause():
            data = deferred.values(self.name, shape, self._dtype)
            self._allocate(data, deferred.contexts)
        self._deferred_init = None

    def _allocate(self, source: NDArray, contexts: Sequence[Context]) -> None:
        """Become initialized on these devices, with copies of ``source`` in this dtype."""
        copies = {
            ctx: gluon_array(zeros(source.shape, ctx, self._dtype, self._stype)) for ctx in contexts
        }
        for copy in copies.values():
            source.copyto(copy)
        self._hold(copies)
        self._init_grad(copies)

    def _hold(self, data: dict[Context, NDArray] | None) -> None:
        """Have these arrays from now on; the dict is never changed."""
        self._data = data
        # Afterwards: so nobody gathers the old arrays under the new number.
        Parameter.moves += 1

    def _init_grad(self, data: dict[Context, NDArray]) -> None:
        """Attach zero gradients to the arrays, or with ``grad_req`` null take them off."""
        if self._grad_req == "null":
            self._grad = None
            self._hold({ctx: value.detach() for ctx, value in data.items()})
            return
        self._grad = {
            ctx: gluon_array(zeros(value.shape, ctx, self._dtype, self._grad_stype))
            for ctx, value in data.items()
        }
        mark_variables(list(data.values()), list(self._grad.values()), self._grad_req)

    def _load_init(
        self,
        data: NDArray,
        ctx: ContextList | None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Take values from a file, initializing the parameter if it is not.

        Args:
            data: The values.
            ctx: Devices to initialize on; None for those it is on or waits for, else the CPU.
            cast_dtype: Whether another dtype is converted instead of refused.
            dtype_source: Whose dtype wins then: ``"current"`` or ``"saved"``.

        Raises:
            ParameterError: if shape, dtype or devices do not fit.
        """
        what = f"Parameter {self.name}: loading"
        shape = data.shape if not self._shape else join_shapes(self._shape, data.shape)
        if shape is None:
            raise ParameterError(f"{what} expected shape {self._shape}, got {data.shape}")
        dtype = loaded_dtype(self._dtype, data.dtype, what, cast_dtype, dtype_source)
        contexts = None if ctx is None else as_contexts(ctx, what)
        present = self._waiting_contexts()
        check_loaded_contexts(what, present, contexts)
        self._shape = shape
        if dtype is not self._dtype:
            self.cast(dtype)
        if self._data is not None:
            self.set_data(data)
        else:
            with pause():
                self._allocate(data, present or contexts or [cpu()])
        self._deferred_init = None

    def _waiting_contexts(self) -> list[Context] | None:
        if self._data is not None:
            return list(self._data)
        return None if self._deferred_init is None else self._deferred_init.contexts

    def reset_ctx(self, ctx: ContextList) -> None:
        """Move to other devices; values on several devices are averaged.

        Raises:
            ArgumentError: if the parameter is not initialized.
        """
        contexts = as_contexts(ctx, f"Parameter {self.name}")
        if self._data is not None:
            data = self._reduce()
            with pause():
                self._allocate(data, contexts)
        elif self._deferred_init is not None:
            self._deferred_init = self._deferred_init._replace(contexts=contexts)
        else:
            raise ArgumentError(
                f"Parameter {self.name}: reset_ctx expected an initialized parameter, got one that "
                "is not; call initialize(ctx=...)"
            )

    def _on(self, arrays: dict[Context, NDArray] | None, ctx: Context | None) -> NDArray:
        """Return the array of a device; of the only one, or the current one, for None."""
        if arrays is None:
            self._refuse()
        if ctx is None and len(arrays) == 1:
            return next(iter(arrays.values()))
        return array_on(arrays, ctx, self.name)

    def _refuse(self) -> NoReturn:
        what = f"Parameter {self.name}: expected an initialized parameter, got one that"
        if self._deferred_init is not None:
            raise DeferredInitializationError(
                f"{what} waits for its shape {self._shape}; pass a batch through the network "
                "first, or give in_units, in_channels and the like to the layer"
            )
        raise ParameterError(
            f"{what} is not; call initialize() on the network, and take its parameters from "
            "collect_params(): Block.params lacks those of its children"
        )

    def _gradients(self) -> dict[Context, NDArray]:
        if self._grad is None:
            if self._data is None:
                self._refuse()
            raise ParameterError(
                f"Parameter {self.name}: grad expected grad_req 'write' or 'add', got 'null'"
            )
        return self._grad

    def data(self, ctx: Context | None = None) -> NDArray:
        """Return the array on a device.

        Args:
            ctx: The device; by default the only one, or the current context among several.

        Raises:
            DeferredInitializationError: if the shape is not known yet.
            ParameterError: if the parameter is not initialized, not on this device, or sparse.
        """
        check_dense(self, "data")
        array = self._on(self._data, ctx)
        tracer = recording.tracer.get()
        traced: NDArray = array if tracer is None else tracer.parameter(self.name, array)
        return traced

    def list_data(self) -> list[NDArray]:
        """Return the arrays on all devices, in the order in which `initialize` got them.

        Raises:
            ParameterError: if the parameter is not initialized, or sparse.
        """
        check_dense(self, "list_data")
        return self._held()

    def _held(self) -> list[NDArray]:
        """Return the arrays on all devices, whatever their storage type."""
        if self._data is None:
            self._refuse()
        return list(self._data.values())

    def grad(self, ctx: Context | None = None) -> NDArray:
        """Return the gradient on a device, like `data`.

        Raises:
            ParameterError: as `data`, and if ``grad_req`` is null.
        """
        return self._on(self._gradients(), ctx)

    def list_grad(self) -> list[NDArray]:
        """Return the gradients on all devices."""
        return list(self._gradients().values())

    def list_ctx(self) -> list[Context]:
        """Return the devices that the parameter is on, or waits for.

        Raises:
            ParameterError: if it is not initialized.
        """
        contexts = self._waiting_contexts()
        if contexts is None:
            self._refuse()
        return list(contexts)

    def set_data(self, data: Any) -> None:
        """Put values on all devices; while the shape is unknown they settle it and wait with it.

        Args:
            data: NDArray of a shape that fits, or what `nd.array` takes; its dtype is converted.

        Raises:
            ParameterError: if the shape does not fit, or the parameter is not initialized.
        """
        source = data if isinstance(data, NDArray) else array(data)
        if self._data is None:
            if self._deferred_init is None:
                self._refuse()
            self.shape = source.shape
            self._deferred_init = self._deferred_init._replace(data=source)
            return
        self.shape = source.shape
        if self._trainer is not None:
            self._trainer._parameter_was_set(self)
        with pause():
            for target in self._data.values():
                source.copyto(target)

    def zero_grad(self) -> None:
        """Set the gradients on all devices to 0; nothing without gradients."""
        for ctx, grad in (self._grad or {}).items():
            if grad.stype == "default":
                grad[:] = 0
            else:
                zeros(grad.shape, ctx, grad.dtype, grad.stype).copyto(grad)

    def cast(self, dtype: Any) -> None:
        """Convert values and gradients to another element type."""
        normalize_dtype(dtype)
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with pause():
            self._hold({ctx: value.astype(dtype) for ctx, value in self._data.items()})
            if self._grad is not None:
                self._grad = {ctx: grad.astype(dtype) for ctx, grad in self._grad.items()}
                mark_variables(self._held(), self.list_grad(), self._grad_req)

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """Return the row-sparse array on a device, with some rows as the Trainer's store has them.

        It is the same array at each call, and holds the rows asked for last.

        Args:
            row_id: Numbers of rows, of any shape, on that device.

        Raises:
            ParameterError: if the parameter is dense, not initialized, or in no Trainer.
        """
        found = self._on(self._data, row_id.context)
        pull_rows(self, "row_sparse_data", found, row_id)
        return found

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """Return the row-sparse arrays on all devices, with some rows; see `row_sparse_data`."""
        found = self._held()
        pull_rows(self, "list_row_sparse_data", found, row_id)
        return found

    def var(self) -> Symbol:
        """Return the symbol variable that stands for this parameter; the same one until `cast`."""
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

    def _set_trainer(self, trainer: TrainerLink | None) -> None:
        self._trainer = trainer

    def _reduce(self) -> NDArray:
        """Return a copy of the values on the CPU, the mean over the devices."""
        with pause():
            if self._stype != "default":
                return whole_rows(self)
            return mean_on_cpu(self.list_data())
