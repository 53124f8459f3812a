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


