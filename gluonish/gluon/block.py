"""Blocks under the name that programs import them by: `mx.gluon.block`."""

from gluonish.block import Block, HookHandle
from gluonish.block.hybrid_block import HybridBlock
from gluonish.block.scope import NameScope as _BlockScope  # noqa: F401  # programs import them
from gluonish.block.symbol_block import SymbolBlock
from gluonish.gluon.nesting import brief_list as _brief_print_list  # noqa: F401
from gluonish.gluon.nesting import check_all_numpy as _check_all_np_ndarrays  # noqa: F401
from gluonish.gluon.nesting import check_one_symbol_type as _check_same_symbol_type  # noqa: F401
from gluonish.gluon.nesting import context_facts as _gather_type_ctx_info  # noqa: F401
from gluonish.gluon.nesting import flattened as _flatten  # noqa: F401
from gluonish.gluon.nesting import indented as _indent  # noqa: F401
from gluonish.gluon.nesting import regrouped as _regrouped

__all__ = ["Block", "HookHandle", "HybridBlock", "SymbolBlock"]


def _regroup(args: list[object], fmt: object) -> object:
    """Return arrays in the nested lists of a form that `_flatten` gave."""
    return _regrouped(args, fmt)[0]
