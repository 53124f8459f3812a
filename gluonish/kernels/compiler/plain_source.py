"""Lowering of plain sources without Numba: a kernel's Python to LLVM's text, in milliseconds.

Numba takes most of a second to be imported and made ready, and some 50 ms for a kernel; most
sources need nothing that it infers. Here every expression has one type, which follows from its
parts: views, the names of `compiler` and numbers. What Numba would convert by rules of its own
(integers of two widths, a float32 and a float64) is not plain, nor are other functions than
``body``: `lower_plain` returns None, and Numba lowers the source. Where both take one, they do the
same operations on the same numbers in the same order; where LLVM is allowed nothing (no
``fastmath``), the results are the same bits.

Variables are places on the stack, which LLVM turns into registers; an independent loop is marked as
`frontend` expects it, and blocks are called ``B`` and a number that grows along the source.
"""

import ast
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from gluonish.kernels.compiler.plain_values import COMPARISONS, NotPlainError, PlainValues, Typed
from gluonish.kernels.compiler.scope import MARKER

__all__ = ["lower_plain"]

_COMPARISONS: dict[type[ast.cmpop], str] = dict(
    zip((ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE), COMPARISONS, strict=True)
)
_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}


def lower_plain(source: str, fastmath: Sequence[str]) -> str | None:
    """Return LLVM's text of a source that defines ``body``; None if only Numba can lower it.

    Args:
        source: The source.
        fastmath: LLVM's names of what arithmetic on floats may be taken to allow.
    """
    module = ast.parse(source)
    if len(module.body) != 1 or not isinstance(module.body[0], ast.FunctionDef):
        return None
    try:
        return _Function(module.body[0], fastmath).text()
    except NotPlainError:
        return None


@cache
def _target() -> tuple[str, str]:
    """The triple and the data layout of this process."""
    from llvmlite import binding

    binding.initialize_native_target()
    triple = binding.get_process_triple()
    machine = binding.Target.from_triple(triple).create_target_machine()
    return triple, str(machine.target_data)


