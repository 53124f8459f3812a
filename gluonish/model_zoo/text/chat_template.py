"""Chat templates: programs of jinja2 from files that nobody checked, run in a sandbox with limits.

jinja2's sandbox hides Python's internals and forbids changes of objects, but not work and memory
without end. So the environment here also

- knows only the filters, functions and methods that chat templates use, none of which makes a
  large result of a small number;
- counts every turn of a loop and every call, and charges each value that is made by its size, to a
  budget for the render;
- gives templates nothing but text, numbers, lists and dicts.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, wraps
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError, GluonishError

MOST_CHARACTERS = 1 << 18  # of a template
_LEAST_SIZE = 4 << 20  # limit of a value's size in characters, for short messages
_WORK = 300_000
_UNIT = 64  # characters that cost as much as a turn of a loop
_ELEMENT = 16  # an element of a list or dict counts as so many characters
_MOST_DEPTH = 50
_MOST_BITS = 4096  # of a whole number
_MOST_INDENT = 100
_FILTERS = frozenset({
    *("abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float"),
    *("groupby", "indent", "int", "items", "join", "last", "length", "list", "lower", "map"),
    *("max", "min", "reject", "rejectattr", "replace", "reverse", "safe", "select", "selectattr"),
    *("sort", "string", "title", "tojson", "trim", "unique", "upper", "wordcount"),
})  # fmt: skip
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset({
        *("capitalize", "casefold", "count", "endswith", "find", "format", "index", "isalnum"),
        *("isalpha", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isspace"),
        *("istitle", "isupper", "join", "lower", "lstrip", "partition", "removeprefix"),
        *("removesuffix", "replace", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split"),
        *("splitlines", "startswith", "strip", "swapcase", "title", "upper"),
    }),
    list: frozenset({"copy", "count", "index"}),
    tuple: frozenset({"count", "index"}),
    dict: frozenset({"copy", "get", "items", "keys", "values"}),
    int: frozenset(),
    float: frozenset(),
}  # fmt: skip
# A width or precision of four digits makes text of a size that its arguments do not show.
_WIDE = re.compile(r"[0-9]{4}|\*")
_STRFTIME = re.compile(r"(?:[^%]|%-?[A-Za-z%]){0,200}")


class _TooMuchError(Exception):
    """Raised when a template exceeds its budget."""


class _RefusedMessagesError(Exception):
    """Raised by a template's ``raise_exception``."""


class _Budget:
    """What a render may still do.

    Args:
        size: Size of the messages; longer ones allow more work.
    """

    def __init__(self, size: int) -> None:
        self._most = max(_LEAST_SIZE, 4 * size)
        self._work = _WORK + self._most // _UNIT

    def step(self, work: int = 1) -> str:
        """Charge a turn of a loop, or so many."""
        self._work -= work
        if self._work < 0:
            raise _TooMuchError("a loop or work without end")
        return ""

    def fit(self, size: int) -> None:
        """Charge a text or list before it is made."""
        if size > self._most:
            raise _TooMuchError(f"a value as large as {self._most} characters")
        self.step(1 + size // _UNIT)

    def charge(self, value: Any) -> Any:
        """Charge a value by its size with all that is inside, and return it."""
        self.fit(_size(value, self._most))
        return value


def _size(value: Any, most: int) -> int:
    """Return the number of characters in a value, with its elements, as often as they occur.

    Counting ends above ``most``.
    """
    size, open_values = 0, [value]
    while open_values and size <= most:
        found = open_values.pop()
        size += 1
        if isinstance(found, str):
            size += len(found)
        elif isinstance(found, dict):
            size += 2 * _ELEMENT * len(found)
            open_values.extend(found)
            open_values.extend(found.values())
        elif isinstance(found, list | tuple):
            size += _ELEMENT * len(found)
            open_values.extend(found)
        elif isinstance(found, int) and found.bit_length() > _MOST_BITS:
            return most + 1
    return size


def _plain(value: Any, what: str, depth: int = 0) -> Any:
    """Return a copy of text, numbers, lists and dicts.

    Raises:
        ArgumentTypeError: There is something else.
        ArgumentError: It is nested too deeply.
    """
    if depth > _MOST_DEPTH:
        raise ArgumentError(f"{what} of up to {_MOST_DEPTH} nested lists and dicts, got more")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item, what, depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str(key): _plain(item, what, depth + 1) for key, item in value.items()}
    raise ArgumentTypeError(f"{what} of text, numbers, lists and dicts, got {value!r:.100}")


