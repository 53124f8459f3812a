"""Mistakes with losses, optimizers, metrics and autograd."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "clip Parameters": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.utils.clip_global_norm(list(net.collect_params().values()), 1.0)
        """,
        TypeError,
        "Parameter | p.grad()",
    ),
    "onehot labels": Mistake(
        """
        loss.SoftmaxCrossEntropyLoss()(nd.ones((2, 3)), nd.one_hot(nd.array([0, 1]), 3))
        """,
        ValueError,
        "one-hot | sparse_label=False",
    ),
    "loss shapes": Mistake(
        """
        loss.L2Loss()(nd.ones((2, 3)), nd.ones((4, 3)))
        """,
        ValueError,
        "L2Loss | (2, 3) | (4, 3)",
    ),
    "loss missing label": Mistake(
        """
        loss.L2Loss()(nd.ones((2, 3)))
        """,
        TypeError,
        "expected 2 to 3 inputs (pred, label | got 1",
    ),
    "lr text": Mistake(
        """
        net = nn.Dense(3)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 'fast'})
        """,
        TypeError,
        "learning_rate | number | 'fast'",
    ),
    "lr text number": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': '0.1'})
        """,
        TypeError,
        "learning_rate | '0.1' | pass 0.1",
    ),
    "schedule number": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'lr_scheduler': 0.1})
        """,
        TypeError,
        "lr_scheduler | LRScheduler | 0.1 | learning_rate",
    ),
    "lr nan": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': float('nan')})
        """,
        ValueError,
        "learning rate | nan",
    ),
    "lr negative": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': -0.1})
        """,
        ValueError,
        "learning rate | -0.1 | negate the loss",
    ),
    "lr=": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'lr': 0.1})
        """,
        TypeError,
        "'lr' | learning_rate",
    ),
    "Adam(lr=)": Mistake(
        """
        mx.optimizer.Adam(lr=0.1)
        """,
        TypeError,
        "Adam | 'lr' | learning_rate",
    ),
    "Adam betas": Mistake(
        """
        mx.optimizer.Adam(betas=(0.9, 0.99))
        """,
        TypeError,
        "'betas' | beta1 and beta2",
    ),
    "trainer weight_decay": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', {'weight_decay': 0.1})
        """,
        TypeError,
        "'weight_decay' | wd",
    ),
    "trainer params": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net, 'sgd')
        """,
        TypeError,
        "Dense | net.collect_params()",
    ),
    "trainer optimizer unknown": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'addam')
        """,
        ValueError,
        "'addam' | 'adam'",
    ),
    "trainer lr positional": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', 0.1)
        """,
        TypeError,
        "optimizer_params | {'learning_rate': 0.1}",
    ),
    "trainer lr keyword": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd', learning_rate=0.1)
        """,
        TypeError,
        "'learning_rate' | optimizer_params",
    ),
    "trainer step no batch": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        with autograd.record(): l = net(nd.ones((1, 2))).sum()
        l.backward()
        gluon.Trainer(net.collect_params(), 'sgd').step()
        """,
        TypeError,
        "batch_size",
    ),
    "trainer uninit": Mistake(
        """
        net = nn.Dense(3)
        t = gluon.Trainer(net.collect_params(), 'sgd')
        t.step(1)
        """,
        AssertionError,
        "initialize()",
    ),
    "trainer no backward": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        t = gluon.Trainer(net.collect_params(), 'sgd')
        t.step(1)
        """,
        UserWarning,
        "backward | ignore_stale_grad=True",
    ),
    "trainer.lr": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd').set_learning_rate('x')
        """,
        TypeError,
        "set_learning_rate | number | 'x'",
    ),
    "set lr with scheduler": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        schedule = mx.lr_scheduler.FactorScheduler(10)
        t = gluon.Trainer(net.collect_params(), 'sgd', {'lr_scheduler': schedule})
        t.set_learning_rate(0.1)
        """,
        UserWarning,
        "lr_scheduler | base_lr",
    ),
    "FactorScheduler step_size": Mistake(
        """
        mx.lr_scheduler.FactorScheduler(step_size=10, gamma=0.1)
        """,
        TypeError,
        "'step_size' | step",
    ),
    "backward outside record": Mistake(
        """
        x = nd.ones(3)
        x.attach_grad()
        y = x * 2
        y.backward()
        """,
        AssertionError,
        "autograd.record() | attach_grad",
    ),
    "no attach grad": Mistake(
        """
        x = nd.ones(3)
        with autograd.record(): y = x * 2
        y.backward()
        """,
        AssertionError,
        "attach_grad",
    ),
    "backward twice": Mistake(
        """
        x = nd.ones(3)
        x.attach_grad()
        with autograd.record(): y = x * 2
        y.backward()
        y.backward()
        """,
        AssertionError,
        "retain_graph=True",
    ),
    "in place in record": Mistake(
        """
        x = nd.ones(3)
        x.attach_grad()
        with autograd.record():
            x[0] = 2
            y = x * 2
        y.backward()
        """,
        RuntimeError,
        "item assignment | new array",
    ),
    "metric swapped": Mistake(
        """
        m = mx.metric.Accuracy()
        m.update(nd.ones((2, 3)), nd.array([0, 1]))
        """,
        ValueError,
        "Accuracy | update(labels, preds)",
    ),
    "metric unknown": Mistake(
        """
        mx.metric.create('accuraccy')
        """,
        ValueError,
        "'accuraccy' | 'accuracy'",
    ),
    "EstimatorNet": Mistake(
        """
        gluon.contrib.estimator.Estimator(nn.Dense(3), loss.L2Loss)
        """,
        ValueError,
        "loss | gluon.loss.Loss",
    ),
    "Estimator train data": Mistake(
        """
        e = gluon.contrib.estimator.Estimator(nn.Dense(3), loss.L2Loss())
        e.fit(nd.ones((2, 3)), epochs=1)
        """,
        ValueError,
        "DataLoader | NDArray | ArrayDataset",
    ),
    "setattr grad_req": Mistake(
        """
        net = nn.Dense(3)
        net.weight.grad_req = 'none'
        """,
        ValueError,
        "'null' | 'none'",
    ),
    "split_and_load": Mistake(
        """
        gluon.utils.split_and_load(nd.ones((3, 2)), [mx.cpu(0), mx.cpu(1)])
        """,
        ValueError,
        "divisible by 2 | (3, 2) | even_split=False",
    ),
    "labels as a list": Mistake(
        """
        loss.SoftmaxCrossEntropyLoss()(nd.ones((2, 3)), [0, 1])
        """,
        TypeError,
        "expected label to be an NDArray | got list | mx.nd.array",
    ),
    "labels None": Mistake(
        """
        loss.L2Loss()(nd.ones((4, 1)), None)
        """,
        TypeError,
        "L2Loss | expected label | got None",
    ),
    "fewer labels than predictions": Mistake(
        """
        loss.SoftmaxCrossEntropyLoss()(nd.ones((4, 3)), nd.array([0, 1]))
        """,
        ValueError,
        "expected label of one class index for each row of pred (4, 3), got (2,)",
    ),
    "label before prediction": Mistake(
        """
        loss.SoftmaxCrossEntropyLoss()(nd.array([0, 1]), nd.ones((2, 3)))
        """,
        ValueError,
        "predictions come first | loss(net(x), label)",
    ),
    "binary labels of another size": Mistake(
        """
        loss.SigmoidBinaryCrossEntropyLoss()(nd.ones((4, 1)), nd.ones((3,)))
        """,
        ValueError,
        "label of as many elements as pred (4, 1), got (3,)",
    ),
    "loss class called with arrays": Mistake(
        """
        loss.L2Loss(nd.ones((4, 1)), nd.ones((4, 1)))
        """,
        TypeError,
        "create the loss, then call it | L2Loss()(pred, label)",
    ),
    "CTC without an axis of time": Mistake(
        """
        loss.CTCLoss()(nd.ones((2, 5)), nd.ones((2, 2)))
        """,
        ValueError,
        "3 axes | (N, T, classes) | pred (2, 5)",
    ),
    "layers in a list, and no parameters to train": Mistake(
        """
        import warnings
        class Net(gluon.Block):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Dense(3)]
        net = Net()
        params = net.collect_params()
        warnings.simplefilter("error")
        gluon.Trainer(params, 'sgd')
        """,
        UserWarning,
        "Parameters to train, got none | nn.Sequential",
    ),
    "optimizer of parameters, as in PyTorch": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        mx.optimizer.SGD(net.collect_params())
        """,
        TypeError,
        "gluon.Trainer(net.collect_params(), optimizer)",
    ),
    "class of an optimizer": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), mx.optimizer.Adam)
        """,
        TypeError,
        "the class Adam | Adam()",
    ),
    "top_k as text": Mistake(
        """
        mx.metric.TopKAccuracy(top_k='5')
        """,
        TypeError,
        "top_k to be an int | '5' | pass 5",
    ),
    "misspelt kvstore": Mistake(
        """
        mx.kv.create('locl')
        """,
        ValueError,
        "'locl' | nearest: 'local'",
    ),
    "number of devices instead of devices": Mistake(
        """
        gluon.utils.split_and_load(nd.ones((4, 2)), 2)
        """,
        TypeError,
        "ctx_list | list of devices | got 2",
    ),
}
