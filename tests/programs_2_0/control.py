import mxnet as mx
from mxnet import autograd, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error


def running_sums():
    outs, state = npx.foreach(lambda x, s: (x + s, x + s), np.arange(6).reshape(3, 2), np.zeros(2))
    return outs, state


def several_states():
    def body(x, states):
        a, b = states
        return [a + x, b * x], [a + x, b * x]

    outs, states = npx.foreach(body, np.array([[1.0], [2.0], [3.0]]), [np.zeros(1), np.ones(1)])
    return outs, states


def several_data():
    def body(xs, s):
        return xs[0] * xs[1], s + xs[0]

    return npx.foreach(body, [np.arange(3).reshape(3, 1), np.ones((3, 1)) * 2], np.zeros(1))


def outputs_only():
    return npx.foreach(lambda x, s: (x * 2, s), np.ones((2, 2)), [])


def foreach_gradients():
    x, w = np.array([[1.0], [2.0], [3.0]]), np.array([2.0])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        outs, state = npx.foreach(
            lambda v, s: (s[0] * s[1], [s[0] * s[1] + v, s[1]]), x, [np.zeros(1), w]
        )
        y = state[0] + outs.sum()
    y.backward()
    return y, x.grad, w.grad


def while_loop_counts():
    outs, states = npx.while_loop(
        cond=lambda i, s: i <= 4,
        func=lambda i, s: ([i * i], [i + 1, s + i]),
        loop_vars=[np.array([1.0]), np.array([0.0])],
        max_iterations=6,
    )
    return outs[0].shape, outs[0][:4], states


def while_loop_stops_at_limit():
    outs, states = npx.while_loop(
        lambda i: i < 100, lambda i: (i, [i + 1]), [np.array([0.0])], max_iterations=3
    )
    return outs, states


def while_loop_never_runs():
    outs, states = npx.while_loop(
        lambda i: i < 0, lambda i: (i, [i + 1]), [np.array([0.0])], max_iterations=3
    )
    return states


def cond_branches():
    found = []
    for a, b in ((1.0, 2.0), (3.0, 2.0)):
        x, y = np.array([a]), np.array([b])
        found.append(npx.cond(lambda x, y: x < y, lambda x, y: x + y, lambda x, y: x * y, [x, y]))
    return found


def cond_gradients():
    found = []
    for v in (1.0, -2.0):
        x = np.array([v])
        x.attach_grad()
        with autograd.record():
            y = npx.cond(lambda x: x > 0, lambda x: x * 2, lambda x: x * x, [x])
        y.backward()
        found.append(x.grad)
    return found


def cond_in_block():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return npx.cond(lambda x: x.sum() > 0, lambda x: x + 1, lambda x: x - 1, [x])

    net = Net()
    net.hybridize()
    return net(np.ones(2)), net(-np.ones(2))


def nested_foreach():
    def outer(row, s):
        outs, inner = npx.foreach(lambda v, t: (v * 2, t + v), row, s)
        return outs, inner

    return npx.foreach(outer, np.arange(6).reshape(2, 3, 1), np.zeros(1))


def legacy_foreach():
    npx.reset_np()
    outs, state = mx.nd.contrib.foreach(
        lambda x, s: (x + s, x + s), mx.nd.array([1, 2, 3]), mx.nd.array([0])
    )
    npx.set_np()
    return outs, state


def legacy_while_and_cond():
    npx.reset_np()
    outs, states = mx.nd.contrib.while_loop(
        lambda i: i < 3, lambda i: (i, [i + 1]), [mx.nd.array([0])], max_iterations=4
    )
    x = mx.nd.array([1])
    c = mx.nd.contrib.cond(x > 0, lambda: x * 3, lambda: x)
    npx.set_np()
    return states, c


def scan_of_recurrence():
    w = np.array([[0.5, 0.1], [0.0, 0.9]])
    outs, last = npx.foreach(
        lambda x, s: (np.tanh(x + np.dot(s[0], s[1])), [np.tanh(x + np.dot(s[0], s[1])), s[1]]),
        np.ones((4, 1, 2)),
        [np.zeros((1, 2)), w],
    )
    return outs, last


def body_errors():
    return (
        error(npx.foreach, lambda x, s: x, np.ones((2, 2)), np.zeros(2)),
        error(npx.while_loop, lambda i: i < 3, lambda i: (i, [i + 1]), [np.zeros(1)]),
    )


def newton_by_python():
    x = np.array([2.0])
    for _ in range(5):
        x = x - (x * x - 2) / (2 * x)
    return x


def early_exit_by_item():
    x, n = np.array(1.0), 0
    while x.item() < 50:
        x = x * 3
        n += 1
    return n, x


def greedy_decoding():
    table = np.array([[0.1, 0.9, 0.0], [0.2, 0.1, 0.7], [1.0, 0.0, 0.0]])
    token, path = 0, []
    for _ in range(4):
        token = int(table[token].argmax())
        path.append(token)
    return path


def beam_by_topk():
    scores = np.log(np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]))
    total = np.array([[0.0], [-0.5]]) + scores
    values, indices = npx.topk(total.reshape(-1), k=2, ret_typ="both")
    return values, indices, np.floor(indices / 3), np.mod(indices, 3)


def foreach_state_shapes():
    return npx.foreach(
        lambda x, s: (s[0], [np.concatenate([s[0][1:], x.reshape(1)])]), np.arange(4), [np.zeros(3)]
    )


def loop_unrolled_equals_foreach():
    x = np.arange(4).reshape(4, 1) * 0.5
    s, outs = np.zeros(1), []
    for v in x:
        s = s * 0.5 + v
        outs.append(s)
    found, last = npx.foreach(lambda v, t: (t * 0.5 + v,) * 2, x, np.zeros(1))
    return np.stack(outs), found, last
