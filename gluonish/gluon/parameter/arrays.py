"""What a Parameter holds: an NDArray on each of its devices, with its gradient."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, Protocol

import numpy as np

from gluonish.autograd import mark_variables, pause
from gluonish.core.context import Context, cpu
from gluonish.core.device import device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeferredInitializationError,
    ParameterError,
)
from gluonish.core.memory_owners import Holder, describe_holders
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape, Spec
from gluonish.core.versions import Version
from gluonish.gluon.parameter.arguments import Deferred, array_on, as_shape, check_fits, mean_on_cpu
from gluonish.gluon.parameter.places import described
from gluonish.ndarray import NDArray, arange, recording, reset_arrays, zeros
from gluonish.numpy.array import gluon_array
from gluonish.symbol import Symbol
from gluonish_engine import Var

_LEAST_UNUSED_NBYTES = 1 << 20


def attach_gradients(
    data: Mapping[Context, NDArray], dtype: Any, stype: str, grad_req: str
) -> dict[Context, NDArray]:
    """Attach zero gradients to a parameter's arrays, and return them by device.

    Args:
        data: The arrays, by device.
        dtype: Element type of the gradients.
        stype: Their storage type.
        grad_req: ``"write"`` or ``"add"``.
    """
    made = {ctx: gluon_array(_zeros(x.shape, ctx, dtype, stype)) for ctx, x in data.items()}
    mark_variables(list(data.values()), list(made.values()), grad_req)
    return made


def _zeros(shape: Shape, ctx: Context, dtype: Any, stype: str) -> NDArray:
    """Return zeros; large ones on a CPU take memory and time when they are first used.

    Otherwise weights that are loaded for inference would cost twice their size, and reading them
    half as long again. Whoever watches allocations sees them made as ever.
    """
    spec = Spec(shape, normalize_dtype(dtype))
    device = device_of(ctx)
    if stype == "default" and device.empty is np.empty and spec.nbytes >= _LEAST_UNUSED_NBYTES:
        with suppress(MemoryError):  # which `zeros` describes
            return NDArray(np.zeros(shape, spec.dtype), spec, device, Var())
    return zeros(shape, ctx, dtype, stype)


def zero_arrays(arrays: Iterable[NDArray]) -> None:
    """Set arrays to zero in place: all dense ones of a device by one operator."""
    dense: dict[Context, list[NDArray]] = {}
    for x in arrays:
        if x.stype == "default":
            dense.setdefault(x.context, []).append(x)
        else:
            zeros(x.shape, x.context, x.dtype, x.stype).copyto(x)
    for same in dense.values():
        reset_arrays(*same, num_arrays=len(same))


class _ArrayList(list[NDArray]):
    """Arrays in a list that tells its owner when one is replaced.

    Args:
        arrays: The arrays.
        replaced: Is called with the list.
    """

    def __init__(
        self, arrays: Iterable[NDArray], replaced: Callable[[Sequence[NDArray]], None]
    ) -> None:
        super().__init__(arrays)
        self._replaced = replaced

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        self._replaced(self)


class TrainerLink(Protocol):
    """What a Parameter needs of its Trainer."""

    def _parameter_was_set(self, parameter: Any, moves: bool = False) -> None:
        """Take note that values were put into the parameter by hand, perhaps with new memory."""

    def _row_sparse_pull(self, parameter: Any, out: Any, row_ids: Any) -> None:
        """Bring rows of a sparse parameter from where all of them are."""


class ParameterArrays:
    """The half of `Parameter` that is read: shape, values, gradients and devices.

    Args:
        name: Full name, which exported files and symbols use.
        shape: Shape; an unknown size is 0 or -1. None if the number of axes is unknown, too.
        stype: Storage type of the values.
    """

    def __init__(self, name: str, shape: int | Sequence[int] | None, stype: str) -> None:
        self.name = name
        self._shape: Shape | None = None
        if shape is not None:
            self._shape = as_shape(f"Parameter {name}", shape)
        self._stype = stype
        self._arrays: dict[Context, NDArray] | None = None
        self._grads: dict[Context, NDArray] | None = None
        self._deferred_init: Deferred | None = None
        self._trainer: TrainerLink | None = None
        self._dtype: Any = None
        self._var: Symbol | None = None

    @property
    def shape(self) -> Shape | None:
        """The shape; unknown sizes are 0 or -1. They may be set; known ones cannot be changed.

        With NumPy's semantics of shapes, unknown sizes are -1.
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

    def _take_dtype(self, dtype: Any) -> None:
        normalize_dtype(dtype)
        self._dtype, self._var = dtype, None
        Version.touch()  # graphs may have been traced with the old one

    @property
    def _data(self) -> list[NDArray] | None:
        """The arrays in the order of `list_ctx`, or None; what is put there takes their place."""
        return None if self._arrays is None else _ArrayList(self._arrays.values(), self._set_arrays)

    @_data.setter
    def _data(self, arrays: Sequence[NDArray] | None) -> None:
        self._set_arrays(arrays)

    def _set_arrays(self, arrays: Sequence[NDArray] | None) -> None:
        self._hold(None if arrays is None else {array.context: array for array in arrays})

    def _hold(self, data: dict[Context, NDArray] | None) -> None:
        """Have these arrays from now on; `Parameter` tells whoever keeps them."""
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
        """The devices, or None; they are those of the arrays, whatever is put there."""
        return None if self._arrays is None else list(self._arrays)

    @_ctx_list.setter
    def _ctx_list(self, contexts: Sequence[Context] | None) -> None:
        """Nothing: a program that shares a parameter's arrays sets this, too."""

    @property
    def _ctx_map(self) -> list[list[int | None]]:
        """Positions in `_data`, by device number: of GPUs first, of CPUs second."""
        positions: list[list[int | None]] = [[], []]
        for position, context in enumerate(self._arrays or ()):
            row = positions[context.device_typeid & 1]
            row += [None] * (context.device_id + 1 - len(row))
            row[context.device_id] = position
        return positions

    @_ctx_map.setter
    def _ctx_map(self, positions: Any) -> None:
        """Nothing, as of `_ctx_list`."""

    def _check_and_get(self, arr_list: Sequence[NDArray] | None, ctx: Any) -> Any:
        """Return what a list of arrays, one a device, has for a device.

        Args:
            arr_list: The arrays, in the order of `list_ctx`, or None.
            ctx: The device; None for the only or the current one; `list` for all in a list.

        Raises:
            ParameterError: There is none.
        """
        if arr_list is None or self._arrays is None:
            refuse_uninitialized(self)
        if ctx is list:
            return list(arr_list)
        return self._on(dict(zip(self._arrays, arr_list, strict=True)), ctx)

    def _waiting_contexts(self) -> list[Context] | None:
        if self._arrays is not None:
            return list(self._arrays)
        return None if self._deferred_init is None else self._deferred_init.contexts

    def _on(self, arrays: dict[Context, NDArray] | None, ctx: Context | None) -> NDArray:
        """Return the array of a device; of the only one, or the current one, for None."""
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

    def data(self, ctx: Context | None = None) -> NDArray:
        """Return the values on a device.

        Args:
            ctx: The device; None for the only one, or the current context if there are several.

        Raises:
            DeferredInitializationError: The shape is not known yet.
            ParameterError: The parameter is not initialized, not on this device, or sparse.
        """
        if self._stype != "default":
            _check_dense(self, "data")
        array = self._on(self._arrays, ctx)
        tracer = recording.tracer.get()
        traced: NDArray = array if tracer is None else tracer.parameter(self.name, array)
        return traced

    def list_data(self) -> list[NDArray]:
        """Return the values on all devices, in the order given to `initialize`.

        Raises:
            ParameterError: The parameter is not initialized, or sparse.
        """
        _check_dense(self, "list_data")
        return self._held()

    def _held(self) -> list[NDArray]:
        """Return the arrays on all devices, whatever their storage type."""
        if self._arrays is None:
            refuse_uninitialized(self)
        return list(self._arrays.values())

    def grad(self, ctx: Context | None = None) -> NDArray:
        """Return the gradient on a device.

        Args:
            ctx: The device; None for the only one, or the current context if there are several.

        Raises:
            ParameterError: As for `data`; or ``grad_req`` is ``"null"``.
        """
        return self._on(self._gradients(), ctx)

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
        found = self._on(self._arrays, row_id.context)
        _pull_rows(self, found, row_id)
        return found

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """Return row-sparse arrays with selected rows on all devices; see `row_sparse_data`.

        Args:
            row_id: Array of row indices.
        """
        _check_rows(self, "list_row_sparse_data", row_id)
        found = self._held()
        _pull_rows(self, found, row_id)
        return found

    def _set_trainer(self, trainer: TrainerLink | None) -> None:
        """Belong to a trainer; a sparse parameter to one only, whose store has all its rows.

        Raises:
            ParameterError: A sparse parameter belongs to another trainer.
        """
        if self._stype != "default" and trainer is not None:
            _check_only_trainer(self, trainer)
        self._trainer = trainer

    def _reduce(self) -> NDArray:
        """Return a copy of the values on the CPU, the mean over the devices."""
        with pause():
            if self._stype != "default":
                return _whole_rows(self)
            return mean_on_cpu(self.list_data())


