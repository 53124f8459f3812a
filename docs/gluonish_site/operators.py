"""A page for each operator that has a public function, made of what the registry says."""

import re
from pathlib import Path

import gluonish
from gluonish.core.schema import REQUIRED, format_attribute
from gluonish.ops.help.common import meaning
from gluonish.ops.registry import Operator, all_operators
from gluonish_site.docstrings import escaped, heading, indented, summary, table
from gluonish_site.namespaces import Names, resolve
from gluonish_site.reference import signature_text

_OPERATORS = Path(gluonish.__file__).parent / "ops"
# Titles of the folders, in the order of the overview.
_FAMILIES = {
    "nn": "Neural networks",
    "normalization": "Normalization",
    "recurrent": "Recurrent networks",
    "attention": "Attention",
    "elementwise": "Elementwise functions",
    "reductions": "Reductions",
    "shape": "Shapes",
    "indexing": "Indexing",
    "linalg": "Linear algebra",
    "sampling": "Random numbers",
    "image": "Images",
    "vision": "Vision",
    "detection": "Detection of objects",
    "outputs": "Outputs and losses of graphs",
    "sparse": "Sparse arrays",
    "numpy": "NumPy's functions",
    "updates": "Updates of optimizers",
    "quantization": "Quantization to 8 bits",
    "fused": "Fused operators",
    "contrib": "Further operators",
}
_TITLES = (*_FAMILIES.values(), "Others")


def texts(names: Names) -> dict[str, str]:
    """Return the pages of the operators and their overview, by file name."""
    pages = {
        f"{names.pages[name]}.rst": _page(names, op, names.operators[name])
        for name, op in names.registered.items()
    }
    return {**pages, "reference/operators/index.rst": _overview(names)}


def family_of(op: Operator) -> str:
    """Return the title of an operator's family, which is its folder in ``gluonish/ops``."""
    path = Path(op.source[0])
    if not path.is_relative_to(_OPERATORS):
        return "Others"
    return _FAMILIES.get(path.relative_to(_OPERATORS).parts[0], "Others")


def _overview(names: Names) -> str:
    families: dict[str, list[Operator]] = {}
    for op in names.registered.values():
        families.setdefault(family_of(op), []).append(op)
    lines = [
        *heading("Operators"),
        "An operator computes outputs from arrays. Each has one definition, with its shapes, its "
        "gradient and its kernels, and is a function of several namespaces: ``mx.nd.softmax`` "
        "computes at once, ``mx.sym.softmax`` adds a node to a graph, and ``mx.npx.softmax`` "
        "takes arrays of ``mx.np``. ``gluonish where softmax`` prints the files of one.",
        "",
    ]
    for family in sorted(families, key=_TITLES.index):
        rows = [
            (f":doc:`{_title(names, op)} </{names.pages[op.name]}>`", summary(op.doc))
            for op in sorted(families[family], key=lambda op: _title(names, op).lower())
        ]
        lines += [*heading(family, "-"), *table(("operator", "what it computes"), rows, "30 70")]
    others = [op for op in all_operators() if op.name not in names.registered]
    rows = [(f"``{op.name}``", summary(op.doc)) for op in sorted(others, key=lambda op: op.name)]
    lines += [
        *heading("Operators without a function", "-"),
        "Python's operators, gradients and graph passes use these, and files of graphs name some.",
        "",
        *table(("operator", "what it computes"), rows, "30 70"),
    ]
    return "\n".join(lines) + "\n"


def _title(names: Names, op: Operator) -> str:
    return names.operators[op.name][0].rpartition(".")[2]


