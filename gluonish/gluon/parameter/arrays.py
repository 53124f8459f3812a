"""The arrays of a Parameter: its values and gradient on each of its devices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from gluonish.autograd import mark_variables, pause
from gluonish.core.context import Context, cpu
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeferredInitializationError,
    ParameterError,
)
from gluonish.core.memory_owners import MemoryOwner, register_memory_owner
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape
from gluonish.core.versions import Version
from gluonish.gluon.parameter.arguments import Deferred, array_on, as_shape, check_fits, mean_on_cpu
from gluonish.gluon.parameter.paths import described
from gluonish.ndarray import NDArray, arange, recording, reset_arrays, zeros
from gluonish.ndarray.lazy_zeros import lazy_zeros
from gluonish.numpy.array import gluon_array
from gluonish.symbol import Symbol


def attach_gradients(
    data: Mapping[Context, NDArray], dtype: Any, stype: str, grad_req: str
) -> dict[Context, NDArray]:
    """Attach zero gradients to a parameter's arrays, and return them by device."""
    made = {ctx: gluon_array(lazy_zeros(x.shape, ctx, dtype, stype)) for ctx, x in data.items()}
    mark_variables(list(data.values()), list(made.values()), grad_req)
    return made


def zero_arrays(arrays: Iterable[NDArray]) -> None:
    """Set arrays to zero in place; one operator sets all dense arrays on a device."""
    dense: dict[Context, list[NDArray]] = {}
    for x in arrays:
        if x.stype == "default":
            dense.setdefault(x.context, []).append(x)
        else:
            zeros(x.shape, x.context, x.dtype, x.stype).copyto(x)
    for same in dense.values():
        reset_arrays(*same, num_arrays=len(same))


class _ArrayList(list[NDArray]):
    """A list of arrays that calls ``replaced(list)`` when an element is assigned."""

    def __init__(
        self, arrays: Iterable[NDArray], replaced: Callable[[Sequence[NDArray]], None]
    ) -> None:
        super().__init__(arrays)
        self._replaced = replaced

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        self._replaced(self)


class TrainerLike(Protocol):
    """The interface of a Trainer for its Parameters."""

    def _parameter_was_set(self, parameter: Any, reallocated: bool = False) -> None:
        """Record that the user set the parameter's values."""

    def _row_sparse_pull(self, parameter: Any, out: Any, row_ids: Any) -> None:
        """Copy rows of a row-sparse parameter from the store into arrays."""


