import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeferredInitializationError,
    ParameterError,
)
from gluonish.gluon import nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray import array, load, ones, save

GOLDEN = Path(__file__).parents[2] / "golden"


class Tied(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.d0 = nn.Dense(3, in_units=3)
            self.d1 = nn.Dense(3, in_units=3, params=self.d0.params)
            self.k = self.params.get("k", shape=(2, 2))


def stack(prefix: str | None = None) -> nn.HybridSequential:
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2), nn.Dense(2, in_units=3))
    return net


def ready(prefix: str | None = None) -> nn.HybridSequential:
    net = stack(prefix)
    net.initialize()
    return net


def values(net: Any) -> list[Any]:
    return [p.data().asnumpy().tolist() for p in net.collect_params().values()]


def test_saved_parameters_come_back(tmp_path: Path) -> None:
    net, again = ready(), stack()
    net.save_parameters(tmp_path / "x.params")
    assert list(load(tmp_path / "x.params")) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    again.load_parameters(tmp_path / "x.params")
    assert values(again) == values(net)


def test_unknown_shapes_come_from_the_file(tmp_path: Path) -> None:
    ready().save_parameters(tmp_path / "x.params")
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    net.load_parameters(tmp_path / "x.params")
    assert net(ones((1, 2))).shape == (1, 2)


def test_tied_parameters_are_written_for_each_path_or_once(tmp_path: Path) -> None:
    net = Tied()
    net.initialize()
    net.save_parameters(tmp_path / "all.params")
    net.save_parameters(tmp_path / "once.params", deduplicate=True)
    everything = ["k", "d0.weight", "d0.bias", "d1.weight", "d1.bias"]
    assert list(load(tmp_path / "all.params")) == everything
    assert list(load(tmp_path / "once.params")) == ["k", "d1.weight", "d1.bias"]
    again = Tied()
    again.load_parameters(tmp_path / "once.params")
    assert values(again) == values(net)


def test_collected_names_are_understood_with_and_without_prefix(tmp_path: Path) -> None:
    net = ready("a_")
    net.collect_params().save(tmp_path / "full.params")
    net.collect_params().save(tmp_path / "bare.params", strip_prefix="a_")
    for name, prefix in [("full", "a_"), ("bare", "a_"), ("bare", "b_")]:
        again = stack(prefix)
        again.load_parameters(tmp_path / f"{name}.params")
        assert values(again) == values(net)


def test_exported_names_are_understood(tmp_path: Path) -> None:
    save(tmp_path / "x.params", {"arg:k_weight": ones((3, 2)), "aux:k_bias": ones((3,))})
    layer = nn.Dense(3, prefix="k_")
    layer.load_parameters(tmp_path / "x.params")
    assert layer.weight.data().asnumpy().sum() == 6


def test_file_of_a_single_layer_serves_another_of_its_kind(tmp_path: Path) -> None:
    layer, again = nn.Dense(3, in_units=2, prefix="k_"), nn.Dense(3, prefix="z_")
    layer.initialize()
    layer.save_parameters(tmp_path / "x.params")
    assert list(load(tmp_path / "x.params")) == ["weight", "bias"]
    again.load_parameters(tmp_path / "x.params")
    assert values(again) == values(layer)


@pytest.mark.parametrize("name", ["cnn.params", "cnn_collected.params", "cnn-0003.params"])
def test_files_that_mxnet_wrote_are_read(name: str) -> None:
    net = nn.HybridSequential(prefix="cnn_")
    with net.name_scope():
        net.add(
            nn.Conv2D(4, 3, padding=1, activation="relu"),
            nn.BatchNorm(),
            nn.MaxPool2D(2),
            nn.Conv2D(8, 3, use_bias=False),
        )
    net.load_parameters(GOLDEN / name, allow_missing=True, ignore_extra=True)
    expected = load(GOLDEN / "cnn_collected.params")
    assert isinstance(expected, dict)
    key = next(key for key in expected if key.endswith("conv0_weight"))
    np.testing.assert_array_equal(net[0].weight.data().asnumpy(), expected[key].asnumpy())


def test_missing_parameter_is_refused_with_the_nearest(tmp_path: Path) -> None:
    save(tmp_path / "x.params", {"0.weight": ones((3, 2)), "0.bais": ones((3,))})
    net = nn.HybridSequential()
    net.add(nn.Dense(3))
    with pytest.raises(
        ParameterError, match=r"x.params' to contain '0.bias'.*nearest: '0.bais'.*missing"
    ):
        net.load_parameters(tmp_path / "x.params")
    with pytest.raises(
        ArgumentError, match=r"got '0.bais' \(nearest: '0.bias'\); set ignore_extra"
    ):
        net.load_parameters(tmp_path / "x.params", allow_missing=True)
    net.load_parameters(tmp_path / "x.params", allow_missing=True, ignore_extra=True)
    assert net[0].weight.data().shape == (3, 2)


def test_refused_file_changes_nothing(tmp_path: Path) -> None:
    net = ready()
    before = values(net)
    save(tmp_path / "x.params", {"0.weight": ones((3, 2)), "9.x": ones((1,))})
    for options in ({"allow_missing": True}, {"ignore_extra": True}):
        with pytest.raises((ArgumentError, ParameterError)):
            net.load_parameters(tmp_path / "x.params", **options)
    assert values(net) == before


def test_wrong_shape_is_refused_by_name(tmp_path: Path) -> None:
    save(tmp_path / "x.params", {"0.weight": ones((3, 3)), "0.bias": ones((3,))})
    net = nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2))
    with pytest.raises(ParameterError, match=r"n_dense0_weight: .*\(3, 2\), got \(3, 3\)"):
        net.load_parameters(tmp_path / "x.params")


