"""Control flow: operators that run other graphs, which they own."""

from gluonish.ops.control_flow.branch import BRANCH, COND
from gluonish.ops.control_flow.foreach import FOREACH
from gluonish.ops.control_flow.loop import SCAN
from gluonish.ops.control_flow.subgraph import Subgraph
from gluonish.ops.control_flow.while_loop import WHILE_LOOP

__all__ = ["BRANCH", "COND", "FOREACH", "SCAN", "WHILE_LOOP", "Subgraph"]
