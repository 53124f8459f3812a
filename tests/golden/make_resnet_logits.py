"""Write resnet_logits.npz: what MXNet's ten residual networks give for weights made from names.

Run with MXNet 1.9.1's Python, from any folder: ``oracle/bin/python make_resnet_logits.py``.
"""

from pathlib import Path

import mxnet as mx
import numpy as np
from zoo_values import KEPT, images, values

FOLDER = Path(__file__).parent


def logits(name):
    """Return the first logits of a network."""
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.initialize(mx.init.Zero())
    x = mx.nd.array(images())
    net.infer_shape(x)
    for path, parameter in net._collect_params_with_prefix().items():
        parameter.set_data(mx.nd.array(values(path, parameter.shape)))
    return net(x).asnumpy()[:, :KEPT]


names = [f"resnet{depth}_v{version}" for depth in (18, 34, 50, 101, 152) for version in (1, 2)]
np.savez_compressed(FOLDER / "resnet_logits.npz", **{name: logits(name) for name in names})
