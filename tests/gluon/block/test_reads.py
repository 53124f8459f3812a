"""A hybridized network computes what it is now, not what it was when it was traced."""

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish import symbol as sym
from gluonish.core.errors import GraphError, OperatorError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.block.tracing import Reads
from gluonish.gluon.contrib.rnn import VariationalDropoutCell
from gluonish.gluon.nn import Activation, AvgPool1D, Block, Conv1D, Dense, HybridSequential
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.rnn import HybridSequentialRNNCell, RNNCell, ZoneoutCell
from gluonish.initializer import Constant, One
from gluonish.ndarray import NDArray


def dense(units: int, value: float = 2) -> Dense:
    layer = Dense(units, use_bias=False)
    layer.initialize(Constant(value))
    return layer


class Backbone(HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.fc = Dense(3, use_bias=False)
            self.act = Activation("relu")
            self.tail = HybridSequential()
            self.tail.add(Dense(3, in_units=3, use_bias=False))
        self.scale, self.steps, self.traces = 1, 0, 0
        self.mask = nd.array([1, 2, 3])

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        self.traces += 1
        return self.tail(self.act(self.fc(x) * self.scale))


class NewBackbone(Backbone):
    def forward(self, x: Any) -> Any:
        self.traces += 1
        return self.tail(self.act(self.fc(x) * self.scale * self.mask))


class Net(HybridBlock):
    def __init__(self, kind: type[Backbone]) -> None:
        super().__init__()
        with self.name_scope():
            self.body = HybridSequential()
            self.body.add(kind())

    @property
    def backbone(self) -> Any:
        return self.body[0]

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.body(x)


def ones_and_twos() -> nd.NDArray:
    return nd.array([[1, 2]])


def hybridized(kind: type[Backbone] = Backbone) -> Net:
    net = Net(kind)
    net.initialize(One())
    net.hybridize()
    net(ones_and_twos())
    net(ones_and_twos())
    return net


def result(net: HybridBlock) -> Any:
    """Return what a call gives: numbers, or the kind of error."""
    try:
        return net(ones_and_twos()).asnumpy().tolist()
    except (AttributeError, OperatorError) as error:
        return type(error)


def set_to(path: str, value: Callable[[], object]) -> Callable[[Any], None]:
    def change(backbone: Any) -> None:
        *way, last = path.split(".")
        for name in way:
            backbone = backbone[int(name)] if name.isdigit() else getattr(backbone, name)
        setattr(backbone, last, value())

    return change


SEEN: dict[str, Callable[[Any], object]] = {
    "add": lambda b: b.tail.add(dense(4)),
    "register_child": lambda b: b.tail.register_child(dense(4)),
    "replace a child": set_to("fc", lambda: dense(3)),
    "delete a child": lambda b: delattr(b, "fc"),
    "_children[0] =": lambda b: b.tail._children.__setitem__("0", dense(5)),
    "del _children[0]": lambda b: b.tail._children.__delitem__("0"),
    "_children.popitem": lambda b: b.tail._children.popitem(),
    "_children.clear": lambda b: b.tail._children.clear(),
    "_children =": set_to("tail._children", lambda: {"0": dense(5)}),
    "a setting": set_to("act._act_type", lambda: "sigmoid"),
    "a number": set_to("scale", lambda: 3),
    "a method": set_to("act.hybrid_forward", lambda: lambda F, x: x * 7),
    "cast": lambda b: b.cast("float64"),
    "_clear_cached_op": lambda b: (b.__dict__.update(scale=9), b._clear_cached_op()),
}


@pytest.mark.parametrize("kind", [Backbone, NewBackbone])
@pytest.mark.parametrize("change", SEEN.values(), ids=SEEN)
def test_the_next_call_sees_a_change_below_the_outermost_block(
    change: Callable[[Any], object], kind: type[Backbone]
) -> None:
    net = hybridized(kind)
    before, traces = result(net), net.backbone.traces
    change(net.backbone)
    found, backbone = result(net), net.backbone
    assert backbone.traces > traces
    net.hybridize(False)
    assert found == result(net)
    assert found != before


UNSEEN: dict[str, Callable[[Any], object]] = {
    "a counter that forward does not read": lambda b: setattr(b, "steps", b.steps + 1),
    "a new attribute": lambda b: setattr(b, "note", object()),
    "the same number": lambda b: setattr(b, "scale", 1),
    "the same child": lambda b: setattr(b, "fc", b.fc),
    "set_data": lambda b: b.fc.weight.set_data(nd.ones((3, 2)) * 5),
    "grad_req": lambda b: setattr(b.fc.weight, "grad_req", "null"),
    "lr_mult": lambda b: setattr(b.fc.weight, "lr_mult", 0.1),
    "another network": lambda b: hybridized().backbone.tail.add(dense(3)),
    "a new network": lambda b: Net(Backbone),
}


@pytest.mark.parametrize("change", UNSEEN.values(), ids=UNSEEN)
def test_what_no_graph_depends_on_has_nothing_traced_again(
    change: Callable[[Any], object],
) -> None:
    net = hybridized()
    for _ in range(3):
        change(net.backbone)
        traces, found = net.backbone.traces, result(net)
        assert net.backbone.traces == traces
    net.hybridize(False)
    assert found == result(net)


def test_a_counter_that_forward_moves_itself_has_nothing_traced_again() -> None:
    net = hybridized(NewBackbone)
    for _ in range(2):  # a graph for each mode, and each trace moves the counter
        with autograd.record():
            net(ones_and_twos())
        net(ones_and_twos())
    assert net.backbone.traces == 2


def test_a_parameter_that_was_cast_has_a_forward_of_arrays_traced_again() -> None:
    net = hybridized(NewBackbone)
    traces = net.backbone.traces
    net.backbone.fc.weight.cast("float64")
    result(net)
    assert net.backbone.traces == traces + 1


@pytest.mark.parametrize(("name", "value"), [("stride", (2,)), ("pad", (1,)), ("dilate", (2,))])
def test_settings_that_programs_edit_in_a_layer_are_seen(name: str, value: object) -> None:
    net = HybridSequential()
    net.add(Conv1D(1, 2, use_bias=False), AvgPool1D(1, 1))
    net.initialize(One())
    net.hybridize()
    x = nd.arange(6).reshape((1, 1, 6))
    net(x)
    layer: Any = net[0]
    layer._kwargs[name] = value
    found = net(x)
    net.hybridize(False)
    assert found.shape != (1, 1, 5)
    np.testing.assert_array_equal(found.asnumpy(), net(x).asnumpy())


def test_both_parents_of_a_block_see_its_change() -> None:
    shared = HybridSequential()
    shared.add(dense(2))
    parents = [HybridSequential(), HybridSequential()]
    for parent in parents:
        parent.add(shared)
        parent.hybridize()
        parent(ones_and_twos())
    shared.add(dense(5))
    assert [parent(ones_and_twos()).shape for parent in parents] == [(1, 5), (1, 5)]


def test_a_hook_of_a_child_is_not_called_with_symbols_by_another_trace() -> None:
    net = hybridized()
    traces = net.backbone.traces
    called: list[Block] = []
    handle = net.backbone.fc.register_forward_hook(lambda block, *_: called.append(block))
    result(net)
    handle.detach()
    result(net)
    assert (called, net.backbone.traces) == ([], traces)


def test_hooks_of_a_network_that_come_and_go_at_each_call_cost_no_trace() -> None:
    net = hybridized()
    traces = net.backbone.traces
    seen: list[tuple[int, ...]] = []
    for _ in range(3):
        with net.register_forward_hook(lambda _block, _inputs, out: seen.append(out.shape)):
            net(ones_and_twos())
    assert (len(seen), net.backbone.traces) == (3, traces)


def test_a_network_that_changed_is_not_exported_as_it_was(tmp_path: Path) -> None:
    net = hybridized()
    net.backbone.tail.add(dense(7))
    assert net._cached_op is None
    assert net._cached_graph == ()
    with pytest.raises(GraphError, match="not changed since"):
        net.export(tmp_path / "net")
    result(net)
    files = net.export(tmp_path / "net")
    assert SymbolBlock.imports(files[0], ["data"], files[1])(ones_and_twos()).shape == (1, 7)
    net.hybridize()
    net.infer_shape(ones_and_twos())
    net.backbone.tail.add(dense(8))
    with pytest.raises(GraphError, match="not changed since"):
        net.export(tmp_path / "net")


def test_an_exported_file_holds_the_factors_of_now(tmp_path: Path) -> None:
    net = hybridized()
    net.collect_params().setattr("lr_mult", 0.25)
    symbol = sym.load(net.export(tmp_path / "net")[0])
    factors = {name: x["__lr_mult__"] for name, x in symbol.attr_dict().items() if "weight" in name}
    assert set(factors.values()) == {"0.25"}


def test_a_symbol_block_in_a_network_is_replaced() -> None:
    data = sym.var("data")
    net = HybridSequential()
    net.add(SymbolBlock(sym.relu(data), data))
    net.hybridize()
    net(ones_and_twos())
    net._children["0"] = dense(6)
    assert net(ones_and_twos()).shape == (1, 6)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_see_their_own_changes_only(copied: Callable[[Any], Any]) -> None:
    net = HybridSequential()
    net.add(dense(2))
    net.hybridize()
    net(ones_and_twos())
    other = copied(net)
    other(ones_and_twos())
    other.add(dense(3))
    assert (other(ones_and_twos()).shape, net(ones_and_twos()).shape) == ((1, 3), (1, 2))


def test_a_block_that_an_older_gluonish_pickled_tells_of_changes() -> None:
    net = HybridSequential()
    net.add(dense(2))
    state = net.__getstate__()
    del state["_version"]
    state.update(_children=dict(net._children), _reg_params={}, _hooks=dict(net._hooks))
    old = HybridSequential.__new__(HybridSequential)
    old.__setstate__(state)
    old.hybridize()
    old(ones_and_twos())
    old._children["0"] = dense(3)
    assert old(ones_and_twos()).shape == (1, 3)


def test_a_block_without_a_graph_gets_one_once_what_hindered_it_is_gone() -> None:
    class Asks(HybridBlock):
        def forward(self, x: Any) -> Any:
            return x * float(x.sum().asscalar())

    net = HybridSequential()
    net.add(Asks())
    net.hybridize()
    with pytest.warns(UserWarning, match="runs without a graph"):
        net(ones_and_twos())
    net._children["0"] = dense(2)
    net(ones_and_twos())
    assert net._cached_graph


@pytest.mark.parametrize("wrap", [ZoneoutCell, VariationalDropoutCell])
def test_a_stack_of_cells_that_gets_one_with_a_memory_runs_step_by_step(wrap: Any) -> None:
    stack = HybridSequentialRNNCell()
    stack.add(RNNCell(2, input_size=2))
    stack.hybridize()
    stack.initialize()
    _, states = stack(ones_and_twos(), stack.begin_state(1))
    more = wrap(RNNCell(2, input_size=2))
    more.initialize()
    stack.add(more)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, states = stack(ones_and_twos(), stack.begin_state(1))
    assert stack._cached_op is None
    assert len(states) == 2


def test_cells_are_not_traced_again_for_each_sequence() -> None:
    class Counting(RNNCell):
        traces = 0

        def hybrid_forward(self, F: Any, *args: Any, **kwargs: Any) -> Any:
            Counting.traces += 1
            return super().hybrid_forward(F, *args, **kwargs)

    cell = Counting(2, input_size=2)
    cell.initialize()
    cell.hybridize()
    for _ in range(3):
        cell.unroll(2, nd.ones((1, 2, 2)))
    assert Counting.traces == 1


def test_under_the_name_mxnet_a_graph_keeps_numbers_but_sees_children() -> None:
    net = hybridized()
    before = result(net)
    follow_mxnet(True)
    try:
        net.backbone.scale = 5
        assert result(net) == before
        net.backbone.fc = dense(3)
        assert result(net) != before
    finally:
        follow_mxnet(False)


def test_parameters_that_are_registered_by_hand_are_seen() -> None:
    class Scaled(HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, factor: Any = None) -> Any:
            return x if factor is None else F.broadcast_mul(x, factor)

    net, inner = HybridSequential(), Scaled()
    net.add(inner)
    net.hybridize()
    net(ones_and_twos())
    parameter = inner.params.get("factor", shape=(1,))
    parameter.initialize(Constant(3))
    inner._reg_params["factor"] = parameter
    assert net(ones_and_twos()).tolist() == [[3, 6]]
    inner._reg_params.pop("factor")
    assert net(ones_and_twos()).tolist() == [[1, 2]]


def test_attributes_are_read_at_full_speed_outside_a_trace() -> None:
    hybridized()
    assert "__getattribute__" not in vars(Block)
    with Reads(), Reads():
        assert "__getattribute__" in vars(Block)
    assert "__getattribute__" not in vars(Block)


def test_nested_traces_tell_the_outer_one_what_they_read() -> None:
    layer = dense(2)
    with Reads() as outer, Reads():
        assert layer._units == 2
    assert outer.basis().holds()
    layer._units = 3
    assert not outer.basis().holds()


def test_an_array_that_forward_reads_may_be_written_and_replaced() -> None:
    net = hybridized(NewBackbone)
    for change in (lambda m: m.__setitem__(slice(None), 4), lambda m: None):
        change(net.backbone.mask)
        assert net(ones_and_twos())[0, 0].asscalar() == 3 * 4 * 3
    net.backbone.mask = NDArray.zeros_like(net.backbone.mask)
    assert net(ones_and_twos())[0, 0].asscalar() == 0


def test_a_deleted_parameter_is_missed_as_in_an_imperative_call() -> None:
    class Own(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter("w", shape=(1,))

        def forward(self, x: Any) -> Any:
            return x * self.w.data()

    net, own = HybridSequential(), Own()
    net.add(own)
    net.initialize()
    net.hybridize()
    net(ones_and_twos())
    del own.w
    with pytest.raises(AttributeError):
        net(ones_and_twos())


class Tempered(HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.temperature = 1.0

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x / self.temperature


def _temper(net: Tempered, calls: int) -> list[float]:
    found = []
    for i in range(calls):
        net.temperature = 1.0 + i
        found.append(float(net(nd.ones((1,))).asscalar()))
    return found


def test_an_attribute_that_is_set_at_every_call_is_warned_of_once_by_name() -> None:
    net = Tempered()
    net.hybridize()
    with pytest.warns(UserWarning, match=r"traced 16 times .* attribute 'temperature'") as caught:
        found = _temper(net, 40)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_allclose(found, [1 / (1 + i) for i in range(40)], rtol=1e-6)


def test_a_few_changes_are_not_warned_of() -> None:
    net = Tempered()
    net.hybridize()
    _temper(net, 10)
    for _ in range(30):
        net.register_forward_hook(lambda *_: None).detach()
        net.cast("float32")
        net(nd.ones((1,)))
