import mxnet as mx
import numpy as onp
from mxnet import autograd, np, npx

from tests.programs_2_0.errors import error


def _close(x, mean, std, tolerance=0.1):
    """Whether the sample's moments are near; and dtype and shape."""
    x = x.asnumpy().astype("float64")
    near = abs(x.mean() - mean) < tolerance * max(std, 1) and abs(x.std() - std) < tolerance * std
    return bool(near)


def uniform_moments():
    x = np.random.uniform(2, 4, size=(4000,))
    return _close(x, 3, 0.577), x.dtype.name, x.min() >= 2, x.max() < 4


def uniform_forms():
    return (
        np.random.uniform().shape,
        np.random.uniform(size=3).shape,
        np.random.uniform(np.zeros(2), np.ones(2)).shape,
        np.random.uniform(0, 1, (2, 3)).dtype.name,
        np.random.uniform(np.zeros((2, 1)), 5, size=(2, 3)).shape,
    )


def uniform_dtypes():
    return [
        np.random.uniform(0, 1, 2, dtype=t).dtype.name for t in ("float16", "float32", "float64")
    ]


def normal_moments():
    x = np.random.normal(1, 2, size=(4000,))
    return _close(x, 1, 2), x.dtype.name, x.shape


def normal_with_arrays():
    loc = np.array([0.0, 100.0])
    x = np.random.normal(loc, 1.0, size=(500, 2))
    return x.shape, bool((x[:, 1].mean() > 90).item())


def normal_broadcasts():
    return np.random.normal(np.zeros((3, 1)), np.ones(2)).shape, np.random.normal(size=()).shape


def randn_and_rand():
    return np.random.rand(2, 3).shape, np.random.randn(4).shape, np.random.rand(2).dtype.name


def randint_forms():
    x = np.random.randint(3, 7, size=(500,))
    return x.min(), x.max(), x.shape, np.random.randint(5, size=(2, 2)).shape


def randint_dtypes():
    return (
        np.random.randint(0, 5, size=2).dtype.name,
        np.random.randint(0, 5, size=2, dtype="int64").dtype.name,
        np.random.randint(0, 5, size=2, dtype="int32").dtype.name,
    )


def choice_of_number():
    x = np.random.choice(5, size=10)
    y = np.random.choice(5, size=5, replace=False)
    return x.shape, x.max() < 5, np.sort(y)


def choice_of_array_with_p():
    x = np.random.choice(np.array([10, 20, 30]), size=50, p=np.array([0.0, 1.0, 0.0]))
    return x.min(), x.max(), x.shape


def permutations():
    x = np.arange(6)
    np.random.shuffle(x)
    return np.sort(x), x.shape


def shuffling_in_place():
    x = np.arange(10)
    r = np.random.shuffle(x)
    return r, np.sort(x)


def shuffles_rows():
    x = np.arange(10).reshape(5, 2)
    np.random.shuffle(x)
    return (x[:, 1] - x[:, 0]), x[:, 0].sum()


def multinomial_counts():
    x = np.random.multinomial(20, [0.5, 0.5])
    y = np.random.multinomial(10, np.array([0.2, 0.8]), size=(3,))
    return x.sum(), y.shape, y.sum(axis=-1)


def gamma_and_beta():
    return (
        _close(np.random.gamma(4.0, 2.0, size=(6000,)), 8, 4),
        _close(np.random.beta(2.0, 2.0, size=(4000,)), 0.5, 0.2236),
    )


def exponential_family():
    return (
        _close(np.random.exponential(2.0, size=(6000,)), 2, 2),
        _close(np.random.rayleigh(1.0, size=(4000,)), 1.2533, 0.6551),
        _close(np.random.weibull(2.0, size=(4000,)), 0.8862, 0.4633),
    )


def location_families():
    return (
        _close(np.random.gumbel(0, 1, size=(6000,)), 0.5772, 1.2825),
        _close(np.random.logistic(0, 1, size=(6000,)), 0, 1.8138),
        _close(np.random.laplace(0, 1, size=(6000,)), 0, 1.4142, 0.15),
    )


def chisquare_and_lognormal():
    return (
        _close(np.random.chisquare(3, size=(8000,)), 3, 2.449),
        _close(np.random.lognormal(0, 0.5, size=(6000,)), 1.1331, 0.6039),
    )


def pareto_and_power():
    x, y = np.random.pareto(5.0, size=(200,)), np.random.power(3.0, size=(4000,))
    return x.min() >= 0, _close(y, 0.75, 0.1936)


def multivariate_normals():
    mean, cov = np.array([1.0, -1.0]), np.array([[1.0, 0.5], [0.5, 2.0]])
    x = np.random.multivariate_normal(mean, cov, size=(3000,))
    return x.shape, bool(abs(x.mean(axis=0) - mean).max() < 0.2)


def f_distribution():
    x = np.random.f(5, 10, size=(100,))
    return x.shape, x.min() > 0


def seeds_repeat():
    mx.random.seed(3)
    a = np.random.normal(size=(4,))
    mx.random.seed(3)
    b = np.random.normal(size=(4,))
    return bool((a == b).all()), bool((np.random.normal(size=(4,)) == a).all())


def numpy_face_seeds():
    np.random.seed(5)
    a = np.random.uniform(size=3)
    np.random.seed(5)
    return bool((a == np.random.uniform(size=3)).all())


def npx_seed_repeats():
    npx.random.seed(9)
    a = np.random.randint(0, 1000, size=5)
    npx.random.seed(9)
    return bool((a == np.random.randint(0, 1000, size=5)).all())


def bernoulli_forms():
    x = npx.random.bernoulli(prob=0.3, size=(5000,))
    y = npx.random.bernoulli(logit=np.array([50.0, -50.0]))
    return _close(x, 0.3, 0.458), x.dtype.name, y


def uniform_n_and_normal_n():
    x = npx.random.uniform_n(np.zeros(2), np.ones(2), batch_shape=(3,))
    y = npx.random.normal_n(np.zeros(2), np.ones(2), batch_shape=(4, 1))
    return x.shape, y.shape


def random_gradient_reparametrized():
    loc, scale = np.array([1.0, 2.0]), np.array([0.5, 1.5])
    loc.attach_grad()
    scale.attach_grad()
    with autograd.record():
        x = np.random.normal(loc, scale)
    x.backward()
    return loc.grad, np.abs(scale.grad - (x - loc) / scale).max() < 1e-4


def random_out_argument():
    out = np.zeros((3,))
    np.random.uniform(1, 2, size=(3,), out=out)
    return out.min() >= 1


def dropout_moments():
    x = np.ones((4000,))
    with autograd.train_mode():
        y = npx.dropout(x, p=0.25)
    return _close(y, 1, 0.577), npx.dropout(x, p=0.25).sum()


def legacy_samplers():
    x = mx.nd.random.uniform(0, 1, shape=(3, 2))
    y = mx.random.normal(0, 1, (2,))
    return x.shape, y.shape, mx.nd.random.randint(0, 9, shape=(2,)).dtype.__name__


def invalid_parameters():
    return (
        error(np.random.choice, 3, size=5, replace=False),
        error(np.random.multinomial, 3, [0.9, 0.9]),
        error(np.random.randint, 5, 2),
    )


def rng_and_numpy_are_apart():
    onp.random.seed(1)
    a = onp.random.rand()
    onp.random.seed(1)
    np.random.uniform(size=3)
    return a == onp.random.rand()
