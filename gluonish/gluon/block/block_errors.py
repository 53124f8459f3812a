"""Which layer an error comes from, and messages about the arguments of a Block's call."""

import inspect
import re
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from gluonish.core.errors import ArgumentTypeError, OperatorError, ParameterError
from gluonish.core.habits import described_value
from gluonish.core.keyword_errors import explain_keyword
from gluonish.core.tracebacks import is_ours
from gluonish.gluon.block.protocols import BlockTree, Named
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.paths import locate, location_of
from gluonish.graph.pytree import Constant, Keys, Structure

_REFUSED_CALL = re.compile(r"(?:[\w<>]+\.)*forward\(\) (?:takes|missing|got)")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def described_block(block: Named) -> str:
    """Return the class, name and location of a Block, for messages: ``Dense dense0 (net[2])``."""
    location = location_of(block)
    name = f"{type(block).__name__} {block.name}"
    return f"{name} ({location})" if location else name


def owner_of(node: str, network: BlockTree) -> Any:
    """Return the layer of a network that made a node of its graph, by the node's name, or None."""
    owner: Any = None
    blocks: list[Any] = [network]
    while blocks:
        block = blocks.pop()
        blocks += block._children.values()
        prefix = block.prefix
        if node.startswith(prefix) and (owner is None or len(prefix) > len(owner.prefix)):
            owner = block
    return owner


def locate_node(error: OperatorError, network: BlockTree) -> None:
    """Prefix an error of a graph, which begins with a node's name, with the layer of the node.

    Args:
        error: The error; its message changes.
        network: The Block whose graph it is.
    """
    if error.located or not error.args:
        return
    owner = owner_of(str(error.args[0]).partition(": ")[0], network)
    if owner is not None:
        locate(error, owner)
        owner._explain(error, ())


def located_message(network: Callable[[], BlockTree | None], message: str) -> str:
    """Prefix a message that begins with a node's name with the node's layer; see `locate_node`.

    Args:
        network: Returns the Block whose graph it is; None if it is gone.
        message: The message.
    """
    error, block = OperatorError(message), network()
    if block is not None:
        locate_node(error, block)
    return str(error)


def calling_layer(frame: FrameType | None) -> str:
    """Describe the innermost Block that is called in a frame or around it; empty outside Blocks."""
    while frame is not None:
        if frame.f_code.co_name == "__call__" and is_ours(frame.f_code):
            block: Any = frame.f_locals.get("self")
            if hasattr(block, "collect_params"):
                return described_block(block)
        frame = frame.f_back
    return ""


def binding_error(
    block: Named, parameters: Mapping[str, object], function: Callable[..., Any], given: int
) -> ArgumentTypeError:
    """Return the error for a ``hybrid_forward`` that does not accept the arguments of a call.

    Args:
        block: The Block.
        parameters: The Block's own Parameters by name, which are passed by keyword.
        function: The bound ``hybrid_forward``.
        given: Number of inputs of the call.
    """
    signature = inspect.signature(function).parameters
    written = f"hybrid_forward({', '.join(['self', *map(str, signature.values())])})"
    positional = [p for p in signature.values() if p.kind in _POSITIONAL]
    what = described_block(block)
    by_keyword = any(p.kind is p.VAR_KEYWORD for p in signature.values())
    absent = [name for name in parameters if name not in signature and not by_keyword]
    if not positional or positional[0].name == "x":
        return ArgumentTypeError(
            f"{what}: expected hybrid_forward(self, F, x, ...), got {written}; its first argument "
            "is F, the namespace of functions"
        )
    if absent:
        return ArgumentTypeError(
            f"{what}: expected hybrid_forward to have an argument for the Parameter {absent[0]}, "
            f"got {written}; add the argument, which is the Parameter's array"
        )
    inputs = [p for p in positional[1:] if p.name not in parameters]
    names = ", ".join(p.name if p.default is p.empty else f"{p.name}=..." for p in inputs)
    required = sum(p.default is p.empty for p in inputs)
    count = f"{required} to {len(inputs)}" if required < len(inputs) else f"{required}"
    plural = "" if count == "1" else "s"
    return ArgumentTypeError(f"{what}: expected {count} input{plural} ({names}), got {given}")


