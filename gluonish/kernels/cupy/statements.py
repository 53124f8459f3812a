"""The statements of `gluonish.kernels.optimizer_formulas` as CUDA C++."""

import ast
from collections.abc import Iterable, Sequence

__all__ = ["inputs_of", "translated"]

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.BitAnd: "&&",  # between comparisons
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_CALLS = {
    "fabs": "fabsf({})",
    "flag_float32": "({} ? 1.0f : 0.0f)",
    "maximum": "maximum({}, {})",
    "minimum": "minimum({}, {})",
    "select": "({} ? {} : {})",
    "sqrt": "sqrtf({})",
}


def inputs_of(lines: Sequence[str], results: Iterable[str] = ()) -> set[str]:
    """Return the names that statements, or whoever wants results behind them, read unset."""
    found: set[str] = set()
    made: set[str] = set()
    for line in lines:
        target, value = _parts(line)
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        found |= names - made - _CALLS.keys() - {"float32"}
        made.add(target)
    return found | (set(results) - made)


def translated(lines: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return statements in C++, which declare what is not among the names that are known."""
    declared = set(known)
    made = []
    for line in lines:
        target, value = _parts(line)
        made.append(f"{'' if target in declared else 'auto '}{target} = {_text(value)};")
        declared.add(target)
    return made


def _parts(line: str) -> tuple[str, ast.expr]:
    """Return what a statement sets, and to what."""
    (node,) = ast.parse(line).body
    assert isinstance(node, ast.Assign), line
    (target,) = node.targets
    assert isinstance(target, ast.Name), line
    return target.id, node.value


def _text(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_text(operand)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return f"({_text(left)} {_OPERATORS[type(op)]} {_text(right)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return f"({_text(left)} {_OPERATORS[type(op)]} {_text(right)})"
        case ast.Call(func=ast.Name(id="float32"), args=[ast.Constant(value=int() | float() as x)]):
            return f"{float(x)!r}f"
        case ast.Call(func=ast.Name(id=name), args=args) if name in _CALLS:
            return _CALLS[name].format(*map(_text, args))
    raise NotImplementedError(f"formula: expected what CUDA has too, got {ast.unparse(node)}")
