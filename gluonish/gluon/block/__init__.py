"""Block, HybridBlock and SymbolBlock, the base classes of all layers: `mx.gluon.block`."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.hooks import HookHandle
from gluonish.gluon.block.hybrid_block import HybridBlock

if TYPE_CHECKING:
    from gluonish.gluon.block.symbol_block import SymbolBlock
else:
    # Undocumented names that programs import.
    __getattr__ = _attach(
        __name__,
        (),
        {
            "SymbolBlock": "gluonish.gluon.block.symbol_block:SymbolBlock",
            "_BlockScope": "gluonish.gluon.block.scope:NameScope",
            "_brief_print_list": "gluonish.gluon.block.nesting:brief_list",
            "_check_all_np_ndarrays": "gluonish.gluon.block.nesting:check_all_numpy",
            "_check_same_symbol_type": "gluonish.gluon.block.nesting:check_one_symbol_type",
            "_flatten": "gluonish.gluon.block.nesting:flattened",
            "_gather_type_ctx_info": "gluonish.gluon.block.nesting:context_facts",
            "_indent": "gluonish.gluon.block.nesting:indented",
            "_regroup": "gluonish.gluon.block.nesting:regroup",
        },
    )

__all__ = ["Block", "HookHandle", "HybridBlock", "SymbolBlock"]
