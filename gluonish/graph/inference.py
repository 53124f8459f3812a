"""Shape and dtype inference over a Symbol graph, and the graph with specs that follows from it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import GluonishError, GraphError, OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec, merge_dtypes, merge_shapes
from gluonish.graph.inlining import inlined
from gluonish.graph.ir import Graph, Node, Value, infer_specs, topological_order
from gluonish.ops.registry import Attrs
from gluonish.ops.support.dtype_rules import complete_alike
from gluonish.ops.support.shape_rules import Shapes, alike, open_spec, probe

# Each sweep carries what is known one step further against the direction of the nodes; a chain of
# unknowns longer than this is not found in practice.
_MAX_SWEEPS = 16
_MOST_AXES = 5  # of the inputs that an operator's inference is asked about for dtypes alone


class Inference:
    """What is known of every value of a graph.

    Args:
        nodes: Topological order.
        known: What is given for variables, by name.
    """

    def __init__(self, nodes: Sequence[Node], known: Mapping[str, PartialSpec]) -> None:
        self.nodes = nodes
        self._specs: dict[tuple[int, int], PartialSpec] = {}
        self._changed = False
        self._settled: set[int] = set()  # nodes of which nothing is left to find
        for node in nodes:
            if node.op is None and node.array is not None:
                spec = node.array._spec
                self._specs[id(node), 0] = PartialSpec(spec.shape, spec.dtype)
            elif node.op is None:
                self._specs[id(node), 0] = known.get(node.name, PartialSpec())

    def spec(self, value: Value) -> PartialSpec:
        """What is known of a value."""
        return self._specs.get(value.key, PartialSpec())

    def give(self, value: Value, spec: PartialSpec) -> None:
        """Take what is known of a value.

        Raises:
            OperatorError: It contradicts what was known.
        """
        self._learn(value.key, spec, value.node.name)

    def run(self) -> None:
        """Carry what is known through the graph until nothing new is found.

        Raises:
            OperatorError: An operator refuses what reaches it; the message names the node.
        """
        for sweep in range(_MAX_SWEEPS):
            self._changed = False
            for node in self.nodes if sweep % 2 == 0 else reversed(self.nodes):
                if node.op is not None and id(node) not in self._settled:
                    self._visit(node)
            if not self._changed and sweep:
                return

    def undetermined(self) -> list[Node]:
        """Return the nodes without a shape of their own whose readers do not determine it."""
        return [
            node
            for node in self.nodes
            if _is_wholly_open(node) and UNKNOWN in (self.spec(Value(node)).shape or (UNKNOWN,))
        ]

    def _visit(self, node: Node) -> None:
        op = node.op
        assert op is not None
        inputs = [self.spec(value) for value in node.inputs]
        outputs = [self._specs.get((id(node), i), PartialSpec()) for i in range(node.num_outputs)]
        try:
            open_ = _open_spec(node)
            if open_ is not None:
                outputs[0] = open_
            elif not all(spec.known() for spec in inputs):
                complete = complete_alike if op.complete is None else op.complete
                untyped = all(spec.dtype is None for spec in outputs)
                complete(inputs, outputs, node.attrs)
                if untyped and op.complete is None:
                    _tell_dtypes(node, inputs, outputs)
                _tell_shapes(node, inputs, outputs)
            if open_ is None and all(spec.known() for spec in inputs):
                exact = infer_specs(op, [Spec(s.shape, s.dtype) for s in inputs], node.attrs)  # type: ignore[arg-type]  # known() says neither is None
                outputs = [PartialSpec(spec.shape, spec.dtype) for spec in exact]
                self._settled.add(id(node))
        except OperatorError as error:
            raise OperatorError(f"{node.name}: {error}") from error
        except GluonishError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            # Operators that only gradients are made of trust their inputs; a file may have them.
            raise OperatorError(
                f"{node.name}: {op.name}: expected inputs it can take, got {inputs!r:.200}: {error}"
            ) from error
        for value, found in zip(node.inputs, inputs, strict=True):
            self._learn(value.key, found, value.node.name)
        for i, found in enumerate(outputs):
            self._learn((id(node), i), found, node.name)

    def _learn(self, key: tuple[int, int], found: PartialSpec, name: str) -> None:
        before = self._specs.get(key, PartialSpec())
        merged = PartialSpec(
            merge_shapes(before.shape, found.shape, name),
            merge_dtypes(before.dtype, found.dtype, name),
        )
        # Tuples are not compared whole, because np.dtype("float64") == None.
        if merged.shape != before.shape or (merged.dtype is None) != (before.dtype is None):
            self._specs[key] = merged
            self._changed = True


def infer(outputs: Sequence[Value], known: Mapping[str, PartialSpec]) -> Inference:
    """Infer shapes and dtypes behind the outputs from what is known of some variables.

    Dtypes that nothing determines become float32, as in MXNet.
    """
    inference = Inference(topological_order(outputs), known)
    inference.run()
    open_variables = [
        node
        for node in inference.nodes
        if node.op is None and inference.spec(Value(node)).dtype is None
    ]
    if open_variables:
        for node in open_variables:
            inference._learn((id(node), 0), PartialSpec(None, FLOAT32), node.name)
        inference.run()
    return inference


def specialize(
    inputs: Sequence[Node], outputs: Sequence[Value], specs: Sequence[Spec], *, train: bool
) -> Graph:
    """Return a copy of a graph with specs on every value, for given inputs and one mode.

    Args:
        inputs: Variables, in call order.
        specs: What each input is.
        train: The mode; operators that depend on it get it as an attribute.

    Raises:
        GraphError: A variable is not among the inputs.
        OperatorError: An operator refuses what reaches it; the message names the node.
    """
    copies: dict[int, Node] = {
        id(node): Node(None, node.name, specs=(spec,), extra=node.extra)
        for node, spec in zip(inputs, specs, strict=True)
    }
    made: _Made = {**copies}
    outputs = inlined(outputs)
    order = topological_order(outputs)
    settled = settled_attributes(order, inputs, specs)
    nodes: list[Node] = []
    for node in order:
        if node.op is not None and node.op.expand is not None:
            _expand(node, made, nodes)
        elif id(node) not in made:
            attrs = dict(settled.get(id(node), node.attrs))
            nodes.append(_specialized(node, attrs, made, train=train))
            made[id(node)] = nodes[-1]
        else:
            nodes.append(copies[id(node)])
    return Graph(
        [copies[id(node)] for node in inputs], [_made(value, made) for value in outputs], nodes
    )


# A copy of each node, or the values that its operator expands to.
_Made = dict[int, Node | list[Value]]


def _made(value: Value, made: _Made) -> Value:
    """Return the copy of a value."""
    found = made[id(value.node)]
    return found[value.index] if isinstance(found, list) else Value(found, value.index)


def _expand(node: Node, made: _Made, nodes: list[Node]) -> None:
    """Put the operators that a node stands for in its place."""
    assert node.op is not None
    assert node.op.expand is not None
    inputs = [_made(value, made) for value in node.inputs]
    try:
        made[id(node)] = values = node.op.expand(inputs, node.attrs)
    except OperatorError as error:
        raise OperatorError(f"{node.name}: {error}") from error
    before = set(map(id, nodes))
    nodes += [own for own in topological_order(values) if id(own) not in before]


def _open_spec(node: Node) -> PartialSpec | None:
    """Return what is known of an array from nothing whose shape follows from those who read it.

    Recurrent layers begin with zeros of shape (0, units): 0 stands for the batch size.
    """
    if node.op is None or node.inputs:
        return None
    return open_spec(node.op, node.attrs)


def settled_attributes(
    order: Sequence[Node], inputs: Sequence[Node], specs: Sequence[Spec]
) -> Mapping[int, Attrs]:
    """Return attributes with a shape, by node id, for nodes whose shape follows from their readers.

    Args:
        order: The graph's nodes in topological order.
        inputs: Its variables.

    Raises:
        OperatorError: An operator refuses what reaches it; the message names the node.
    """
    open_ = [node for node in order if _open_spec(node) is not None]
    if not open_:
        return {}
    found = _inferred(order, inputs, specs)
    return {id(node): _settled(node, found) for node in open_}


def undetermined(
    order: Sequence[Node], inputs: Sequence[Node], specs: Sequence[Spec]
) -> list[Node]:
    """Return the nodes without a shape of their own whose readers do not determine it.

    Arguments and errors are those of `settled_attributes`.
    """
    if not any(_is_wholly_open(node) for node in order):
        return []
    return _inferred(order, inputs, specs).undetermined()


def _inferred(order: Sequence[Node], inputs: Sequence[Node], specs: Sequence[Spec]) -> Inference:
    found = Inference(order, {})
    for node, spec in zip(inputs, specs, strict=True):
        found.give(Value(node), PartialSpec(*spec))  # two inputs of a body may have one name
    found.run()
    return found


def _is_wholly_open(node: Node) -> bool:
    spec = _open_spec(node)
    return spec is not None and spec.shape is None


def _settled(node: Node, found: Inference) -> Attrs:
    """Return the attributes of such a node in the shape that was found; what was not has 0."""
    assert node.op is not None
    shape = found.spec(Value(node)).shape
    if shape is None or (UNKNOWN in shape and _is_wholly_open(node)):
        return node.attrs  # it has the shape of an eager call
    if node.op.settle is not None:
        return node.op.settle(node.attrs, shape) if UNKNOWN not in shape else node.attrs
    return {**node.attrs, "shape": tuple(max(extent, 0) for extent in shape)}


_same_shape = alike()


def _tell_shapes(node: Node, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
    """Make shapes more exact by the operator's rule, or by what holds for its kind."""
    op = node.op
    assert op is not None
    known: Shapes = [spec.shape for spec in inputs]
    made: Shapes = [spec.shape for spec in outputs]
    if not any(known) and not any(made):
        return
    if op.shapes is not None:
        op.shapes(known, made, node.attrs)
    elif op.elementwise and len(known) == 1:
        _same_shape(known, made, node.attrs)
    else:
        dtypes = [spec.dtype or FLOAT32 for spec in inputs]
        for i, shape in enumerate(probe(op, known, dtypes, node.attrs) or ()):
            made[i] = merge_shapes(made[i], shape, node.name)
    inputs[:] = [PartialSpec(s, spec.dtype) for s, spec in zip(known, inputs, strict=True)]
    outputs[:] = [PartialSpec(s, spec.dtype) for s, spec in zip(made, outputs, strict=True)]