class _Function:
    """The function under construction."""

    def __init__(self, body: ast.FunctionDef, fastmath: Sequence[str]) -> None:
        from llvmlite import ir

        self._ir = ir
        word = ir.IntType(64)
        byte = ir.IntType(8).as_pointer()
        exception = ir.LiteralStructType([byte, ir.IntType(32), byte, byte, ir.IntType(32)])
        results = (byte.as_pointer(), exception.as_pointer().as_pointer())
        kind = ir.FunctionType(ir.IntType(32), [*results, word, word, word.as_pointer()])
        self._module = ir.Module()
        self._module.triple, self._module.data_layout = _target()
        self._function = ir.Function(self._module, kind, "gluonish_body")
        self._marker = ir.Function(self._module, ir.FunctionType(ir.VoidType(), []), MARKER)
        self._count = 0
        self._entry = ir.IRBuilder(self._block())  # variables are made here
        first = self._block()
        self._build = ir.IRBuilder(first)
        self._values = PlainValues(self._build, self._entry, fastmath)
        self._variables: dict[str, Typed] = {}
        names = [argument.arg for argument in body.args.args]
        if len(names) != 3:
            raise NotPlainError
        kinds = ("int64", "int64", "*int64")
        for name, kind, given in zip(names, kinds, self._function.args[2:], strict=True):
            self._assign(name, Typed(kind, given))
        self._run(body.body)
        self._build.ret(ir.IntType(32)(0))
        self._entry.branch(first)

    def text(self) -> str:
        """Return LLVM's text."""
        return str(self._module)

    def _block(self) -> Any:
        self._count += 1
        return self._function.append_basic_block(f"B{self._count - 1}")

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            run = _STATEMENTS.get(type(statement))
            if run is None:
                raise NotPlainError
            run(self, statement)

    def _assignment(self, statement: ast.Assign) -> None:
        (target, *more), value = statement.targets, statement.value
        if more:
            raise NotPlainError
        if not isinstance(target, ast.Tuple):
            self._set(target, self._of(value))
            return
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            raise NotPlainError
        for one, found in zip(target.elts, [self._of(x) for x in value.elts], strict=True):
            self._set(one, found)

    def _update(self, statement: ast.AugAssign) -> None:
        target = statement.target
        if not isinstance(target, ast.Name):
            raise NotPlainError
        before = ast.Name(target.id, ast.Load())
        self._set(target, self._of(ast.BinOp(before, statement.op, statement.value)))

    def _set(self, target: ast.expr, value: Typed) -> None:
        if isinstance(target, ast.Name):
            self._assign(target.id, self._values.settled(value))
        elif isinstance(target, ast.Subscript):
            kind, at = self._element(target)
            self._build.store(self._values.stored(value, kind), at)
        else:
            raise NotPlainError

    def _assign(self, name: str, value: Typed) -> None:
        place = self._variables.get(name)
        if place is None:
            made = self._entry.alloca(self._values.type_of(value.kind))
            place = self._variables[name] = Typed(value.kind, made)
        self._build.store(self._values.given(value, place.kind), place.value)

    def _for(self, loop: ast.For) -> None:
        call = loop.iter
        if not isinstance(call, ast.Call) or _name(call.func) != "range" or loop.orelse:
            raise NotPlainError
        args = [self._of(x) for x in call.args]
        step = args.pop() if len(args) == 3 else Typed("int", 1)
        if step.kind != "int" or step.value < 1:
            raise NotPlainError
        first, last = map(self._values.whole, args if len(args) == 2 else (Typed("int", 0), *args))
        counter = self._entry.alloca(first.type)
        self._build.store(first, counter)

        def condition() -> Any:
            return self._build.icmp_signed("<", self._build.load(counter), last)

        def body() -> None:
            self._set(loop.target, Typed("int64", self._build.load(counter)))
            self._run(loop.body)
            following = self._build.add(self._build.load(counter), first.type(step.value))
            self._build.store(following, counter)

        self._loop(condition, body)

    def _while(self, loop: ast.While) -> None:
        if loop.orelse:
            raise NotPlainError
        self._loop(lambda: self._truth(loop.test), lambda: self._run(loop.body))

    def _loop(self, condition: Callable[[], Any], body: Callable[[], None]) -> None:
        head = self._block()
        self._build.branch(head)
        self._build.position_at_end(head)
        test = condition()
        inside = self._block()
        self._build.position_at_end(inside)
        body()
        self._build.branch(head)
        behind = self._block()
        self._ir.IRBuilder(head).cbranch(test, inside, behind)
        self._build.position_at_end(behind)

    def _if(self, statement: ast.If) -> None:
        test = self._truth(statement.test)
        fork = self._build.block
        starts, ends = [], []
        for branch in (statement.body, statement.orelse):
            starts.append(self._block())
            self._build.position_at_end(starts[-1])
            self._run(branch)
            ends.append(self._build.block)
        behind = self._block()
        self._ir.IRBuilder(fork).cbranch(test, *starts)
        for end in ends:
            self._ir.IRBuilder(end).branch(behind)
        self._build.position_at_end(behind)

    def _truth(self, node: ast.expr) -> Any:
        return self._values.given(self._of(node), "bool")

    def _effect(self, statement: ast.Expr) -> None:
        """A call for what it does."""
        call = statement.value
        name = _name(call.func) if isinstance(call, ast.Call) else ""
        if not isinstance(call, ast.Call) or name not in ("independent", "philox_fill"):
            raise NotPlainError
        if name == "independent":
            self._build.call(self._marker, [])
        else:
            self._values.fill(*[self._of(x) for x in call.args])

    def _of(self, node: ast.expr) -> Typed:
        """Return what an expression gives."""
        number = _number(node)
        if number is not None:
            return Typed("int" if isinstance(number, int) else "float", number)
        give = _EXPRESSIONS.get(type(node))
        if give is None:
            raise NotPlainError
        return give(self, node)

    def _variable(self, node: ast.Name) -> Typed:
        place = self._variables.get(node.id)
        if place is None:
            raise NotPlainError
        return Typed(place.kind, self._build.load(place.value))

    def _subscript(self, node: ast.Subscript) -> Typed:
        kind, at = self._element(node)
        return Typed(kind, self._build.load(at))

    def _element(self, node: ast.Subscript) -> tuple[str, Any]:
        return self._values.element(self._of(node.value), self._of(node.slice))

    def _operation(self, node: ast.BinOp) -> Typed:
        symbol = _OPERATORS.get(type(node.op), "")
        return self._values.operation(symbol, self._of(node.left), self._of(node.right))

    def _negative(self, node: ast.UnaryOp) -> Typed:
        if not isinstance(node.op, ast.USub):
            raise NotPlainError
        return self._values.negative(self._of(node.operand))

    def _comparison(self, node: ast.Compare) -> Typed:
        symbol = _COMPARISONS.get(type(node.ops[0]))
        if symbol is None or len(node.ops) != 1:
            raise NotPlainError
        return self._values.comparison(symbol, self._of(node.left), self._of(node.comparators[0]))

    def _call(self, node: ast.Call) -> Typed:
        name = _name(node.func)
        if node.keywords or name in self._variables:
            raise NotPlainError
        return self._values.call(name, [self._of(x) for x in node.args])


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _number(node: ast.expr) -> int | float | None:
    """Return the number that an expression of numbers is; None for another expression."""
    if isinstance(node, ast.Constant):
        if type(node.value) not in (int, float):
            raise NotPlainError
        return node.value  # type: ignore[return-value]  # its type was asked for
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = _number(node.left), _number(node.right)
        if not isinstance(base, float) or power is None:
            raise NotPlainError
        return float(base**power)
    return None


_STATEMENTS: dict[type[ast.stmt], Callable[[_Function, Any], None]] = {
    ast.Assign: _Function._assignment,
    ast.AugAssign: _Function._update,
    ast.Expr: _Function._effect,
    ast.For: _Function._for,
    ast.If: _Function._if,
    ast.While: _Function._while,
}
_EXPRESSIONS: dict[type[ast.expr], Callable[[_Function, Any], Typed]] = {
    ast.BinOp: _Function._operation,
    ast.Call: _Function._call,
    ast.Compare: _Function._comparison,
    ast.Name: _Function._variable,
    ast.Subscript: _Function._subscript,
    ast.UnaryOp: _Function._negative,
}
