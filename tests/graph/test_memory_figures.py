from gluonish.core.config import MXNET_BACKWARD_DO_MIRROR, NNVM_EXEC_MATCH_RANGE
from gluonish.graph.memory_figures import memory_figures
from gluonish.graph.partition import Partition, split_passes
from tests.graph.builders import call, graph, inputs

ROW = 64 * 4  # bytes


def _parts() -> Partition:
    (a,) = inputs((64,))
    return split_passes(graph([a], call("sin", call("sin", call("sin", a)))), [0])


def test_what_is_kept_is_counted_apart_from_the_arenas() -> None:
    figures = memory_figures(_parts())
    assert figures.saved == 2 * ROW
    assert figures.forward == 0
    assert 0 < figures.retaining <= 2 * ROW


def test_a_backward_pass_that_may_overwrite_what_was_kept_needs_no_more_besides() -> None:
    figures = memory_figures(_parts())
    assert figures.backward == 0
    assert figures.planned == figures.saved


def test_one_arena_takes_back_what_was_kept() -> None:
    figures = memory_figures(_parts())
    assert figures.joint <= figures.planned


def test_they_follow_the_environment() -> None:
    plain = memory_figures(_parts())
    with NNVM_EXEC_MATCH_RANGE.override(0):
        assert memory_figures(_parts()).joint > plain.joint
    with MXNET_BACKWARD_DO_MIRROR.override(True):
        assert memory_figures(_parts()).saved == 0
