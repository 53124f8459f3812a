import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn, rnn

from tests.programs_2_0.errors import error

T, N, C, H = 3, 2, 2, 3
X = onp.linspace(-1, 1, T * N * C).reshape(T, N, C).astype("float32")


def _filled(net):
    net.initialize()
    if isinstance(net, (rnn.RNN, rnn.LSTM, rnn.GRU)):
        net(np.zeros((T, N, C)))
    for i, (_, p) in enumerate(sorted(net.collect_params().items())):
        n = int(onp.prod(p.shape))
        p.set_data(
            np.array((onp.linspace(-0.5, 0.6, n) + 0.05 * i).reshape(p.shape), dtype="float32")
        )
    return net


def lstm_layer():
    net = _filled(rnn.LSTM(H, input_size=C))
    y = net(np.array(X))
    out, states = net(np.array(X), net.begin_state(batch_size=N))
    return y, out, states


def gru_layer():
    net = _filled(rnn.GRU(H, input_size=C))
    return net(np.array(X), net.begin_state(N))


def vanilla_layers():
    return [_filled(rnn.RNN(H, input_size=C, activation=a))(np.array(X)) for a in ("relu", "tanh")]


def layouts():
    net = _filled(rnn.LSTM(H, input_size=C, layout="NTC"))
    y, states = net(np.array(X).swapaxes(0, 1), net.begin_state(N))
    return y, [s.shape for s in states]


def bidirectional_layers():
    net = _filled(rnn.LSTM(H, input_size=C, bidirectional=True))
    y, states = net(np.array(X), net.begin_state(N))
    return y, [s.shape for s in states]


def stacked_layers():
    net = _filled(rnn.GRU(H, num_layers=2, input_size=C, dropout=0.0))
    return net(np.array(X), net.begin_state(N))


def parameters_of_layers():
    net = rnn.LSTM(H, num_layers=2, input_size=C)
    return {k: p.shape for k, p in net.collect_params().items()}


def parameters_of_bidirectional():
    net = rnn.GRU(H, bidirectional=True, input_size=C)
    return list(net.collect_params())


def deferred_input_size():
    net = rnn.LSTM(H)
    net.initialize(mx.init.Constant(0.1))
    y = net(np.array(X))
    return y, {k: p.shape for k, p in net.collect_params().items()}


def layer_reprs():
    return (
        repr(rnn.LSTM(3, 2, input_size=4)),
        repr(rnn.GRU(2)),
        repr(rnn.RNN(2, bidirectional=True)),
    )


def begin_states():
    net = rnn.LSTM(H, num_layers=2)
    return [s.shape for s in net.begin_state(4)], [i["shape"] for i in net.state_info(4)]


def begin_states_of_ones():
    net = rnn.GRU(H)
    return net.begin_state(2, func=np.ones)


def gradients_of_lstm():
    net = _filled(rnn.LSTM(H, input_size=C))
    x = np.array(X)
    x.attach_grad()
    with autograd.record():
        y = (net(x) ** 2).sum()
    y.backward()
    return x.grad, {k: p.grad() for k, p in sorted(net.collect_params().items())}


def gradients_of_gru():
    net = _filled(rnn.GRU(H, input_size=C))
    x = np.array(X)
    x.attach_grad()
    with autograd.record():
        y = (net(x) ** 2).sum()
    y.backward()
    return x.grad


def hybridized_layers():
    net = _filled(rnn.LSTM(H, input_size=C))
    a = net(np.array(X))
    net.hybridize()
    return a, net(np.array(X))


def wrong_state_shapes():
    net = _filled(rnn.LSTM(H, input_size=C))
    return error(net, np.array(X), [np.zeros((1, 1, H)), np.zeros((1, 1, H))])


def cells_step():
    found = []
    for kind in (rnn.RNNCell, rnn.LSTMCell, rnn.GRUCell):
        cell = _filled(kind(H, input_size=C))
        y, states = cell(np.array(X[0]), cell.begin_state(N))
        found += [y, states]
    return found


def cells_unrolled():
    cell = _filled(rnn.LSTMCell(H, input_size=C))
    outs, states = cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)
    lists, _ = cell.unroll(T, np.array(X), layout="TNC", merge_outputs=False)
    return outs, states, lists


def unroll_of_lists():
    cell = _filled(rnn.GRUCell(H, input_size=C))
    outs, states = cell.unroll(T, [np.array(x) for x in X])
    return outs, states


def unroll_with_valid_length():
    cell = _filled(rnn.GRUCell(H, input_size=C))
    return cell.unroll(
        T, np.array(X), layout="TNC", valid_length=np.array([1, 3]), merge_outputs=True
    )


def cell_equals_layer():
    layer, cell = rnn.LSTM(H, input_size=C), rnn.LSTMCell(H, input_size=C)
    layer.initialize(mx.init.Constant(0.2))
    cell.initialize(mx.init.Constant(0.2))
    a = layer(np.array(X))
    b, _ = cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)
    return a, b


def sequential_cells():
    cell = rnn.SequentialRNNCell()
    cell.add(rnn.LSTMCell(H, input_size=C))
    cell.add(rnn.GRUCell(2, input_size=H))
    _filled(cell)
    y, states = cell(np.array(X[0]), cell.begin_state(batch_size=N))
    return y, [s.shape for s in states], len(cell), list(cell.collect_params())


