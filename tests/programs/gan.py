"""A generator and a discriminator with a trainer each; the discriminator sees detached images."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def make_generator(nn: Any) -> Any:
    net = nn.HybridSequential(prefix="gen_")
    with net.name_scope():
        net.add(nn.Conv2DTranspose(8, 3, 1, 0, use_bias=False), nn.BatchNorm())
        net.add(nn.Activation("relu"))
        net.add(nn.Conv2DTranspose(4, 4, 2, 1, use_bias=False), nn.BatchNorm(epsilon=2e-5))
        net.add(nn.Activation("relu"))
        net.add(nn.Conv2DTranspose(1, 3, strides=2, padding=1, output_padding=1))
        net.add(nn.Activation("tanh"))
    return net


def make_discriminator(nn: Any) -> Any:
    net = nn.HybridSequential(prefix="dis_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 4, 2, 1, use_bias=False), nn.LeakyReLU(0.2))
        net.add(nn.Conv2D(8, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2))
        net.add(nn.Conv2D(1, 3, 1, 0, use_bias=False), nn.Flatten())
    return net


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, autograd = mx.nd, mx.gluon, mx.autograd
    generator, discriminator = make_generator(gluon.nn), make_discriminator(gluon.nn)
    generator.initialize(mx.init.Normal(0.02))
    discriminator.initialize(mx.init.Normal(0.02))
    batch = 4
    discriminator(generator(nd.array(normal(0, batch, 5, 1, 1))))
    fill(mx, generator.collect_params(), 1)
    fill(mx, discriminator.collect_params(), 2)
    if hybridize:
        generator.hybridize(static_alloc=True)
        discriminator.hybridize(static_alloc=True, static_shape=True)
    adam = {"learning_rate": 0.01, "beta1": 0.5}
    trainer_g = gluon.Trainer(generator.collect_params(), "adam", dict(adam))
    trainer_d = gluon.Trainer(discriminator.collect_params(), "adam", dict(adam))
    loss_fn = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    real_label, fake_label = nd.full((batch,), 0.9), nd.zeros((batch,))
    metric = mx.metric.CustomMetric(lambda label, pred: ((pred > 0.5) == (label > 0.5)).mean())
    losses = []
    fake = generator(nd.array(normal(9, batch, 5, 1, 1)))
    for step in range(4):
        real = nd.array(normal(10 + step, batch, 1, 12, 12)).tanh()
        noise = nd.array(normal(20 + step, batch, 5, 1, 1))
        with autograd.record():
            scores = discriminator(real).reshape((-1, 1))
            loss_real = loss_fn(scores, real_label)
            fake = generator(noise)
            scores_fake = discriminator(fake.detach()).reshape((-1, 1))
            loss_d = loss_real + loss_fn(scores_fake, fake_label)
            loss_d.backward()
        trainer_d.step(batch)
        metric.update([real_label], [scores.sigmoid().reshape((-1,))])
        with autograd.record():
            fake = generator(noise)
            loss_g = loss_fn(discriminator(fake).reshape((-1, 1)), real_label)
            loss_g.backward()
        trainer_g.step(batch)
        losses.append([loss_d.mean().asscalar(), loss_g.mean().asscalar()])
    return {
        "losses": losses,
        "metric": metric.get()[1],
        "fake": fake[0].asnumpy(),
        **values_of(discriminator.collect_params(".*(gamma|beta|conv2_weight)")),
        **values_of(generator.collect_params(".*(gamma|beta|bias)")),
    }
