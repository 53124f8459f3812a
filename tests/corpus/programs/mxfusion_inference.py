"""MXFusion 0.3.1: probabilistic models, with inference by Gluon blocks and autograd."""

import mxnet as mx
import numpy as np
from corpus_cases import arrays
from mxfusion import Model, Variable
from mxfusion.common import config
from mxfusion.components.distributions import Gamma, GaussianProcess, MultivariateNormal, Normal
from mxfusion.components.distributions.gp.kernels import RBF, Linear, Matern52
from mxfusion.components.variables import PositiveTransformation
from mxfusion.inference import (
    MAP,
    GradBasedInference,
    Inference,
    MinibatchInferenceLoop,
    StochasticVariationalInference,
    create_Gaussian_meanfield,
)
from mxfusion.inference.forward_sampling import ForwardSamplingAlgorithm
from mxfusion.modules.gp_modules import GPRegression, SparseGPRegression
from mxnet import nd

config.DEFAULT_DTYPE = "float64"


def _data():
    np.random.seed(0)
    return arrays(60, 0, "float64") * 0.5 + 2


def case_normal_by_map():
    data = _data()
    model = Model()
    model.mu = Variable(initial_value=mx.nd.array([1.0], dtype="float64"))
    model.s = Variable(
        transformation=PositiveTransformation(), initial_value=mx.nd.array([1.0], dtype="float64")
    )
    model.Y = Normal.define_variable(mean=model.mu, variance=model.s, shape=(60,), dtype="float64")
    inference = GradBasedInference(inference_algorithm=MAP(model=model, observed=[model.Y]))
    inference.run(Y=mx.nd.array(data, dtype="float64"), learning_rate=0.1, max_iter=400)
    mean, variance = inference.params[model.mu].asnumpy(), inference.params[model.s].asnumpy()
    assert abs(mean - data.mean()) < 0.05, (mean, data.mean())
    assert abs(variance - data.var()) < 0.1, (variance, data.var())
    return mean


def case_variational_inference():
    data = _data()
    model = Model()
    model.mu = Normal.define_variable(
        mean=mx.nd.array([0.0], dtype="float64"),
        variance=mx.nd.array([10.0], dtype="float64"),
        shape=(1,),
        dtype="float64",
    )
    model.Y = Normal.define_variable(
        mean=model.mu, variance=mx.nd.array([0.25], dtype="float64"), shape=(60,), dtype="float64"
    )
    posterior = create_Gaussian_meanfield(model=model, observed=[model.Y], dtype="float64")
    algorithm = StochasticVariationalInference(
        model=model, posterior=posterior, num_samples=5, observed=[model.Y]
    )
    inference = GradBasedInference(inference_algorithm=algorithm)
    inference.run(Y=mx.nd.array(data, dtype="float64"), learning_rate=0.1, max_iter=100)
    return bool(np.isfinite(inference.params[posterior.mu.factor.mean].asnumpy()).all())


def case_gaussian_process_regression():
    x = np.linspace(0, 1, 20)[:, None]
    y = np.sin(6 * x)
    model = Model()
    model.N = Variable()
    model.X = Variable(shape=(model.N, 1))
    model.noise_var = Variable(transformation=PositiveTransformation(), initial_value=0.01)
    model.kernel = RBF(input_dim=1, variance=1, lengthscale=0.3)
    model.Y = GPRegression.define_variable(
        X=model.X,
        kernel=model.kernel,
        noise_var=model.noise_var,
        shape=(model.N, 1),
        dtype="float64",
    )
    inference = GradBasedInference(
        inference_algorithm=MAP(model=model, observed=[model.X, model.Y])
    )
    inference.initialize(X=x.shape, Y=y.shape)
    inference.run(
        X=nd.array(x, dtype="float64"),
        Y=nd.array(y, dtype="float64"),
        max_iter=30,
        learning_rate=0.05,
    )
    return [
        inference.params[model.noise_var],
        inference.params[model.kernel.lengthscale],
        inference.params[model.kernel.variance],
    ]


def case_sparse_gaussian_process():
    x = np.linspace(0, 1, 20)[:, None]
    y = np.sin(6 * x)
    model = Model()
    model.N = Variable()
    model.X = Variable(shape=(model.N, 1))
    model.Z = Variable(
        shape=(4, 1), initial_value=nd.array(np.linspace(0, 1, 4)[:, None], dtype="float64")
    )
    model.noise_var = Variable(transformation=PositiveTransformation(), initial_value=0.01)
    model.kernel = RBF(input_dim=1, variance=1, lengthscale=0.3)
    model.Y = SparseGPRegression.define_variable(
        X=model.X,
        kernel=model.kernel,
        noise_var=model.noise_var,
        inducing_inputs=model.Z,
        shape=(model.N, 1),
        dtype="float64",
    )
    inference = GradBasedInference(
        inference_algorithm=MAP(model=model, observed=[model.X, model.Y])
    )
    inference.initialize(X=x.shape, Y=y.shape)
    inference.run(
        X=nd.array(x, dtype="float64"),
        Y=nd.array(y, dtype="float64"),
        max_iter=10,
        learning_rate=0.05,
    )
    return bool(np.isfinite(inference.params[model.noise_var].asnumpy()).all())


def case_kernels():
    x = nd.array(arrays((1, 6, 2), 0, "float64"), dtype="float64")
    results = []
    for kernel in (
        RBF(2, ARD=True, dtype="float64"),
        Matern52(2, dtype="float64"),
        Linear(2, dtype="float64"),
    ):
        parameters = {
            name: nd.ones((1, variable.shape[0]), dtype="float64") * 0.7
            for name, variable in kernel.parameters.items()
        }
        results.append(
            kernel.K(
                mx.nd,
                x,
                **{
                    f"{kernel.name}_{name}" if not name.startswith(kernel.name) else name: value
                    for name, value in parameters.items()
                },
            )
        )
    return results


def case_sampling():
    model = Model()
    model.mu = Normal.define_variable(
        mean=mx.nd.array([0.0], dtype="float64"),
        variance=mx.nd.array([1.0], dtype="float64"),
        shape=(1,),
        dtype="float64",
    )
    model.x = Normal.define_variable(
        mean=model.mu, variance=mx.nd.array([1.0], dtype="float64"), shape=(4,), dtype="float64"
    )
    inference = Inference(
        ForwardSamplingAlgorithm(model, observed=[], num_samples=5, target_variables=[model.x])
    )
    (samples,) = inference.run()
    return list(samples.shape), [
        c.__name__ for c in (Gamma, GaussianProcess, MultivariateNormal, MinibatchInferenceLoop)
    ]
