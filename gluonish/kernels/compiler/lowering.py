"""Lowering of a kernel's Python source to LLVM IR, in milliseconds.

Every expression has one type, which follows from its operands (`typed_values` has the rules). A
variable has the type of its first value. Variables are on the stack, which LLVM promotes to
registers. Functions are inlined at each call.

All memory accesses are in one access group. A loop that begins with ``independent()`` declares that
accesses of the group in different iterations do not alias: LLVM vectorizes it without comparing
every pair of pointers, also for in-place operations.
"""

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from gluonish.kernels.compiler.errors import KernelError, SourceError
from gluonish.kernels.compiler.metadata import Metadata
from gluonish.kernels.compiler.typed_values import COMPARISONS, Typed, TypedValues

ENTRY = "gluonish_body"  # void (i64 begin, i64 end, i64* params)

_FUNCTIONS = "functions"
_MEMORY = ("load", "store")
_ARITHMETIC = ("fadd", "fsub", "fmul", "fdiv", "fcmp")
_NUMBERS = {"np.nan": math.nan, "np.inf": math.inf}
_COMPARISONS: dict[type[ast.cmpop], str] = dict(
    zip((ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE), COMPARISONS, strict=True)
)
_OPERATORS: dict[type[ast.operator], str] = {
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


def lower(source: str, fastmath: Iterable[str]) -> str:
    """Return the LLVM IR of a source that defines ``body(begin, end, params)``.

    Args:
        source: A source in the language of `compile`.
        fastmath: LLVM's fastmath flags, plus ``functions`` to apply them inside elementary
            functions.

    Raises:
        KernelError: The source is not in the supported language.
    """
    functions = {}
    for definition in ast.parse(source).body:
        if not isinstance(definition, ast.FunctionDef):
            raise KernelError(
                _message(SourceError("functions only", type(definition).__name__), definition)
            )
        functions[definition.name] = definition
    flags = tuple(flag for flag in fastmath if flag != _FUNCTIONS)
    return _Lowering(functions, flags).text(everywhere=_FUNCTIONS in fastmath)


def _message(error: SourceError, statement: ast.stmt) -> str:
    line = ast.unparse(statement).splitlines()[0]
    return f"compile_kernel: {error} in line {statement.lineno}: {line}"


@cache
def _target() -> tuple[str, str]:
    """Return LLVM's target triple and data layout for this process."""
    from llvmlite import binding

    binding.initialize_native_target()
    triple = binding.get_process_triple()
    machine = binding.Target.from_triple(triple).create_target_machine()
    return triple, str(machine.target_data)


class _Loop:
    """A loop that is being lowered.

    Attributes:
        breaks: Blocks that end with ``break``.
        continues: Blocks that end with ``continue``.
        independent: Whether its iterations are independent.
    """

    __slots__ = ("breaks", "continues", "independent")

    def __init__(self) -> None:
        self.breaks: list[Any] = []
        self.continues: list[Any] = []
        self.independent = False


class _Frame:
    """A function call that is being inlined.

    Attributes:
        name: Name of the function.
        variables: Types and addresses of variables.
        loops: The loops around the current statement.
        returns: Blocks that end with ``return``.
        results: Types and addresses of the results.
    """

    __slots__ = ("loops", "name", "results", "returns", "variables")

    def __init__(self, name: str) -> None:
        self.name = name
        self.variables: dict[str, Typed] = {}
        self.loops: list[_Loop] = []
        self.returns: list[Any] = []
        self.results: list[Typed] = []


class _Lowering:
    """Lowers one source to an LLVM module."""

    def __init__(self, functions: dict[str, ast.FunctionDef], fastmath: Sequence[str]) -> None:
        from llvmlite import ir

        self._ir = ir
        int64 = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [int64, int64, int64.as_pointer()])
        self._module = ir.Module()
        self._module.triple, self._module.data_layout = _target()
        self._function = ir.Function(self._module, kind, ENTRY)
        self._functions = functions
        self._fastmath = fastmath
        self._frames: list[_Frame] = []
        self._metadata = Metadata()
        self._group = self._metadata.add()
        self._count = 0
        self._entry = ir.IRBuilder(self._block())  # for alloca instructions
        first = self._block()
        self._build = ir.IRBuilder(first)
        self._values = TypedValues(self._build, self._entry, fastmath)
        kinds = ("int64", "int64", "*int64")
        self._restore: Callable[[], None] | None = None  # undoes `flush_subnormals`
        self._inlined("body", list(map(Typed, kinds, self._function.args)))
        if self._restore is not None:
            self._restore()
        self._build.ret_void()
        self._entry.branch(first)

    def text(self, *, everywhere: bool) -> str:
        """Return the LLVM IR; ``everywhere`` sets the fastmath flags on all arithmetic."""
        for block in self._function.blocks:
            for instruction in block.instructions:
                if instruction.opname in _MEMORY:
                    instruction.set_metadata("llvm.access.group", self._group)
                elif everywhere and instruction.opname in _ARITHMETIC:
                    instruction.flags = list(self._fastmath)
        return f"{self._module}\n{self._metadata}"

    @property
    def _frame(self) -> _Frame:
        return self._frames[-1]

    def _block(self) -> Any:
        self._count += 1
        return self._function.append_basic_block(f"B{self._count - 1}")

    def _begin(self) -> Any:
        """Continue in a new block, and return it."""
        block = self._block()
        self._build.position_at_end(block)
        return block

    def _join(self, blocks: Iterable[Any]) -> None:
        """Continue in a new block; these blocks and the current one branch to it."""
        ends = [*blocks, self._build.block]
        after = self._begin()
        for end in ends:
            self._ir.IRBuilder(end).branch(after)

    def _inlined(self, name: str, args: Sequence[Typed]) -> list[Typed]:
        """Inline a call of one of the source's functions, and return its results."""
        function = self._functions.get(name)
        names = [] if function is None else [each.arg for each in function.args.args]
        if function is None or len(names) != len(args):
            raise KernelError(f"compile_kernel: expected {name}() to take {len(args)} arguments")
        if any(frame.name == name for frame in self._frames):
            raise SourceError("a function that does not call itself", name)
        self._frames.append(_Frame(name))
        for each, value in zip(names, args, strict=True):
            self._assign(each, self._values.default_typed(value))
        self._run(function.body)
        frame = self._frames.pop()
        if frame.returns:
            self._join(frame.returns)
        return [Typed(kind, self._build.load(at)) for kind, at in frame.results]

    def _return(self, statement: ast.Return) -> None:
        value, frame = statement.value, self._frame
        values = [] if value is None else self._all(value)
        if not frame.returns:
            frame.results = [self._variable_of(each.kind) for each in values]
        if len(values) != len(frame.results):
            raise SourceError(f"{len(frame.results)} results", str(len(values)))
        for one, to in zip(values, frame.results, strict=True):
            self._build.store(self._values.required(one, to.kind), to.value)
        self._leave(frame.returns)

    def _leave(self, blocks: list[Any]) -> None:
        """End the current block, whose branch is added later; continue in an unreachable block."""
        blocks.append(self._build.block)
        self._begin()

    def _variable_of(self, kind: str) -> Typed:
        return Typed(kind, self._entry.alloca(self._values.type_of(kind)))

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            try:
                run = _STATEMENTS.get(type(statement))
                if run is None:
                    raise SourceError("a statement that kernels support", type(statement).__name__)
                run(self, statement)
            except SourceError as error:
                raise KernelError(_message(error, statement)) from None

    def _assignment(self, statement: ast.Assign) -> None:
        values = self._all(statement.value)
        for target in statement.targets:
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            if len(targets) != len(values):
                raise SourceError(f"{len(targets)} values", str(len(values)))
            for one, value in zip(targets, values, strict=True):
                self._set(one, value)

    def _all(self, node: ast.expr) -> list[Typed]:
        """Return the values of an expression: several for a tuple or a call, else one."""
        if isinstance(node, ast.Tuple):
            return [self._values.default_typed(self._of(each)) for each in node.elts]
        if isinstance(node, ast.Call) and _name(node.func) in self._functions:
            return self._inlined_call(node)
        return [self._values.default_typed(self._of(node))]

    def _update(self, statement: ast.AugAssign) -> None:
        target, symbol = statement.target, _OPERATORS.get(type(statement.op), "")
        if isinstance(target, ast.Subscript):
            element = Typed(*self._element(target))
            before = Typed(element.kind, self._build.load(element.value))
            updated = self._values.operation(symbol, before, self._of(statement.value))
            self._store(updated, element)
        else:
            before = self._of(target)
            self._set(target, self._values.operation(symbol, before, self._of(statement.value)))

    def _set(self, target: ast.expr, value: Typed) -> None:
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            self._store(value, Typed(*self._element(target)))
        else:
            raise SourceError("a variable or an element", ast.unparse(target))

    def _store(self, value: Typed, element: Typed) -> None:
        self._build.store(self._values.converted(value, element.kind).value, element.value)

    def _assign(self, name: str, value: Typed) -> None:
        variable = self._frame.variables.get(name)
        if variable is None:
            variable = self._frame.variables[name] = self._variable_of(value.kind)
        self._build.store(self._values.required(value, variable.kind), variable.value)

    def _for(self, loop: ast.For) -> None:
        call = loop.iter
        if not isinstance(call, ast.Call) or _name(call.func) != "range" or loop.orelse:
            raise SourceError("a loop over range()", ast.unparse(call))
        args = [self._of(x) for x in call.args]
        step = args.pop() if len(args) == 3 else Typed("int", 1)
        if step.kind == "int" and step.value < 1:
            raise SourceError("a step of 1 or more", str(step.value))
        width = self._values.integer(step)
        first, last = map(
            self._values.integer, args if len(args) == 2 else (Typed("int", 0), *args)
        )
        counter = self._entry.alloca(first.type)
        self._build.store(first, counter)

        def condition() -> Any:
            return self._build.icmp_signed("<", self._build.load(counter), last)

        def body() -> None:
            self._set(loop.target, Typed("int64", self._build.load(counter)))
            self._run(loop.body)

        def advance() -> None:
            self._build.store(self._build.add(self._build.load(counter), width), counter)

        self._loop(condition, body, advance)

    def _while(self, loop: ast.While) -> None:
        if loop.orelse:
            raise SourceError("a loop without else", "else")
        self._loop(lambda: self._truth(loop.test), lambda: self._run(loop.body), lambda: None)

    def _loop(
        self,
        condition: Callable[[], Any],
        body: Callable[[], None],
        advance: Callable[[], None],
    ) -> None:
        loop, head = _Loop(), self._block()
        self._build.branch(head)
        self._build.position_at_end(head)
        test = condition()
        fork = self._build.block
        inside = self._begin()
        self._frame.loops.append(loop)
        body()
        self._frame.loops.pop()
        if loop.continues:
            self._join(loop.continues)
        advance()
        back = self._build.branch(head)
        if loop.independent:
            parallel = f'!"llvm.loop.parallel_accesses", {self._group.get_reference()}'
            back.set_metadata("llvm.loop", self._metadata.add_loop(parallel))
        after = self._begin()
        self._ir.IRBuilder(fork).cbranch(test, inside, after)
        for block in loop.breaks:
            self._ir.IRBuilder(block).branch(after)

    def _innermost(self, statement: str) -> _Loop:
        """Return the innermost loop around the current statement."""
        if not self._frame.loops:
            raise SourceError(f"{statement} in a loop", "it outside")
        return self._frame.loops[-1]

    def _break(self, statement: ast.Break) -> None:
        self._leave(self._innermost("break").breaks)

    def _continue(self, statement: ast.Continue) -> None:
        self._leave(self._innermost("continue").continues)

    def _if(self, statement: ast.If) -> None:
        test = self._truth(statement.test)
        fork = self._build.block
        starts, ends = [], []
        for branch in (statement.body, statement.orelse):
            starts.append(self._begin())
            self._run(branch)
            ends.append(self._build.block)
        after = self._begin()
        self._ir.IRBuilder(fork).cbranch(test, *starts)
        for end in ends:
            self._ir.IRBuilder(end).branch(after)

    def _truth(self, node: ast.expr) -> Any:
        return self._values.truth(self._of(node))

    def _effect(self, statement: ast.Expr) -> None:
        """Lower a call as a statement."""
        call = statement.value
        name = _name(call.func) if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and name in self._functions:
            self._inlined_call(call)
        elif isinstance(call, ast.Call) and name == "philox_fill":
            self._values.fill(*[self._of(x) for x in call.args])
        elif name == "independent":
            self._innermost("independent()").independent = True
        elif name == "flush_subnormals" and len(self._frames) == 1 and not self._frame.loops:
            self._restore = self._values.flush_subnormals()
        else:
            raise SourceError("a call of the source's functions", ast.unparse(call))

    def _of(self, node: ast.expr) -> Typed:
        """Return the value of an expression."""
        number = _number(node)
        if number is not None:
            return Typed("int" if isinstance(number, int) else "float", number)
        lower_node = _EXPRESSIONS.get(type(node))
        if lower_node is None:
            raise SourceError("an expression that kernels support", ast.unparse(node))
        return lower_node(self, node)

    def _constant(self, node: ast.Constant) -> Typed:
        if not isinstance(node.value, bool):
            raise SourceError("a number", repr(node.value))
        return Typed("bool", self._values.type_of("bool")(node.value))

    def _variable(self, node: ast.Name) -> Typed:
        variable = self._frame.variables.get(node.id)
        if variable is None:
            raise SourceError("a variable with a value", node.id)
        return Typed(variable.kind, self._build.load(variable.value))

    def _subscript(self, node: ast.Subscript) -> Typed:
        kind, at = self._element(node)
        return Typed(kind, self._build.load(at))

    def _element(self, node: ast.Subscript) -> tuple[str, Any]:
        return self._values.element(self._of(node.value), self._of(node.slice))

    def _operation(self, node: ast.BinOp) -> Typed:
        symbol = _OPERATORS.get(type(node.op), "")
        return self._values.operation(symbol, self._of(node.left), self._of(node.right))

    def _unary(self, node: ast.UnaryOp) -> Typed:
        if isinstance(node.op, ast.USub):
            return self._values.negative(self._of(node.operand))
        if isinstance(node.op, ast.Not):
            return self._values.inverse(self._of(node.operand))
        raise SourceError("- or not", ast.unparse(node))

    def _comparison(self, node: ast.Compare) -> Typed:
        symbol = _COMPARISONS.get(type(node.ops[0]))
        if symbol is None or len(node.ops) != 1:
            raise SourceError("a comparison of two numbers", ast.unparse(node))
        return self._values.comparison(symbol, self._of(node.left), self._of(node.comparators[0]))

    def _call(self, node: ast.Call) -> Typed:
        name = _name(node.func)
        if node.keywords or not name or name in self._frame.variables:
            raise SourceError("a function that kernels support", ast.unparse(node))
        if name not in self._functions:
            return self._values.call(name, [self._of(x) for x in node.args])
        results = self._inlined_call(node)
        if len(results) != 1:
            raise SourceError(f"one result of {name}()", str(len(results)))
        return results[0]

    def _inlined_call(self, node: ast.Call) -> list[Typed]:
        """Inline a call node, and return its results."""
        if node.keywords:
            raise SourceError("arguments without names", ast.unparse(node))
        return self._inlined(_name(node.func), [self._of(x) for x in node.args])

    def _logic(self, node: ast.BoolOp) -> Typed:
        """Lower ``and`` and ``or``, with short-circuit evaluation."""
        decides = isinstance(node.op, ast.Or)
        forks = []
        for operand in node.values[:-1]:
            test = self._truth(operand)
            forks.append((self._build.block, test, self._begin()))
        last = self._truth(node.values[-1])
        end, after = self._build.block, self._block()
        self._build.branch(after)
        self._build.position_at_end(after)
        result = self._build.phi(last.type)
        for block, test, following in forks:
            targets = (after, following) if decides else (following, after)
            self._ir.IRBuilder(block).cbranch(test, *targets)
            result.add_incoming(last.type(decides), block)
        result.add_incoming(last, end)
        return Typed("bool", result)

    def _choice(self, node: ast.IfExp) -> Typed:
        """Lower ``x if condition else y``, which computes only one of the two values."""
        test, fork = self._truth(node.test), self._build.block
        starts, values, ends = [], [], []
        for operand in (node.body, node.orelse):
            starts.append(self._begin())
            values.append(self._of(operand))
            ends.append(self._build.block)
        self._ir.IRBuilder(fork).cbranch(test, *starts)
        kind, after = self._values.common(*values), self._block()
        result = self._ir.IRBuilder(after).phi(self._values.type_of(kind))
        for value, end in zip(values, ends, strict=True):
            self._build.position_at_end(end)
            result.add_incoming(self._values.converted(value, kind).value, end)
            self._build.branch(after)
        self._build.position_at_end(after)
        return Typed(kind, result)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _number(node: ast.expr) -> int | float | None:
    """Return the value of a constant numeric expression; None for other expressions."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]  # its type was checked
    if isinstance(node, ast.Attribute):
        return _NUMBERS.get(ast.unparse(node))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = _number(node.left), _number(node.right)
        if isinstance(base, float) and power is not None:
            return float(base**power)
    return None


_STATEMENTS: dict[type[ast.stmt], Callable[[_Lowering, Any], None]] = {
    ast.Assign: _Lowering._assignment,
    ast.AugAssign: _Lowering._update,
    ast.Break: _Lowering._break,
    ast.Continue: _Lowering._continue,
    ast.Expr: _Lowering._effect,
    ast.For: _Lowering._for,
    ast.If: _Lowering._if,
    ast.Return: _Lowering._return,
    ast.While: _Lowering._while,
}
_EXPRESSIONS: dict[type[ast.expr], Callable[[_Lowering, Any], Typed]] = {
    ast.BinOp: _Lowering._operation,
    ast.BoolOp: _Lowering._logic,
    ast.Call: _Lowering._call,
    ast.Compare: _Lowering._comparison,
    ast.Constant: _Lowering._constant,
    ast.IfExp: _Lowering._choice,
    ast.Name: _Lowering._variable,
    ast.Subscript: _Lowering._subscript,
    ast.UnaryOp: _Lowering._unary,
}
