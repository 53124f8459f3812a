"""A page for each public namespace, made of the docstrings of what it has."""

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gluonish.ops.fluent import method_names
from gluonish.ops.registry import find_operator
from gluonish_site.docstrings import escaped, heading, indented, rst_of, summary, table, types_of
from gluonish_site.namespaces import (
    GROUPS,
    Names,
    full,
    is_absent,
    operator_of,
    page_of,
    resolve,
)

Find = Callable[[str], str | None]  # the full name of a name in a docstring
# Methods that a layer has because every layer has them; they are described in their base class.
_EVERYWHERE = {"forward", "hybrid_forward", "infer_shape", "cast", "export"}
_ARRAYS = ("NDArray", "Symbol", "ndarray")
_METHODS = frozenset(method_names())
_BASES = ("mx.gluon.Block", "mx.gluon.HybridBlock", "mx.gluon.SymbolBlock")


def texts(names: Names) -> dict[str, str]:
    """Return the pages of the namespaces, and their overview, by file name."""
    pages = {f"{page_of(name)}.rst": _page(names, name) for name in names.by_namespace}
    return {**pages, "reference/index.rst": _overview()}


def _overview() -> str:
    lines = [
        *heading("API reference"),
        "Everything that ``import gluonish as mx`` brings. Each page lists the names of a "
        "namespace with a line each, and then describes them. A function that is an operator has a "
        ":doc:`page of its own <operators/index>`. The search finds all of them by name.",
        "",
    ]
    for group, namespaces in GROUPS.items():
        rows = [
            (f":doc:`{full(name)} <{page_of(name).removeprefix('reference/')}>`", line)
            for name, line in namespaces.items()
        ]
        lines += [*heading(group, "-"), *table(("namespace", "what it has"), rows, "35 65")]
        lines += [".. toctree::", "   :hidden:", ""]
        lines += [f"   {page_of(name).removeprefix('reference/')}" for name in namespaces]
        lines.append("")
    return "\n".join(lines)


def _page(names: Names, namespace: str) -> str:
    module = resolve(namespace)
    found = names.by_namespace[namespace]
    find = partial(names.find, namespace=namespace)
    (line,) = (group[namespace] for group in GROUPS.values() if namespace in group)
    lines = [*heading(full(namespace)), f"{line}.", ""]
    rows: list[tuple[str, ...]] = []
    aliases, own, absent = [], [], []
    for name, value in found.items():
        home = names.home(namespace, name)
        if is_absent(value):
            absent.append(name)
            continue
        rows.append((f":py:obj:`{name} <{home.name}>`", _line_of(find, value)))
        if operator_of(value) is not None:
            continue
        if home.name == full(namespace, name):
            own.append(name)
        else:
            kind = "class" if inspect.isclass(value) else "function"
            aliases.append(f"{kind} {full(namespace, name)}")
    doc = inspect.getdoc(module)
    if doc and not rows:
        lines += rst_of(doc, "module", full(namespace), find)
    aliases.insert(0, f"module {full(namespace)}")
    lines += [".. gluonish-names::", "", *indented(aliases), ""]
    if rows:
        lines += table(("name", "what it does"), rows, "30 70")
    for name in own:
        lines += _entry(names, find, full(namespace, name), found[name])
    if absent:
        lines += [*heading("Not available", "-")]
        lines += ["These operators of MXNet raise an error that says what to use instead.", ""]
        lines += [
            ".. gluonish-names::",
            "",
            *indented([f"function {full(namespace, name)}" for name in absent]),
            "",
        ]
        told = [
            (f"``{name}``", escaped(found[name].__doc__.removeprefix("Not available: ")))
            for name in absent
        ]
        lines += table(("name", "instead"), told, "30 70")
    return "\n".join(lines) + "\n"


def _line_of(find: Find, value: Any) -> str:
    op = operator_of(value)
    if op is not None:
        return summary(op.doc, find)
    if origin := _origin(value):
        return f"``{origin}`` itself."
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return f"A constant, ``{_short_repr(value)}``."
    return summary(inspect.getdoc(value), find)


def _origin(value: Any) -> str | None:
    """Return the full name of what another package defines, such as NumPy's dtypes."""
    package = str(getattr(value, "__module__", None)).partition(".")[0]
    if package in ("gluonish", "gluonish_engine") or not callable(value):
        return None
    return f"{package}.{value.__name__}" if package in ("numpy", "ml_dtypes", "builtins") else None


def _short_repr(value: Any) -> str:
    text = repr(value).replace("`", "'").replace("\n", " ")
    return text if len(text) < 60 else type(value).__name__


