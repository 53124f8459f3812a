"""The parameters of a Block and of all Blocks in it, by full names and by paths.

Files and graphs of MXNet 1.x use full names, ``net0_dense0_weight``; MXNet 2.0 uses attribute
paths, ``dense.weight``.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError, require_text
from gluonish.core.mxnet_rules import follows_mxnet1, follows_mxnet2
from gluonish.gluon.block.protocols import BlockTree
from gluonish.gluon.parameter import Parameter, ParameterDict, is_registered


class CollectedParameters(ParameterDict):
    """The result of `Block.collect_params`: a dict by full names that also accepts paths."""

    def __init__(self, block: BlockTree) -> None:
        super().__init__(block.params.prefix)
        self._block = block

    def _at_path(self, path: object) -> Parameter | None:
        if not isinstance(path, str):
            return None
        found = self._block._collect_params_with_prefix().get(path)
        return found if any(found is parameter for parameter in self.values()) else None

    def __getitem__(self, key: str) -> Parameter:
        found = None if super().__contains__(key) else self._at_path(key)
        return super().__getitem__(key) if found is None else found

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self._at_path(key) is not None


class StructuralParameters(dict[str, Parameter], ParameterDict):  # type: ignore[misc]  # `get` is that of dict
    """The result of `Block.collect_params` in MXNet 2.0: a dict by paths.

    The methods of `ParameterDict` that a dict lacks, such as `setattr`, are there, too.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        dict.__init__(self, parameters)
        self._prefix = ""
        self._shared = None

    def __repr__(self) -> str:
        return dict.__repr__(self)

    @property
    def _params(self) -> dict[str, Parameter]:  # type: ignore[override]  # the dict itself
        return self


def adopt(block: BlockTree, attribute: str, parameter: Parameter) -> Parameter:
    """Register a Parameter assigned to a Block's attribute, and return it.

    A standalone parameter, as in MXNet 2.0, is renamed after the Block and the attribute. If the
    Block shares a parameter of that name, the shared one is returned instead. A parameter that was
    the attribute before is replaced, which shares the other one: ``b.weight = a.weight``.

    Raises:
        ParameterError: The Block has another parameter of that name, or, by the rules of MXNet 1.9,
            as that attribute.
    """
    if attribute in block._reg_params and follows_mxnet1():
        raise ParameterError(
            f"{type(block).__name__}: expected a new attribute for a Parameter, got {attribute}, "
            "which holds another one; share parameters by the argument `params` of the Block"
        )
    if attribute in block._reg_params:
        _forget(block, attribute)
    params = block.params
    # A registered parameter keeps its name.
    if not is_registered(parameter) and params._params.get(parameter._full_name) is not parameter:
        name = params.prefix + attribute
        existing = params._find(name)
        if existing is not None and params._shared is not None and name in params._shared:
            parameter = existing
        elif existing is not None:
            raise ParameterError(
                f"{type(block).__name__}: expected attribute {attribute} to be the parameter "
                f"{name!r} that params.get created, got another; use another name"
            )
        parameter._full_name = name
        parameter._var = None
        params._params[name] = parameter
    return parameter


def share(block: BlockTree, shared: Mapping[str, Parameter]) -> None:
    """Replace parameters of a Block and the Blocks in it; see `Block.share_parameters`.

    Raises:
        ArgumentTypeError: ``shared`` is not a dict.
    """
    if isinstance(shared, CollectedParameters):
        by_path = shared._block._collect_params_with_prefix()
        shared = {path: p for path, p in by_path.items() if p._full_name in shared}
    if not isinstance(shared, Mapping | ParameterDict):
        raise ArgumentTypeError(
            f"share_parameters: expected a dict of Parameters, got {type(shared).__name__}"
        )
    mine = block._collect_params_with_prefix()
    for path, parameter in shared.items():
        if path not in mine:
            warnings.warn(
                f"share_parameters: {type(block).__name__} has no parameter {path!r}",
                UserWarning,
                stacklevel=3,
            )
            continue
        *parents, name = path.split(".")
        owner = block
        for parent in parents:
            owner = owner._children[parent]
        _replace(owner, name, parameter)


def _replace(owner: Any, attribute: str, parameter: Parameter) -> None:
    """Set another Parameter as a Block's attribute, under its own name."""
    _forget(owner, attribute)
    owner.params._params[parameter._full_name] = parameter
    object.__setattr__(owner, attribute, parameter)
    owner._reg_params[attribute] = parameter


def _forget(owner: Any, attribute: str) -> None:
    """Remove the Parameter of an attribute from a Block."""
    replaced = owner._reg_params.pop(attribute)
    names = [name for name, held in owner.params._params.items() if held is replaced]
    for name in names:
        del owner.params._params[name]
    owner._clear_graphs()


def collect(
    block: BlockTree, select: str | None, default: Callable[..., ParameterDict]
) -> ParameterDict:
    """Return the parameters of a Block and of all Blocks in it; see `Block.collect_params`.

    If the class of a child overrides ``collect_params``, its method is called.
    """
    if select is not None:
        require_text(select, "collect_params: expected select, a regular expression,")
    try:
        pattern = None if select is None else re.compile(select)
    except re.error as error:
        raise ArgumentError(
            f"collect_params: expected select to be a regular expression, got {select!r}: {error}"
        ) from error
    if follows_mxnet2():
        _warn_of_containers(block)
        by_path = block._collect_params_with_prefix().items()
        return StructuralParameters(
            {path: p for path, p in by_path if pattern is None or pattern.match(path)}
        )
    found = CollectedParameters(block)
    _gather(block, select, pattern, found, default)
    if pattern is not None and not found._params:
        paths = block._collect_params_with_prefix()
        found.update({p._full_name: p for path, p in paths.items() if pattern.match(path)})
    return found


def _gather(
    block: BlockTree,
    select: str | None,
    pattern: re.Pattern[str] | None,
    found: ParameterDict,
    default: Callable[..., ParameterDict],
) -> None:
    """Add the parameters of a Block and its children, including those only set as attributes."""
    _warn_of_containers(block)
    _add(block.params._params, pattern, found)
    for child in block._children.values():
        if type(child).collect_params is default:
            _gather(child, select, pattern, found, default)
        else:
            found.update(child.collect_params(select))
    present = {id(parameter) for parameter in found.values()}
    _add(
        {p._full_name: p for p in block._reg_params.values() if id(p) not in present},
        pattern,
        found,
    )


def _add(
    parameters: dict[str, Parameter], pattern: re.Pattern[str] | None, found: ParameterDict
) -> None:
    found.update(
        {
            name: parameter
            for name, parameter in parameters.items()
            if pattern is None or pattern.match(name)
        }
    )


def _warn_of_containers(block: BlockTree) -> None:
    registered = {id(child) for child in block._children.values()}
    for name, value in block.__dict__.items():
        if name != "_children" and _has_unregistered(value, registered):
            warnings.warn(
                f"{type(block).__name__}.{name} holds Blocks that are not registered, so their "
                "parameters are not collected; use register_child, nn.Sequential or "
                "nn.HybridSequential",
                UserWarning,
                stacklevel=5,
            )


def _has_unregistered(value: Any, registered: set[int]) -> bool:
    """Whether a container holds an unregistered Block."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(
            id(item) not in registered
            if hasattr(item, "_reg_params")
            else _has_unregistered(item, registered)
            for item in value
        )
    return False