def refuse_uninitialized(parameter: ParameterArrays) -> NoReturn:
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


def refuse_shape(parameter: ParameterArrays) -> NoReturn:
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


def refuse_unknown_shape(parameter: ParameterArrays) -> NoReturn:
    """Raise the error of a parameter that waited for its shape in vain.

    Raises:
        ParameterError: Always.
    """
    raise ParameterError(
        f"{described(parameter)}: expected a known shape, got {parameter.shape}; "
        "give in_units, in_channels and the like to the layer"
    )


def refuse_move(parameter: ParameterArrays) -> NoReturn:
    """Raise the error of a parameter without arrays that is to be on other devices.

    Raises:
        ArgumentError: Always.
    """
    raise ArgumentError(
        f"{described(parameter)}: reset_ctx expected an initialized parameter, got one that "
        "is not; call initialize(ctx=...)"
    )


def _check_dense(parameter: ParameterArrays, what: str) -> None:
    """Refuse a method that does not serve sparse parameters.

    Raises:
        ParameterError: The parameter is sparse.
    """
    if parameter._stype == "default":
        return
    remedy = (
        "use row_sparse_data, which takes the rows that you need"
        if parameter._stype == "row_sparse"
        else "make the parameter dense, or a Constant"
    )
    raise ParameterError(
        f"{described(parameter)}: {what} expected stype 'default', got {parameter._stype!r}; "
        f"{remedy}"
    )


