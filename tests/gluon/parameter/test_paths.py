"""Where parameters stand in a network."""

import copy
import gc
import weakref

import pytest

from gluonish import gluon, nd
from gluonish.core.errors import DeferredInitializationError, ParameterError
from gluonish.gluon.parameter import Parameter, path_of, paths, register_path
from gluonish.gluon.parameter.paths import described


class Owner:
    """Stands for a Block."""


def chain(*names: str) -> tuple[Parameter, list[Owner]]:
    parameter = Parameter("net0_weight", shape=(2, 0), allow_deferred_init=True)
    owners = [Owner() for _ in names]
    members = [*owners[1:], parameter]
    for member, owner, name in zip(members, owners, names, strict=True):
        register_path(member, owner, name)
    return parameter, owners


def test_path_leads_from_the_outermost_block() -> None:
    parameter, owners = chain("features", "0", "weight")
    assert path_of(parameter) == "features.0.weight"
    assert path_of(owners[2]) == "features.0"
    assert path_of(owners[0]) == ""


def test_parameter_in_no_block_is_called_by_its_name() -> None:
    assert described(Parameter("w")) == "Parameter w"


def test_path_of_one_step_is_left_out() -> None:
    parameter, _owners = chain("weight")
    assert described(parameter) == "Parameter net0_weight"


def test_first_of_several_places_is_told_while_it_exists() -> None:
    parameter, owners = chain("features", "weight")
    other = Owner()
    register_path(parameter, other, "tied")
    assert path_of(parameter) == "features.weight"
    del owners
    gc.collect()
    register_path(parameter, other, "tied")
    assert path_of(parameter) == "tied"


def test_blocks_are_not_kept_alive() -> None:
    parameter, owners = chain("features", "weight")
    alive = weakref.ref(owners[0])
    del owners
    gc.collect()
    assert alive() is None
    assert path_of(parameter) == ""


def test_block_in_itself_ends() -> None:
    owner = Owner()
    register_path(owner, owner, "self")
    assert path_of(owner) == "self"


def test_copies_have_no_place() -> None:
    parameter, _owners = chain("features", "weight")
    assert path_of(copy.deepcopy(parameter)) == ""


def test_messages_tell_the_path() -> None:
    parameter, _owners = chain("features", "0", "weight")
    called = r"Parameter net0_weight \(features\[0\]\.weight\): "
    with pytest.raises(ParameterError, match=called + ".*call initialize"):
        parameter.data()
    parameter.initialize()
    with pytest.raises(DeferredInitializationError, match=called + ".*reaches the layer"):
        parameter.data()
    with pytest.raises(ParameterError, match=called + "expected a shape that fits"):
        parameter.shape = (3, 3)


def test_places_of_freed_members_are_forgotten() -> None:
    owner = Owner()
    for _ in range(5000):
        register_path(Owner(), owner, "x")
    assert len(paths._EDGES) <= max(1024, paths._EDGES.capacity)
    assert sum(place.owner() is owner for place in paths._EDGES.values()) < 2000


def test_nothing_of_python_runs_when_parts_of_a_network_are_freed() -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 3))).wait_to_read()
    for part in (net, net[0], net[0].weight):
        assert [one for one in weakref.getweakrefs(part) if one.__callback__ is not None] == []