class ParameterArrays:
    """Base class of `Parameter` with the accessors: shape, values, gradients and devices."""

    def __init__(self, name: str, shape: int | Sequence[int] | None, stype: str) -> None:
        self._full_name = name  # of graph variables and files of MXNet 1.x
        self._own_name = name  # without the prefix of its Block
        self._shape: Shape | None = None
        if shape is not None:
            self._shape = as_shape(f"Parameter {name}", shape)
        self._stype = stype
        self._arrays: dict[Context, NDArray] | None = None
        self._grads: dict[Context, NDArray] | None = None
        self._deferred_init: Deferred | None = None
        self._trainer: TrainerLike | None = None
        self._dtype: Any = None
        self._var: Symbol | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "name" in state:  # pickled by an older gluonish
            state = dict(state)
            state["_full_name"] = state["_own_name"] = state.pop("name")
        self.__dict__.update(state)

    @property
    def name(self) -> str:
        """Full name, with the prefix of its Block; by the rules of MXNet 2.0 without it."""
        return self._own_name if follows_mxnet2() else self._full_name

    @name.setter
    def name(self, name: str) -> None:
        self._full_name = self._own_name = name

    @property
    def shape(self) -> Shape | None:
        """The shape. Unknown sizes are 0 or -1 and may be set; known sizes cannot be changed.

        With NumPy shape semantics, unknown sizes are -1.
        """
        if self._shape is None or not is_np_shape():
            return self._shape
        return tuple(n or -1 for n in self._shape)

    @shape.setter
    def shape(self, new_shape: int | Sequence[int]) -> None:
        shape = as_shape(described(self), new_shape)
        if self._shape is not None:
            check_fits(described(self), self._shape, shape)
        self._shape = shape

    def _set_dtype(self, dtype: Any) -> None:
        normalize_dtype(dtype)
        self._dtype, self._var = dtype, None
        Version.touch()  # graphs may have been traced with the old dtype

    @property
    def _data(self) -> list[NDArray] | None:
        """The arrays in the order of `list_ctx`, or None; assignment replaces them."""
        return None if self._arrays is None else _ArrayList(self._arrays.values(), self._set_arrays)

    @_data.setter
    def _data(self, arrays: Sequence[NDArray] | None) -> None:
        self._set_arrays(arrays)

    def _set_arrays(self, arrays: Sequence[NDArray] | None) -> None:
        self._replace_arrays(None if arrays is None else {array.context: array for array in arrays})

    def _replace_arrays(self, data: dict[Context, NDArray] | None) -> None:
        """Replace the arrays; `Parameter` also increments its version."""
        self._arrays = data

    @property
    def _grad(self) -> list[NDArray] | None:
        """The gradients in the order of `list_ctx`, or None."""
        return None if self._grads is None else _ArrayList(self._grads.values(), self._set_grads)

    @_grad.setter
    def _grad(self, arrays: Sequence[NDArray] | None) -> None:
        self._set_grads(arrays)

    def _set_grads(self, arrays: Sequence[NDArray] | None) -> None:
        self._grads = None if arrays is None else {array.context: array for array in arrays}

    @property
    def _ctx_list(self) -> list[Context] | None:
        """The devices of the arrays, or None; assignment has no effect."""
        return None if self._arrays is None else list(self._arrays)

    @_ctx_list.setter
    def _ctx_list(self, contexts: Sequence[Context] | None) -> None:
        """Ignore the value: programs that share a parameter's arrays set this, too."""

    @property
    def _ctx_map(self) -> list[list[int | None]]:
        """Indices into `_data` by device id: GPUs first, CPUs second."""
        positions: list[list[int | None]] = [[], []]
        for position, context in enumerate(self._arrays or ()):
            row = positions[context.device_typeid & 1]
            row += [None] * (context.device_id + 1 - len(row))
            row[context.device_id] = position
        return positions

    @_ctx_map.setter
    def _ctx_map(self, positions: Any) -> None:
        """Ignore the value, as `_ctx_list` does."""

    def _check_and_get(self, arr_list: Sequence[NDArray] | None, ctx: Any) -> Any:
        """Return the element of ``arr_list``, ordered as `list_ctx`, for a device.

        Args:
            arr_list: One array for each device, or None.
            ctx: The device; None for the only or the current one; the type `list` for all.

        Raises:
            ParameterError: There is no array on the device.
        """
        if arr_list is None or self._arrays is None:
            refuse_uninitialized(self)
        if ctx is list:
            return list(arr_list)
        return self._array_on(dict(zip(self._arrays, arr_list, strict=True)), ctx)

    def _waiting_contexts(self) -> list[Context] | None:
        if self._arrays is not None:
            return list(self._arrays)
        return None if self._deferred_init is None else self._deferred_init.contexts

    def _array_on(self, arrays: dict[Context, NDArray] | None, ctx: Context | None) -> NDArray:
        """Return the array on a device; None means the only one, or the current one."""
        if arrays is None:
            refuse_uninitialized(self)
        if ctx is None and len(arrays) == 1:
            return next(iter(arrays.values()))
        found = arrays.get(ctx) if ctx is not None else None
        return array_on(arrays, ctx, described(self)) if found is None else found

    def _gradients(self) -> dict[Context, NDArray]:
        if self._grads is None:
            if self._arrays is None:
                refuse_uninitialized(self)
            raise ParameterError(
                f"{described(self)}: grad expected grad_req 'write' or 'add', got 'null'"
            )
        return self._grads

    def data(self, ctx: Context | None = None, device: Context | None = None) -> NDArray:
        """Return the values on a device.

        Args:
            ctx: The device; None for the only one, or the current context if there are several.
            device: ``ctx`` under the name it has in MXNet 2.0.

        Raises:
            DeferredInitializationError: The shape is not known yet.
            ParameterError: The parameter is not initialized, not on this device, or sparse.
        """
        if self._stype != "default":
            _check_dense(self, "data")
        array = self._array_on(self._arrays, device if ctx is None else ctx)
        tracer = recording.tracer.get()
        traced: NDArray = array if tracer is None else tracer.parameter(self._full_name, array)
        return traced

    def list_data(self) -> list[NDArray]:
        """Return the values on all devices, in the order passed to `initialize`.

        Raises:
            ParameterError: The parameter is not initialized, or sparse.
        """
        _check_dense(self, "list_data")
        return self._list_arrays()

    def _list_arrays(self) -> list[NDArray]:
        """Return the arrays on all devices, of any storage type."""
        if self._arrays is None:
            refuse_uninitialized(self)
        return list(self._arrays.values())

    def grad(self, ctx: Context | None = None, device: Context | None = None) -> NDArray:
        """Return the gradient on a device.

        Args:
            ctx: The device; None for the only one, or the current context if there are several.
            device: ``ctx`` under the name it has in MXNet 2.0.

        Raises:
            ParameterError: As for `data`; or ``grad_req`` is ``"null"``.
        """
        return self._array_on(self._gradients(), device if ctx is None else ctx)

    def list_grad(self) -> list[NDArray]:
        """Return the gradients on all devices."""
        return list(self._gradients().values())

    def list_ctx(self) -> list[Context]:
        """Return the devices on which the parameter is, or will be, initialized.

        Raises:
            ParameterError: `initialize` was not called.
        """
        contexts = self._waiting_contexts()
        if contexts is None:
            refuse_uninitialized(self)
        return list(contexts)

    list_device = list_ctx

    def zero_grad(self) -> None:
        """Set the gradients on all devices to 0, if there are any."""
        zero_arrays((self._grads or {}).values())

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """Return selected rows of a row-sparse parameter, fetched from the Trainer's store.

        Each call returns the same array, which then holds the rows requested last.

        Args:
            row_id: Array of row indices, of any shape, on the device to return the rows on.

        Raises:
            ParameterError: The parameter is dense, not initialized, or not in a Trainer.
        """
        _check_rows(self, "row_sparse_data", row_id)
        found = self._array_on(self._arrays, row_id.context)
        _pull_rows(self, found, row_id)
        return found

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """Return row-sparse arrays with selected rows on all devices; see `row_sparse_data`.

        Args:
            row_id: Array of row indices.
        """
        _check_rows(self, "list_row_sparse_data", row_id)
        found = self._list_arrays()
        _pull_rows(self, found, row_id)
        return found

    def _set_trainer(self, trainer: TrainerLike | None) -> None:
        """Set the trainer; the store of a sparse parameter's only trainer holds all its rows.

        Raises:
            ParameterError: The parameter is sparse and belongs to another trainer.
        """
        if self._stype != "default" and trainer is not None:
            _check_only_trainer(self, trainer)
        self._trainer = trainer

    def _reduce(self) -> NDArray:
        """Return the mean of the values over all devices, as a copy on the CPU."""
        with pause():
            if self._stype != "default":
                return _all_rows(self)
            return mean_on_cpu(self.list_data())


