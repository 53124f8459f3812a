"""Stubs for editors and type checkers: ``python -m tests.stubs`` writes them anew.

The functions of ``mx.nd``, ``mx.sym`` and ``mx.npx``, and the methods of arrays and Symbols, come
from the registry when they are first asked for, so that no source file shows them. Each such
namespace has a ``.pyi`` beside it that does, and so has each class (``attached.pyi``); all are made
of what the running package says.
"""

import ast
import functools
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import gluonish
from gluonish.core.schema import REQUIRED, Attribute
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import ndarray
from gluonish.numpy.methods import NumpyMethods
from gluonish.operator import custom_op as _custom_op  # noqa: F401  # gives nd and sym their Custom
from gluonish.ops.elementwise.arithmetic import Arithmetic
from gluonish.ops.fluent import method_names
from gluonish.ops.frontend import NUMPY_NAMESPACES
from gluonish.ops.registry import Operator, absent_names, find_operator
from gluonish.symbol.symbol import Symbol

ROOT = Path(gluonish.__file__).parent
_HEAD = "# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.\n"
# Methods of Symbols and of NumPy's arrays take what those of the class above do not.
_OF_CLASSES = """\
# mypy: disable-error-code="assignment, misc, override"
# pyright: reportAssignmentType=false, reportIncompatibleMethodOverride=false
"""
_WIDTH = 100

_TYPES = {
    "a number": "float",
    "a bool": "bool | int",
    "a str": "str",
    "a dtype": "DType",
    "a tuple of ints": "int | Sequence[int]",
    "a tuple of ints and None": "int | Sequence[int | None]",
    "a tuple of numbers": "float | Sequence[float]",
    "a tuple of pairs of ints": "Sequence[Sequence[int]]",
    "a tuple": "Sequence[object]",
}
_PRELUDE = {
    "Any": "from typing import Any",
    "Literal": "from typing import Literal",
    "NoReturn": "from typing import NoReturn",
    "Self": "from typing import Self",
    "Sequence": "from collections.abc import Sequence",
    "Mapping": "from collections.abc import Mapping",
    "Context": "from gluonish.core.context import Context",
    "DType": "from gluonish.core.dtype import DType",
    "NDArray": "from gluonish.ndarray.ndarray import NDArray",
    "Symbol": "from gluonish.symbol.symbol import Symbol",
    "NumpySymbol": "from gluonish.symbol.numpy_symbol import NumpySymbol",
    "ndarray": "from gluonish.numpy.array import ndarray",
}


class Face:
    """What functions of one namespace take and return.

    Args:
        value: The class of their inputs.
        tail: Parameters behind those of the operator, by name.
        many: The type of several outputs.
        sources: Whether functions without inputs take the device.
    """

    def __init__(self, value: str, tail: Mapping[str, str], many: str, sources: bool) -> None:
        self.value = value
        self.tail = tail
        self.many = many
        self.sources = sources


def _array_face(value: str) -> Face:
    out = f"{value} | Sequence[{value}] | None = None"
    return Face(value, {"out": out, "name": "str | None = None"}, f"list[{value}]", True)


def _symbol_face(value: str) -> Face:
    attr = "Mapping[str, str] | None = None"
    return Face(
        value, {"name": "str | None = None", "attr": attr, "out": "None = None"}, value, False
    )


_ND, _NP, _SYM, _NPSYM = (
    *(_array_face("NDArray"), _array_face("ndarray")),
    *(_symbol_face("Symbol"), _symbol_face("NumpySymbol")),
)
_METHOD = Face("Self", {"out": "Self | Sequence[Self] | None = None"}, "list[Self]", False)
_SYMBOL_METHOD = Face("Self", _SYM.tail, "Self", False)

