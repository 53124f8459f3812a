import contextlib
import json
import threading
from pathlib import Path

import pytest

import gluonish as mx
from gluonish import profiler
from gluonish.gluon import nn
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.profiler.recorder import TraceEvent, recorder  # type: ignore[attr-defined]


@pytest.fixture
def net():
    """Two layers, the second in a container."""
    made = nn.HybridSequential(prefix="net_")
    with made.name_scope():
        inner = nn.HybridSequential(prefix="inner_")
        with inner.name_scope():
            inner.add(nn.Dense(2, prefix="out_"))
        made.add(nn.Dense(3, prefix="hidden_"), inner)
    made.initialize()
    made(mx.nd.ones((2, 4)))
    recorder.drop(recorder.event_count())
    recorder.totals(clear=True)
    return made


X = mx.nd.ones((2, 4))


def calls() -> list[str]:
    return [event.name for event in recorder.events() if event.category == "block"]


@pytest.mark.usefixtures("running")
def test_each_block_is_named_within_its_parents(net) -> None:
    net(X)
    assert calls() == ["net:hidden", "net:inner:out", "net:inner", "net"]


@pytest.mark.usefixtures("running")
def test_a_block_that_was_made_elsewhere_keeps_its_name() -> None:
    outer = nn.Sequential(prefix="outer_")
    outer.add(nn.Dense(2, prefix="stranger_"))
    outer.initialize()
    outer(X)
    assert calls() == ["outer:stranger", "outer"]


@pytest.mark.usefixtures("running")
def test_a_block_without_a_prefix_is_named_by_what_leads_to_it() -> None:
    class Classifier(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: object) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.features = nn.HybridSequential(prefix="")
                with self.features.name_scope():
                    self.features.add(nn.Dense(2, prefix="a_"), nn.HybridSequential(prefix=""))

        def hybrid_forward(self, F, x):
            return self.features(x)

    net = Classifier(prefix="net_")
    net.features[1].add(nn.Dense(2, prefix="net_b_"))
    net.initialize()
    net(X)
    recorder.drop(recorder.event_count())
    net(X)
    assert calls() == [
        "net:features:a",
        "net:features:1:b",
        "net:features:1",
        "net:features",
        "net",
    ]


@pytest.mark.usefixtures("running")
def test_a_block_that_calls_itself_keeps_its_name() -> None:
    class Twice(Block):
        def forward(self, x, again=True):
            return self(x, False) if again else x

    Twice(prefix="twice_")(X)
    assert calls() == ["twice:twice", "twice"]


@pytest.mark.usefixtures("running")
def test_a_hybridized_network_is_one_event(net) -> None:
    net.hybridize()
    net(X)
    recorder.drop(recorder.event_count())
    net(X)
    net(X)
    assert calls() == ["net", "net"]


@pytest.mark.usefixtures("running")
def test_tracing_is_told_from_computing(net) -> None:
    net.hybridize()
    net(X)
    traced = [event.name for event in recorder.events() if event.category == "block trace"]
    assert "net:inner:out" in traced
    assert calls() == ["net"]


@pytest.mark.usefixtures("running")
def test_times_nest(net) -> None:
    net(X)
    found = {event.name: event for event in recorder.events()}

    def inside(part: TraceEvent, whole: TraceEvent) -> bool:
        end = part.start_ns + part.duration_ns
        return whole.start_ns <= part.start_ns and end <= whole.start_ns + whole.duration_ns

    assert inside(found["net:hidden"], found["net"])
    assert inside(found["net:inner:out"], found["net:inner"])
    assert not inside(found["net"], found["net:inner"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"profile_symbolic": False}, ["plain"]),
        ({"profile_imperative": False}, ["graph"]),
        ({"profile_imperative": False, "profile_symbolic": False}, []),
        ({"profile_imperative": False, "profile_symbolic": False, "profile_all": True}, None),
    ],
)
@pytest.mark.usefixtures("trace_file")
def test_options_choose_graphs_or_single_operators(options, expected) -> None:
    plain, graph = nn.Dense(2, prefix="plain_"), nn.Dense(2, prefix="graph_")
    for block in (plain, graph):
        block.initialize()
        block(X)
    graph.hybridize()
    graph(X)
    profiler.set_config(continuous_dump=False, **options)
    profiler.set_state("run")
    plain(X)
    graph(X)
    assert calls() == (["plain", "graph"] if expected is None else expected)


def test_calls_are_their_own_again_when_it_stops(net) -> None:
    before = Block.__call__, HybridBlock.__call__
    profiler.set_config(continuous_dump=False)
    profiler.set_state("run")
    assert Block.__call__ is not before[0]
    profiler.set_state("stop")
    assert (Block.__call__, HybridBlock.__call__) == before
    net(X)
    assert calls() == []


@pytest.mark.usefixtures("running")
def test_a_failing_call_is_recorded_and_its_error_goes_on(net) -> None:
    with pytest.raises(mx.MXNetError):
        net(mx.nd.ones((2, 5)))
    assert "net" in calls()
    recorder.drop(recorder.event_count())
    net(X)
    assert calls()[-1] == "net"


@pytest.mark.usefixtures("running")
def test_results_and_hooks_are_as_without_it(net) -> None:
    seen = []
    net.register_forward_hook(lambda block, inputs, output: seen.append(block.name))
    profiled = net(X).asnumpy()
    profiler.set_state("stop")
    assert (net(X).asnumpy() == profiled).all()
    assert seen == ["net", "net"]


@pytest.mark.usefixtures("running")
def test_a_scope_stands_before_the_names(net) -> None:
    with profiler.scope("train"), profiler.scope("step:"):
        net(X)
    assert calls()[-1] == "train:step:net"
    with profiler.scope("train"), profiler.scope("alone:", append_mode=False):
        net(X)
    assert calls()[-1] == "alone:net"
    with contextlib.suppress(ValueError), profiler.scope("lost"):
        raise ValueError
    net(X)
    assert calls()[-1] == "net"


def events_of(path: Path) -> list[dict]:  # type: ignore[type-arg]
    return json.loads(path.read_text())["traceEvents"]


def test_threads_have_paths_of_their_own(running: Path, net) -> None:
    thread = threading.Thread(target=lambda: net(X).wait_to_read(), name="caller")
    with profiler.scope("main"):
        thread.start()
        thread.join(60)
    assert calls()[-1] == "net"
    profiler.dump()
    rows = {e["tid"]: e["args"]["name"] for e in events_of(running) if e["name"] == "thread_name"}
    (call,) = [e for e in events_of(running) if e["name"] == "net"]
    assert rows[call["tid"]] == "caller"


@pytest.mark.usefixtures("running")
def test_totals_tell_calls_by_name(net) -> None:
    net(X)
    net(X)
    assert recorder.totals()["block", "net:hidden"].count == 2
    assert "net:inner:out" in profiler.dumps(reset=True)
    assert "net:inner:out" not in profiler.dumps()
