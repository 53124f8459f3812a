"""Calls of a user's operator object on raw arrays, inside an engine operation.

The object receives new NDArrays on the raw memory, without pending operations. Engine operations
that it pushes run inline or in another worker; the call waits for them at the end.
"""

from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.device import Device, device_of, device_of_library
from gluonish.core.dtype import DTYPE_FLAGS
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.custom import CustomState
from gluonish_engine import Var


def run_custom(
    state: CustomState,
    xp: Any,
    phase: str,
    train: bool,
    outputs: Sequence[Any],
    inputs: Sequence[Any],
) -> None:
    """Call `forward` or `backward` of a node's `CustomOp`.

    Args:
        state: State of the node.
        xp: NumPy or CuPy.
        phase: ``"forward"`` or ``"backward"``.
        train: Whether the call is in training mode.
        outputs: Raw arrays to fill.
        inputs: Raw arrays; for backward the outputs' gradients come first, and the outputs last.

    Raises:
        OperatorError: The user's code raises; its exception is the cause.
    """
    device = _device(xp, state.context)
    filled = [_handle(x, device) for x in outputs]
    given = [_handle(x, device) for x in inputs]
    before = recording.mode.get()
    try:
        recording.mode.set(recording.TRAINING * train)
        with device.context:
            _call(state, phase, train, filled, given)
            for x in (*filled, *given):
                x.wait_to_read()
    except Exception as error:
        raise OperatorError(f"{state.name}: {phase} failed: {error!r}") from error
    finally:
        recording.mode.set(before)


def _call(
    state: CustomState, phase: str, train: bool, filled: list[NDArray], given: list[NDArray]
) -> None:
    heads = len(state.outputs) if phase == "backward" else 0
    first = heads + len(state.arguments)
    last = first + len(state.auxiliary)
    out_grad, in_data, aux = given[:heads], given[heads:first], given[first:last]
    operator = _operator(state, [*in_data, *aux])
    if phase == "forward":
        operator.forward(
            is_train=train,
            req=["write"] * len(filled),
            in_data=in_data,
            out_data=filled,
            aux=aux,
        )
        return
    for x in filled:  # a rule may skip inputs without gradient, such as labels
        x._data[...] = 0
    operator.backward(
        req=["write"] * len(filled),
        out_grad=out_grad,
        in_data=in_data,
        out_data=given[last:],
        in_grad=filled,
        aux=aux,
    )


def _operator(state: CustomState, arrays: Sequence[NDArray]) -> Any:
    """Return the node's operator object for arrays of these specs, created by the first call."""
    key = (arrays[0].context if arrays else None, tuple(x._spec for x in arrays))
    found = state.operators.get(key)
    if found is None:
        context: Context = arrays[0].context if arrays else cpu()
        shapes = [list(x.shape) for x in arrays]
        dtypes = [DTYPE_FLAGS[x._spec.dtype] for x in arrays]
        made = state.prop.create_operator(context, shapes, dtypes)
        found = state.operators.setdefault(key, made)
    return found


def _handle(raw: Any, device: Device) -> NDArray:
    return NDArray(raw, Spec(raw.shape, raw.dtype), device, Var())


def _device(xp: Any, context: Context | None) -> Device:
    return device_of_library(xp) if context is None else device_of(context)


def attach_runner() -> None:
    """Set this module as the runner of `CustomState`."""
    CustomState.run = staticmethod(run_custom)
