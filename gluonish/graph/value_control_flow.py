"""Control flow on values with shapes, while a ``forward`` is traced."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from gluonish.core.loading import load
from gluonish.core.spec import Spec
from gluonish.core.value_scope import ValueScope
from gluonish.graph.ir import Node, Value, append, body_mark, constant
from gluonish.graph.traced_array import TracedArray, TracedNumpyArray, as_traced, value_of
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Attrs, Operator, find_operator

_CONTROL_FLOW = "gluonish.graph.control_flow"

_numbers = count()


class _Scope(ValueScope):
    """Scope in which new nodes belong to a body."""

    __slots__ = ("_mark",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._mark = {"__subgraph_name__": name}

    def __enter__(self) -> None:
        self._change(body_mark, self._mark)


class _ValueFrontend:
    kind: type = Value

    def unique(self, name: str) -> str:
        outer = body_mark.get()
        prefix = f"{outer['__subgraph_name__']}$" if outer else ""
        return f"{prefix}{name}{next(_numbers)}"

    def scope(self, name: str) -> _Scope:
        return _Scope(name)

    def loop_variable(self, value: Value, *, sliced: bool) -> Value:
        shape, dtype = value.spec
        spec = Spec(shape[1:] if sliced else shape, dtype)
        name = f"{value.node.name}-{value.index}"
        return type(value)(Node(None, name, specs=(spec,), extra=body_mark.get()))

    def value(self, x: Value) -> Value:
        return x

    def outputs(self, x: Value) -> Sequence[Value]:
        return [x]

    def copy(self, x: Value) -> Any:
        return append(find_operator("_copy"), (x,), {})

    def key(self, value: Value) -> Any:
        return value.key

    def name_of(self, value: Value) -> str:
        suffix = value.index if value.node.num_visible > 1 else ""
        return f"{value.node.name}_output{suffix}"

    def node(self, op: Operator, inputs: Sequence[Value], attrs: Attrs) -> list[Any]:
        made = append(op, inputs, attrs)
        return made if isinstance(made, list) else [made]


_FRONTEND = _ValueFrontend()


def _lifted(group: Any) -> Any:
    """Return a pytree with graph values in place of arrays, traced or not."""
    if isinstance(group, list | tuple):
        lifted = [_lifted(item) for item in group]
        return lifted if isinstance(group, list) else tuple(lifted)
    found = value_of(group)
    return constant(found) if isinstance(found, NDArray) else found


def _as_arrays(group: Any) -> Any:
    """Return a pytree with arrays in place of graph values."""
    if isinstance(group, list | tuple):
        arrays = [_as_arrays(item) for item in group]
        return arrays if isinstance(group, list) else tuple(arrays)
    return as_traced(group, fixed=True) if isinstance(group, Value) else group


def _lifting(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: _lifted(function(*_as_arrays(args)))


class _Functions:
    """The functions of `gluonish.ndarray.control_flow`, implemented for traced arrays."""

    def foreach(self, body: Callable[..., Any], data: Any, init_states: Any) -> Any:
        found = load(_CONTROL_FLOW).foreach(
            _FRONTEND, _lifting(body), _lifted(data), _lifted(init_states), "foreach"
        )
        return _as_arrays(found)

    def while_loop(
        self,
        cond: Callable[..., Any],
        func: Callable[..., Any],
        loop_vars: Any,
        max_iterations: int | None,
    ) -> Any:
        loop = load(_CONTROL_FLOW).while_loop
        variables = _lifted(loop_vars)
        found = loop(
            _FRONTEND, _lifting(cond), _lifting(func), variables, max_iterations, "while_loop"
        )
        return _as_arrays(found)

    def cond(self, pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
        branches = _lifting(then_func), _lifting(else_func)
        return _as_arrays(load(_CONTROL_FLOW).cond(_FRONTEND, _lifted(pred), *branches, "cond"))


def attach() -> None:
    """Register control flow for traced arrays."""
    for kind in (TracedArray, TracedNumpyArray):
        kind.__control_flow__ = _Functions()


attach()