# Namespaces that show functions which have no source.
NAMESPACES = {
    **{f"gluonish.ndarray{name}": _ND for name in ("", ".op", ".contrib", ".linalg", ".image")},
    **{f"gluonish.ndarray{name}": _ND for name in ("._internal", ".sparse")},
    **{f"gluonish.symbol{name}": _SYM for name in ("", ".op", ".contrib", ".linalg", ".image")},
    **{f"gluonish.symbol{name}": _SYM for name in ("._internal", ".sparse")},
    **{f"gluonish.numpy_extension{name}": _NP for name in ("", ".image")},
    **{
        f"gluonish.numpy_extension.nd_namespaces.np{name}": _NP
        for name in ("", "._internal", ".linalg", ".random")
    },
    **{
        f"gluonish.numpy_extension.nd_namespaces.npx{name}": _NP
        for name in ("", ".image", ".random")
    },
    **{f"gluonish.symbol.numpy{name}": _NPSYM for name in ("", "._internal", ".linalg", ".random")},
    **{f"gluonish.symbol.numpy_extension{name}": _NPSYM for name in ("", ".image", ".random")},
}


def _type_of(attribute: Attribute) -> str:
    """Return the type of an attribute, from the words that its errors use."""
    expected = attribute.expected
    optional = expected.endswith(" or None")
    if expected.startswith("one of "):
        words = re.findall(r"'[^']*'|None", expected)
        kind = f"Literal[{', '.join(words)}]".replace("'", '"')
        is_dtype = any(word.strip("'") in ("float32", "int32") for word in words)
        kind += " | DType" if is_dtype else " | str"  # what an editor offers, and any str
    elif re.match(r"'float16'", expected):
        kind = "DType"
    elif expected.startswith("an int"):
        kind = "int"
    else:
        kind = _TYPES.get(expected.removesuffix(" or None"), "object")
    return f"{kind} | None" if optional else kind


def _default(value: Any) -> str:
    """Return a default as a stub writes it."""
    if value is None or isinstance(value, bool | int | str):
        return ascii(value).replace("'", '"')
    if isinstance(value, float) and value == value and abs(value) < 1e300:
        return repr(value)
    if isinstance(value, tuple) and all(isinstance(v, int | float) for v in value):
        return repr(value)
    return "..."


def _inputs(op: Operator, face: Face) -> list[tuple[str, str]]:
    """Return the array parameters, as names and the rest."""
    if op.variadic is not None:
        return [("*data", f"{face.value} | Sequence[{face.value}]")]
    if op.active_inputs is None and face.value not in ("Symbol", "NumpySymbol"):
        return [(name, face.value) for name in op.inputs]
    # Which of them a call wants depends on its attributes; a Symbol makes variables of the others.
    first, rest = op.inputs[:1], op.inputs[1:]
    optional = f"{face.value} | None = None"
    if face.value in ("Symbol", "NumpySymbol"):
        return [(name, optional) for name in op.inputs]
    return [*((name, face.value) for name in first), *((name, optional) for name in rest)]


def parameters_of(op: Operator, face: Face, *, method: bool = False) -> list[str]:
    """Return the parameters of an operator's function, each as a stub writes it.

    Args:
        op: The operator.
        face: What its function takes.
        method: Whether the first input is the object itself.
    """
    rows = _inputs(op, face)
    if method:
        rows = [("self", ""), *rows[1:]]
    keyword_only = op.variadic is not None
    optional = any(" = " in kind for _, kind in rows) or keyword_only
    for name, attribute in op.schema.attributes.items():
        kind = _type_of(attribute)
        if name == op.variadic:
            kind += " = ..."
        elif attribute.default is not REQUIRED:
            kind += f" = {_default(attribute.default)}"
            optional = True
        elif optional and not keyword_only:
            kind += " = ..."  # Python wants one behind others that have one
        rows.append((name, kind))
    names = {name for name, _ in rows}
    tail = [(name, kind) for name, kind in face.tail.items() if name not in names]
    if face.sources and not op.inputs and op.variadic is None and "ctx" not in names:
        tail.insert(0, ("ctx", "Context | str | None = None"))
    star = [("*", "")] if tail and not keyword_only else []
    return [f"{name}: {kind}" if kind else name for name, kind in (*rows, *star, *tail)]


