"""pool: one vector of the features of a text's tokens."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError

POOLINGS = ("mean", "cls", "last", "max")


def check_pooling(name: str, pooling: object) -> None:
    """Raise an error if there is no such pooling.

    Raises:
        ArgumentError: ``pooling`` is not in `POOLINGS`.
    """
    if pooling not in POOLINGS:
        raise ArgumentError(
            f"{name}: expected pooling among {', '.join(POOLINGS)}, got {pooling!r:.60}"
        )


def pool(F: ModuleType, features: Any, valid_length: Any, pooling: str) -> Any:
    """Return one vector (N, units) of features (N, T, units).

    Args:
        F: ``mx.nd`` or ``mx.sym``.
        features: (N, T, units).
        valid_length: Number of tokens of each text, (N,), at least 1; None for T.
        pooling: ``"cls"`` for the first token, ``"last"`` for the last one, ``"mean"``, ``"max"``.
    """
    known = {"use_sequence_length": valid_length is not None, "axis": 1}
    inputs = (features,) if valid_length is None else (features, valid_length)
    if pooling == "cls":
        return F.reshape(F.slice_axis(features, axis=1, begin=0, end=1), shape=(0, -1))
    if pooling == "last":
        return F.SequenceLast(*inputs, **known)
    if pooling == "max":
        return F.max(F.SequenceMask(*inputs, value=-3e38, **known), axis=1)
    if valid_length is None:
        return F.mean(features, axis=1)
    total = F.sum(F.SequenceMask(*inputs, **known), axis=1)
    ones = F.ones_like(F.slice_axis(features, axis=2, begin=0, end=1))  # of the features' dtype
    number = F.sum(F.SequenceMask(ones, valid_length, **known), axis=1)
    return F.broadcast_div(total, number)
