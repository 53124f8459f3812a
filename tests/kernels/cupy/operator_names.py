"""The operators whose kernels run alone on the double."""

import importlib
import pkgutil

import gluonish.ops
from gluonish.ops.registry import all_operators

for _module in pkgutil.iter_modules(gluonish.ops.__path__):
    importlib.import_module(f"gluonish.ops.{_module.name}")

# Their kernels run other operators or users' code on arrays of a device: test_owned_graphs.py.
OWNERS = {"_foreach", "_while_loop", "_cond", "_branch", "_scan", "Custom", "_custom_backward"}
OWNERS |= {"_NDArray", "_Native"}
# They have no kernel: others take their place.
OWNERS |= {"_CachedOp", "_gluonish_np_function", "_sg_mkldnn_conv", "_sg_mkldnn_fully_connected"}
# OpenCV, which need not be installed, decodes files: a test of their own.
OPENCV = {"_cvimdecode", "_cvimread"}
NAMES = sorted(
    {op.name for op in all_operators() if op.infer.__module__.startswith("gluonish.")}
    - OWNERS
    - OPENCV
)
