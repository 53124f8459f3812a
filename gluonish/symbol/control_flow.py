"""Control flow of ``sym.contrib``: functions on Symbols become the bodies of a node."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.loading import load
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import Value
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol.name import AttrScope, current_attributes
from gluonish.symbol.namespace import operator_function, var
from gluonish.symbol.symbol import Symbol, new_node

_CONTROL_FLOW = "gluonish.graph.control_flow"

_MARK = "__subgraph_name__"


class _SymbolFrontend:
    kind: type = Symbol

    def unique(self, name: str) -> str:
        outer = current_attributes().get(_MARK)
        name = f"{outer}${name}" if outer else name
        number = AttrScope._subgraph_names[name]
        AttrScope._subgraph_names[name] += 1
        return f"{name}{number}"

    def scope(self, name: str) -> AttrScope:
        return AttrScope(**{_MARK: name})

    def loop_variable(self, value: Value, *, sliced: bool) -> Symbol:
        return var(f"{value.node.name}-{value.index}")

    def value(self, x: Symbol) -> Value:
        return x._values[0]

    def outputs(self, x: Symbol) -> Sequence[Symbol]:
        return [x] if len(x) == 1 else list(x)

    def copy(self, x: Symbol) -> Any:
        return operator_function("identity")(x)

    def key(self, value: Value) -> Any:
        return value.key if value.node.op else value.node.name

    def name_of(self, value: Value) -> str:
        return output_names([value])[0]

    def node(self, op: Operator, inputs: Sequence[Value], attrs: Attrs) -> list[Any]:
        given = {
            key: str(list(attrs[key]) if isinstance(attrs[key], tuple) else attrs[key])
            for key in op.schema.attributes
        }
        symbols = [Symbol([value]) for value in inputs]
        return list(new_node(op, symbols, attrs, given, None, None))


_FRONTEND = _SymbolFrontend()


def foreach(
    body: Callable[..., Any], data: Any, init_states: Any, name: str = "foreach"
) -> tuple[Any, Any]:
    """Loop over the first axis of the data, and carry states from each iteration to the next.

    Args:
        body: Function ``body(data, states)`` that is called with one slice of the data and returns
            the outputs and the new states.
        data: A Symbol, or a nested list of Symbols, to slice along axis 0.
        init_states: Initial states: a Symbol, or a nested list of Symbols.
        name: Name of the body.

    Returns:
        The outputs of all iterations, stacked along axis 0, and the states after the last one.

    Raises:
        ArgumentError: The body changes the nesting of the states, or data or a state is not used.

    Example:
        >>> import gluonish as mx
        >>> x, total = mx.sym.var("x"), mx.sym.var("total")
        >>> sums, last = mx.sym.contrib.foreach(lambda x, s: (x + s, x + s), x, total)
        >>> sums.eval(x=mx.nd.array([1, 2, 3]), total=mx.nd.zeros(()))[0].tolist()
        [1.0, 3.0, 6.0]
    """
    results: tuple[Any, Any] = load(_CONTROL_FLOW).foreach(_FRONTEND, body, data, init_states, name)
    return results


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> tuple[Any, Any]:
    """Run a function on its own results while a condition holds.

    Args:
        cond: Function ``cond(*loop_vars)`` that returns a scalar; the loop ends when it is 0.
        func: Function ``func(*loop_vars)`` that returns the outputs (None for none) and the new
            loop variables.
        loop_vars: Initial loop variables: a Symbol, or a list of Symbols.
        max_iterations: Maximum number of iterations, required.
        name: Name of the bodies.

    Returns:
        The outputs of all iterations, stacked along axis 0 and padded with zeros to
        ``max_iterations``, and the loop variables after the last iteration.

    Raises:
        ArgumentError: ``max_iterations`` is missing, there is no loop variable, or ``func`` changes
            their number.
    """
    results: tuple[Any, Any] = load(_CONTROL_FLOW).while_loop(
        _FRONTEND, cond, func, loop_vars, max_iterations, name
    )
    return results


def cond(
    pred: Symbol,
    then_func: Callable[[], Any],
    else_func: Callable[[], Any],
    name: str = "cond",
) -> Any:
    """Return the result of one of two functions, selected by a value; only that one is run.

    Args:
        pred: Scalar that selects ``then_func`` if it is not 0.
        then_func: Function without arguments that returns a Symbol, or a nested list of Symbols.
        else_func: The function for 0; its results have the same shapes and dtypes.
        name: Name of the bodies.

    Raises:
        ArgumentError: The functions return different numbers of Symbols.
    """
    return load(_CONTROL_FLOW).cond(_FRONTEND, pred, then_func, else_func, name)


def rand_zipfian(
    true_classes: Symbol, num_sampled: int, range_max: int
) -> tuple[Symbol, Symbol, Symbol]:
    """Draw classes from an approximately log-uniform (Zipfian) distribution, with replacement.

    Small class indices are frequent: class k has the probability
    ``log((k + 2) / (k + 1)) / log(range_max + 1)``.

    Args:
        true_classes: Indices of the true classes.
        num_sampled: Number of classes to draw.
        range_max: Number of classes; indices are in [0, range_max).

    Returns:
        The drawn classes, int64; the expected count of each true class among them, float64; and the
        expected count of each drawn class.
    """
    log_range = math.log(range_max + 1)
    uniform = operator_function("_random_uniform")
    drawn = uniform(low=0, high=log_range, shape=(num_sampled,), dtype="float64")
    sampled: Symbol = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes: Symbol) -> Symbol:
        exact: Any = classes.astype("float64")
        count: Symbol = ((exact + 2.0) / (exact + 1.0)).log() / log_range * num_sampled
        return count

    return sampled, expected(true_classes), expected(sampled)
