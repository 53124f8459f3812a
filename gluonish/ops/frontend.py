"""User functions of operators: argument binding, signatures and docstrings.

``nd.*``, ``sym.*`` and the fluent methods of arrays are generated here, so that an operator has the
same signature everywhere: its inputs, then its attributes, positional or by name.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.habit_tables import NAMES, SYMBOLS
from gluonish.core.habits import name_advice, unknown_attribute
from gluonish.core.schema import REQUIRED, format_attribute
from gluonish.ops.help.common import meaning
from gluonish.ops.registry import Operator, absent_names, all_names, find_operator

# Namespaces with NumPy semantics, and their packages.
NUMPY_NAMESPACES = {
    "np": "numpy",
    "npx": "numpy_extension",
    "numpy": "numpy",
    "numpy_extension": "numpy_extension",
}
_IN_A_TUPLE = "; pass several numbers as one tuple"
_WIDTH = 92  # columns of a docstring
Make = Callable[[Operator, str], Callable[..., Any]]  # make(operator, requested name)


def make_function(
    name: str,
    made: dict[str, Callable[..., Any]],
    make: Make,
    namespace: str,
    prefix: str = "",
) -> Callable[..., Any]:
    """Return the function of an operator in a namespace, created at first use.

    Args:
        made: The namespace's functions so far; the new function is added.
        namespace: For the error message.
        prefix: The registry prefix of the namespace's names.

    Raises:
        AttributeError: No operator of this name.
    """
    registered = prefix + name
    if registered in absent_names():
        return made.setdefault(name, _refusing(registered))
    if registered not in all_names():
        habits = SYMBOLS if namespace == "symbol" else NAMES
        raise unknown_attribute(
            f"{namespace}: expected the name of a function or an operator, got {name!r}"
            f"{nearest_name(registered, prefix, made, habits)}",
            name,
        )
    op = find_operator(registered)
    function = make(op, name)
    function.operator = op  # type: ignore[attr-defined]  # for `gluonish where`
    return made.setdefault(name, function)


def nearest_name(
    registered: str, prefix: str, made: Iterable[str], habits: Mapping[str, str] = NAMES
) -> str:
    """Return advice about an unknown name, or the namespace's public names closest to it."""
    if registered.startswith("__"):  # requested by Python, not by a user
        return ""
    known = (name.removeprefix(prefix) for name in all_names() if name.startswith(prefix))
    return name_advice(registered.removeprefix(prefix), dict.fromkeys((*known, *made)), habits)


