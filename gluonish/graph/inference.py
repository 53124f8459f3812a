"""Shape and dtype inference over a Symbol graph, and graphs with specs."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import GluonishError, GraphError, OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec, merge_dtypes, merge_shapes
from gluonish.graph.ir import Graph, Node, Value, infer_specs, topological_order
from gluonish.graph.rewrite import inlined
from gluonish.ops.registry import Attrs
from gluonish.ops.support.dtype_rules import complete_same_dtype
from gluonish.ops.support.shape_rules import Shapes, open_spec, probe, same_shape

# Each sweep propagates known specs one node further against the order of the nodes; practical
# graphs have no longer chain of unknown specs.
_MAX_SWEEPS = 16
_MAX_AXES = 5  # limit of the axes that `_infer_dtypes` tries


class Inference:
    """Partial specs of every value of a graph.

    Args:
        nodes: Nodes of the graph, in topological order.
        known: Partial specs of variables, by name.
    """

    def __init__(self, nodes: Sequence[Node], known: Mapping[str, PartialSpec]) -> None:
        self.nodes = nodes
        self._specs: dict[tuple[int, int], PartialSpec] = {}
        self._changed = False
        self._complete: set[int] = set()  # nodes with complete specs
        for node in nodes:
            if node.op is None and node.array is not None:
                spec = node.array._spec
                self._specs[id(node), 0] = PartialSpec(spec.shape, spec.dtype)
            elif node.op is None:
                self._specs[id(node), 0] = known.get(node.name, PartialSpec())

    def spec(self, value: Value) -> PartialSpec:
        """Return the partial spec of a value."""
        return self._specs.get(value.key, PartialSpec())

    def add(self, value: Value, spec: PartialSpec) -> None:
        """Add a partial spec of a value.

        Raises:
            OperatorError: The spec contradicts what is known of the value.
        """
        self._merge(value.key, spec, value.node.name)

    def run(self) -> None:
        """Propagate specs through the graph until nothing changes.

        Raises:
            OperatorError: An operator rejects its inputs; the message names the node.
        """
        for sweep in range(_MAX_SWEEPS):
            self._changed = False
            for node in self.nodes if sweep % 2 == 0 else reversed(self.nodes):
                if node.op is not None and id(node) not in self._complete:
                    self._visit(node)
            if not self._changed and sweep:
                return

    def undetermined(self) -> list[Node]:
        """Return the nodes with an open shape that their readers do not determine."""
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
                complete = complete_same_dtype if op.complete is None else op.complete
                untyped = all(spec.dtype is None for spec in outputs)
                complete(inputs, outputs, node.attrs)
                if untyped and op.complete is None:
                    _infer_dtypes(node, inputs, outputs)
                _refine_shapes(node, inputs, outputs)
            if open_ is None and all(spec.known() for spec in inputs):
                exact = infer_specs(op, [Spec(s.shape, s.dtype) for s in inputs], node.attrs)  # type: ignore[arg-type]  # known() excludes None
                outputs = [PartialSpec(spec.shape, spec.dtype) for spec in exact]
                self._complete.add(id(node))
        except OperatorError as error:
            raise OperatorError(f"{node.name}: {error}") from error
        except GluonishError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            # Operators of gradients do not check their inputs, but a file may contain them.
            raise OperatorError(
                f"{node.name}: {op.name}: expected supported inputs, got {inputs!r:.200}: {error}"
            ) from error
        for value, found in zip(node.inputs, inputs, strict=True):
            self._merge(value.key, found, value.node.name)
        for i, found in enumerate(outputs):
            self._merge((id(node), i), found, node.name)

    def _merge(self, key: tuple[int, int], found: PartialSpec, name: str) -> None:
        before = self._specs.get(key, PartialSpec())
        merged = PartialSpec(
            merge_shapes(before.shape, found.shape, name),
            merge_dtypes(before.dtype, found.dtype, name),
        )
        # Not compared as tuples, because np.dtype("float64") == None.
        if merged.shape != before.shape or (merged.dtype is None) != (before.dtype is None):
            self._specs[key] = merged
            self._changed = True


def infer(outputs: Sequence[Value], known: Mapping[str, PartialSpec]) -> Inference:
    """Infer the shapes and dtypes of a graph from partial specs of some variables.

    Undetermined dtypes become float32, as in MXNet.
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
            inference._merge((id(node), 0), PartialSpec(None, FLOAT32), node.name)
        inference.run()
    return inference