def refuse_uninitialized(parameter: ParameterArrays) -> NoReturn:
    """Raise the error for a parameter without arrays.

    Raises:
        DeferredInitializationError: The shape is not known yet.
        ParameterError: The parameter was not initialized.
    """
    what = f"{described(parameter)}: expected an initialized parameter, got one that"
    if parameter._deferred_init is not None:
        raise DeferredInitializationError(
            f"{what} waits for its shape {parameter.shape}; pass a batch through the network "
            "first, so that it reaches the layer, or set in_units, in_channels and the like"
        )
    raise ParameterError(
        f"{what} is not; call initialize() on the network, and get its parameters from "
        "collect_params(): Block.params lacks those of its children, and layers in a Python list "
        "or dict are no children (nn.Sequential is a list of layers)"
    )


def refuse_shape(parameter: ParameterArrays) -> NoReturn:
    """Raise the error for an unknown shape without ``allow_deferred_init``."""
    remedy = (
        "a scalar needs NumPy shape semantics, see util.set_np"
        if parameter._shape == ()
        else "pass all extents, or allow_deferred_init=True"
    )
    raise ArgumentError(
        f"{described(parameter)}: expected a known shape, got {parameter.shape}; {remedy}"
    )


def refuse_unknown_shape(parameter: ParameterArrays) -> NoReturn:
    """Raise the error for a deferred parameter whose shape is still unknown."""
    raise ParameterError(
        f"{described(parameter)}: expected a known shape, got {parameter.shape}; "
        "pass in_units, in_channels and the like to the layer"
    )