class ChatTemplate:
    """A template that makes one text of a conversation.

    Args:
        source: The template, in the language of jinja2.
        name: Name of its file, for messages.

    Raises:
        FileFormatError: It is not a template, or too long.
    """

    def __init__(self, source: str, name: str) -> None:
        self.source = source
        self._name = name
        if len(source) > MOST_CHARACTERS:
            raise FileFormatError(
                f"{name}: expected a chat template of up to {MOST_CHARACTERS} characters, got "
                f"{len(source)}"
            )

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the text of a conversation.

        Args:
            variables: ``messages``, ``add_generation_prompt``, special tokens by their names, and
                others that the template uses; text, numbers, lists and dicts.

        Raises:
            ArgumentTypeError: A variable has something else inside.
            ArgumentError: The template refuses the messages.
            FileFormatError: The template is malformed, fails, reaches what it may not, or does
                too much.
        """
        given = _plain(variables, "apply_chat_template: expected messages and variables")
        budget = _Budget(_size(given, 1 << 62))
        environment = _environment(budget)
        try:
            pieces = []
            for piece in environment.from_string(self.source).generate(given):
                budget.fit(len(piece))
                pieces.append(piece)
            return str(environment.concat(pieces))
        except _RefusedMessagesError as error:
            raise ArgumentError(f"apply_chat_template: {error}") from None
        except GluonishError:
            raise
        except _TooMuchError as error:
            raise FileFormatError(
                f"{self._name}: expected a chat template that ends, got {error}"
            ) from None
        except _AccessError as error:
            raise FileFormatError(
                f"{self._name}: expected a chat template that makes text of messages, got {error}"
            ) from None
        except Exception as error:  # whatever a hostile template provokes
            raise FileFormatError(
                f"{self._name}: expected a chat template that runs, got {type(error).__name__}: "
                f"{error!s:.300}"
            ) from error


def import_jinja2() -> Any:
    """Return the module jinja2.

    Raises:
        GluonishError: It is not installed.
    """
    try:
        import jinja2
        import jinja2.ext
        import jinja2.nodes
        import jinja2.sandbox
        import jinja2.visitor
    except ImportError as error:
        raise GluonishError(
            f"apply_chat_template: expected jinja2, got {error}; pip install 'gluonish[text]'"
        ) from error
    return jinja2


@cache
def _transformer_class() -> Any:
    """Return the class that puts charges into a parsed template."""
    jinja2 = import_jinja2()
    nodes = jinja2.nodes

    def call(name: str, arguments: list[Any]) -> Any:
        return nodes.Call(nodes.EnvironmentAttribute(name), arguments, [], None, None)

    class Charged(jinja2.visitor.NodeTransformer):  # type: ignore[misc, name-defined]
        """Charges loops, macros, literals, comparisons and concatenations."""

        def _counted(self, node: Any) -> Any:
            self.generic_visit(node)
            node.body.insert(0, nodes.Output([call("step", [])]))
            return node

        visit_For = visit_Macro = visit_CallBlock = _counted

        def visit_Concat(self, node: Any) -> Any:
            self.generic_visit(node)
            return call("concat_values", node.nodes)

        def _charged(self, node: Any) -> Any:
            self.generic_visit(node)
            return call("charge", [node]) if getattr(node, "ctx", "load") == "load" else node

        visit_List = visit_Tuple = visit_Dict = _charged

        def visit_Compare(self, node: Any) -> Any:
            self.generic_visit(node)
            node.expr = call("charge", [node.expr])
            for operand in node.ops:
                operand.expr = call("charge", [operand.expr])
            return node

    return Charged


@cache
def _generation_class() -> Any:
    """Return the extension for ``{% generation %}``, which marks answers for training."""
    jinja2 = import_jinja2()

    class Generation(jinja2.ext.Extension):  # type: ignore[misc, name-defined]
        """Renders what the tag encloses."""

        tags = {"generation"}  # noqa: RUF012  # jinja2's attribute

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.Scope(body, lineno=line)

    return Generation


def _to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **_: Any) -> str:
    if indent is not None and not 0 <= indent <= 16:
        raise ValueError("an indent of more than 16")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def _now(text: str) -> str:
    if not _STRFTIME.fullmatch(text):
        raise ValueError("a format of dates with a width, or too long")
    return datetime.now().strftime(text)


def _refuse(message: object) -> None:
    raise _RefusedMessagesError(f"{message!s:.1000}")


class _AccessError(Exception):
    """Raised when a template uses what it may not."""


class _Limits:
    """What an environment of jinja2 does with a budget; see the module.

    Args:
        budget: The budget of one render.
        options: Options of the environment.
    """

    intercepted_binops = frozenset(("+", "*", "**", "%"))
    filters: dict[str, Any]
    globals: dict[str, Any]

    def __init__(self, budget: _Budget, **options: Any) -> None:
        super().__init__(**options)
        self.budget, self.step, self.charge = budget, budget.step, budget.charge
        known = {**self.filters, "tojson": _to_json}
        self.filters = {name: self._limited(name, known[name]) for name in _FILTERS}
        kept = {name: self.globals[name] for name in ("range", "dict", "namespace")}
        self.globals = {**kept, "raise_exception": _refuse, "strftime_now": _now}

    def _generate(self, source: Any, *arguments: Any, **options: Any) -> Any:
        charged = _transformer_class()().visit(source)
        return super()._generate(charged, *arguments, **options)  # type: ignore[misc]

    def concat(self, pieces: Iterable[str]) -> str:
        """Join pieces of output."""
        found = list(pieces)
        self.budget.fit(sum(map(len, found)))
        return "".join(found)

    def concat_values(self, *values: Any) -> str:
        """Join values as the operator ~ does."""
        for value in values:
            self.charge(value)
        return self.concat(map(str, values))

    def _limited(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        passed = hasattr(function, "jinja_pass_arg")

        @wraps(function)
        def limited(*arguments: Any, **options: Any) -> Any:
            self._check_call(name, [*arguments[passed:], *options.values()])
            return self.charge(function(*arguments, **options))

        return limited

    def _check_call(self, name: str, given: Sequence[Any]) -> None:
        """Charge the arguments of a filter or method, and results that they multiply."""
        sizes = [_size(self.charge(value), 1 << 40) for value in given]
        if name in ("join", "replace"):
            self.budget.fit(sizes[0] * max(sizes[1:], default=1))
        elif name == "indent" and any(type(x) is int and x > _MOST_INDENT for x in given):
            raise _AccessError(f"an indent of more than {_MOST_INDENT}")
        elif name == "format" and _WIDE.search(str(given[0])):
            raise _AccessError("a format with a width of four digits or more")

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the template or of its environment."""
        # jinja2 wraps str.format.
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)
        if owner is __self or owner is __self.budget:  # from `_transformer_class`
            return __obj(*args)
        __self.step()
        if isinstance(owner, str):
            __self._check_call(__obj.__name__, [owner, *args, *kwargs.values()])
        made = super().call(__context, __obj, *args, **kwargs)  # type: ignore[misc]
        return __self.charge(made)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute an operation whose result may be large."""
        sizes = [_size(self.charge(value), 1 << 40) for value in (left, right)]
        numbers = [x for x in (left, right) if isinstance(x, int | float)]
        if operator == "**":
            self.budget.fit(int(min(sizes[0] * max(1, *map(abs, numbers)), 1e18)))
        elif operator == "*" and len(numbers) == 1 and isinstance(numbers[0], int):
            self.budget.fit(max(sizes) * max(1, numbers[0]))
        elif operator == "%" and isinstance(left, str) and _WIDE.search(left):
            raise _AccessError("a format with a width of four digits or more")
        made = super().call_binop(context, operator, left, right)  # type: ignore[misc]
        return self.charge(made)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may use an attribute."""
        for kind, names in _METHODS.items():
            if isinstance(obj, kind):
                return attr in names
        return bool(super().is_safe_attribute(obj, attr, value))  # type: ignore[misc]

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Refuse an attribute, where jinja2 would go on with an empty value."""
        raise _AccessError(f"access to attribute {attribute!r} of {type(obj).__name__!r}")


def _environment(budget: _Budget) -> Any:
    """Return the sandbox of one render."""
    jinja2 = import_jinja2()
    extensions = [jinja2.ext.loopcontrols, _generation_class()]
    return _environment_class()(budget, trim_blocks=True, lstrip_blocks=True, extensions=extensions)


@cache
def _environment_class() -> Any:
    sandbox = import_jinja2().sandbox
    return type("Environment", (_Limits, sandbox.ImmutableSandboxedEnvironment), {})
