"""Every pass that runs in a test of graphs is followed by lint, and jobs are bounded in time."""

from collections.abc import Callable, Iterator

import pytest

from gluonish.engine import current_engine
from gluonish.graph import pipeline
from gluonish.graph.ir import Graph, lint


@pytest.fixture(autouse=True)
def _lint_after_each_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    run_pass = pipeline._run

    def checked(graph: Graph, *passes: Callable[[Graph], Graph]) -> Graph:
        for graph_pass in passes:
            graph = lint(run_pass(lint(graph), graph_pass))
        return graph

    monkeypatch.setattr(pipeline, "_run", checked)


@pytest.fixture(autouse=True)
def _nothing_pending() -> Iterator[None]:
    yield
    current_engine().wait_all()