def _entry(names: Names, find: Find, name: str, value: Any) -> list[str]:
    """Return the lines that describe an object under a full name."""
    if origin := _origin(value):
        kind = "class" if inspect.isclass(value) else "function"
        return [f".. py:{kind}:: {name}", "", f"   ``{origin}`` itself.", ""]
    if inspect.isclass(value):
        return _class_entry(names, find, name, value)
    if callable(value):
        return _function_entry(find, name, value, "function")
    return [f".. py:data:: {name}", f"   :value: {_short_repr(value)}", ""]


def _function_entry(find: Find, name: str, value: Any, kind: str) -> list[str]:
    flags = []
    if kind == "staticmethod":
        flags = ["   :no-index-entry:"]
    body = rst_of(inspect.getdoc(value), "function", name, find, types_of(value))
    method = kind in ("method", "classmethod")
    lines = [f".. py:{kind}:: {name}{signature_text(value, method=method)}", *flags, ""]
    return [*lines, *indented(body), ""]


def _class_entry(names: Names, find: Find, name: str, value: type) -> list[str]:
    kind = "exception" if issubclass(value, BaseException) else "class"
    lines = [f".. py:{kind}:: {name}{signature_text(value)}", ""]
    doc = inspect.getdoc(value) if value.__doc__ else ""
    body = rst_of(doc, "class", name, find, types_of(value))
    bases = [
        f":py:obj:`{base.__name__} <{found}>`"
        for base in value.__bases__
        if (found := find(base.__name__)) is not None and found != name
    ]
    if bases:
        body += ["", f"Extends {', '.join(bases)}."]
    body.append("")
    generated = []
    for member, kind, function in _members(name, value):
        if kind == "operator":
            generated.append((member, function))
        elif kind == "property":
            told = rst_of(inspect.getdoc(function), "method", f"{name}.{member}", find)
            body += [f".. py:property:: {member}", "", *indented(told), ""]
        else:
            body += _function_entry(find, member, function, kind)
    if generated:
        body += _operator_methods(names, name, generated)
    return [*lines, *indented(body), ""]


def _operator_methods(names: Names, name: str, methods: list[tuple[str, Any]]) -> list[str]:
    rows = []
    for member, op in methods:
        target = names.operators.get(op.name)
        shown = f"``{member}``" if target is None else f":py:obj:`{member} <{target[0]}>`"
        rows.append((shown, summary(op.doc, names.find)))
    listed = [f"method {name}.{member}" for member, _ in methods]
    return [
        "Operators that are methods, too: ``x.f(...)`` is ``f(x, ...)``.",
        "",
        ".. gluonish-names::",
        "",
        *indented(listed),
        "",
        *table(("method", "what it does"), rows, "30 70"),
    ]


def _members(name: str, value: type) -> Iterator[tuple[str, str, Any]]:
    """Yield the members of a class to describe: name, kind and object (or operator)."""
    seen: set[str] = set()
    for owner in value.__mro__:
        hidden_base = owner is not value and owner.__name__.startswith("_")
        if owner is not value and not hidden_base and not _is_part(value, owner):
            continue
        for member, raw in vars(owner).items():
            if member.startswith("_") or member in seen:
                continue
            seen.add(member)
            if member in _EVERYWHERE and name not in _BASES:
                continue
            found = _member(value, member, raw)
            if found is not None:
                yield (member, *found)


def _is_part(value: type, owner: type) -> bool:
    """Whether a base class only holds methods of arrays or Symbols."""
    package = owner.__module__.startswith("gluonish.")
    return package and owner.__name__ in (
        "Arithmetic",
        "OperatorMethods",
        "AttachedMethods",
        "NumpyMethods",
    )


def _member(value: type, member: str, raw: Any) -> tuple[str, Any] | None:
    function = getattr(value, member, None)
    op = operator_of(function)
    if op is None and value.__name__ in _ARRAYS and member in _METHODS:
        op = find_operator(member)
    if op is not None:
        return "operator", op
    if isinstance(raw, property):
        return ("property", raw) if raw.__doc__ else None
    if not callable(function) or inspect.isclass(function) or not inspect.getdoc(function):
        return None
    if isinstance(raw, staticmethod):
        return "staticmethod", function
    return ("classmethod" if isinstance(raw, classmethod) else "method"), function


def signature_text(value: Any, *, method: bool = False) -> str:
    """Return the parameters of a callable in parentheses, without types."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(signature.parameters.values())
    if method and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    shown = [
        p.replace(
            annotation=p.empty, default=p.empty if p.default is p.empty else _Shown(p.default)
        )
        for p in parameters
        if not p.name.startswith("_")
    ]
    try:
        return str(inspect.Signature(shown))
    except ValueError:
        return "(...)"


class _Shown:
    """A default as a signature shows it: Python that can be parsed."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        value = self.value
        text = getattr(value, "__name__", None) if callable(value) else repr(value)
        try:
            ast.parse(str(text), mode="eval")
        except SyntaxError:
            return "..."
        return str(text) if len(str(text)) < 80 else "..."
