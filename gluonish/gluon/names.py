"""Makes `gluonish.nn` importable as ``gluonish.gluon.nn``, and so on: the same module objects under Gluon's names."""

import sys
from types import ModuleType

from gluonish import data, hybrid_block, loss, metric, model_zoo, nn, parameter, trainer
from gluonish.block import block

__all__ = ["GLUON_MODULES"]

GLUON_MODULES: dict[str, ModuleType] = {
    "block": block,
    "data": data,
    "loss": loss,
    "metric": metric,
    "model_zoo": model_zoo,
    "nn": nn,
    "parameter": parameter,
    "trainer": trainer,
}


def _register(name: str, module: ModuleType) -> None:
    """Enter a module, and the modules inside it that are loaded, under another dotted name."""
    sys.modules[name] = module
    inside = f"{module.__name__}."
    for loaded, submodule in tuple(sys.modules.items()):
        if loaded.startswith(inside):
            sys.modules[f"{name}.{loaded.removeprefix(inside)}"] = submodule


for _name, _module in GLUON_MODULES.items():
    _register(f"gluonish.gluon.{_name}", _module)
_register("gluonish.gluon.hybrid_block", hybrid_block)