def _result(op: Operator, face: Face) -> str:
    if not callable(op.visible):
        return face.value if op.visible == 1 else face.many
    try:
        return face.value if op.num_visible(dict(op.schema.defaults)) == 1 else face.many
    except (KeyError, TypeError):  # it depends on an attribute that has no default
        return face.many


def _summary(doc: str | None) -> str:
    """Return the first sentence of a docstring."""
    text = " ".join((doc or "").strip().partition("\n\n")[0].split())
    found = re.match(r"(.*?\.)(?= [A-Z`]|$)", text)
    return (found[1] if found else text).replace("\\", "\\\\").replace('"""', "'''")


def _function(name: str, parameters: Sequence[str], result: str, doc: str, indent: str = "") -> str:
    """Return the text of one function."""
    inner = indent + "    "
    line = f"{indent}def {name}({', '.join(parameters)}) -> {result}:"
    if len(line) > _WIDTH:
        listed = "".join(f"{inner}{parameter},\n" for parameter in parameters)
        line = f"{indent}def {name}(\n{listed}{indent}) -> {result}:"
    if not doc:
        return f"{line} ...\n"
    quoted = textwrap.fill(
        f'"""{doc}"""',
        _WIDTH,
        initial_indent=inner,
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{line}\n{quoted}\n"


_PLAIN = frozenset(
    [
        "int",
        "float",
        "bool",
        "str",
        "bytes",
        "None",
        "tuple",
        "list",
        "dict",
        "object",
        "Sequence",
        "Any",
        "Context",
    ]
)


def _signature(function: Callable[..., Any], *, method: bool = False) -> list[str]:
    """Return the parameters of a function that is no operator, as a stub writes them."""
    rows, star = [], False
    for i, parameter in enumerate(inspect.signature(function).parameters.values()):
        kind = parameter.kind
        if method and i == 0:
            rows.append("self")
            continue
        text = parameter.annotation
        text = text if isinstance(text, str) else getattr(text, "__name__", "Any")
        if not set(re.findall(r"\w+", text)) <= _PLAIN or text in (
            "tuple",
            "list",
            "dict",
            "Sequence",
        ):
            text = "Any"
        if kind is parameter.VAR_POSITIONAL:
            rows.append(f"*{parameter.name}: {text}")
            star = True
            continue
        if kind is parameter.VAR_KEYWORD:
            rows.append(f"**{parameter.name}: {text}")
            continue
        if kind is parameter.KEYWORD_ONLY and not star:
            rows.append("*")
            star = True
        default = parameter.default
        ending = "" if default is parameter.empty else f" = {_default(default)}"
        if ending == " = None" and "None" not in text and text not in ("Any", "object"):
            text += " | None"
        rows.append(f"{parameter.name}: {text}{ending}")
    return rows


def _returned(function: Callable[..., Any]) -> str:
    """Return the type of what a method gives."""
    found = inspect.signature(function).return_annotation
    text = "None" if found is None else str(getattr(found, "__name__", found))
    return text if text in ("None", "NDArray", "ndarray", "Symbol", "NumpySymbol") else "Self"


def _refusing(name: str, reason: str) -> str:
    doc = f"Not available: {reason}."
    return _function(name, ["*args: object", "**kwargs: object"], "NoReturn", _summary(doc))


def _imported(module: ModuleType) -> dict[str, str]:
    """Return the import line of each name that a module's source imports from elsewhere."""
    lines = {}
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                lines[name] = f"from {node.module} import {alias.name} as {name}\n"
    return lines


def _shown(module: ModuleType, own: Iterable[str]) -> list[str]:
    """Return the names that a namespace makes when they are asked for."""
    private = module.__name__.endswith("_internal")
    hidden = {"__getattr__", "__dir__", *NUMPY_NAMESPACES, *own}
    return [
        name
        for name in dir(module)
        if name.isidentifier()
        and name not in hidden
        and name not in vars(module)
        and (private or not name.startswith("_"))
        and not name.startswith("_gluonish")
        and hasattr(module, name)
    ]


@functools.cache
def _functions_of(namespace: str) -> tuple[str, ...]:
    """Return the names that a namespace makes when they are asked for, and none below it has."""
    module = importlib.import_module(namespace)
    return tuple(_shown(module, ()))


def _made(module: ModuleType, name: str, face: Face) -> str:
    """Return the lines of a name that is made when it is asked for."""
    value = getattr(module, name)
    if isinstance(value, ModuleType):
        parent, _, leaf = value.__name__.rpartition(".")
        return f"from {parent} import {leaf} as {name}\n"
    if isinstance(value, type):
        return f"from {value.__module__} import {value.__name__} as {name}\n"
    op = getattr(inspect.unwrap(value), "operator", None) or getattr(value, "operator", None)
    if op is None:
        doc = inspect.getdoc(value) or ""
        if doc.startswith("Not available"):
            return _refusing(name, absent_names().get(name, doc.partition(": ")[2].rstrip(".")))
        home = importlib.import_module(value.__module__)
        if getattr(home, name, None) is value and home is not module:
            return f"from {home.__name__} import {name} as {name}\n"
        return _function(name, _signature(value), face.value, _summary(doc))
    return _function(name, parameters_of(op, face), _result(op, face), _summary(op.doc))


def namespace_text(module: ModuleType, face: Face) -> str:
    """Return the stub of a namespace.

    Args:
        module: The namespace.
        face: What its functions take.
    """
    imported = _imported(module)
    parent, _, leaf = module.__name__.rpartition(".")
    above = set(_functions_of(parent)) if leaf in ("op", "_internal") else set()
    own = {name: line for name, line in imported.items() if not name.startswith("__")}
    for later in ("NUMPY_NAMESPACES", "TYPE_CHECKING"):
        own.pop(later, None)
    lines = [*own.values()]
    if leaf in ("ndarray", "symbol", "op", "_internal") and hasattr(module, "npx"):
        homes = {name: getattr(module, name).__name__.rpartition(".") for name in NUMPY_NAMESPACES}
        lines += [
            f"from {package} import {last} as {last}\n"
            for name, (package, _, last) in homes.items()
            if name == last
        ]
        lines += [f"{name} = {last}\n" for name, (*_, last) in homes.items() if name != last]
    shown = _shown(module, own)
    body = [
        f"from {parent} import {name} as {name}\n" if name in above else _made(module, name, face)
        for name in shown
    ]
    lines += [text for text in body if text.startswith("from ")]
    functions = [text for text in body if not text.startswith("from ")]
    listed = "".join(
        f'    "{name}",\n' for name in getattr(module, "__all__", []) if name in {*own, *shown}
    )
    exported = f"__all__ = [\n{listed}]\n" if listed else ""
    text = "".join(functions)
    hidden = [name for name in ("bool", "float", "int", "str") if name in shown]
    for name in hidden:  # a function of this name hides the type
        text = re.sub(rf"(?<=: |\| |> ){name}\b", f"builtins.{name}", text)
    if hidden:
        lines.append("import builtins\n")
    return _stub(lines, exported + "\n" + text)


def _stub(lines: Sequence[str], body: str) -> str:
    have = {re.split(r" as |import ", line.strip())[-1] for line in lines}
    words = set(
        re.findall(r"\b[A-Za-z]+\b", re.sub(r'"""(.|\n)*?"""|^from .*$', "", body, flags=re.M))
    )
    prelude = [
        line + "\n"
        for word, line in _PRELUDE.items()
        if word in words and word not in have and f"def {word}(" not in body
    ]
    imports = "".join(sorted({*prelude, *lines}))
    return f"{_HEAD}\n{imports}\n{body}"


def _operator_method(name: str, face: Face) -> str:
    op = find_operator(name)
    parameters = parameters_of(op, face, method=True)
    return _function(name, parameters, _result(op, face), _summary(op.doc), "    ")


def fluent_text() -> str:
    """Return the stub of the methods of every value that are operators."""
    body = "".join(_operator_method(name, _METHOD) for name in sorted(method_names()))
    above = "from gluonish.ops.elementwise.arithmetic import Arithmetic as Arithmetic\n"
    return _OF_CLASSES + _stub([above], f"class OperatorMethods(Arithmetic):\n{body}")


# Classes that get methods from elsewhere, and what those that are operators take.
CLASSES: Mapping[type, Face] = {NDArray: _METHOD, Symbol: _SYMBOL_METHOD, ndarray: _METHOD}


# They import the classes whose methods they bring, so that an alias would be a circle of types.
_ABOVE = ("gluonish.autograd.gradient", "gluonish.numpy.array", "gluonish.symbol.numpy_symbol")


def _written(kind: type) -> set[str]:
    """Return the names that the source of a class shows."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    found: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body[0].body)  # type: ignore[attr-defined]  # a class
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.If):  # TYPE_CHECKING
            waiting += node.body
        else:
            found |= {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}
    return found


def attached_text(kind: type, face: Face) -> str:
    """Return the stub of the methods that a class gets from elsewhere.

    Args:
        kind: The class.
        face: What its operators take.
    """
    written = _written(kind)
    base = kind.__mro__[1]
    lines, body = [], ""
    for name in sorted(vars(kind)):
        value = getattr(kind, name, None)  # None for habits of other frameworks
        if name in written or name == "__dir__" or not callable(value) or isinstance(value, type):
            continue
        if getattr(value, "__qualname__", "").startswith("NumpyMethods."):
            body += f"    {name} = NumpyMethods.{name}\n"
            continue
        if issubclass(kind, NDArray) and kind is not NDArray and name in method_names():
            continue  # as the class above has it
        if kind is NDArray and name in vars(Arithmetic) and name != "__apply__":
            continue  # as it is typed there: of two kinds of sparse arrays the result is dense
        if not inspect.isfunction(value) or getattr(value, "__module__", None) is None:
            continue
        home = sys.modules.get(value.__module__)
        own = value.__qualname__
        if kind is Symbol and name in method_names():
            body += _operator_method(name, face)
        elif home is not None and vars(home).get(own) is value and home.__name__ not in _ABOVE:
            alias = f"_function_{own.strip('_')}"
            lines.append(f"from {home.__name__} import {own} as {alias}\n")
            kept = f"staticmethod({alias})" if isinstance(vars(kind)[name], staticmethod) else alias
            body += f"    {name} = {kept}\n"
        elif not value.__qualname__.startswith(base.__name__):
            doc = _summary(inspect.getdoc(value))
            body += _function(name, _signature(value, method=True), _returned(value), doc, "    ")
    if "def __eq__" in body:
        body += "    def __hash__(self) -> int: ...\n"
    used = [base, NumpyMethods] if "NumpyMethods." in body else [base]
    lines += [f"from {b.__module__} import {b.__name__} as {b.__name__}\n" for b in used]
    return _OF_CLASSES + _stub(lines, f"class AttachedMethods({base.__name__}):\n{body}")


def texts() -> dict[Path, str]:
    """Return what each stub should say, by its path."""
    found = {}
    for name, face in NAMESPACES.items():
        module = importlib.import_module(name)
        found[Path(str(module.__file__)).with_suffix(".pyi")] = namespace_text(module, face)
    found[ROOT / "ops/operator_methods.pyi"] = fluent_text()
    for kind, face in CLASSES.items():
        source = Path(str(inspect.getsourcefile(kind)))
        found[source.with_name("attached.pyi")] = attached_text(kind, face)
    return found


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, "utf-8")
        sys.stdout.write(f"{path}\n")
