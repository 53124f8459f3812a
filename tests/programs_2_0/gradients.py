import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error


def simple_chain():
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = (x * x + 2 * x).sum()
    y.backward()
    return y, x.grad


def head_gradients():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x**3
    y.backward(np.array([1.0, 0.5]))
    return x.grad


def several_heads():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y, z = x * 2, x * x
    autograd.backward([y, z])
    a = x.grad.copy()
    with autograd.record():
        y, z = x * 2, x * x
    autograd.backward([y, z], [np.array([1.0, 1.0]), np.array([10.0, 10.0])])
    return a, x.grad


def gradient_requests():
    x = np.ones(2)
    x.attach_grad(grad_req="add")
    for _ in range(3):
        with autograd.record():
            y = x * 2
        y.backward()
    a = x.grad.copy()
    x.grad[:] = 0
    return a, x.grad


def null_request():
    x, w = np.ones(2), np.ones(2)
    w.attach_grad()
    x.attach_grad(grad_req="null")
    with autograd.record():
        y = x * w
    y.backward()
    return w.grad, x.grad


def no_grad_attached():
    x = np.ones(2)
    return x.grad, error(lambda: (x * 2).backward())


def backward_outside_record():
    x = np.ones(2)
    x.attach_grad()
    y = x * 2
    return error(y.backward)


def backward_twice():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    a = x.grad.copy()
    y.backward()
    return a, x.grad, error(y.backward)


def recording_states():
    found = [autograd.is_recording(), autograd.is_training()]
    with autograd.record():
        found += [autograd.is_recording(), autograd.is_training()]
        with autograd.pause():
            found += [autograd.is_recording(), autograd.is_training()]
        with autograd.predict_mode():
            found += [autograd.is_recording(), autograd.is_training()]
    with autograd.record(train_mode=False):
        found += [autograd.is_recording(), autograd.is_training()]
    with autograd.train_mode():
        found += [autograd.is_recording(), autograd.is_training()]
    return found


def setting_states():
    a = autograd.set_recording(True)
    b = autograd.set_training(True)
    c, d = autograd.set_recording(False), autograd.set_training(False)
    return a, b, c, d


def pause_detaches():
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
        with autograd.pause():
            z = y * 3
        w = y * z
    w.backward()
    return x.grad


def detached_branch():
    x = np.array([3.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
        z = y.detach() * x
    z.backward()
    return x.grad


def grad_function():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x**3
    g = autograd.grad(y, [x])
    return g, x.grad


def grad_of_one_variable():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x**2).sum()
    g = autograd.grad(y, x)
    return g


def second_order():
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = np.reciprocal(x)
        g = autograd.grad(y, [x], create_graph=True, retain_graph=True)[0]
        z = (g * g).sum()
    z.backward()
    return g, x.grad


def second_order_of_functions():
    found = []
    for f in (npx.sigmoid, npx.relu, np.square, np.reciprocal, np.abs):
        x = np.array([0.3, 0.7])
        x.attach_grad()
        with autograd.record():
            g = autograd.grad(f(x), [x], create_graph=True, retain_graph=True)[0]
        g.backward()
        found.append(x.grad)
    return found


def intermediate_gradient():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        y.attach_grad()
        z = (y * y).sum()
    z.backward()
    return y.grad, x.grad


def drop_grad_forms():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        y.attach_grad()
        z = y * 3
    z.backward()
    y.drop_grad()
    return x.grad, y.grad


def grad_buffers_are_kept():
    x = np.ones(2)
    x.attach_grad()
    g = x.grad
    with autograd.record():
        y = x * 5
    y.backward()
    return g, x.grad


def attach_grad_clears():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 5
    y.backward()
    x.attach_grad()
    return x.grad


def mark_variables_by_hand():
    x, g = np.ones(2), np.zeros(2)
    autograd.mark_variables([x], [g])
    with autograd.record():
        y = x * 4
    y.backward()
    return g


def in_place_under_record():
    def change():
        x = np.ones(2)
        x.attach_grad()
        with autograd.record():
            y = x * 2
            y += x
        return y

    return error(change)


def in_place_on_leaf():
    x = np.ones(2)
    x.attach_grad()

    def change():
        with autograd.record():
            y = x * 1
            x[:] = 3
            return y

    return error(change)


def copies_and_types():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x.copy() + x.astype("float64").astype("float32") * 2
    y.backward()
    return x.grad


def gradient_dtypes():
    found = []
    for t in ("float16", "float32", "float64"):
        x = np.ones(2, dtype=t)
        x.attach_grad()
        with autograd.record():
            y = x * x
        y.backward()
        found.append(x.grad)
    return found


def mixed_gradient_dtypes():
    a, b = np.ones(2, dtype="float16"), np.ones(2)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = a.astype("float32") * b
    y.backward()
    return a.grad, b.grad


def broadcast_gradients():
    a, b, c = np.ones((2, 3)), np.ones(3), np.ones((2, 1))
    for x in (a, b, c):
        x.attach_grad()
    with autograd.record():
        y = a * b * 2 + c
    y.backward()
    return a.grad, b.grad, c.grad


def zero_dim_gradients():
    x = np.array(3.0)
    x.attach_grad()
    with autograd.record():
        y = x * x
    y.backward()
    return x.grad


def zero_size_gradients():
    x = np.ones((0, 2))
    x.attach_grad()
    with autograd.record():
        y = (x * 2).sum()
    y.backward()
    return x.grad


def python_control_flow():
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x
        while y < 100:
            y = y * 2
        if y > 120:
            y = y * 3
    y.backward()
    return y, x.grad


def list_accumulation():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.stack([x * i for i in range(4)]).sum()
    y.backward()
    return x.grad


class Square(autograd.Function):
    """x * x, with a tripled gradient."""

    def forward(self, x):
        self.save_for_backward(x)
        return x * x

    def backward(self, dy):
        (x,) = self.saved_tensors
        return dy * 2 * x * 3


def own_function():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = Square()(x) * 2
    y.backward()
    return y, x.grad


class TwoOut(autograd.Function):
    """Sum and product."""

    def forward(self, a, b):
        self.a, self.b = a, b
        return a + b, a * b

    def backward(self, ds, dp):
        return ds + dp * self.b, ds + dp * self.a


def own_function_of_two():
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        s, p = TwoOut()(a, b)
        y = s * 2 + p * 3
    y.backward()
    return a.grad, b.grad


def straight_through():
    class Sign(autograd.Function):
        def forward(self, x):
            return np.sign(x)

        def backward(self, dy):
            return dy

    x = np.array([-0.3, 0.8])
    x.attach_grad()
    with autograd.record():
        y = (Sign()(x) * np.array([2.0, 3.0])).sum()
    y.backward()
    return x.grad


def gradient_reversal():
    class Reverse(autograd.Function):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def forward(self, x):
            return x.copy()

        def backward(self, dy):
            return -self.factor * dy

    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = Reverse(0.5)(x * 2).sum()
    y.backward()
    return x.grad


def own_function_of_wrong_number():
    class Bad(autograd.Function):
        def forward(self, a, b):
            return a + b

        def backward(self, dy):
            return dy

    a, b = np.ones(1), np.ones(1)
    a.attach_grad()
    with autograd.record():
        y = Bad()(a, b)
    return error(y.backward)


class Scale(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 4)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 4)


