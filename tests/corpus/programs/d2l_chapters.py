"""Dive into Deep Learning (d2l 0.17.6): each chapter's training loop, by the book's functions.

The book's data must be downloaded; here each loop gets small data of the same form.
"""

import collections

import matplotlib as mpl

mpl.use("agg")

import numpy as onp
from corpus_cases import arrays, fill
from d2l import mxnet as d2l
from mxnet import autograd, gluon, init, np, npx
from mxnet.gluon import nn, rnn

npx.set_np()
DEVICE = d2l.cpu() if hasattr(d2l, "cpu") else npx.cpu()
d2l.use_svg_display = lambda: None
TEXT = [
    "the time traveller for so it will be convenient to speak of him was expounding a matter to us"
] * 12


def _images(batch=8, count=48, extent=28):
    x = np.array(arrays((count, 1, extent, extent)))
    y = np.array(onp.arange(count) % 10).astype("float32")
    return d2l.load_array((x, y), batch, is_train=False)


def case_linear_regression_from_scratch():
    w, b = np.array([2, -3.4]), 4.2
    features, labels = d2l.synthetic_data(w, b, 200)
    weight, bias = np.zeros((2, 1)), np.zeros(1)
    weight.attach_grad()
    bias.attach_grad()
    for _ in range(6):
        for x, y in d2l.load_array((features, labels), 10):
            with autograd.record():
                loss = d2l.squared_loss(d2l.linreg(x, weight, bias), y)
            loss.backward()
            d2l.sgd([weight, bias], 0.1, 10)
    assert onp.abs(weight.asnumpy().ravel() - [2, -3.4]).max() < 0.05
    assert abs(float(bias.item()) - 4.2) < 0.05


def case_softmax_regression_ch3():
    net = nn.Sequential()
    net.add(nn.Dense(10))
    net.initialize()
    data = _images()
    net(next(iter(data))[0])
    fill(net.collect_params())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    figures = [d2l.train_epoch_ch3(net, data, loss, trainer.step) for _ in range(3)]
    return figures, d2l.evaluate_accuracy(net, data), d2l.evaluate_loss(net, data, loss)


def case_train_ch3_draws_its_figure():
    net = nn.Sequential()
    net.add(nn.Dense(64, activation="relu"), nn.Dropout(0.2), nn.Dense(10))
    net.initialize(init.Normal(sigma=0.01))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    data = _images()
    d2l.train_epoch_ch3(net, data, gluon.loss.SoftmaxCrossEntropyLoss(), trainer.step)
    animator = d2l.Animator(xlabel="epoch", xlim=[1, 2], legend=["train"])
    animator.add(1, (0.5,))
    assert len(d2l.get_fashion_mnist_labels([1, 2])) == 2


def case_lenet_ch6():
    net = nn.Sequential()
    net.add(
        nn.Conv2D(channels=6, kernel_size=5, padding=2, activation="sigmoid"),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Conv2D(channels=16, kernel_size=5, activation="sigmoid"),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Dense(120, activation="sigmoid"),
        nn.Dense(84, activation="sigmoid"),
        nn.Dense(10),
    )
    d2l.train_ch6(net, _images(), _images(), 2, 0.9, DEVICE)
    return d2l.evaluate_accuracy_gpu(net, _images()) >= 0


def case_residual_network():
    net = nn.Sequential()
    net.add(
        nn.Conv2D(8, 3, padding=1),
        nn.BatchNorm(),
        nn.Activation("relu"),
        d2l.Residual(8),
        d2l.Residual(16, use_1x1conv=True, strides=2),
    )
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    d2l.train_ch6(net, _images(), _images(), 1, 0.05, DEVICE)
    return [list(p.shape) for p in net.collect_params().values()]


def case_corr2d_and_learned_kernel():
    x, kernel = np.ones((6, 8)), np.array([[1.0, -1.0]])
    x[:, 2:6] = 0
    y = d2l.corr2d(x, kernel)
    conv = nn.Conv2D(1, kernel_size=(1, 2), use_bias=False)
    conv.initialize(init.Constant(0.1))
    for _ in range(10):
        with autograd.record():
            loss = (conv(x.reshape(1, 1, 6, 8)) - y.reshape(1, 1, 6, 7)) ** 2
        loss.backward()
        conv.weight.data()[:] -= 3e-2 * conv.weight.grad()
    return y, conv.weight.data()


def _vocabulary():
    tokens = d2l.tokenize(TEXT, "char")
    return tokens, d2l.Vocab(tokens)


