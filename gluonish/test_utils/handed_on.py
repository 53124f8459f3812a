"""Names that MXNet's `test_utils` has because it imports them.

Programs that begin with ``from mxnet.test_utils import *`` use ``np``, ``mx`` and others of them.
"""

import importlib
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet

__all__ = ["find", "with_star"]

# Modules, and what stands in one behind a colon.
_HANDED_ON = {
    "Context": "gluonish.context:Context",
    "Features": "gluonish.runtime:Features",
    "OrderedDict": "collections:OrderedDict",
    "Symbol": "gluonish.symbol:Symbol",
    "array": "gluonish.ndarray:array",
    "bz2": "bz2",
    "contextmanager": "contextlib:contextmanager",
    "current_context": "gluonish.context:current_context",
    "errno": "errno",
    "get_cuda_compute_capability": "gluonish.util:get_cuda_compute_capability",
    "getenv": "gluonish.util:getenv",
    "gzip": "gzip",
    "json": "json",
    "logging": "logging",
    "mx": "gluonish",
    "np": "numpy",
    "np_symbol": "gluonish.symbol.numpy:_Symbol",
    "npt": "numpy.testing",
    "numbers": "numbers",
    "os": "os",
    "platform": "platform",
    "requests": "requests",
    "rnd": "numpy.random",
    "setenv": "gluonish.util:setenv",
    "struct": "struct",
    "sys": "sys",
    "time": "time",
    "traceback": "traceback",
    "use_np": "gluonish.util:use_np",
    "zipfile": "zipfile",
}


def find(name: str) -> Any:
    """Return one of the names; the ``__getattr__`` of the package.

    Raises:
        AttributeError: It is none of them.
    """
    place = _HANDED_ON.get(name)
    if place is None:
        raise AttributeError(f"module 'gluonish.test_utils' has no attribute {name!r}")
    module, _, attribute = place.partition(":")
    loaded = importlib.import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def with_star() -> list[str]:
    """Return the names that ``import *`` gives, too: all under the name ``mxnet``, else none."""
    return list(_HANDED_ON) if follows_mxnet() else []
