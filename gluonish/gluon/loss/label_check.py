"""Checks of class indices in losses: a warning once, or an error while values are checked.

Operators clip class indices that are out of range, as MXNet's do. Only labels that are ready in
host memory are looked at, so that a loss waits for nothing.
"""

from typing import Any

from gluonish.core.errors import OperatorIndexError
from gluonish.core.program_lines import warn_at_line
from gluonish.gluon.block.block_errors import described_block
from gluonish.gluon.block.protocols import Named
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.value_checks import (
    CheckScope,
    Origin,
    calling_origin,
    describe_range,
    located_error,
    out_of_range,
)

_FIRST, _EVERY = 64, 16  # calls whose labels are looked at: the first, and then every 16th


class LabelCheck:
    """The checks of one loss; a separate object, so that graphs do not depend on its counter.

    Attributes:
        active: Whether labels are checked: a subclass may give them another meaning.
    """

    __slots__ = ("_calls", "_has_warned", "active")

    def __init__(self, active: bool) -> None:
        self.active = active
        self._calls = 0
        self._has_warned = False

    def is_due(self) -> bool:
        """Count a call, and return whether its labels are to be checked."""
        self._calls = calls = self._calls + 1
        return calls <= _FIRST or not calls % _EVERY or recording.checks.get() is not None

    def check(self, loss: Named, pred: Any, label: Any, axis: int) -> None:
        """Check the labels of a call.

        Args:
            loss: The loss.
            pred: Scores.
            label: Class indices.
            axis: Axis of the classes in ``pred``.

        Raises:
            OperatorIndexError: Values are checked, and a label is out of range.
        """
        if not (_is_dense(pred) and _is_dense(label)) or not -pred.ndim <= axis < pred.ndim:
            return
        classes = pred.shape[axis]
        if not label._spec.size or label._spec.size * classes != pred._spec.size:
            return
        checks = recording.checks.get()
        if checks is not None and checks.labels:
            wrong = out_of_range(label, classes)
            if wrong:
                what = f"expected labels {wrong}{_hint(label.asnumpy(), classes)}"
                origin = Origin(described_block(loss), calling_origin().line)
                raise located_error(OperatorIndexError, what, origin)
            return
        var = label._var
        if self._has_warned or not label._device.is_host or var.queue is not None or var.active < 0:
            return
        values = label._data
        if values.min() > -1 and values.max() < classes:
            return
        self._has_warned = True
        warn_at_line(_message(loss, values, classes))

    def problem(self, loss: Named, pred: Any, label: Any, axis: int) -> str:
        """Wait for labels; return what is wrong with them, or nothing after a warning.

        Args:
            loss: The loss.
            pred: Scores.
            label: Class indices.
            axis: Axis of the classes in ``pred``.
        """
        if self._has_warned or not self.active or not (_is_dense(pred) and _is_dense(label)):
            return ""
        classes, values = pred.shape[axis], label.asnumpy()
        if not values.size or (values.min() > -1 and values.max() < classes):
            return ""
        self._has_warned = True
        return _message(loss, values, classes)


def _message(loss: Named, values: Any, classes: int) -> str:
    return (
        f"{described_block(loss)}: expected labels {describe_range(values, classes)}"
        f"{_hint(values, classes)}; they count as the nearest class; MXNET_CHECK_VALUES=1 makes "
        "this an error"
    )


def _is_dense(x: Any) -> bool:
    return isinstance(x, NDArray) and x.stype == "default" and not x.is_traced


def _hint(values: Any, classes: int) -> str:
    """Return what the labels may mean, as the end of a message."""
    low, high = values.min(), values.max()
    if low == 1 and high == classes:
        return "; subtract 1 from labels that begin with 1"
    if values[(values > -1) & (values < classes)].size:
        outside = values[~((values > -1) & (values < classes))]
        if (outside == outside.flat[0]).all():
            return f"; ignore_label={int(outside.flat[0])} skips the labels of padding"
    return f"; the network has {classes} outputs"


def unchecked_labels() -> CheckScope:
    """Return a scope without checks of labels: weights of 0 may hide labels out of range."""
    checks = recording.checks.get()
    assert checks is not None
    return CheckScope(checks._replace(labels=False))