def _language_batches(random=False):
    tokens, vocab = _vocabulary()
    corpus = [vocab[token] for line in tokens for token in line]

    class Batches:
        def __init__(self):
            self.data_iter_fn = d2l.seq_data_iter_random if random else d2l.seq_data_iter_sequential

        def __iter__(self):
            return self.data_iter_fn(corpus, 8, 10)

    return Batches(), vocab


def case_recurrent_network_ch8():
    results = []
    for layer in (rnn.RNN(16), rnn.GRU(16), rnn.LSTM(16), rnn.LSTM(16, num_layers=2)):
        batches, vocab = _language_batches()
        net = d2l.RNNModel(layer, len(vocab))
        d2l.train_ch8(net, batches, vocab, 0.5, 2, DEVICE)
        results.append(len(d2l.predict_ch8("time ", 5, net, vocab, DEVICE)))
    return results


def case_recurrent_network_from_scratch():
    batches, vocab = _language_batches(random=True)

    def get_params(vocab_size, num_hiddens, device):
        params = [
            np.random.normal(scale=0.01, size=shape, ctx=device)
            for shape in ((vocab_size, num_hiddens), (num_hiddens, num_hiddens))
        ]
        params += [
            np.zeros(num_hiddens, ctx=device),
            np.random.normal(scale=0.01, size=(num_hiddens, vocab_size), ctx=device),
            np.zeros(vocab_size, ctx=device),
        ]
        for param in params:
            param.attach_grad()
        return params

    def begin(batch_size, num_hiddens, device):
        return (np.zeros((batch_size, num_hiddens), ctx=device),)

    def forward(inputs, state, params):
        w_xh, w_hh, b_h, w_hq, b_q = params
        (h,) = state
        outputs = []
        for x in inputs:
            h = np.tanh(np.dot(x, w_xh) + np.dot(h, w_hh) + b_h)
            outputs.append(np.dot(h, w_hq) + b_q)
        return np.concatenate(outputs, axis=0), (h,)

    net = d2l.RNNModelScratch(len(vocab), 16, DEVICE, get_params, begin, forward)
    d2l.train_ch8(net, batches, vocab, 1, 3, DEVICE, use_random_iter=True)


def _translation():
    source = [line.split() for line in ("go .", "run !", "i am here .", "he is calm .")] * 8
    target = [line.split() for line in ("va !", "cours !", "je suis ici .", "il est calme .")] * 8
    src_vocab = d2l.Vocab(source, min_freq=1, reserved_tokens=["<pad>", "<bos>", "<eos>"])
    tgt_vocab = d2l.Vocab(target, min_freq=1, reserved_tokens=["<pad>", "<bos>", "<eos>"])
    parts = (*d2l.build_array_nmt(source, src_vocab, 7), *d2l.build_array_nmt(target, tgt_vocab, 7))
    return d2l.load_array(parts, 8), src_vocab, tgt_vocab


class _Decoder(d2l.Decoder):
    """The book's decoder without attention, which it does not save in its package."""

    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = rnn.GRU(num_hiddens, num_layers)
        self.dense = nn.Dense(vocab_size, flatten=False)

    def init_state(self, enc_outputs, *args):
        return enc_outputs[1]

    def forward(self, x, state):
        x = self.embedding(x).swapaxes(0, 1)
        context = state[0][-1]
        context = np.broadcast_to(context, (x.shape[0], context.shape[0], context.shape[1]))
        output, state = self.rnn(np.concatenate((x, context), 2), state)
        return self.dense(output).swapaxes(0, 1), state


def case_sequence_to_sequence():
    data, src_vocab, tgt_vocab = _translation()
    net = d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(len(src_vocab), 8, 16, 2), _Decoder(len(tgt_vocab), 8, 16, 2)
    )
    d2l.train_seq2seq(net, data, 0.01, 10, tgt_vocab, DEVICE)
    translation, _ = d2l.predict_seq2seq(net, "go .", src_vocab, tgt_vocab, 7, DEVICE)
    return d2l.bleu("va !", "va !", 2), isinstance(translation, str)


