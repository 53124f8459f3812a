from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.graph.execution_plan import plan_execution
from gluonish.graph.ir import topological_order
from tests.graph.builders import call, inputs


def test_a_plan_prints_its_segments() -> None:
    a, b = inputs((2, 3), (2, 3))
    x = call("softmax", a)
    y = call("broadcast_mul", x, b)
    nodes = [node for node in topological_order([x, y]) if node.op is not None]
    plan = plan_execution(nodes, [a, b], [x, y], device_of(cpu()), segment_size=1)
    assert str(plan).splitlines() == [
        "2 segments",
        "segment 0: 1 instructions, read=(0,), written=(0,)",
        "segment 1: 1 instructions, read=(1, 0), written=(1,)",
        "4 arguments, arena of 0 bytes",
        "%2 = softmax(%0)",
        "%3 = broadcast_mul(%2, %1)",
    ]
