import mxnet as mx
from mxnet import autograd, np
from mxnet.gluon import nn
from mxnet.gluon import probability as mgp

from tests.programs_2_0.errors import error


def _facts(d, value, *more):
    """Density, moments and the further methods named."""
    value = np.array(value)
    found = [d.log_prob(value), d.mean, d.variance]
    return found + [
        getattr(d, name)() if name in ("entropy",) else getattr(d, name)(value) for name in more
    ]


def normal():
    d = mgp.Normal(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    return _facts(d, [0.5, 0.0], "cdf", "entropy"), d.stddev, d.icdf(np.array([0.3, 0.9]))


def normal_samples():
    d = mgp.Normal(np.array(2.0), np.array(0.5))
    x = d.sample((3000,))
    return x.shape, bool(abs(x.mean() - 2) < 0.05), bool(abs(x.std() - 0.5) < 0.05)


def sample_shapes():
    d = mgp.Normal(np.zeros((2, 1)), np.ones(3))
    return (
        d.sample().shape,
        d.sample((4, 2, 3)).shape,
        d.sample_n(5).shape,
        d.sample_n((5, 2)).shape,
    )


def broadcast_to_shapes():
    d = mgp.Normal(np.zeros(1), np.ones(1)).broadcast_to((2, 3))
    return d.loc.shape, d.sample().shape


def uniform():
    d = mgp.Uniform(np.array(1.0), np.array([3.0, 5.0]))
    return (
        d.log_prob(np.array([2.0, 2.0])),
        d.cdf(np.array([2.0, 2.0])),
        d.entropy(),
        d.icdf(np.array(0.5)),
    )


def bernoulli():
    d = mgp.Bernoulli(prob=np.array([0.2, 0.7]))
    return _facts(d, [1.0, 0.0], "entropy"), d.logit, d.prob


def both_or_neither_parameter():
    return error(mgp.Bernoulli), error(mgp.Bernoulli, np.array(0.5), np.array(0.5))


def categorical():
    p = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    d = mgp.Categorical(3, prob=p)
    return d.log_prob(np.array([0, 2])), d.logit


def categorical_of_logits():
    d = mgp.Categorical(3, logit=np.array([1.0, 2.0, 3.0]))
    return d.prob, d.log_prob(np.array(1))


def one_hot_categorical():
    d = mgp.OneHotCategorical(3, prob=np.array([0.2, 0.3, 0.5]))
    x = d.sample((5,))
    return d.log_prob(np.array([0.0, 1.0, 0.0])), x.sum(axis=-1), x.shape, d.mean, d.variance


def exponential():
    return _facts(mgp.Exponential(np.array([0.5, 2.0])), [1.0, 1.0], "cdf", "entropy")


def gamma():
    return _facts(mgp.Gamma(np.array([2.0, 3.0]), np.array([1.0, 0.5])), [1.0, 2.0], "entropy")


def beta():
    return _facts(mgp.Beta(np.array([2.0, 3.0]), np.array([1.0, 2.0])), [0.3, 0.6], "entropy")


def chi2():
    return _facts(mgp.Chi2(np.array([2.0, 5.0])), [1.0, 3.0])


def student_t():
    d = mgp.StudentT(np.array([3.0, 5.0]), np.array(0.0), np.array(1.0))
    return _facts(d, [0.5, -1.0], "entropy")


def fisher_snedecor():
    d = mgp.FisherSnedecor(np.array(4.0), np.array(8.0))
    return d.log_prob(np.array([0.5, 1.5])), d.mean, d.variance


def cauchy():
    d = mgp.Cauchy(np.array(0.0), np.array(2.0))
    return (
        d.log_prob(np.array([0.5, 3.0])),
        d.cdf(np.array(1.0)),
        d.icdf(np.array(0.25)),
        d.entropy(),
    )


def half_normal_and_cauchy():
    a, b = mgp.HalfNormal(np.array(2.0)), mgp.HalfCauchy(np.array(2.0))
    x = np.array([0.5, 1.0])
    return a.log_prob(x), a.mean, a.variance, a.cdf(x), b.log_prob(x), b.cdf(x)


def laplace():
    return _facts(mgp.Laplace(np.array(1.0), np.array(2.0)), [0.0, 2.0], "cdf", "entropy")


def gumbel():
    return _facts(mgp.Gumbel(np.array(1.0), np.array(2.0)), [0.0, 2.0], "cdf", "entropy")


def weibull_and_pareto():
    a, b = mgp.Weibull(np.array(2.0), np.array(1.5)), mgp.Pareto(np.array(3.0), np.array(1.0))
    x = np.array([1.2, 2.0])
    return (
        a.log_prob(x),
        a.mean,
        a.variance,
        a.entropy(),
        b.log_prob(x),
        b.mean,
        b.variance,
        b.entropy(),
    )


def poisson():
    return _facts(mgp.Poisson(np.array([1.0, 4.0])), [2.0, 3.0])


def geometric():
    return _facts(mgp.Geometric(prob=np.array([0.3, 0.6])), [2.0, 0.0], "entropy")


def binomial():
    return _facts(mgp.Binomial(n=5, prob=np.array([0.3, 0.6])), [2.0, 4.0])


def negative_binomial():
    d = mgp.NegativeBinomial(n=np.array(3.0), prob=np.array([0.3, 0.6]))
    return d.log_prob(np.array([2.0, 4.0])), d.mean, d.variance


def multinomial():
    d = mgp.Multinomial(3, prob=np.array([0.2, 0.3, 0.5]), total_count=4)
    return d.log_prob(np.array([1.0, 1.0, 2.0])), d.mean, d.variance, d.sample().sum()


def dirichlet():
    d = mgp.Dirichlet(np.array([1.0, 2.0, 3.0]))
    return (
        d.log_prob(np.array([0.2, 0.3, 0.5])),
        d.mean,
        d.variance,
        d.entropy(),
        d.sample((2,)).sum(axis=-1),
    )


def multivariate_normal():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    d = mgp.MultivariateNormal(np.array([1.0, -1.0]), cov=cov)
    return (
        d.log_prob(np.array([0.5, 0.0])),
        d.mean,
        d.variance,
        d.entropy(),
        d.scale_tril,
        d.precision,
    )


def multivariate_normal_of_factor():
    low = np.array([[1.0, 0.0], [0.5, 2.0]])
    d = mgp.MultivariateNormal(np.zeros(2), scale_tril=low)
    return d.log_prob(np.ones(2)), d.cov, d.sample((3,)).shape


def relaxed_distributions():
    a = mgp.RelaxedBernoulli(T=np.array(0.5), prob=np.array([0.3, 0.7]))
    b = mgp.RelaxedOneHotCategorical(T=np.array(0.5), num_events=3, prob=np.array([0.2, 0.3, 0.5]))
    x = b.sample()
    return a.log_prob(np.array([0.2, 0.8])), x.sum(), b.log_prob(np.array([0.2, 0.3, 0.5]))


def independent():
    d = mgp.Independent(mgp.Normal(np.zeros((2, 3)), np.ones((2, 3))), 1)
    return d.log_prob(np.ones((2, 3))), d.entropy(), d.event_dim


def mixtures():
    if not hasattr(mgp, "MixtureSameFamily"):
        return 0
    mix = mgp.Categorical(2, prob=np.array([0.3, 0.7]))
    d = mgp.MixtureSameFamily(mix, mgp.Normal(np.array([0.0, 4.0]), np.array([1.0, 1.0])))
    return d.log_prob(np.array([0.0, 4.0])), d.mean, d.variance


def kl_of_normals():
    p = mgp.Normal(np.array(0.0), np.array(1.0))
    q = mgp.Normal(np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    return mgp.kl_divergence(p, q), mgp.kl_divergence(q, p)


def kl_of_pairs():
    one, two = np.array(1.5), np.array(2.5)
    pairs = [
        (mgp.Exponential(one), mgp.Exponential(two)),
        (mgp.Gamma(one, two), mgp.Gamma(two, one)),
        (mgp.Beta(one, two), mgp.Beta(two, one)),
        (mgp.Laplace(one, two), mgp.Laplace(two, one)),
        (mgp.Poisson(one), mgp.Poisson(two)),
        (mgp.Gumbel(one, two), mgp.Gumbel(two, one)),
        (mgp.HalfNormal(one), mgp.HalfNormal(two)),
    ]
    return [mgp.kl_divergence(p, q) for p, q in pairs]


def kl_of_discrete():
    a, b = np.array([0.3, 0.7]), np.array([0.5, 0.5])
    return (
        mgp.kl_divergence(mgp.Bernoulli(prob=a), mgp.Bernoulli(prob=b)),
        mgp.kl_divergence(mgp.Categorical(2, prob=a), mgp.Categorical(2, prob=b)),
        mgp.kl_divergence(mgp.Geometric(prob=a), mgp.Geometric(prob=b)),
    )


def kl_of_multivariate():
    p = mgp.MultivariateNormal(np.zeros(2), cov=np.eye(2))
    q = mgp.MultivariateNormal(np.ones(2), cov=np.array([[2.0, 0.5], [0.5, 1.0]]))
    d, e = mgp.Dirichlet(np.array([1.0, 2.0])), mgp.Dirichlet(np.array([2.0, 2.0]))
    return mgp.kl_divergence(p, q), mgp.kl_divergence(d, e)


def kl_of_uniforms():
    p, q = mgp.Uniform(np.array(0.0), np.array(1.0)), mgp.Uniform(np.array(-1.0), np.array(2.0))
    return mgp.kl_divergence(p, q)


def kl_not_known():
    return error(
        mgp.kl_divergence, mgp.Normal(np.array(0.0), np.array(1.0)), mgp.Poisson(np.array(1.0))
    )


def registered_kl():
    class Mine(mgp.Normal):
        pass

    class Other(mgp.Normal):
        pass

    @mgp.register_kl(Mine, Other)
    def _kl(p, q):
        return p.loc - q.loc

    return mgp.kl_divergence(
        Mine(np.array(3.0), np.array(1.0)), Other(np.array(1.0), np.array(1.0))
    )


def empirical_kl():
    p, q = mgp.Normal(np.array(0.0), np.array(1.0)), mgp.Normal(np.array(1.0), np.array(1.0))
    return bool(abs(mgp.empirical_kl(p, q, 5000) - 0.5) < 0.1)


def gradient_through_samples():
    loc, scale = np.array(1.0), np.array(2.0)
    loc.attach_grad()
    scale.attach_grad()
    mx.random.seed(1)
    with autograd.record():
        x = mgp.Normal(loc, scale).sample((1000,))
        y = (x * x).mean()
    y.backward()
    return bool(abs(loc.grad - 2) < 0.3), bool(abs(scale.grad - 4) < 0.5)


def gradient_of_density():
    loc, scale = np.array(1.0), np.array(2.0)
    loc.attach_grad()
    scale.attach_grad()
    with autograd.record():
        y = mgp.Normal(loc, scale).log_prob(np.array(2.0))
    y.backward()
    return loc.grad, scale.grad


def support_is_checked():
    d = mgp.Beta(np.array(1.0), np.array(1.0), validate_args=True)
    return (
        error(d.log_prob, np.array(2.0)),
        error(mgp.Normal, np.array(0.0), np.array(-1.0), validate_args=True),
        error(mgp.Categorical, 3, prob=np.array([0.5, 0.5, 0.5]), validate_args=True),
    )


def representations():
    return mgp.Normal(np.zeros(2), np.ones(2)).has_grad, mgp.Poisson(np.ones(1)).has_grad


def transformed_log_normal():
    d = mgp.TransformedDistribution(mgp.Normal(np.array(0.0), np.array(1.0)), mgp.ExpTransform())
    return d.log_prob(np.array([0.5, 2.0])), d.cdf(np.array([1.0])), d.sample((3,)).shape


def transformed_affine():
    d = mgp.TransformedDistribution(
        mgp.Normal(np.array(0.0), np.array(1.0)), [mgp.AffineTransform(loc=1.0, scale=3.0)]
    )
    return d.log_prob(np.array([1.0, 4.0])), d.icdf(np.array([0.5]))


def transformations():
    x = np.array([0.5, 1.5])
    found = []
    for t in (
        mgp.ExpTransform(),
        mgp.AffineTransform(1.0, 2.0),
        mgp.PowerTransform(2.0),
        mgp.SigmoidTransform(),
    ):
        y = t(x)
        found += [y, t.inv(y), t.log_det_jacobian(x, y)]
    return found


def transformations_composed():
    t = mgp.ComposeTransform([mgp.AffineTransform(0.0, 2.0), mgp.ExpTransform()])
    x = np.array([0.1, 0.2])
    return t(x), t.inv(t(x)), t.log_det_jacobian(x, t(x))


def domain_maps():
    c = mgp.constraint
    x = np.array([-1.0, 2.0])
    return mgp.biject_to(c.Positive())(x), mgp.transform_to(c.Interval(0, 1))(x)


def stochastic_block():
    class Encoder(mgp.StochasticBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2)

        @mgp.StochasticBlock.collectLoss
        def forward(self, x):
            h = self.dense(x)
            q = mgp.Normal(h, np.ones_like(h))
            p = mgp.Normal(np.zeros_like(h), np.ones_like(h))
            self.add_loss(mgp.kl_divergence(q, p))
            return h

    net = Encoder()
    net.initialize(mx.init.One())
    y = net(np.array([[1.0, 2.0]]))
    a = net.losses
    net.hybridize()
    z = net(np.array([[1.0, 2.0]]))
    return y, a, z, net.losses


def stochastic_sequential():
    class Noisy(mgp.StochasticBlock):
        @mgp.StochasticBlock.collectLoss
        def forward(self, x):
            self.add_loss(x.sum())
            return x * 2

    net = mgp.StochasticSequential()
    net.add(Noisy(), Noisy())
    y = net(np.ones(2))
    return y, net.losses, len(net)


def variational_autoencoder_terms():
    mu, log_var = np.array([[0.5, -0.5]]), np.array([[0.1, -0.2]])
    q = mgp.Normal(mu, np.exp(0.5 * log_var))
    p = mgp.Normal(np.zeros((1, 2)), np.ones((1, 2)))
    closed = -0.5 * (1 + log_var - mu**2 - np.exp(log_var))
    return mgp.kl_divergence(q, p), closed


def policy_gradient():
    logits = np.array([0.1, 0.2, 0.3])
    logits.attach_grad()
    with autograd.record():
        d = mgp.Categorical(3, logit=logits)
        loss = -(d.log_prob(np.array(2)) * 1.5)
    loss.backward()
    return loss, logits.grad


def distribution_inside_hybrid():
    class Net(nn.HybridBlock):
        def forward(self, loc, x):
            return mgp.Normal(loc, np.ones_like(loc)).log_prob(x)

    net = Net()
    net.hybridize()
    return net(np.array([0.0, 1.0]), np.array([0.5, 0.5]))


def parameters_as_python_numbers():
    return mgp.Normal(0.0, 1.0).log_prob(np.array(0.5))


def capabilities():
    names = ("Normal", "Gamma", "Poisson", "Bernoulli", "Laplace")
    return [(name, getattr(mgp, name).has_grad) for name in names]