class _AttentionDecoder(d2l.AttentionDecoder):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers, dropout=0, **kwargs):
        super().__init__(**kwargs)
        self.attention = d2l.AdditiveAttention(num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = rnn.GRU(num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Dense(vocab_size, flatten=False)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        outputs, hidden = enc_outputs
        return outputs.swapaxes(0, 1), hidden, enc_valid_lens

    def forward(self, x, state):
        enc_outputs, hidden, lens = state
        x = self.embedding(x).swapaxes(0, 1)
        outputs, self._weights = [], []
        for step in x:
            query = np.expand_dims(hidden[0][-1], axis=1)
            context = self.attention(query, enc_outputs, enc_outputs, lens)
            step = np.concatenate((context, np.expand_dims(step, axis=1)), axis=-1)
            out, hidden = self.rnn(step.swapaxes(0, 1), hidden)
            outputs.append(out)
            self._weights.append(self.attention.attention_weights)
        return self.dense(np.concatenate(outputs, axis=0)).swapaxes(0, 1), [
            enc_outputs,
            hidden,
            lens,
        ]

    @property
    def attention_weights(self):
        return self._weights


def case_attention_decoder():
    data, src_vocab, tgt_vocab = _translation()
    net = d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(len(src_vocab), 8, 16, 2), _AttentionDecoder(len(tgt_vocab), 8, 16, 2)
    )
    d2l.train_seq2seq(net, data, 0.01, 4, tgt_vocab, DEVICE)
    _, weights = d2l.predict_seq2seq(
        net, "go .", src_vocab, tgt_vocab, 7, DEVICE, save_attention_weights=True
    )
    return len(weights) > 0


def case_masked_softmax():
    return d2l.masked_softmax(np.array(arrays((2, 2, 4))), np.array([2, 3])), d2l.masked_softmax(
        np.array(arrays((2, 2, 4), 1)), np.array([[1, 3], [2, 4]])
    )


class _TransformerDecoder(d2l.AttentionDecoder):
    def __init__(self, vocab_size, num_hiddens, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos = d2l.PositionalEncoding(num_hiddens, 0.0)
        self.attention1 = d2l.MultiHeadAttention(num_hiddens, num_heads, 0.0)
        self.norm1 = d2l.AddNorm(0.0)
        self.attention2 = d2l.MultiHeadAttention(num_hiddens, num_heads, 0.0)
        self.norm2 = d2l.AddNorm(0.0)
        self.ffn = d2l.PositionWiseFFN(32, num_hiddens)
        self.norm3 = d2l.AddNorm(0.0)
        self.dense = nn.Dense(vocab_size, flatten=False)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, None]

    def forward(self, x, state):
        x = self.pos(self.embedding(x) * self.num_hiddens**0.5)
        keys = x if state[2] is None else np.concatenate((state[2], x), axis=1)
        state[2] = keys
        lens = (
            np.tile(np.arange(1, x.shape[1] + 1), (x.shape[0], 1))
            if autograd.is_training()
            else None
        )
        y = self.norm1(x, self.attention1(x, keys, keys, lens))
        z = self.norm2(y, self.attention2(y, state[0], state[0], state[1]))
        return self.dense(self.norm3(z, self.ffn(z))), state

    @property
    def attention_weights(self):
        return []


def case_transformer():
    data, src_vocab, tgt_vocab = _translation()
    encoder = d2l.TransformerEncoder(len(src_vocab), 16, 32, 4, 2, 0.0)
    net = d2l.EncoderDecoder(encoder, _TransformerDecoder(len(tgt_vocab), 16, 4))
    d2l.train_seq2seq(net, data, 0.005, 4, tgt_vocab, DEVICE)
    return isinstance(
        d2l.predict_seq2seq(net, "he is calm .", src_vocab, tgt_vocab, 7, DEVICE)[0], str
    )


def case_optimizers_ch11():
    data = [(np.array(arrays((10, 5), i)), np.array(arrays(10, 100 + i))) for i in range(20)]
    return [d2l.train_2d(lambda x1, x2, s1, s2: (0.5 * x1, 0.5 * x2, 0, 0))] + [
        _concise(name, parameters, data)
        for name, parameters in (
            ("sgd", {"learning_rate": 0.05, "momentum": 0.9}),
            ("adagrad", {"learning_rate": 0.1}),
            ("rmsprop", {"learning_rate": 0.01, "gamma1": 0.9}),
            ("adadelta", {"rho": 0.9}),
            ("adam", {"learning_rate": 0.01}),
        )
    ]


def _concise(name, parameters, data):
    d2l.train_concise_ch11(name, parameters, data, 1)


def case_scratch_optimizer_ch11():
    def momentum(params, states, hyperparams):
        for p, v in zip(params, states):
            v[:] = hyperparams["momentum"] * v + p.grad
            p[:] -= hyperparams["lr"] * v

    data = [(np.array(arrays((10, 5), i)), np.array(arrays(10, 100 + i))) for i in range(20)]
    states = np.zeros((5, 1)), np.zeros(1)
    d2l.train_ch11(momentum, states, {"lr": 0.02, "momentum": 0.5}, data, 5)


def case_several_devices_ch13():
    net = d2l.resnet18(10)
    devices = [npx.cpu(0), npx.cpu(1)] if npx.num_gpus() == 0 else d2l.try_all_gpus()
    net.initialize(init=init.Normal(sigma=0.01), ctx=devices)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    d2l.train_ch13(
        net,
        _images(8, 48),
        _images(8, 48),
        gluon.loss.SoftmaxCrossEntropyLoss(),
        trainer,
        1,
        devices,
    )


def case_anchor_boxes():
    anchors = d2l.multibox_prior(np.zeros((1, 3, 8, 8)), sizes=[0.75, 0.5], ratios=[1, 2])
    truth = np.array([[0, 0.1, 0.08, 0.52, 0.92], [1, 0.55, 0.2, 0.9, 0.88]])
    some = np.array(
        [
            [0, 0.1, 0.2, 0.3],
            [0.15, 0.2, 0.4, 0.4],
            [0.63, 0.05, 0.88, 0.98],
            [0.66, 0.45, 0.8, 0.8],
            [0.57, 0.3, 0.92, 0.9],
        ]
    )
    targets = d2l.multibox_target(np.expand_dims(some, axis=0), np.expand_dims(truth, axis=0))
    probabilities = np.array([[0] * 4, [0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.3, 0.9]])
    boxes = np.array(
        [
            [0.1, 0.08, 0.52, 0.92],
            [0.08, 0.2, 0.56, 0.95],
            [0.15, 0.3, 0.62, 0.91],
            [0.55, 0.2, 0.9, 0.88],
        ]
    )
    found = d2l.multibox_detection(
        np.expand_dims(probabilities, axis=0),
        np.expand_dims(np.zeros(16).reshape(4, 4), axis=0),
        np.expand_dims(boxes, axis=0),
        nms_threshold=0.5,
    )
    return (
        anchors,
        targets,
        found,
        d2l.box_iou(boxes, some),
        d2l.box_center_to_corner(d2l.box_corner_to_center(boxes)),
    )


class _SSD(nn.Block):
    """The book's tiny single-shot detector: two scales, with the book's anchors."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        for i in range(2):
            block = nn.Sequential()
            block.add(
                nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2)
            )
            setattr(self, f"block{i}", block)
            setattr(self, f"classes{i}", nn.Conv2D(4 * 2, 3, padding=1))
            setattr(self, f"boxes{i}", nn.Conv2D(4 * 4, 3, padding=1))

    def forward(self, x):
        anchors, classes, boxes = [], [], []
        for i in range(2):
            x = getattr(self, f"block{i}")(x)
            anchors.append(d2l.multibox_prior(x, sizes=[0.2, 0.37], ratios=[1, 2, 0.5]))
            classes.append(npx.batch_flatten(getattr(self, f"classes{i}")(x).transpose(0, 2, 3, 1)))
            boxes.append(npx.batch_flatten(getattr(self, f"boxes{i}")(x).transpose(0, 2, 3, 1)))
        classes = np.concatenate(classes, axis=1)
        return (
            np.concatenate(anchors, axis=1),
            classes.reshape(classes.shape[0], -1, 2),
            np.concatenate(boxes, axis=1),
        )


def case_single_shot_detector():
    net = _SSD()
    net.initialize(init=init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 5e-4})
    class_loss, box_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L1Loss()
    x, y = (
        np.array(arrays((2, 3, 16, 16))),
        np.array([[[0, 0.1, 0.1, 0.5, 0.6]], [[0, 0.4, 0.3, 0.9, 0.8]]]),
    )
    for _ in range(2):
        with autograd.record():
            anchors, classes, boxes = net(x)
            labels, masks, targets = (
                d2l.multibox_target(anchors, y)[2],
                d2l.multibox_target(anchors, y)[1],
                d2l.multibox_target(anchors, y)[0],
            )
            loss = class_loss(classes, labels) + box_loss(boxes * masks, targets * masks)
        loss.backward()
        trainer.step(2)
    return anchors


def case_semantic_segmentation_labels():
    table = d2l.voc_colormap2label()
    image = np.array(onp.random.RandomState(0).choice([0, 128], (6, 7, 3)).astype("float32"))
    feature, label = d2l.voc_rand_crop(
        np.array(arrays((10, 12, 3))), np.array(arrays((10, 12, 3), 1)), 5, 6
    )
    return d2l.voc_label_indices(image, table), list(feature.shape), list(label.shape)


def case_word_embedding_batches():
    centers_contexts = (1, [2, 2], [3, 3, 3, 3]), (1, [2, 2, 2], [3, 3])
    batch = d2l.batchify(centers_contexts)
    generator = d2l.RandomGenerator([2, 3, 4])
    assert {generator.draw() for _ in range(100)} <= {1, 2, 3}
    net = nn.Sequential()
    net.add(nn.Embedding(input_dim=20, output_dim=4), nn.Embedding(input_dim=20, output_dim=4))
    net.initialize(init.Constant(0.1))
    v, u = net[0](batch[0]), net[1](batch[1])
    return list(batch), npx.batch_dot(v, u.swapaxes(1, 2))


def case_bert():
    net = d2l.BERTModel(50, 16, 32, 2, 2, 0.1, max_len=20)
    net.initialize(init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    loss = gluon.loss.SoftmaxCELoss()
    tokens = np.array(onp.random.RandomState(0).randint(0, 50, (4, 12)))
    segments = np.zeros((4, 12))
    lens = np.array([12, 8, 10, 12])
    positions = np.array([[1, 5, 2]] * 4)
    for _ in range(3):
        with autograd.record():
            losses = d2l._get_batch_loss_bert(
                net,
                loss,
                50,
                [tokens],
                [segments],
                [lens],
                [positions],
                [np.ones((4, 3))],
                [np.array([[7, 8, 9]] * 4)],
                [np.array([0, 1, 0, 1])],
            )
            total = losses[2][0]
        total.backward()
        trainer.step(1)
    encoded, mlm, nsp = net(tokens, segments, lens, positions)
    return (
        list(encoded.shape),
        list(mlm.shape),
        list(nsp.shape),
        list(d2l.get_tokens_and_segments(["a", "b"], ["c"])),
    )


def case_generative_adversarial_network():
    net_g, net_d = nn.Sequential(), nn.Sequential()
    net_g.add(nn.Dense(2))
    net_d.add(nn.Dense(5, activation="tanh"), nn.Dense(3, activation="tanh"), nn.Dense(1))
    loss = gluon.loss.SigmoidBCELoss()
    net_d.initialize(init=init.Normal(0.02), force_reinit=True)
    net_g.initialize(init=init.Normal(0.02), force_reinit=True)
    trainer_d = gluon.Trainer(net_d.collect_params(), "adam", {"learning_rate": 0.05})
    trainer_g = gluon.Trainer(net_g.collect_params(), "adam", {"learning_rate": 0.005})
    for _ in range(3):
        x, z = np.array(arrays((8, 2))), np.random.normal(0, 1, size=(8, 2))
        d2l.update_D(x, z, net_d, net_g, loss, trainer_d)
        d2l.update_G(z, net_d, net_g, loss, trainer_g)


def case_recommenders():
    bpr, hinge = d2l.BPRLoss(), d2l.HingeLossbRec()
    positive, negative = np.array(arrays(5)), np.array(arrays(5, 1))

    class Factors(nn.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.users, self.items = nn.Embedding(6, 4), nn.Embedding(7, 4)

        def forward(self, user, item):
            return (self.users(user) * self.items(item)).sum(axis=1)

    net = Factors()
    net.initialize(init.Normal(0.01))
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    data = gluon.data.DataLoader(
        gluon.data.ArrayDataset(
            np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]), np.array([3.0, 4.0, 5.0, 1.0])
        ),
        batch_size=2,
    )
    d2l.train_recsys_rating(
        net,
        data,
        data,
        gluon.loss.L2Loss(),
        trainer,
        2,
        [DEVICE],
        evaluator=lambda net, data, devices: 1.0,
    )
    return bpr(positive, negative), hinge(positive, negative), d2l.hit_and_auc([3, 1, 2], {1}, 2)


def case_accumulators_and_counts():
    metric = d2l.Accumulator(2)
    metric.add(np.array([1.5]).sum(), 2)
    timer = d2l.Timer()
    timer.stop()
    return (
        metric[0],
        metric[1],
        d2l.accuracy(np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1])),
        collections.Counter(d2l.count_corpus([["a", "b"], ["a"]])),
    )
