"""Names of layers, functions and attributes in PyTorch and Keras."""

from tests.messages.mistake import Mistake

MISTAKES = {
    "nn.Linear": Mistake(
        """
        nn.Linear(3, 4)
        """,
        AttributeError,
        "nn.Dense(units",
    ),
    "nn.Conv2d": Mistake(
        """
        nn.Conv2d(3, 4, 3)
        """,
        AttributeError,
        "nn.Conv2D(channels, kernel_size)",
    ),
    "nn.ReLU": Mistake(
        """
        nn.ReLU()
        """,
        AttributeError,
        "nn.Activation('relu')",
    ),
    "nn.BatchNorm2d": Mistake(
        """
        nn.BatchNorm2d(3)
        """,
        AttributeError,
        "nn.BatchNorm()",
    ),
    "nn.MaxPool2d": Mistake(
        """
        nn.MaxPool2d(2)
        """,
        AttributeError,
        "nn.MaxPool2D(pool_size)",
    ),
    "nn.CrossEntropyLoss": Mistake(
        """
        nn.CrossEntropyLoss()
        """,
        AttributeError,
        "loss.SoftmaxCrossEntropyLoss()",
    ),
    "loss.CrossEntropyLoss": Mistake(
        """
        loss.CrossEntropyLoss()
        """,
        AttributeError,
        "loss.SoftmaxCrossEntropyLoss()",
    ),
    "loss.MSELoss": Mistake(
        """
        loss.MSELoss()
        """,
        AttributeError,
        "loss.L2Loss() | half",
    ),
    "nn.Module": Mistake(
        """
        class Net(nn.Module):
            pass
        """,
        AttributeError,
        "HybridBlock",
    ),
    "nn.ModuleList": Mistake(
        """
        nn.ModuleList([nn.Dense(3)])
        """,
        AttributeError,
        "nn.Sequential()",
    ),
    "nn.Parameter": Mistake(
        """
        nn.Parameter(nd.ones(3))
        """,
        AttributeError,
        "gluon.Parameter(name",
    ),
    "x.view": Mistake(
        """
        nd.ones((2, 3)).view(-1)
        """,
        AttributeError,
        "x.reshape(",
    ),
    "np x.view": Mistake(
        """
        np.ones((2, 3)).view(-1)
        """,
        AttributeError,
        "x.reshape(",
    ),
    "permute": Mistake(
        """
        nd.ones((2, 3)).permute(1, 0)
        """,
        AttributeError,
        "x.transpose(",
    ),
    "unsqueeze": Mistake(
        """
        nd.ones((2, 3)).unsqueeze(0)
        """,
        AttributeError,
        "x.expand_dims(axis=0)",
    ),
    "np unsqueeze": Mistake(
        """
        np.ones((2, 3)).unsqueeze(0)
        """,
        AttributeError,
        "x.expand_dims(axis=0)",
    ),
    "net.parameters": Mistake(
        """
        nn.Dense(3).parameters()
        """,
        AttributeError,
        "net.collect_params() | Trainer",
    ),
    "net.named_parameters": Mistake(
        """
        nn.Dense(3).named_parameters()
        """,
        AttributeError,
        "net.collect_params().items()",
    ),
    "state_dict": Mistake(
        """
        nn.Dense(3).state_dict()
        """,
        AttributeError,
        "net.save_parameters(file)",
    ),
    "load_state_dict": Mistake(
        """
        nn.Dense(3).load_state_dict({})
        """,
        AttributeError,
        "net.load_parameters(file)",
    ),
    "cuda": Mistake(
        """
        nn.Dense(3).cuda()
        """,
        AttributeError,
        "initialize(ctx=mx.gpu(0)) | reset_ctx",
    ),
    "to": Mistake(
        """
        nn.Dense(3).to('cuda')
        """,
        AttributeError,
        "initialize(ctx=mx.gpu(0)) | cast",
    ),
    "nd cuda": Mistake(
        """
        nd.ones(3).cuda()
        """,
        AttributeError,
        "x.as_in_context(mx.gpu(0))",
    ),
    "nd to": Mistake(
        """
        nd.ones(3).to('cuda')
        """,
        AttributeError,
        "x.as_in_context(mx.gpu(0)) | astype",
    ),
    "eval": Mistake(
        """
        nn.Dense(3).eval()
        """,
        AttributeError,
        "leave it out | inference mode",
    ),
    "train": Mistake(
        """
        nn.Dense(3).train()
        """,
        AttributeError,
        "autograd.record()",
    ),
    "compile": Mistake(
        """
        nn.Dense(3).compile('adam')
        """,
        AttributeError,
        "Trainer | hybridize",
    ),
    "fit": Mistake(
        """
        nn.Dense(3).fit(nd.ones((2, 3)))
        """,
        AttributeError,
        "Estimator | trainer.step(batch_size)",
    ),
    "predict": Mistake(
        """
        nn.Dense(3).predict(nd.ones((2, 3)))
        """,
        AttributeError,
        "net(x)",
    ),
    "trainer zero_grad": Mistake(
        """
        net = nn.Dense(3, in_units=2)
        net.initialize()
        gluon.Trainer(net.collect_params(), 'sgd').zero_grad()
        """,
        AttributeError,
        "leave it out | collect_params().zero_grad()",
    ),
    "mx.optim": Mistake(
        """
        mx.optim.SGD()
        """,
        AttributeError,
        "gluon.Trainer",
    ),
    "mx.tensor": Mistake(
        """
        mx.tensor([1, 2])
        """,
        AttributeError,
        "nd.array(values)",
    ),
    "nd.tensor": Mistake(
        """
        nd.tensor([1, 2])
        """,
        AttributeError,
        "nd.array(values)",
    ),
    "mx.no_grad": Mistake(
        """
        with mx.no_grad(): pass
        """,
        AttributeError,
        "autograd.pause()",
    ),
    "autograd.no_grad": Mistake(
        """
        with autograd.no_grad(): pass
        """,
        AttributeError,
        "autograd.pause()",
    ),
    "requires_grad": Mistake(
        """
        nd.ones(3, requires_grad=True)
        """,
        TypeError,
        "attach_grad()",
    ),
    "x.numpy()": Mistake(
        """
        nd.ones(3).numpy()
        """,
        AttributeError,
        "x.asnumpy()",
    ),
    "x.cpu()": Mistake(
        """
        nd.ones(3).cpu()
        """,
        AttributeError,
        "x.as_in_context(mx.cpu())",
    ),
    "x.requires_grad_": Mistake(
        """
        nd.ones(3).requires_grad_()
        """,
        AttributeError,
        "x.attach_grad()",
    ),
    "nd.cat": Mistake(
        """
        nd.cat([nd.ones(2), nd.ones(2)])
        """,
        AttributeError,
        "nd.concat(x, y, dim=1)",
    ),
    "np.cat": Mistake(
        """
        np.cat([np.ones(2), np.ones(2)])
        """,
        AttributeError,
        "np.concatenate(",
    ),
    "nd.matmul": Mistake(
        """
        nd.matmul(nd.ones((2, 2)), nd.ones((2, 2)))
        """,
        AttributeError,
        "nd.dot | batch_dot",
    ),
    "nd.randn": Mistake(
        """
        nd.randn(2, 3)
        """,
        AttributeError,
        "nd.random.normal(",
    ),
    "np.randn": Mistake(
        """
        np.randn(2, 3)
        """,
        AttributeError,
        "np.random.normal(",
    ),
    "mx.cuda.is_available": Mistake(
        """
        mx.cuda.is_available()
        """,
        AttributeError,
        "context.num_gpus()",
    ),
    "gluon.nn.functional": Mistake(
        """
        nn.functional.relu(nd.ones(2))
        """,
        AttributeError,
        "F.relu(x)",
    ),
    "mx.Tensor": Mistake(
        """
        mx.Tensor
        """,
        AttributeError,
        "nd.NDArray",
    ),
    "gluon.DataLoader": Mistake(
        """
        gluon.DataLoader
        """,
        AttributeError,
        "gluon.data.DataLoader(",
    ),
    "astype torch": Mistake(
        """
        nd.ones(3).float()
        """,
        AttributeError,
        "x.astype('float32')",
    ),
    "init unknown 2": Mistake(
        """
        mx.init.Kaiming()
        """,
        AttributeError,
        "MSRAPrelu",
    ),
    "ImageFolder": Mistake(
        """
        data.vision.ImageFolder('{folder}')
        """,
        AttributeError,
        "ImageFolderDataset",
    ),
    "vision.resnet50": Mistake(
        """
        mx.gluon.model_zoo.vision.resnet50()
        """,
        AttributeError,
        "'resnet50_v1'",
    ),
    "metric compute": Mistake(
        """
        mx.metric.Accuracy().compute()
        """,
        AttributeError,
        "metric.get()",
    ),
    "is_training": Mistake(
        """
        autograd.is_train()
        """,
        AttributeError,
        "'is_training'",
    ),
}
