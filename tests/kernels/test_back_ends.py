"""What back ends offer through `gluonish.kernels.back_ends`."""

import inspect

import numpy as np
import pytest

from gluonish.core.config import MXNET_MKLDNN_ENABLED, MXNET_SUBGRAPH_BACKEND, MXNET_USE_FUSION
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.loading import load
from gluonish.graph import passes
from gluonish.graph.strided_views import channels_last_values
from gluonish.kernels import back_ends, fused_updates
from gluonish.kernels.cupy import CuPySupport
from gluonish.kernels.generated import optimizer
from gluonish.kernels.generated import support as generated
from gluonish.kernels.onednn import register as onednn
from gluonish.ops.kernel import BackEnd
from gluonish.ops.updates.rules import SGD

LAYERS = {"fuse_batch_norm_relu", "fold_batch_norm", "move_strides", "fuse_primitives"}


@pytest.mark.parametrize("back_end", BackEnd)
def test_what_a_back_end_offers_are_passes_with_arguments_of_theirs(back_end: BackEnd) -> None:
    support: back_ends.Support = load(f"gluonish.kernels.{back_end.value}.support").SUPPORT
    offered = dict(support.passes())
    for name, options in offered.items():
        function = channels_last_values if name == "channels_last" else getattr(passes, name)
        assert set(options) <= set(inspect.signature(function).parameters)


def test_no_two_back_ends_of_a_platform_offer_the_same_pass() -> None:
    for platform in ("cpu", "gpu"):
        supports = list(back_ends._support_of(platform))
        names = [name for support in supports for name in support.passes()]
        assert len(names) == len({*names})


def test_onednn_fuses_layers_while_it_is_on() -> None:
    if not onednn.enabled():
        pytest.skip("oneDNN is not there")
    assert back_ends.passes("cpu").keys() >= LAYERS
    for off in (MXNET_SUBGRAPH_BACKEND.override("NONE"), MXNET_MKLDNN_ENABLED.override(False)):
        with off:
            assert back_ends.passes("cpu").keys().isdisjoint(LAYERS)


def test_pointwise_fusion_goes_with_generated_kernels() -> None:
    assert ("fuse_pointwise" in back_ends.passes("cpu")) == generated.enabled()
    assert "fuse_pointwise" in back_ends.passes("gpu")
    with MXNET_USE_FUSION.override(False):
        assert "fuse_pointwise" not in {**back_ends.passes("cpu"), **back_ends.passes("gpu")}


def test_layouts_of_arrays_are_free_on_every_platform() -> None:
    assert "channels_last" in back_ends.passes("cpu")
    assert "channels_last" in back_ends.passes("gpu")


def test_an_optimizer_gets_the_step_of_the_back_end_that_takes_its_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[fused_updates.Groups] = []

    class Step:
        def run(self, columns: object, scalars: object) -> None:
            """Nothing."""

    def make(
        xp: object, rule: object, outs: object, groups: fused_updates.Groups, mixed: bool
    ) -> Step:
        made.append(groups)
        return Step()

    monkeypatch.setattr(optimizer, "fused_step", make)
    groups = [[np.zeros(4, np.float32), np.ones(4, np.float32)]]
    step = back_ends.fused_step(device_of(cpu()), SGD, [groups[0][0]], groups, False)
    assert isinstance(step, Step)
    assert made == [groups]


def test_without_a_back_end_that_takes_them_there_is_no_step() -> None:
    few = [[np.zeros(4, np.float32), np.ones(4, np.float32)]]
    assert back_ends.fused_step(device_of(cpu()), SGD, [few[0][0]], few, False) is None


def test_the_devices_of_gpus_are_cupys() -> None:
    assert isinstance(back_ends.gpu_support(), CuPySupport)
