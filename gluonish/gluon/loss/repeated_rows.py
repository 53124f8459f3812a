"""Cross entropies of rows of scores that repeat, as a planned graph of one operator.

A recorded call of an operator with three outputs, and its gradient, take Python that nothing else
in a training step uses: 20 us of a small step, and twice that where the step's data push the
interpreter out of the processor's caches. A graph takes the Python of the network's own graph. It
runs the same kernels, so that all bits are the same.
"""

from typing import TYPE_CHECKING

from gluonish.core.config import kernel_switches
from gluonish.core.dtype import FLOAT32, INT32, INT64
from gluonish.core.loading import load
from gluonish.core.program import Programs
from gluonish.core.spec import Spec
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ndarray import NDArray
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE
from gluonish.ndarray.recording import OBSERVED, mode
from gluonish.ops import autocast
from gluonish.ops.nn.log_softmax_pick import LOG_SOFTMAX_PICK

if TYPE_CHECKING:
    from gluonish.graph.cached_graph import CachedGraph

_REPEATS = 32  # calls of a signature before it is planned, which takes as long as 20 calls
_MAX_GRAPHS = 32  # signatures; the oldest graph is dropped first
_MAX_COUNTED = 256  # signatures whose calls are counted
_LABELS = (FLOAT32, INT32, INT64)  # dtypes that the kernels read as they are

# `_log_softmax_pick` times -1, without the axis of the classes.
_ATTRS = LOG_SOFTMAX_PICK.schema.parse(LOG_SOFTMAX_PICK.name, {"scale": -1.0})

_Signature = tuple[Spec, Spec, tuple[object, ...]]
_graphs: Programs["CachedGraph"] = Programs(_MAX_GRAPHS)
_counts: Programs[int] = Programs(_MAX_COUNTED)


def repeated_rows(pred: Tensor, label: Tensor) -> NDArray | None:
    """Return the cross entropy of each row, if there were many calls of this signature before.

    Args:
        pred: Scores, (rows, classes).
        label: Class indices.

    Returns:
        (rows,), recorded as by an eager call; None if the operator is to be called.
    """
    if type(pred) is not NDArray or type(label) is not NDArray:
        return None
    device = pred._device
    if device is not label._device or not device.is_host or mode.get() & OBSERVED:
        return None
    if autocast.here.get() is not None or autocast.state.policy is not None:
        return None
    signature = (pred._spec, label._spec, kernel_switches())
    graph = _graphs.get(signature)
    if graph is None:
        graph = _counted(signature)
        if graph is None:
            return None
    return graph((pred, label))[0]


def _counted(signature: _Signature) -> "CachedGraph | None":
    """Count a call; return the graph of its signature once it is worth one."""
    pred, label, _ = signature
    is_plain = pred.dtype == FLOAT32 and label.dtype in _LABELS
    if not is_plain or not 0 < pred.size <= LIGHT_INLINE_SIZE or label.shape != pred.shape[:1]:
        return None
    count = _counts.pop(signature, 0)
    if count < _REPEATS:
        _counts.add(signature, count + 1)
        return None
    return _graphs.add(signature, _graph(pred, label))


def _graph(pred: Spec, label: Spec) -> "CachedGraph":
    ir, name = load("gluonish.graph.ir"), LOG_SOFTMAX_PICK.name
    inputs = [ir.variable(*pair) for pair in (("data", pred), ("index", label))]
    specs = LOG_SOFTMAX_PICK.infer(pred, label, **_ATTRS)
    output = ir.Value(ir.Node(LOG_SOFTMAX_PICK, name, inputs, _ATTRS, specs))
    made: CachedGraph = load("gluonish.graph.cached_graph").CachedGraph(
        [value.node for value in inputs], [output], name=name
    )
    return made
