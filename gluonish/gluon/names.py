"""Makes `gluonish.nn` importable as ``gluonish.gluon.nn``, and so on: the same module objects."""

import sys
from types import ModuleType

import gluonish.data as data
import gluonish.loss as loss
import gluonish.metric as metric
import gluonish.model_zoo as model_zoo
import gluonish.nn as nn
import gluonish.parameter as parameter
import gluonish.rnn as rnn
import gluonish.trainer as trainer

__all__ = ["GLUON_MODULES"]

GLUON_MODULES: dict[str, ModuleType] = {
    "data": data,
    "loss": loss,
    "metric": metric,
    "model_zoo": model_zoo,
    "nn": nn,
    "parameter": parameter,
    "rnn": rnn,
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
