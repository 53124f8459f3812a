"""d2lzh 1.0.0, the first edition of Dive into Deep Learning: its training loops."""

import matplotlib as mpl

mpl.use("agg")

import d2lzh as d2l
import mxnet as mx
import numpy as np
from corpus_cases import arrays
from mxnet import autograd, gluon, init, nd
from mxnet.gluon import data as gdata
from mxnet.gluon import loss as gloss
from mxnet.gluon import nn, rnn

CTX = [mx.cpu(0), mx.cpu(1)]


def _images(batch=8, count=32):
    dataset = gdata.ArrayDataset(
        nd.array(arrays((count, 1, 28, 28))), nd.array(np.arange(count) % 10)
    )
    return gdata.DataLoader(dataset, batch)


def case_linear_regression():
    features = nd.array(arrays((100, 2)))
    labels = d2l.linreg(features, nd.array([[2], [-3.4]]), 4.2)
    w, b = nd.zeros((2, 1)), nd.zeros((1,))
    w.attach_grad()
    b.attach_grad()
    for _ in range(8):
        for x, y in d2l.data_iter(10, features, labels):
            with autograd.record():
                loss = d2l.squared_loss(d2l.linreg(x, w, b), y)
            loss.backward()
            d2l.sgd([w, b], 0.2, 10)
    assert abs(w.asnumpy() - [[2], [-3.4]]).max() < 0.05


def case_train_ch3():
    net = nn.Sequential()
    net.add(nn.Dense(32, activation="relu"), nn.Dense(10))
    net.initialize(init.Normal(sigma=0.01))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    d2l.train_ch3(
        net, _images(), _images(), gloss.SoftmaxCrossEntropyLoss(), 2, 8, None, None, trainer
    )


def case_train_ch5():
    net = nn.Sequential()
    net.add(
        nn.Conv2D(6, 5, activation="sigmoid"),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(16, 5, activation="sigmoid"),
        nn.MaxPool2D(2, 2),
        nn.Dense(120, activation="sigmoid"),
        nn.Dense(10),
    )
    net.initialize(force_reinit=True, init=init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.9})
    d2l.train_ch5(net, _images(), _images(), 8, trainer, mx.cpu(), 2)


def case_several_devices():
    net = d2l.resnet18(10)
    net.initialize(init=init.Normal(sigma=0.01), ctx=CTX)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    d2l.train(_images(), _images(), net, gloss.SoftmaxCrossEntropyLoss(), trainer, CTX, 1)
    return [list(p.shape) for p in net.collect_params().values()]


def _lyrics():
    text = "the time traveller for so it will be convenient to speak of him " * 20
    chars = sorted(set(text))
    to_index = {char: i for i, char in enumerate(chars)}
    return [to_index[char] for char in text], to_index, chars


def case_language_model_from_scratch():
    corpus, to_index, chars = _lyrics()
    size = len(chars)

    def get_params():
        params = [nd.random.normal(scale=0.01, shape=shape) for shape in ((size, 16), (16, 16))]
        params += [nd.zeros(16), nd.random.normal(scale=0.01, shape=(16, size)), nd.zeros(size)]
        for param in params:
            param.attach_grad()
        return params

    def begin(batch_size, num_hiddens, ctx):
        return (nd.zeros(shape=(batch_size, num_hiddens), ctx=ctx),)

    def net(inputs, state, params):
        w_xh, w_hh, b_h, w_hq, b_q = params
        (h,) = state
        outputs = []
        for x in inputs:
            h = nd.tanh(nd.dot(x, w_xh) + nd.dot(h, w_hh) + b_h)
            outputs.append(nd.dot(h, w_hq) + b_q)
        return outputs, (h,)

    for random in (True, False):
        d2l.train_and_predict_rnn(
            net,
            get_params,
            begin,
            16,
            size,
            mx.cpu(),
            corpus,
            chars,
            to_index,
            random,
            3,
            10,
            1e2,
            1e-2,
            8,
            3,
            5,
            ["time"],
        )


def case_language_model():
    corpus, to_index, chars = _lyrics()
    for layer in (rnn.RNN(16), rnn.GRU(16), rnn.LSTM(16)):
        layer.initialize()
        model = d2l.RNNModel(layer, len(chars))
        d2l.train_and_predict_rnn_gluon(
            model,
            16,
            len(chars),
            mx.cpu(),
            corpus,
            chars,
            to_index,
            3,
            10,
            1e2,
            1e-2,
            8,
            3,
            5,
            ["time"],
        )


def case_optimizers_ch7():
    features, labels = nd.array(arrays((120, 5))), nd.array(arrays(120, 1))
    for name, options in (
        ("sgd", {"learning_rate": 0.05, "momentum": 0.9}),
        ("adagrad", {"learning_rate": 0.1}),
        ("rmsprop", {"learning_rate": 0.01, "gamma1": 0.9}),
        ("adadelta", {"rho": 0.9}),
        ("adam", {"learning_rate": 0.01}),
    ):
        d2l.train_gluon_ch7(name, options, features, labels, 10, 1)


def case_corr2d_and_onehot():
    return d2l.corr2d(nd.array(arrays((5, 6))), nd.array([[1.0, -1.0]])), d2l.to_onehot(
        nd.array([[0, 1], [2, 0]]), 4
    )


def case_iterators():
    corpus = list(range(30))
    return [[x, y] for x, y in d2l.data_iter_consecutive(corpus, 2, 6)]


def case_voc_crop():
    table = nd.zeros(256**3)
    table[128 * 256 * 256] = 1
    image = nd.array(np.random.RandomState(0).choice([0, 128], (6, 7, 3)))
    feature, label = d2l.voc_rand_crop(
        nd.array(arrays((10, 12, 3))), nd.array(arrays((10, 12, 3), 1)), 5, 6
    )
    return d2l.voc_label_indices(image, table), list(feature.shape), list(label.shape)