def specialize(
    inputs: Sequence[Node], outputs: Sequence[Value], specs: Sequence[Spec], *, train: bool
) -> Graph:
    """Return a copy of a graph with specs on every value, for one mode.

    Args:
        inputs: Variables, in call order.
        specs: Specs of the inputs.
        train: The mode; operators that depend on it have it as an attribute.

    Raises:
        GraphError: A variable is not among the inputs.
        OperatorError: An operator rejects its inputs; the message names the node.
    """
    copies: dict[int, Node] = {
        id(node): Node(None, node.name, specs=(spec,), extra=node.extra)
        for node, spec in zip(inputs, specs, strict=True)
    }
    made: _Made = {**copies}
    outputs = inlined(outputs)
    order = topological_order(outputs)
    attributes = inferred_attributes(order, inputs, specs)
    nodes: list[Node] = []
    for node in order:
        if node.op is not None and node.op.expand is not None:
            _expand(node, made, nodes)
        elif id(node) not in made:
            attrs = dict(attributes.get(id(node), node.attrs))
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
    """Return the copy of a value in the new graph."""
    found = made[id(value.node)]
    return found[value.index] if isinstance(found, list) else Value(found, value.index)


def _expand(node: Node, made: _Made, nodes: list[Node]) -> None:
    """Append the operators that a node expands to, in place of the node."""
    assert node.op is not None
    assert node.op.expand is not None
    inputs = [_made(value, made) for value in node.inputs]
    try:
        made[id(node)] = values = node.op.expand(inputs, node.attrs)
    except OperatorError as error:
        raise OperatorError(f"{node.name}: {error}") from error
    before = set(map(id, nodes))
    nodes += [x for x in topological_order(values) if id(x) not in before]


def _open_spec(node: Node) -> PartialSpec | None:
    """Return the partial spec of a node without inputs whose shape follows from its readers.

    Recurrent layers begin with zeros of shape (0, units), where 0 is the unknown batch size.
    """
    if node.op is None or node.inputs:
        return None
    return open_spec(node.op, node.attrs)


def inferred_attributes(
    order: Sequence[Node], inputs: Sequence[Node], specs: Sequence[Spec]
) -> Mapping[int, Attrs]:
    """Return attributes with a shape, by node id, of nodes whose shape follows from their readers.

    Args:
        order: Nodes of the graph in topological order.
        inputs: Variables of the graph.
        specs: Specs of the variables.

    Raises:
        OperatorError: An operator rejects its inputs; the message names the node.
    """
    open_ = [node for node in order if _open_spec(node) is not None]
    if not open_:
        return {}
    found = _inferred(order, inputs, specs)
    return {id(node): _complete(node, found) for node in open_}


def undetermined(
    order: Sequence[Node], inputs: Sequence[Node], specs: Sequence[Spec]
) -> list[Node]:
    """Return the nodes with an open shape that their readers do not determine.

    Arguments and errors are those of `inferred_attributes`.
    """
    if not any(_is_wholly_open(node) for node in order):
        return []
    return _inferred(order, inputs, specs).undetermined()


def _inferred(order: Sequence[Node], inputs: Sequence[Node], specs: Sequence[Spec]) -> Inference:
    found = Inference(order, {})
    for node, spec in zip(inputs, specs, strict=True):
        found.add(Value(node), PartialSpec(*spec))  # two inputs of a body may have the same name
    found.run()
    return found


def _is_wholly_open(node: Node) -> bool:
    spec = _open_spec(node)
    return spec is not None and spec.shape is None


def _complete(node: Node, found: Inference) -> Attrs:
    """Return the attributes of a node with the inferred shape; unknown extents are 0."""
    assert node.op is not None
    shape = found.spec(Value(node)).shape
    if shape is None or (UNKNOWN in shape and _is_wholly_open(node)):
        return node.attrs  # the shape of an eager call
    if node.op.with_shape is not None:
        return node.op.with_shape(node.attrs, shape) if UNKNOWN not in shape else node.attrs
    return {**node.attrs, "shape": tuple(max(extent, 0) for extent in shape)}


_same_shape = same_shape()


def _refine_shapes(node: Node, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
    """Refine shapes by the operator's rule or, if it has none, by a general one."""
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


def _infer_dtypes(node: Node, inputs: list[PartialSpec], outputs: list[PartialSpec]) -> None:
    """Set the dtypes of the outputs, inferred for inputs of shape (1, 1, ...).

    The number of axes is the smallest one that the operator's inference accepts.
    """
    op = node.op
    assert op is not None
    dtypes = [spec.dtype for spec in inputs if spec.dtype is not None]
    if len(dtypes) < len(inputs) or not inputs:
        return
    for axes in range(1, _MAX_AXES + 1):
        try:
            found = infer_specs(op, [Spec((1,) * axes, dtype) for dtype in dtypes], node.attrs)
        except (GluonishError, LookupError, TypeError, ValueError, ArithmeticError):
            continue
        outputs[:] = [
            PartialSpec(old.shape, new.dtype) for old, new in zip(outputs, found, strict=True)
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
