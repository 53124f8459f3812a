"""Gradient rules as plans: what a rule computes is found once, and then runs as one operation.

A rule is written in operators, most of which take less time than their calls. Where nobody will
differentiate the gradient again, the operators of a rule are listed once for each signature of a
call, with kernels chosen; the list runs as one operation of the engine, and on large arrays what
works on single elements becomes one kernel, which passes over memory once. Only calls on a CPU's
contiguous arrays have plans; for others, and for rules that do more than call operators, the rule
itself runs.

Plans are shared by all threads; making one twice does no harm.
"""

from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import kernel_switches
from gluonish.core.errors import GluonishError
from gluonish.core.spec import Shape, Spec
from gluonish.engine import current_engine
from gluonish.kernels import teams
from gluonish.ndarray.eager import HEAVY_INLINE_SIZE, keep_pace
from gluonish.ndarray.fused_steps import FusedSteps, fused
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, NDArray
from gluonish.ops.arithmetic import Arithmetic
from gluonish.ops.composite import evaluate
from gluonish.ops.memory_layout import starts_layout
from gluonish.ops.registry import Attrs, Operator
from gluonish_engine import Var

__all__ = ["planned_gradients"]
