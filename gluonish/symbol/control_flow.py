"""``sym.contrib``'s control flow: functions on Symbols that become bodies of a node."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gluonish.core.later import later
from gluonish.graph.ir import Value
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol.name import AttrScope, current_attributes
from gluonish.symbol.namespace import operator_function, var
from gluonish.symbol.symbol import Symbol, new_node, output_names

if TYPE_CHECKING:
    from gluonish.graph import control_flow
else:
    control_flow = later("gluonish.graph.control_flow")

__all__ = ["cond", "foreach", "rand_zipfian", "while_loop"]

_MARK = "__subgraph_name__"
# How many bodies of each name there were; files hold the names.
_counts: defaultdict[str, int] = defaultdict(int)


class _SymbolFace:
    kind: type = Symbol

    def unique(self, name: str) -> str:
        outer = current_attributes().get(_MARK)
        name = f"{outer}${name}" if outer else name
        number = _counts[name]
        _counts[name] += 1
        return f"{name}{number}"

    def scope(self, name: str) -> AttrScope:
        return AttrScope(**{_MARK: name})

    def loop_variable(self, value: Value, *, sliced: bool) -> Symbol:
        return var(f"{value.node.name}-{value.index}")

    def value(self, x: Symbol) -> Value:
        return x._values[0]

    def parts(self, x: Symbol) -> Sequence[Symbol]:
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


_FACE = _SymbolFace()


def foreach(
    body: Callable[..., Any], data: Any, init_states: Any, name: str = "foreach"
) -> tuple[Any, Any]:
    """Run a function on each slice of the data along axis 0, and carry states from one to the next.

    Args:
        body: ``body(data, states)`` returns outputs and new states.
        data: A Symbol, or a nested list of Symbols.
        init_states: States before the first slice: a Symbol, or a nested list of Symbols.
        name: What the body is called.

    Returns:
        Outputs, stacked along axis 0, and the states after the last slice.

    Raises:
        ArgumentError: The states change their nesting, or data or a state is not used.
    """
    results: tuple[Any, Any] = control_flow.foreach(_FACE, body, data, init_states, name)
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
        cond: ``cond(*loop_vars)`` returns one number.
        func: ``func(*loop_vars)`` returns outputs (None for none) and new variables.
        loop_vars: The variables: a Symbol, or a list of Symbols.
        max_iterations: The most iterations.
        name: What the bodies are called.

    Returns:
        Outputs, stacked along axis 0 with zeros up to ``max_iterations``, and the variables after
        the last iteration.

    Raises:
        ArgumentError: There is no limit or no variable, or the variables change their number.
    """
    results: tuple[Any, Any] = control_flow.while_loop(
        _FACE, cond, func, loop_vars, max_iterations, name
    )
    return results


def cond(
    pred: Symbol,
    then_func: Callable[[], Any],
    else_func: Callable[[], Any],
    name: str = "cond",
) -> Any:
    """Return what one of two functions gives, as a value says; the other one does not run.

    Args:
        pred: One number.
        then_func: What it gives where ``pred`` is not 0: a Symbol, or a nested list of Symbols.
        else_func: The same where it is 0; shapes and dtypes are the same.
        name: What the bodies are called.

    Raises:
        ArgumentError: The functions give different numbers of Symbols.
    """
    return control_flow.cond(_FACE, pred, then_func, else_func, name)


def rand_zipfian(
    true_classes: Symbol, num_sampled: int, range_max: int
) -> tuple[Symbol, Symbol, Symbol]:
    """Draw classes so that small numbers are frequent: log-uniformly, with replacement.

    Args:
        true_classes: The classes that are right.
        num_sampled: How many to draw.
        range_max: One more than the largest class.

    Returns:
        The classes drawn, int64; how often each true class is expected among them, float64; and how
        often each that was drawn.
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
