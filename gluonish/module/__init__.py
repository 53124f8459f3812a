"""The symbolic training API: ``mx.module``, which is also ``mx.mod``."""

from gluonish.module import (
    base_module,
    bucketing_module,
    executor_group,
    module,
    python_module,
    sequential_module,
)
from gluonish.module.base_module import BaseModule
from gluonish.module.bucketing_module import BucketingModule
from gluonish.module.module import Module
from gluonish.module.python_module import PythonLossModule, PythonModule
from gluonish.module.sequential_module import SequentialModule

__all__ = [
    "BaseModule",
    "BucketingModule",
    "Module",
    "PythonLossModule",
    "PythonModule",
    "SequentialModule",
    "base_module",
    "bucketing_module",
    "executor_group",
    "module",
    "python_module",
    "sequential_module",
]