def _page(names: Names, op: Operator, functions: list[str]) -> str:
    first, *rest = functions
    title = first.rpartition(".")[2]
    lines = [":orphan:", "", *heading(title)]
    lines += [f":doc:`Operators <index>` / {family_of(op)}", ""]
    lines += [f".. py:function:: {first}{_signature(first)}", ""]
    lines += [f"   {paragraph}\n" for paragraph in _paragraphs(op)]
    if rest:
        lines += [f"Also called {', '.join(f'``{name}``' for name in rest)}.", ""]
        lines += [".. gluonish-names::", "", *indented([f"function {name}" for name in rest]), ""]
    lines += _inputs(op)
    lines += _arguments(op)
    lines += [*heading("Result", "-"), *_result(op), *heading("Gradient", "-"), *_gradient(op)]
    lines += _facts(op)
    return "\n".join(lines) + "\n"


def _signature(name: str) -> str:
    _, *namespace, function = name.split(".")
    return signature_text(getattr(resolve(".".join(namespace)), function))


def _paragraphs(op: Operator) -> list[str]:
    return [escaped(" ".join(text.split())) for text in op.doc.split("\n\n")]


def _inputs(op: Operator) -> list[str]:
    rows = []
    active = set(op.inputs) if op.active_inputs is None else None
    for name in op.inputs:
        text = escaped(meaning(op.name, name, is_input=True) or "Input array")
        note = " May be left out." if name in op.optional else ""
        rows.append((f"``{name}``", f"{text}.{note}"))
    if op.variadic is not None:
        rows = [("``*data``", "Any number of arrays, one by one or as one list.")]
    if not rows:
        return []
    lines = [*heading("Arrays", "-"), *table(("input", "what it is"), rows, "20 80")]
    if active is None:
        lines += ["Which of them a call takes depends on its arguments.", ""]
    return lines


def _arguments(op: Operator) -> list[str]:
    rows = []
    for name, attribute in op.schema.attributes.items():
        if name == op.variadic:
            continue
        required = attribute.default is REQUIRED
        default = "required" if required else f"``{_default(attribute.default)}``"
        text = escaped(meaning(op.name, name, is_input=False) or "")
        rows.append(
            (f"``{name}``", _allowed(attribute.expected), default, f"{text}." if text else "")
        )
    if not rows:
        return []
    head = ("argument", "allowed", "default", "what it is")
    return [*heading("Arguments", "-"), *table(head, rows, "18 22 15 45")]


def _allowed(expected: str) -> str:
    """Return what an argument may be, with the texts that it may be as code."""
    return escaped(re.sub(r"'[^'`]*'", r"``\g<0>``", expected))


def _default(value: object) -> str:
    return repr(value) if isinstance(value, str) else format_attribute(value)


def _result(op: Operator) -> list[str]:
    if callable(op.visible):
        text = "One array, or a list of several, depending on the arguments."
    elif op.visible == 1:
        text = "One array."
    else:
        listed = op.output_names_for({})[: op.visible]
        named = f": {', '.join(f'``{name}``' for name in listed)}" if listed else ""
        text = f"A list of {op.visible} arrays{named}."
    if op.elementwise and "Shapes:" not in op.doc:
        text += " It is computed element by element."
    return [text, ""]


def _gradient(op: Operator) -> list[str]:
    if op.gradient is None:
        return ["There is none: gradients do not flow through this operator.", ""]
    text = "Computed by operators, so that it can be differentiated again where those can."
    if op.ignores_head_gradient:
        text += " It does not depend on the gradient of the output, as it is that of a loss."
    return [text, ""]


def _facts(op: Operator) -> list[str]:
    facts = []
    if op.train_dependent:
        facts.append("It computes something else while training (``autograd.record()``).")
    if op.random:
        facts.append("It draws random numbers; ``mx.random.seed`` makes them repeatable.")
    if op.mutates:
        facts.append("It writes to some of its inputs.")
    known = (op.name, *op.aliases)
    file = Path(op.source[0])
    if file.is_relative_to(_OPERATORS.parent.parent):
        place = file.relative_to(_OPERATORS.parent.parent)
        facts.append(f"Its definition is in ``{place}``, line {op.source[1]}.")
    facts.append(f"In files of graphs it is called {', '.join(f'``{name}``' for name in known)}.")
    return [*heading("Good to know", "-"), *[f"* {fact}" for fact in facts], ""]
