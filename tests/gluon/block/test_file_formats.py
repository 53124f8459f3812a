"""A network's parameters in files of every format, by the functions that write and read them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.config import GLUONISH_MAP_FILES
from gluonish.core.errors import ArgumentError, ParameterError
from gluonish.core.file_map import is_mapped

ENDINGS = (".params", ".safetensors", ".npz", ".safetensors.index.json")
PREFIX_ENDINGS = (".params", ".safetensors", ".npz")
SIDE = 600  # so that a weight has more than a MiB, and stays in a file that can be mapped


def network(units: int = 2, known: bool = False) -> gluon.nn.HybridSequential:
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(
            gluon.nn.Dense(3, in_units=4 if known else 0),
            gluon.nn.BatchNorm(),
            gluon.nn.Dense(units),
        )
    return net


def made() -> gluon.nn.HybridSequential:
    net = network()
    net.initialize(mx.init.Xavier())
    net(nd.ones((1, 4)))
    return net


def values(net: Any) -> dict[str, Any]:
    return {name: p.data().asnumpy() for name, p in net._collect_params_with_prefix().items()}


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert list(found) == list(wanted)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("ending", ENDINGS)
def test_parameters_come_back(ending: str, tmp_path: Path) -> None:
    net, other = made(), network()
    net.save_parameters(tmp_path / f"a{ending}")
    other.load_parameters(tmp_path / f"a{ending}")
    assert_same(values(other), values(net))
    net.collect_params().save(tmp_path / f"b{ending}", strip_prefix="net_")
    again = network()
    again.collect_params().load(tmp_path / f"b{ending}", restore_prefix="net_")
    assert_same(values(again), values(net))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_cast_networks_come_back(ending: str, dtype: str, tmp_path: Path) -> None:
    net = made()
    net.cast(dtype)
    net.save_parameters(tmp_path / f"a{ending}")
    other = network()
    other.cast(dtype)
    other.load_parameters(tmp_path / f"a{ending}")
    assert_same(values(other), values(net))


@pytest.mark.parametrize("ending", ENDINGS)
def test_options_of_loading_hold_for_every_format(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    net = made()
    arrays = {name: p.data() for name, p in net._collect_params_with_prefix().items()}
    bias = arrays.pop("2.bias")
    nd.save(path, {**arrays, "2.other": bias})
    with pytest.raises(
        ParameterError, match=rf"expected .*a{ending}' to contain '2.bias', got 8 other arr"
    ):
        network().load_parameters(path, ignore_extra=True)
    with pytest.raises(ArgumentError, match=rf"expected only parameters .*a{ending}.*'2.other'"):
        network().load_parameters(path, allow_missing=True)
    other = network()
    other.load_parameters(path, allow_missing=True, ignore_extra=True)
    np.testing.assert_array_equal(other[0].weight.data().asnumpy(), arrays["0.weight"].asnumpy())


@pytest.mark.parametrize("ending", ENDINGS)
def test_shapes_and_dtypes_that_do_not_fit_are_named(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    made().save_parameters(path)
    wanted = rf"'2.weight' of .*: expected shape \(5, .*, got \(2, 3\).*a{ending}"
    with pytest.raises(ParameterError, match=wanted):
        network(5).load_parameters(path)
    half = network()
    half.cast("float16")
    with pytest.raises(ParameterError, match=rf"float16.*float32.*a{ending}"):
        half.load_parameters(path)
    half.load_parameters(path, cast_dtype=True)
    assert half[0].weight.data().dtype == np.float16
    half.load_parameters(path, cast_dtype=True, dtype_source="saved")
    assert half[0].weight.data().dtype == np.float32


@pytest.mark.parametrize("ending", PREFIX_ENDINGS)
def test_prefixes_say_the_format_of_exported_parameters(ending: str, tmp_path: Path) -> None:
    net = made()
    net.hybridize()
    x = nd.random.uniform(shape=(2, 4))
    wanted = net(x).asnumpy()
    prefix = "a" if ending == ".params" else f"a{ending}"
    files = net.export(tmp_path / prefix, epoch=3)
    assert files == (str(tmp_path / "a-symbol.json"), str(tmp_path / f"a-0003{ending}"))
    block = gluon.SymbolBlock.imports(files[0], "data", files[1])
    np.testing.assert_array_equal(block(x).asnumpy(), wanted)
    for given in (prefix, "a"):
        symbol, arguments, states = mx.model.load_checkpoint(str(tmp_path / given), 3)
        assert {*arguments, *states} == {p.name for p in net.collect_params().values()}
    mx.model.save_checkpoint(str(tmp_path / f"b{prefix[1:]}"), 7, symbol, arguments, states)
    found, exported = nd.load(tmp_path / f"b-0007{ending}"), nd.load(files[1])
    assert {k: x.tolist() for k, x in found.items()} == {k: x.tolist() for k, x in exported.items()}


def test_a_prefix_that_ends_with_params_is_taken_as_mxnet_does(tmp_path: Path) -> None:
    net = made()
    net.hybridize()
    net(nd.ones((1, 4)))
    assert net.export(tmp_path / "a.params")[1] == str(tmp_path / "a.params-0000.params")


@pytest.mark.parametrize("ending", PREFIX_ENDINGS)
def test_a_structure_and_its_parameters_are_saved_together(ending: str, tmp_path: Path) -> None:
    net, other = made(), made()
    prefix = "a" if ending == ".params" else f"a{ending}"
    net.save(tmp_path / prefix)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-model.json", f"a-model{ending}"]
    for given in (prefix, "a"):
        other.load(tmp_path / given)
        assert_same(values(other), values(net))


@pytest.mark.parametrize("ending", PREFIX_ENDINGS)
def test_modules_save_and_load(ending: str, tmp_path: Path) -> None:
    out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    modules = []
    for _ in range(2):
        module = mx.mod.Module(out, label_names=None)
        module.bind([("data", (1, 3))], for_training=False)
        module.init_params(mx.init.Uniform())
        modules.append(module)
    modules[0].save_params(str(tmp_path / f"a{ending}"))
    modules[1].load_params(str(tmp_path / f"a{ending}"))
    for name, x in modules[0].get_params()[0].items():
        np.testing.assert_array_equal(modules[1].get_params()[0][name].asnumpy(), x.asnumpy())


# -- parameters and the file that they came from ---


def large(in_units: int = SIDE) -> gluon.nn.Dense:
    return gluon.nn.Dense(SIDE, in_units=in_units, use_bias=False, prefix="large_")


@pytest.fixture(params=[".safetensors", ".npz"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Any]:
    net = large()
    net.initialize(mx.init.Xavier())
    net.save_parameters(tmp_path / f"a{request.param}")
    return tmp_path / f"a{request.param}", net.weight.data().asnumpy()


@pytest.mark.parametrize("in_units", [SIDE, 0])
@pytest.mark.parametrize("grad_req", ["null", "write"])
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("how", ["load_parameters", "load_dict", "set_data", "ParameterDict.load"])
def test_parameters_do_not_depend_on_the_file(
    saved: tuple[Path, Any], in_units: int, grad_req: str, mapped: bool, how: str
) -> None:
    path, weight = saved
    net = large(in_units)
    net.collect_params().setattr("grad_req", grad_req)
    if not in_units or how == "set_data":
        net.initialize()  # waits for the shape
    with GLUONISH_MAP_FILES.override(mapped):
        if how == "load_parameters":
            net.load_parameters(path)
        elif how == "load_dict":
            net.load_dict(nd.load(path))
        elif how == "set_data":
            net.weight.set_data(nd.load(path)["weight"])
        else:
            net.collect_params().load(path, restore_prefix="large_")
    nd.waitall()
    path.write_bytes(b"")  # in place, as `shutil.copy` does
    if how == "set_data" and not in_units:
        net(nd.ones((1, SIDE)))
    assert not is_mapped(net.weight.data().handle)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), weight)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_modules_weights_do_not_depend_on_the_file(saved: tuple[Path, Any], mapped: bool) -> None:
    path, weight = saved
    out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=SIDE, no_bias=True, name="fc")
    module = mx.mod.Module(out, label_names=None)
    module.bind([("data", (1, SIDE))], for_training=False)
    module.set_params({"fc_weight": nd.load(path, mmap=mapped)["weight"]}, {})
    nd.waitall()
    path.write_bytes(b"")
    np.testing.assert_array_equal(module.get_params()[0]["fc_weight"].asnumpy(), weight)
    module.forward(mx.io.DataBatch([nd.ones((1, SIDE))]), is_train=False)
    found = module.get_outputs()[0].asnumpy()
    np.testing.assert_allclose(found[0], weight.sum(axis=1, dtype=np.float64), rtol=1e-4, atol=1e-4)


def test_parameters_with_values_keep_their_arrays(saved: tuple[Path, Any]) -> None:
    path, weight = saved
    net = large()
    net.initialize()
    held = net.weight.data()
    net.load_parameters(path)
    assert not is_mapped(net.weight.data().handle)
    np.testing.assert_array_equal(held.asnumpy(), weight)


def test_a_dict_of_arrays_is_copied() -> None:
    x = nd.ones((SIDE, SIDE))
    net = large()
    net.load_dict({"weight": x})
    x[:] = 2
    assert net.weight.data().sum().asscalar() == SIDE * SIDE


def test_training_on_loaded_parameters_is_training_on_others(saved: tuple[Path, Any]) -> None:
    path, weight = saved
    content = path.read_bytes()
    nets = [large(), large()]
    nets[0].load_parameters(path)
    nets[1].load_dict({"weight": nd.array(weight)})
    x = nd.random.uniform(shape=(4, SIDE))
    for net in nets:
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        for _ in range(3):
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
            trainer.step(4)
    first, second = (net.weight.data().asnumpy() for net in nets)
    assert not np.array_equal(first, weight)
    np.testing.assert_array_equal(first, second)
    assert path.read_bytes() == content


def test_a_network_saves_over_the_file_it_was_loaded_from(saved: tuple[Path, Any]) -> None:
    path, weight = saved
    net = large()
    net.load_parameters(path)
    net.save_parameters(path)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), weight)
    other = large()
    other.load_parameters(path)
    np.testing.assert_array_equal(other.weight.data().asnumpy(), weight)
