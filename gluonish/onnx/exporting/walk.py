"""The walk over a graph: translates each node; one error lists all that cannot be translated."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import NotSupportedError, OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.graph.body import Body as GraphBody
from gluonish.graph.inference import Inference, infer
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.onnx.exporting.call import Call, OutputSpec, translator_of, unread_inputs
from gluonish.onnx.exporting.inexpressible import reason_of
from gluonish.onnx.exporting.package import CannotExportError
from gluonish.onnx.exporting.tensors import Emitter, Extent, OpenExtent, Tensor

# The shape of a variable, or None, and its element type.
Known = tuple[Sequence[Extent] | None, Any]


_NO_TRANSLATION = "it has no translation to ONNX; compute it outside of the exported network"


def _in_trial(shape: Sequence[Extent], trial: int) -> tuple[int, ...]:
    return tuple(x.trials[trial] if isinstance(x, OpenExtent) else x for x in shape)


def inferred(outputs: Sequence[Value], known: Mapping[str, Known]) -> list[Inference]:
    """Infer shapes and dtypes of all values: once, or for two example sizes if an axis is dynamic.

    Args:
        outputs: Outputs of the graph.
        known: Shape (None if unknown) and dtype of variables, by name.

    Raises:
        OperatorError: An operator rejects its inputs.
    """
    shapes = [shape for shape, _ in known.values() if shape is not None]
    dynamic = any(isinstance(extent, OpenExtent) for shape in shapes for extent in shape)
    found = []
    for trial in range(1 + dynamic):
        specs = {
            name: PartialSpec(None if shape is None else _in_trial(shape, trial), dtype)
            for name, (shape, dtype) in known.items()
        }
        try:
            found.append(infer(outputs, specs))
        except OperatorError as error:
            if not dynamic:
                raise
            raise OperatorError(_refused(known, trial, error)) from error
    return found


def _refused(known: Mapping[str, Known], trial: int, error: OperatorError) -> str:
    """Return the error for a network that rejects the example sizes of its dynamic axes."""
    tried = {
        name: _in_trial(shape, trial)
        for name, (shape, _) in known.items()
        if shape is not None and any(isinstance(extent, OpenExtent) for extent in shape)
    }
    if trial == 0:  # the given sizes may be wrong, too
        return (
            f"export_model: expected in_shapes that the network takes, got {error}, when tried "
            f"with {tried}; correct the sizes, or give an axis a size if the network takes only one"
        )
    return (
        "export_model: expected a network that takes inputs of other sizes along dynamic axes, got "
        f"one that does not: {error}, when tried with {tried}; give that axis a size in in_shapes"
    )


def _spec(trials: Sequence[Inference], node: Node, index: int) -> OutputSpec:
    found = [trial.spec(Value(node, index)) for trial in trials]
    shapes = [spec.shape for spec in found if spec.shape is not None and UNKNOWN not in spec.shape]
    dtype = found[0].dtype
    if len(shapes) < len(trials) or dtype is None or len({len(shape) for shape in shapes}) > 1:
        raise OperatorError(
            f"export_model: expected shapes that follow from those of the inputs, got {found[0]} "
            f"for node {node.name}; give in_shapes for all inputs"
        )
    pairs = zip(shapes[0], shapes[-1], strict=True)
    return OutputSpec(tuple(a if a == b else OpenExtent(a, b) for a, b in pairs), dtype)


def _shaped(emitter: Emitter, x: Tensor, spec: OutputSpec) -> Tensor:
    return Tensor(emitter, x.name, x.dtype, spec.shape)


class Walk:
    """Translates graphs node by node, and collects the nodes that cannot be translated.

    Attributes:
        refused: A line of text for each node that cannot be exported.
    """

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._promised: set[str] = set()

    def promise(self, emitter: Emitter, outputs: Sequence[Value]) -> None:
        """Reserve the names that the outputs have in the Symbol."""
        values = [
            Value(node, i)
            for node in topological_order(outputs)
            if node.op is not None
            for i in range(node.num_visible)
        ]
        self._promised = set(output_names(values)) - emitter.used
        emitter.used |= self._promised

    def translate(
        self,
        emitter: Emitter,
        outputs: Sequence[Value],
        given: dict[int, Tensor],
        trials: Sequence[Inference],
    ) -> list[Tensor]:
        """Append the nodes of a graph and return its outputs.

        Args:
            emitter: Receives the nodes.
            outputs: Outputs of the graph.
            given: Tensors of the variables and constant arrays, by ``id`` of their node.
            trials: Results of shape inference; see `inferred`.
        """
        made: dict[tuple[int, int], Tensor] = {(key, 0): x for key, x in given.items()}
        for node in topological_order(outputs):
            if node.op is not None:
                self._node(emitter, node, made, trials)
            elif node.array is not None and (id(node), 0) not in made:
                made[id(node), 0] = emitter.constant(node.array.asnumpy())
        return [made[value.key] for value in outputs]

    def _node(
        self,
        emitter: Emitter,
        node: Node,
        made: dict[tuple[int, int], Tensor],
        trials: Sequence[Inference],
    ) -> None:
        assert node.op is not None
        emitter.word = node.name
        specs = [_spec(trials, node, i) for i in range(node.num_outputs)]
        unread = unread_inputs(node)
        inputs = [
            Tensor(emitter, "", spec.dtype, spec.shape)
            if i in unread
            else _shaped(emitter, made[value.key], spec)
            for i, value in enumerate(node.inputs)
            for spec in [_spec(trials, value.node, value.index)]
        ]
        call = Call(emitter, node.op.name, node.attrs, inputs, specs, self._body)
        start = len(emitter.nodes)
        try:
            results = self._translated(call)
        except CannotExportError as error:
            self.refused.append(f"{node.op.name} in node {node.name}: {error}")
            results = [Tensor(emitter, "", spec.dtype, spec.shape) for spec in specs]
        own = {id(y) for draft in emitter.nodes[start:] for y in draft.outputs}
        for i, (x, spec) in enumerate(zip(results, specs, strict=False)):
            if x is not None:
                made[id(node), i] = self._finished(emitter, x, spec, Value(node, i), own)

    def _translated(self, call: Call) -> Sequence[Tensor | None]:
        translator = translator_of(call.op)
        if translator is None:
            raise CannotExportError(reason_of(call.op) or _NO_TRANSLATION)
        try:
            results = translator(call)
        except TypeError as error:
            if any(isinstance(e, OpenExtent) for x in call.inputs for e in x.known_shape):
                raise CannotExportError(
                    f"it needs {error} where an axis is dynamic; give that axis a size"
                ) from error
            raise
        return [results] if isinstance(results, Tensor) else results

    def _finished(
        self, emitter: Emitter, x: Tensor, spec: OutputSpec, value: Value, own: set[int]
    ) -> Tensor:
        """Cast an output to its dtype, and name it as in the Symbol if the name is unused."""
        typed = x.to(spec.dtype)
        (name,) = output_names([value])
        if typed is not x or id(x) in own:
            if name in self._promised:
                self._promised.remove(name)
                typed.name = name
            elif name not in emitter.used:
                typed.name = emitter.unique(name)
        typed.shape = spec.shape
        return typed

    def _body(self, emitter: Emitter, body: GraphBody, inputs: Sequence[Tensor]) -> list[Tensor]:
        known: dict[str, Known] = {
            n.name: (x.shape, x.dtype) for n, x in zip(body.inputs, inputs, strict=True)
        }
        trials = inferred(body.outputs, known)
        given = {id(node): x for node, x in zip(body.inputs, inputs, strict=True)}
        return self.translate(emitter, body.outputs, given, trials)

    def check(self, what: str) -> None:
        """Raise an error if any node could not be translated.

        Raises:
            NotSupportedError: There are such nodes; the message lists all of them.
        """
        if self.refused:
            raise NotSupportedError(
                f"{what}: expected operators that ONNX can express, got {len(self.refused)} "
                "that it cannot:\n  " + "\n  ".join(self.refused)
            )
