"""Frozen parameters: without gradients, so that a Trainer leaves them as they are."""

from weakref import WeakKeyDictionary

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.protocols import BlockTree
from gluonish.gluon.parameter import Parameter

# What ``grad_req`` the frozen parameters had.
_grad_reqs: WeakKeyDictionary[Parameter, str] = WeakKeyDictionary()


def freeze(block: BlockTree, select: str) -> list[str]:
    """Freeze parameters of a Block; see `Block.freeze`."""
    found = [p for p in _selected("freeze", block, select) if p.grad_req != "null"]
    for parameter in found:
        _grad_reqs[parameter] = parameter.grad_req
        parameter.grad_req = "null"
    return [parameter._full_name for parameter in found]


def unfreeze(block: BlockTree, select: str) -> list[str]:
    """Train frozen parameters of a Block again; see `Block.unfreeze`."""
    found = [p for p in _selected("unfreeze", block, select) if p in _grad_reqs]
    for parameter in found:
        parameter.grad_req = _grad_reqs.pop(parameter)
    return [parameter._full_name for parameter in found]


def _selected(method: str, block: BlockTree, select: str) -> list[Parameter]:
    found = list(block.collect_params(select).values())
    if not found:
        names = list(block._collect_params_with_prefix())
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise ArgumentError(
            f"{type(block).__name__}.{method}: expected select to match the beginning of a "
            f"parameter's name or path, got {select!r}; the paths are {shown}"
        )
    return found