def _tell_dtypes(node: Node, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
    """Give outputs the dtypes that the operator's inference tells for some shapes of its inputs.

    Extents of 1 fit each other; the number of axes is the first with which inference agrees.
    """
    op = node.op
    assert op is not None
    dtypes = [spec.dtype for spec in inputs if spec.dtype is not None]
    if len(dtypes) < len(inputs) or not inputs:
        return
    for axes in range(1, _MOST_AXES + 1):
        try:
            found = infer_specs(op, [Spec((1,) * axes, dtype) for dtype in dtypes], node.attrs)
        except (GluonishError, LookupError, TypeError, ValueError, ArithmeticError):
            continue
        outputs[:] = [
            PartialSpec(told.shape, exact.dtype) for told, exact in zip(outputs, found, strict=True)
        ]
        return


def _specialized(node: Node, attrs: dict[str, Any], made: _Made, *, train: bool) -> Node:
    if node.op is None:
        if node.array is None:
            raise GraphError(f"graph: expected a value for variable {node.name}, got none")
        return node
    values = [_made(value, made) for value in node.inputs]
    try:
        specs = infer_specs(node.op, [value.spec for value in values], attrs)
    except OperatorError as error:
        raise OperatorError(f"{node.name}: {error}") from error
    if node.op.train_dependent:
        attrs["train"] = train
    return Node(node.op, node.name, values, attrs, specs, node.extra)
