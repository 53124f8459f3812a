"""cnocr 1.2.3.1 (reading Chinese text): its networks as symbols and blocks, and its loss."""

import mxnet as mx
import numpy as np
from cnocr.hyperparams.cn_hyperparams import CnHyperparams
from cnocr.symbols.crnn import gen_network
from corpus_cases import arrays, seeded


def _hyperparams():
    hp = CnHyperparams()
    hp._num_classes, hp._batch_size, hp._num_hidden = 12, 2, 8
    hp._drop_out = 0.0
    return hp


def _run(name):
    symbol, hp = gen_network(name, _hyperparams())
    data_shapes = [("data", (2, 1, hp.img_height, hp.img_width))]
    module = mx.mod.Module(symbol, data_names=["data"], label_names=["label"], context=mx.cpu())
    module.bind(data_shapes=data_shapes, label_shapes=[("label", (2, hp.num_label))])
    module.init_params(mx.init.Xavier())
    arguments, states = module.get_params()
    filled = [
        {
            key: mx.nd.array(seeded(key, i, one.shape, 0.02))
            for i, (key, one) in enumerate(sorted(group.items()))
        }
        for group in (arguments, states)
    ]
    module.set_params(*filled)
    label = np.zeros((2, hp.num_label), "float32")
    label[:, :3] = [[1, 2, 3], [4, 5, 5]]
    batch = mx.io.DataBatch([mx.nd.array(arrays(data_shapes[0][1]))], [mx.nd.array(label)])
    module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 1e-3})
    module.forward(batch, is_train=False)
    before = module.get_outputs()
    module.forward_backward(batch)
    module.update()
    return [list(one.shape) for one in before], before, sorted(arguments)[:5]


def case_densenet_gru():
    return _run("densenet-lite-s-gru")


def case_densenet_lstm():
    return _run("densenet-lite-lstm")


def case_densenet_fc():
    return _run("densenet-s-fc")


def case_convolutional_fc():
    return _run("conv-lite-fc")


def case_convolutional_lstm():
    return _run("conv-lite-s-lstm")
