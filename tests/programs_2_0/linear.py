import numpy as onp
from mxnet import autograd, np

from tests.programs_2_0.errors import error

A = onp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], "float32")


def norms_of_vectors():
    x = np.array([3.0, -4.0])
    return np.linalg.norm(x), np.linalg.norm(x, 2), np.linalg.norm(x, ord=1)


def norms_of_matrices():
    x = np.array(A)
    return np.linalg.norm(x), np.linalg.norm(x, "fro"), np.linalg.norm(x, axis=1)


def norms_with_keepdims():
    return np.linalg.norm(np.array(A), axis=0, keepdims=True), np.linalg.norm(
        np.ones((2, 2)), axis=1
    )


def norms_of_batches():
    x = np.arange(8).reshape(2, 2, 2)
    return np.linalg.norm(x, axis=(1, 2)), np.linalg.norm(x, ord=2, axis=-1)


def inverses():
    a = np.array(A)
    return np.linalg.inv(a), np.linalg.inv(a) @ a


def inverses_of_batches():
    return np.linalg.inv(np.stack([np.array(A), np.eye(3) * 2]))


def determinants():
    a = np.array(A)
    return np.linalg.det(a), np.linalg.slogdet(a), np.linalg.det(np.stack([a, a * 2]))


def negative_determinant():
    sign, log = np.linalg.slogdet(np.array([[0.0, 1.0], [2.0, 0.0]]))
    return sign, log


def solving():
    a = np.array(A)
    return np.linalg.solve(a, np.ones(3)), np.linalg.solve(a, np.eye(3))


def cholesky_factor():
    a = np.array(A)
    low = np.linalg.cholesky(a)
    return low, low @ low.T


def cholesky_of_indefinite():
    return error(np.linalg.cholesky, np.array([[1.0, 2.0], [2.0, 1.0]]))


def singular_values():
    a = np.array(A)
    ut, s, v = np.linalg.svd(a)
    return s, (ut * s) @ v


def eigenvalues_of_symmetric():
    w, v = np.linalg.eigh(np.array(A))
    return w, np.linalg.eigvalsh(np.array(A)), np.abs(v.T @ v)


def eigenvalues_general():
    w = np.linalg.eigvals(np.array([[2.0, 0.0], [1.0, 3.0]]))
    return np.sort(w)


def eig_pairs():
    a = np.array([[2.0, 1.0], [0.0, 3.0]])
    w, v = np.linalg.eig(a)
    return np.abs(a @ v - v * w).max() < 1e-5


def qr_factors():
    a = np.array(A)
    q, r = np.linalg.qr(a)
    return np.abs(q @ r), np.abs(np.diag(r))


def least_squares():
    a = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    x, residual, rank, s = np.linalg.lstsq(a, np.array([1.0, 2.0, 2.0]), rcond=None)
    return x, residual, rank, s


def matrix_ranks():
    return np.linalg.matrix_rank(np.eye(3)), np.linalg.matrix_rank(np.ones((2, 2)))


def multi_products():
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2))
    return np.linalg.multi_dot([a, b, c])


def tensor_inverse_and_solve():
    a = np.eye(4).reshape(2, 2, 2, 2) * 2
    return np.linalg.tensorinv(a), np.linalg.tensorsolve(a, np.ones((2, 2)))


def singular_matrix():
    return error(np.linalg.inv, np.ones((2, 3)))


def not_square():
    return error(np.linalg.det, np.ones((2, 3))), error(np.linalg.cholesky, np.ones(3))


def float64_precision():
    a = np.array(A, dtype="float64")
    return np.linalg.inv(a), np.linalg.det(a), np.linalg.cholesky(a)


def gradient_of_inverse():
    a = np.array(A)
    a.attach_grad()
    with autograd.record():
        y = np.linalg.inv(a)
    y.backward()
    return a.grad


def gradient_of_determinants():
    a = np.array(A)
    a.attach_grad()
    grads = []
    for f in (np.linalg.det, lambda v: np.linalg.slogdet(v)[1]):
        with autograd.record():
            y = f(a)
        y.backward()
        grads.append(a.grad.copy())
    return grads


def gradient_of_norm_and_solve():
    a, b = np.array(A), np.ones((3, 1))
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = np.linalg.norm(np.linalg.solve(a, b))
    y.backward()
    return a.grad, b.grad


def gradient_of_cholesky():
    a = np.array(A)
    a.attach_grad()
    with autograd.record():
        y = np.linalg.cholesky(a).sum()
    y.backward()
    return a.grad + a.grad.T


def gradient_of_eigvalsh():
    a = np.array(A)
    a.attach_grad()
    with autograd.record():
        w, _ = np.linalg.eigh(a)
        y = (w * np.array([1.0, 2.0, 3.0])).sum()
    y.backward()
    return a.grad + a.grad.T


def gaussian_log_density():
    cov, x = np.array(A), np.array([[0.5, -1.0, 2.0]])
    low = np.linalg.cholesky(cov)
    z = np.linalg.solve(low, x.T)
    return -0.5 * (z**2).sum() - np.log(np.diag(low)).sum() - 1.5 * np.log(2 * np.pi)


def power_iteration():
    a, v = np.array(A), np.ones(3)
    for _ in range(30):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v, v @ a @ v


def ridge_regression():
    x = np.array([[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]])
    y = np.array([1.0, 2.0, 3.0])
    return np.linalg.solve(x.T @ x + 0.1 * np.eye(2), x.T @ y)


def matrix_power_by_loop():
    a, out = np.array([[1.0, 1.0], [1.0, 0.0]]), np.eye(2)
    for _ in range(6):
        out = np.matmul(out, a)
    return out