def prefixed(
    prefix: str, module: str, make: Make, *, own: Sequence[str] = ()
) -> tuple[Callable[[str], Callable[..., Any]], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module of operators with a common prefix.

    Args:
        prefix: ``"_contrib_"`` for ``nd.contrib``.
        own: Names defined by the module itself.
    """
    made: dict[str, Callable[..., Any]] = {}

    def find(name: str) -> Callable[..., Any]:
        found = made.get(name)
        if found is None:
            found = make_function(name, made, make, module.removeprefix("gluonish."), prefix)
            found.__module__ = module
        return found

    def names() -> list[str]:
        listed = (*all_names(), *absent_names())
        shown = {name.removeprefix(prefix) for name in listed if name.startswith(prefix)}
        return sorted({*shown, *own})

    return find, names


def chosen(
    operators: Mapping[str, str], module: str, make: Make
) -> Callable[[str], Callable[..., Any]]:
    """Return ``__getattr__`` of a module whose names are mapped to registry names."""
    made: dict[str, Callable[..., Any]] = {}

    def find(name: str) -> Callable[..., Any]:
        found = made.get(name)
        if found is None:
            if name not in operators:
                raise unknown_attribute(
                    f"{module}: expected the name of a function or an operator, got {name!r}"
                    f"{name_advice(name, operators)}",
                    name,
                )
            found = make_function(operators[name], {}, make, module)
            found.__name__ = found.__qualname__ = name
            found.__module__ = module
            made[name] = found
        return found

    return find


def _refusing(name: str) -> Callable[..., Any]:
    """Return a function that raises NotSupportedError, for an operator that is not available."""

    def function(*args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        return find_operator(name)  # raises

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Not available: {absent_names()[name]}."
    return function


def bind_arguments(
    op: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Sort a call's arguments into array inputs and parsed attributes.

    Omitted inputs are None; the frontend decides what that means (a Symbol creates a variable).
    Where the attributes disable an input, positional arrays may follow the order of the others. The
    inputs of a variadic operator may be passed one by one or as one list.

    Raises:
        OperatorError: Too many arguments, an unknown or repeated name, or an invalid attribute.
    """
    if op.variadic is not None:
        return _bind_variadic(op, args, kwargs)
    names = op.inputs
    given: dict[str, Any] = {}
    slots = (*names, *op.schema.attributes)
    if len(args) > len(slots):
        raise OperatorError(
            f"{op.name}: expected at most {len(slots)} arguments ({', '.join(slots)}), got "
            f"{len(args)}{_IN_A_TUPLE if all(isinstance(x, int) for x in args[1:]) else ''}"
        )
    for slot, value in zip(slots, args, strict=False):
        given[slot] = value
    for name, value in kwargs.items():
        if given.get(name) is not None:
            raise OperatorError(f"{op.name}: expected {name} once, got it twice")
        given[name] = value
    for name, attribute in op.optional.items():
        given.setdefault(attribute, given.get(name) is not None)
    inputs = [given.pop(name, None) for name in names]
    attrs = op.schema.parse(
        op.name, {name: value for name, value in given.items() if not _is_omitted(op, name, value)}
    )
    required = op.input_names(attrs)
    if len(required) < len(names):
        arrays = [value for value in inputs if value is not None]
        inputs = [value for name, value in zip(names, inputs, strict=True) if name in required]
        if any(value is None for value in inputs) and len(arrays) == len(required):
            inputs = arrays
    return inputs, attrs


def require_inputs(op: Operator, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> None:
    """Raise an OperatorError that names the first missing array, if any."""
    for i, value in enumerate(inputs):
        if value is None:
            missing = op.input_names(attrs)[i]
            raise OperatorError(f"{op.name}: expected an array for {missing}, got none")


def _is_omitted(op: Operator, name: str, value: Any) -> bool:
    """Whether the value is None and means "omitted", as None is not a valid attribute value."""
    if value is not None:
        return False
    attribute = op.schema.attributes.get(name)
    return attribute is not None and "None" not in attribute.expected


def _bind_variadic(
    op: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    attrs = dict(kwargs)
    attrs.pop("data", None)
    inputs = list(args)
    if "data" in kwargs:
        inputs = list(kwargs["data"])
    elif len(inputs) == 1 and isinstance(inputs[0], list | tuple):
        inputs = list(inputs[0])
    if not inputs:
        raise OperatorError(f"{op.name}: expected at least one array, got none")
    attrs[str(op.variadic)] = len(inputs) // op.per_arg
    return inputs, op.schema.parse(op.name, attrs)


def signature_of(op: Operator, extra: Sequence[inspect.Parameter]) -> inspect.Signature:
    """Return the call signature: inputs, attributes with defaults, and the frontend's arguments."""
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters: list[inspect.Parameter] = []
    if op.variadic is not None:
        parameters.append(inspect.Parameter("data", inspect.Parameter.VAR_POSITIONAL))
        kind = inspect.Parameter.KEYWORD_ONLY
    else:
        parameters += [inspect.Parameter(n, kind, default=None) for n in op.inputs]
    for name, attribute in op.schema.attributes.items():
        default = None if attribute.default is REQUIRED else attribute.default
        parameters.append(inspect.Parameter(name, kind, default=default))
    names = {parameter.name for parameter in parameters}
    parameters += [parameter for parameter in extra if parameter.name not in names]
    return inspect.Signature(parameters)


def docstring_of(op: Operator, extra: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a docstring with inputs and attributes, then the frontend's arguments (``extra``)."""
    lines = [_wrapped(op.doc), "", *_shapes(op), "Args:"]
    if op.variadic is not None:
        lines.append("    data: Arrays, one by one or as one list.")
    else:
        mutated = () if callable(op.mutates) else op.mutates
        for i, name in enumerate(op.inputs):
            text = meaning(op.name, name, is_input=True) or "Array"
            lines += _entry(name, text + ("; modified in place" if i in mutated else ""))
    for name, attribute in op.schema.attributes.items():
        if name == op.variadic:
            lines.append(f"    {name}: The number of arrays; ignored, they are counted.")
            continue
        default = (
            "required" if attribute.default is REQUIRED else f"default {_shown(attribute.default)}"
        )
        described = meaning(op.name, name, is_input=False)
        expected = f"{attribute.expected}, {default}"
        lines += _entry(name, expected if described is None else f"{described}; {expected}")
    lines += [f"    {name}: {text}" for name, text in extra.items()]
    lines += _returns(op)
    lines += ["", "Raises:", "    OperatorError: Invalid inputs or attributes."]
    return "\n".join(lines)


def _entry(name: str, text: str) -> list[str]:
    """Return the lines of one entry in Args."""
    return textwrap.wrap(
        f"{name}: {text}.",
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shown(default: Any) -> str:
    return repr(default) if isinstance(default, str) else format_attribute(default)


def _wrapped(doc: str) -> str:
    return "\n\n".join(
        textwrap.fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        for paragraph in doc.split("\n\n")
    )


def _shapes(op: Operator) -> list[str]:
    """Return the Shapes line of an elementwise operator, unless its doc has one."""
    if "Shapes:" in op.doc or not op.elementwise:
        return []
    *others, last = op.inputs
    if not others and op.variadic is None:
        text = f"{last} any, output the same"
    elif "broadcast" in op.doc:
        text = f"{', '.join(others)} and {last} broadcast to the output's"
    else:
        text = "inputs and output all the same"
    return [f"Shapes: {text}.", ""]


def _returns(op: Operator) -> list[str]:
    if callable(op.visible):
        return [
            "",
            "Returns:",
            "    The output, or a list of several, depending on the attributes.",
        ]
    if op.visible < 2:
        return []
    names = op.output_names_for({})[: op.visible]
    listed = f": {', '.join(names)}" if len(names) == op.visible else ""
    return ["", "Returns:", f"    A list of {op.visible} outputs{listed}."]