def explain_call(block: Named, error: BaseException, given: int) -> None:
    """Complete Python's error of a call with wrong arguments: of ``forward``, or in it.

    Args:
        block: The Block.
        error: An error that leaves the call; its message changes.
        given: Number of inputs of the call.
    """
    if type(error) is not TypeError:
        return
    if not _REFUSED_CALL.match(str(error)):
        explain_keyword(error)
        return
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None or not is_ours(entry.tb_frame.f_code):
        return
    kind: Any = type(block)
    parameters = inspect.signature(kind.forward).parameters
    written = f"forward({', '.join(map(str, parameters.values()))})"
    advice = "" if "self" in parameters else "; its first argument is self"
    plural = "" if given == 1 else "s"
    error.args = (
        f"{described_block(block)}: expected inputs that fit {written}, got {given} "
        f"input{plural}{advice}",
    )
    error.is_deliberate = True  # type: ignore[attr-defined]  # read by `is_deliberate`


def input_error(block: Named, value: object) -> ArgumentTypeError:
    """Return the error for an input that is neither an NDArray nor a Symbol."""
    return ArgumentTypeError(
        f"{described_block(block)}: expected an NDArray or Symbol, got {described_value(value)}"
    )


def check_prefix(block: object, prefix: object, params: object) -> None:
    """Check the arguments of a Block's constructor.

    Raises:
        ArgumentTypeError: ``prefix`` is no text, or ``params`` no ParameterDict.
    """
    kind = type(block).__name__
    if prefix is not None and not isinstance(prefix, str):
        raise ArgumentTypeError(
            f"{kind}: expected prefix to be text, the start of its parameters' names, got "
            f"{_named(prefix)}"
        )
    if params is not None and not isinstance(params, ParameterDict):
        raise ArgumentTypeError(
            f"{kind}: expected params to be a ParameterDict, such as other.params, got "
            f"{_named(params)}"
        )


def _named(value: object) -> str:
    """Return a value's type, with text and numbers as written; a class by its name."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str | int | float):
        return f"{type(value).__name__} {value!r:.60}"
    return type(value).__name__


def child_error(owner: object, child: object, expected: str) -> ArgumentTypeError:
    """Return the error for a child of a wrong type.

    Args:
        owner: The Block.
        child: The value that is no Block, or no HybridBlock.
        expected: ``"Block"`` or ``"HybridBlock"``.
    """
    kind = type(owner).__name__
    advice = f"write a layer: nn.Lambda(function), or a class derived from {expected}"
    if isinstance(child, type):
        advice = f"create the layer: {child.__name__}(...)"
    elif isinstance(child, Mapping):
        advice = "pass the layers themselves: *layers.values()"
    elif isinstance(child, str):
        advice = f"nn.Activation({child!r}) is a function as a layer"
    elif callable(child) and not hasattr(child, "collect_params"):
        advice = "nn.HybridLambda(function) makes a layer of a function of F and x"
        if getattr(child, "operator", None) is not None:
            advice = f"nn.HybridLambda({getattr(child, '__name__', '')!r}) makes a layer of it"
    elif hasattr(child, "collect_params"):
        advice = (
            "derive it from HybridBlock, or use Sequential instead of HybridSequential and Block "
            "instead of HybridBlock"
        )
    return ArgumentTypeError(
        f"{kind}: expected children to be {expected}s, got {_named(child)}; {advice}"
    )


def refuse_unconstructed(block: object) -> None:
    """Raise an error if a Block's constructor did not call that of its base class.

    Raises:
        ParameterError: It did not.
    """
    if "_hooks" not in vars(block):
        raise ParameterError(
            f"{type(block).__name__}: expected a constructor that calls super().__init__() first, "
            "got one that does not"
        ) from None


def refuse_assigned_data(parameters: Mapping[str, object]) -> None:
    """Raise an error if a program assigned an array to ``data`` of a Parameter.

    Raises:
        ParameterError: It did.
    """
    for name, parameter in parameters.items():
        if "data" in getattr(parameter, "__dict__", {}):
            raise ParameterError(
                f"Parameter {name}: expected its method data, got an attribute of that name; "
                "parameter.set_data(array) sets the values"
            ) from None


def refuse_other_outputs(block: object, structure: Structure) -> None:
    """Refuse outputs that a hybridized block of MXNet 2.0 cannot return.

    Args:
        block: The Block.
        structure: Structure of its outputs; None among them is allowed.

    Raises:
        ArgumentTypeError: The outputs contain a dict, a number or another object.
    """
    if isinstance(structure, Constant):
        found = None if structure.value is None else structure.kind.__name__
    else:
        kind, inner = structure or (list, ())
        found = "dict" if isinstance(kind, Keys) else None
        for item in inner:
            refuse_other_outputs(block, item)
    if found is not None:
        raise ArgumentTypeError(
            f"{type(block).__name__}: expected outputs of a hybridized block in arrays and nested "
            f"lists of them, got a {found}"
        )
