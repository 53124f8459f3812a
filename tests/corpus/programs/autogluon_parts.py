"""autogluon 0.0.15: the Gaussian processes of its searcher, which are written on MXNet.

``import autogluon`` itself fails on every Python since 3.9, whatever MXNet is: a class inherits
from NamedTuple and another. Its parts are imported without its ``__init__``.
"""

import importlib.util
import sys
import types
from pathlib import Path

import numpy as np

FOLDER = (
    Path(importlib.util.find_spec("autogluon").submodule_search_locations[0])
    if importlib.util.find_spec("autogluon")
    else None
)
for _name in (
    "",
    ".searcher",
    ".searcher.bayesopt",
    ".searcher.bayesopt.gpmxnet",
    ".model_zoo",
    ".model_zoo.models",
    ".contrib",
    ".contrib.enas",
    ".utils",
    ".core",
):
    _module = types.ModuleType("autogluon" + _name)
    _module.__path__ = [str(FOLDER.joinpath(*_name.split(".")[1:]))]
    sys.modules["autogluon" + _name] = _module

import mxnet as mx
from autogluon.searcher.bayesopt.gpmxnet.gp_regression import GaussianProcessRegression
from autogluon.searcher.bayesopt.gpmxnet.kernel.base import Matern52
from autogluon.searcher.bayesopt.gpmxnet.mean import ScalarMeanFunction
from autogluon.searcher.bayesopt.gpmxnet.warping import WarpedKernel, Warping
from mxnet import nd


def _data():
    x = np.linspace(0, 1, 12)[:, None]
    return nd.array(x, dtype="float64"), nd.array(np.sin(5 * x), dtype="float64")


def case_matern_kernel():
    kernel = Matern52(dimension=1)
    kernel.collect_params().initialize()
    x, _ = _data()
    return kernel(x, x), kernel.diagonal(mx.nd, x)


def case_gaussian_process_regression():
    x, y = _data()
    model = GaussianProcessRegression(
        kernel=Matern52(dimension=1), mean=ScalarMeanFunction(), ctx=mx.cpu()
    )
    model.fit(x, y)
    mean, variance = model.predict(x)[0]
    return (
        mean,
        list(variance.shape),
        {name: float(value) for name, value in model.get_params().items()},
    )


def case_warped_kernel():
    x, y = _data()
    kernel = WarpedKernel(
        kernel=Matern52(dimension=1), warping=Warping(dimension=1, index_to_range={0: (0.0, 1.0)})
    )
    model = GaussianProcessRegression(kernel=kernel, ctx=mx.cpu())
    model.fit(x, y)
    return list(model.predict(x)[0][0].shape)