def test_refusals_name_the_block_and_the_file(tmp_path: Path) -> None:
    layer = nn.Dense(3, in_units=2, prefix="d_")
    for arrays, kind in (
        ({"weight": ones((3, 2))}, ParameterError),
        ({"weight": ones((3, 3)), "bias": ones((3,))}, ParameterError),
        ({"weight": ones((3, 2)), "bias": ones((3,)), "z": ones((1,))}, ArgumentError),
        ([array([1])], ArgumentTypeError),
    ):
        save(tmp_path / "x.params", arrays)
        with pytest.raises(kind, match=r"^Dense d: .*x\.params"):
            layer.load_parameters(tmp_path / "x.params")


def test_dtype_arguments_are_passed_on(tmp_path: Path) -> None:
    half = {"weight": ones((3, 2), dtype="float16"), "bias": ones((3,), dtype="float16")}
    save(tmp_path / "x.params", half)
    layer = nn.Dense(3)
    with pytest.raises(ParameterError, match="cast_dtype"):
        layer.load_parameters(tmp_path / "x.params")
    layer.load_parameters(tmp_path / "x.params", cast_dtype=True, dtype_source="saved")
    assert layer.weight.data().dtype == np.float16


def test_devices_are_chosen_while_loading(tmp_path: Path) -> None:
    ready().save_parameters(tmp_path / "x.params")
    net = stack()
    net.load_parameters(tmp_path / "x.params", ctx=[cpu(0), cpu(1)])
    assert net.collect_params().list_ctx() == [cpu(0), cpu(1)]


def test_file_without_names_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "x.params", [array([1])])
    with pytest.raises(ArgumentTypeError, match="arrays with names"):
        ready().load_parameters(tmp_path / "x.params")


def test_empty_file_lacks_everything(tmp_path: Path) -> None:
    save(tmp_path / "x.params", {})
    with pytest.raises(ParameterError, match=r"'0.weight'"):
        ready().load_parameters(tmp_path / "x.params")


def test_network_without_values_is_not_saved(tmp_path: Path) -> None:
    layer = nn.Dense(3)
    with pytest.raises(ParameterError, match="initialize"):
        layer.save_parameters(tmp_path / "x.params")
    layer.initialize()
    with pytest.raises(
        DeferredInitializationError,
        match=r"dense\d+_weight at 'weight' of shape \(3, 0\), whose layer",
    ):
        layer.save_parameters(tmp_path / "x.params")
    assert list(tmp_path.iterdir()) == []


def test_older_names_of_the_methods_warn_and_work(tmp_path: Path) -> None:
    net, again = ready("a_"), stack("b_")
    with pytest.warns(UserWarning, match="save_parameters"):
        net.save_params(tmp_path / "x.params")
    with pytest.warns(UserWarning, match="load_parameters"):
        again.load_params(tmp_path / "x.params")
    assert values(again) == values(net)


def test_all_missing_names_are_listed(tmp_path: Path) -> None:
    net = ready()
    net.save_parameters(tmp_path / "x.params")
    arrays = {name: x for name, x in load(tmp_path / "x.params").items() if "bias" not in name}
    save(tmp_path / "x.params", arrays)
    missing = [name for name in net._collect_params_with_prefix() if "bias" in name]
    assert len(missing) > 1
    with pytest.raises(ParameterError, match=re.escape(", ".join(map(repr, missing)))):
        net.load_parameters(tmp_path / "x.params")


def test_all_other_names_are_listed_with_the_nearest(tmp_path: Path) -> None:
    net = ready()
    net.save_parameters(tmp_path / "x.params")
    more = {f"9.wait{i}": ones((1,)) for i in range(12)}
    save(tmp_path / "x.params", {**load(tmp_path / "x.params"), **more, "0.wieght": ones((1,))})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match=r"'9.wait0', '9.wait1', .*'9.wait9' and 3 more"):
        net.load_parameters(tmp_path / "x.params")


def test_arrays_are_taken_from_a_dict() -> None:
    net, other = ready(), ready()
    arrays = {name: p.data() for name, p in net._collect_params_with_prefix().items()}
    other.load_dict(arrays)
    assert values(other) == values(net)
    with pytest.raises(ParameterError, match=r"the dict to contain '0.weight', got"):
        other.load_dict(dict(list(arrays.items())[1:]))


def test_a_wrong_shape_changes_nothing(tmp_path: Path) -> None:
    net = ready()
    before = values(net)
    arrays = {name: p.data() * 2 for name, p in net._collect_params_with_prefix().items()}
    arrays[list(arrays)[-1]] = ones((7, 7))
    with pytest.raises(ParameterError, match=r"got \(7, 7\), in the dict; create the layers"):
        net.load_dict(arrays)
    assert values(net) == before


def test_full_names_may_have_dots() -> None:
    layer = nn.Dense(2, in_units=2, prefix="a.b_")
    layer.load_dict({"arg:a.b_weight": ones((2, 2)), "arg:a.b_bias": ones((2,))})
    assert layer(ones((1, 2))).asnumpy().tolist() == [[3, 3]]


def test_what_no_call_has_reached_is_named_by_path(tmp_path: Path) -> None:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=3), nn.Dense(2))
    net.initialize()
    with pytest.raises(
        DeferredInitializationError,
        match=r"net_dense1_weight at '1.weight' of shape \(2, 0\), whose layer.* remove the",
    ):
        net.save_parameters(tmp_path / "x.params")
