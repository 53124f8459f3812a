"""Regression with a Gaussian process: the likelihood by Cholesky factors, its gradients, ascent."""

import math
from types import ModuleType
from typing import Any

from tests.programs.inputs import normal


def covariance(mx: ModuleType, a: Any, b: Any, width: Any, height: Any) -> Any:
    squares = mx.nd.broadcast_add(
        a.square().sum(axis=1, keepdims=True), b.square().sum(axis=1).expand_dims(0)
    )
    distances = squares - 2 * mx.nd.linalg.gemm2(a, b, transpose_b=True)
    exponent = mx.nd.broadcast_div(-0.5 * distances, width.exp().square())
    return mx.nd.broadcast_mul(exponent.exp(), height.exp())


def likelihood(mx: ModuleType, x: Any, y: Any, parameters: Any) -> Any:
    linalg = mx.nd.linalg
    width, height, noise = parameters
    k = covariance(mx, x, x, width, height)
    k = k + mx.nd.broadcast_mul(mx.nd.eye(x.shape[0]), noise.exp())
    factor = linalg.potrf(k)
    z = linalg.trsm(factor, y)
    fit = -0.5 * linalg.syrk(z, transpose=True).reshape(-1)
    size = -linalg.sumlogdiag(factor)
    return fit + size - 0.5 * x.shape[0] * math.log(2 * math.pi), factor, z


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    del hybridize
    linalg = mx.nd.linalg
    x = mx.nd.array(normal(1, 10, 2))
    y = (x[:, 0].sin() + 0.5 * x[:, 1]).reshape((-1, 1)) + 0.1 * mx.nd.array(normal(2, 10, 1))
    parameters = [mx.nd.array([value]) for value in (0.2, 0.1, -1.0)]
    for parameter in parameters:
        parameter.attach_grad()
    values, gradients = [], []
    for _ in range(6):
        with mx.autograd.record():
            value, factor, z = likelihood(mx, x, y, parameters)
        value.backward()
        for parameter in parameters:
            parameter[:] = parameter + 0.05 * parameter.grad
        values.append(value.asscalar())
        gradients.append([parameter.grad.asscalar() for parameter in parameters])
    new = mx.nd.array(normal(3, 4, 2))
    cross = covariance(mx, x, new, *parameters[:2])
    half = linalg.trsm(factor, cross)
    mean = linalg.gemm2(half, z, transpose_a=True)
    prior = covariance(mx, new, new, *parameters[:2])
    posterior = linalg.gemm(half, half, prior, transpose_a=True, alpha=-1.0, beta=1.0)
    return {
        "losses": [-value for value in values],
        "gradients": gradients,
        "parameters": [parameter.asscalar() for parameter in parameters],
        "mean": mean.asnumpy(),
        "variance": linalg.extractdiag(posterior).asnumpy(),
        "inverse": linalg.potri(factor).asnumpy(),
        "determinant": linalg.slogdet(posterior)[1].asnumpy(),
        "product": linalg.trmm(factor, z, transpose=True).asnumpy(),
    }