def refuse_reset(parameter: ParameterArrays) -> NoReturn:
    """Raise the error for `Parameter.reset_ctx` before initialization."""
    raise ArgumentError(
        f"{described(parameter)}: reset_ctx expected an initialized parameter, got one that "
        "is not; call initialize(ctx=...)"
    )


def _check_dense(parameter: ParameterArrays, what: str) -> None:
    """Raise an error for a sparse parameter if a method supports only dense ones.

    Raises:
        ParameterError: The parameter is sparse.
    """
    if parameter._stype == "default":
        return
    remedy = (
        "use row_sparse_data with the rows that you need"
        if parameter._stype == "row_sparse"
        else "make the parameter dense, or a Constant"
    )
    raise ParameterError(
        f"{described(parameter)}: {what} expected stype 'default', got {parameter._stype!r}; "
        f"{remedy}"
    )


def _check_rows(parameter: ParameterArrays, what: str, row_id: object) -> None:
    """Check the arguments of a method that pulls rows.

    Raises:
        ParameterError: The parameter is not row-sparse, not initialized, or in no Trainer.
        ArgumentTypeError: ``row_id`` is not an NDArray.
    """
    if parameter._stype != "row_sparse":
        raise ParameterError(
            f"{described(parameter)}: {what} expected stype 'row_sparse', got "
            f"{parameter._stype!r}; use data() or list_data()"
        )
    if parameter._arrays is None:
        refuse_uninitialized(parameter)
    if parameter._trainer is None:
        raise ParameterError(
            f"{described(parameter)}: {what} expected a Parameter of a Trainer, whose kvstore "
            "holds the rows, got one without a Trainer"
        )
    if not isinstance(row_id, NDArray):
        raise ArgumentTypeError(
            f"{described(parameter)}: {what} expected row_id as an NDArray on the device, got "
            f"{type(row_id).__name__}"
        )


def _check_only_trainer(parameter: ParameterArrays, trainer: TrainerLike) -> None:
    """Raise an error if a sparse parameter belongs to another trainer.

    Raises:
        ParameterError: The parameter belongs to another trainer.
    """
    if parameter._trainer is not None and parameter._trainer is not trainer:
        raise ParameterError(
            f"{described(parameter)}: expected one Trainer for a {parameter._stype} parameter, got "
            "a second; the store of the first holds its rows"
        )


def _pull_rows(parameter: ParameterArrays, out: Any, row_id: NDArray) -> None:
    """Copy rows from the Trainer's store into a row-sparse array, or a list of such arrays."""
    if parameter._trainer is not None:
        with pause():  # a pull is not recorded, though its array may be
            parameter._trainer._row_sparse_pull(parameter, out, row_id)


def _all_rows(parameter: ParameterArrays) -> NDArray:
    """Return a sparse copy on the CPU of all rows in the Trainer's store."""
    first = parameter._list_arrays()[0]
    if parameter._trainer is None or parameter._stype != "row_sparse":
        copied: NDArray = first.copyto(cpu())
        return copied
    rows: NDArray = zeros(first.shape, cpu(), first.dtype, parameter._stype)
    parameter._trainer._row_sparse_pull(parameter, rows, arange(0, first.shape[0], dtype="int64"))
    return rows


def _holders(parameter: ParameterArrays) -> list[MemoryOwner]:
    return [
        MemoryOwner(ctx, name, [x._data])
        for name, arrays in (("parameters", parameter._arrays), ("gradients", parameter._grads))
        for ctx, x in (arrays or {}).items()
        if x.stype == "default"
    ]


register_memory_owner(ParameterArrays, _holders)