def _check_rows(parameter: ParameterArrays, what: str, row_id: object) -> None:
    """Refuse to bring rows where there are none, or of no array of their numbers.

    Args:
        parameter: Whose rows.
        what: The method, for messages.
        row_id: Numbers of rows.

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
            f"{described(parameter)}: {what} expected a Parameter in a Trainer, got one in "
            "none; the Trainer's store has the rows"
        )
    if not isinstance(row_id, NDArray):
        raise ArgumentTypeError(
            f"{described(parameter)}: {what} expected row_id as an NDArray on the device, got "
            f"{type(row_id).__name__}"
        )


def _check_only_trainer(parameter: ParameterArrays, trainer: TrainerLink) -> None:
    """Refuse a second trainer for a sparse parameter.

    Raises:
        ParameterError: It belongs to another one.
    """
    if parameter._trainer is not None and parameter._trainer is not trainer:
        raise ParameterError(
            f"{described(parameter)}: expected one Trainer for a {parameter._stype} parameter, got "
            "a second; the first one's store has its rows"
        )


def _pull_rows(parameter: ParameterArrays, out: Any, row_id: NDArray) -> None:
    """Bring rows from the Trainer's store into a row-sparse array, or a list of such arrays."""
    if parameter._trainer is not None:
        with pause():  # a pull is no part of the graph, though its array may be
            parameter._trainer._row_sparse_pull(parameter, out, row_id)


def _whole_rows(parameter: ParameterArrays) -> NDArray:
    """Return a sparse copy of all values on the CPU, as the Trainer's store has them."""
    first = parameter._held()[0]
    if parameter._trainer is None or parameter._stype != "row_sparse":
        copied: NDArray = first.copyto(cpu())
        return copied
    whole: NDArray = zeros(first.shape, cpu(), first.dtype, parameter._stype)
    parameter._trainer._row_sparse_pull(parameter, whole, arange(0, first.shape[0], dtype="int64"))
    return whole


def _holders(parameter: ParameterArrays) -> list[Holder]:
    return [
        Holder(ctx, name, [x._data])
        for name, held in (("parameters", parameter._arrays), ("gradients", parameter._grads))
        for ctx, x in (held or {}).items()
        if x.stype == "default"
    ]


describe_holders(ParameterArrays, _holders)