def hybrid_sequential_cells():
    cell = rnn.HybridSequentialRNNCell()
    cell.add(rnn.RNNCell(H, input_size=C))
    cell.add(rnn.RNNCell(H, input_size=H))
    _filled(cell)
    outs, _ = cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)
    return outs


def bidirectional_cells():
    cell = rnn.BidirectionalCell(rnn.LSTMCell(H, input_size=C), rnn.LSTMCell(H, input_size=C))
    _filled(cell)
    outs, states = cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)
    return outs, states, error(cell, np.array(X[0]), [])


def residual_cells():
    cell = rnn.ResidualCell(rnn.GRUCell(C, input_size=C))
    _filled(cell)
    return cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)


def zoneout_and_dropout_cells():
    cell = rnn.ZoneoutCell(rnn.RNNCell(H, input_size=C), 0.5, 0.5)
    _filled(cell)
    drop = rnn.DropoutCell(0.5)
    y, states = drop(np.array(X[0]), [])
    return cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)[0], y, states


def variational_dropout_cells():
    cell = rnn.VariationalDropoutCell(rnn.LSTMCell(H, input_size=C), 0.2, 0.2, 0.2)
    _filled(cell)
    return cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)[0]


def projected_cells():
    cell = _filled(rnn.LSTMPCell(4, 2, input_size=C))
    y, states = cell(np.array(X[0]), cell.begin_state(N))
    return y, [s.shape for s in states], list(cell.collect_params())


def convolutional_cells():
    found = []
    for kind in (rnn.Conv1DRNNCell, rnn.Conv1DLSTMCell, rnn.Conv1DGRUCell):
        cell = _filled(kind((1, 4), 2, 3, 3, i2h_pad=1))
        y, _ = cell(np.arange(8).reshape(2, 1, 4) * 0.1, cell.begin_state(2))
        found.append(y)
    return found


def convolutional_cells_2d():
    cell = _filled(rnn.Conv2DLSTMCell((1, 3, 3), 2, 3, 3, i2h_pad=1))
    y, states = cell(np.ones((1, 1, 3, 3)), cell.begin_state(1))
    return y, [s.shape for s in states]


def cell_names():
    cell = rnn.LSTMCell(H, input_size=C)
    return {k: p.shape for k, p in cell.collect_params().items()}, repr(cell)


def own_cell():
    class Gate(rnn.HybridRecurrentCell):
        def __init__(self, units, in_units):
            super().__init__()
            self.units = units
            self.i2h = gluon.Parameter("i2h", shape=(in_units, units))
            self.h2h = gluon.Parameter("h2h", shape=(units, units))

        def state_info(self, batch_size=0):
            return [{"shape": (batch_size, self.units), "__layout__": "NC"}]

        def forward(self, x, states):
            z = npx.sigmoid(np.dot(x, self.i2h.data()))
            h = z * states[0] + (1 - z) * np.tanh(np.dot(states[0], self.h2h.data()) + x[:, :1])
            return h, [h]

    cell = _filled(Gate(H, C))
    return cell.unroll(T, np.array(X), layout="TNC", merge_outputs=True)


def state_of_cell_reset():
    cell = _filled(rnn.LSTMCell(H, input_size=C))
    a, _ = cell.unroll(2, np.array(X[:2]), layout="TNC", merge_outputs=True)
    cell.reset()
    b, _ = cell.unroll(2, np.array(X[:2]), layout="TNC", merge_outputs=True)
    return bool((a == b).all())


def modifier_of_modifier():
    cell = rnn.ResidualCell(rnn.RNNCell(C, input_size=C))
    return list(cell.collect_params()), [i["shape"] for i in cell.state_info(2)]


def language_model():
    class Model(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embed, self.rnn, self.out = (
                nn.Embedding(5, C),
                rnn.LSTM(H),
                nn.Dense(5, flatten=False),
            )

        def forward(self, x, states):
            y, states = self.rnn(self.embed(x), states)
            return self.out(y), states

        def begin_state(self, n):
            return self.rnn.begin_state(n)

    net = Model()
    net.initialize(mx.init.Constant(0.1))
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    states = net.begin_state(1)
    loss_fn = gluon.loss.SoftmaxCELoss()
    found = []
    for _ in range(3):
        states = [s.detach() for s in states]
        with autograd.record():
            y, states = net(np.array([[1], [2], [3]]), states)
            loss = loss_fn(y.reshape(-1, 5), np.array([2, 3, 4])).mean()
        loss.backward()
        t.step(1)
        found.append(loss)
    return found, states


def save_and_load_layers():
    a, b = _filled(rnn.GRU(H, input_size=C)), rnn.GRU(H, input_size=C)
    a.save_parameters("gru.params")
    b.initialize()
    b(np.array(X))
    b.load_parameters("gru.params")
    return sorted(npx.load("gru.params")), a(np.array(X)), b(np.array(X))


def export_of_layer():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.rnn = rnn.LSTM(H, input_size=C)

        def forward(self, x):
            return self.rnn(x)[-1]

    net = Net()
    net.initialize()
    net(np.array(X))
    _filled(net.rnn)
    net.hybridize()
    y = net(np.array(X))
    net.export("rnn")
    other = gluon.SymbolBlock.imports("rnn-symbol.json", ["data"], "rnn-0000.params")
    return y, other(np.array(X))