@mx.operator.register("scale_by_four")
class ScaleProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=True)

    def list_arguments(self):
        return ["data"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Scale()


def custom_operator():
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x, op_type="scale_by_four")
    y.backward()
    return y, x.grad


def custom_operator_on_np():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x.as_nd_ndarray(), op_type="scale_by_four").as_np_ndarray() * 2
    y.backward()
    return y, x.grad


def unknown_custom_operator():
    return error(mx.nd.Custom, mx.nd.ones(2), op_type="never_registered")


def input_gradient_of_network():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="tanh"), nn.Dense(1))
    net.initialize(mx.init.Constant(0.1))
    net.hybridize()
    x = np.array([[1.0, -2.0]])
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    return x.grad


def adversarial_sign():
    net = nn.Dense(2, in_units=3)
    net.initialize(mx.init.Constant(0.2))
    x = np.array([[0.1, 0.2, 0.3]])
    x.attach_grad()
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    with autograd.record():
        loss = loss_fn(net(x) * np.array([[1.0, 2.0]]), np.array([1]))
    loss.backward()
    return x + 0.1 * np.sign(x.grad)


def gradients_by_finite_differences():
    w = onp.array([0.3, -0.2], "float64")

    def f(v):
        return float((np.sin(np.array(v, dtype="float64")) ** 2).sum())

    steps = onp.eye(2) * 1e-6
    numeric = [(f(w + d) - f(w - d)) / 2e-6 for d in steps]
    x = np.array(w, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = (np.sin(x) ** 2).sum()
    y.backward()
    return bool(onp.allclose(numeric, x.grad.asnumpy(), 1e-5)), x.grad


def gradient_accumulates_over_batches():
    net = nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One())
    net.weight.grad_req = "add"
    for i in range(3):
        with autograd.record():
            y = net(np.ones((1, 2)) * i)
        y.backward()
    a = net.weight.grad().copy()
    net.zero_grad()
    return a, net.weight.grad()


def symbol_of_recorded():
    x = mx.nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    return type(autograd.get_symbol(y)).__name__


def heads_of_other_number():
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    return error(autograd.backward, [y], [np.ones(2), np.ones(2)])


def unreachable_variable():
    x, z = np.ones(2), np.ones(2)
    x.attach_grad()
    z.attach_grad()
    with autograd.record():
        y = x * 2
    return error(autograd.grad, y, [z])


def gradient_clipping():
    x = np.array([3.0, 4.0])
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    norm = gluon.utils.clip_global_norm([x.grad], 1.0)
    return norm, x.grad


def jacobian_by_rows():
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    rows = []
    for i in range(2):
        with autograd.record():
            y = np.stack([x.sum() ** 2, (x**2).sum()])
        y.backward(npx.one_hot(np.array(i), 2))
        rows.append(x.grad.copy())
    return np.stack(rows)


def reused_subexpressions():
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        a = x * x
        y = a * a + a
    y.backward()
    return x.grad


def integer_leaf():
    x = np.array([1, 2], dtype="int32")
    return error(x.attach_grad)


def loop_with_detached_state():
    h, w = np.zeros(1), np.array([0.5])
    w.attach_grad()
    found = []
    for i in range(3):
        with autograd.record():
            h = h.detach() * w + i
            loss = (h * h).sum()
        loss.backward()
        found.append(w.grad.copy())
    return found
