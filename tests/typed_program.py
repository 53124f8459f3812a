"""A user's program, for type checkers alone: mypy and pyright read it, nothing runs it.

A line that a type checker must refuse says so in a comment; both report a comment that suppresses
nothing (`warn_unused_ignores`, `reportUnnecessaryTypeIgnoreComment`), so that an error which is no
longer found is an error itself.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from typing import assert_type

import gluonish as mx
from gluonish.numpy.array import ndarray

x = mx.nd.ones((2, 3))
image = mx.nd.zeros((1, 3, 8, 8))

# Functions of operators have their types in every namespace.
assert_type(mx.nd.relu(x), mx.nd.NDArray)
assert_type(mx.nd.op.relu(x), mx.nd.NDArray)
assert_type(mx.nd.Convolution(image, image, kernel=(3, 3), num_filter=4), mx.nd.NDArray)
assert_type(mx.nd.contrib.box_iou(x, x), mx.nd.NDArray)
assert_type(mx.nd.linalg.gemm2(x, x, transpose_b=True), mx.nd.NDArray)
assert_type(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4), mx.sym.Symbol)
assert_type(mx.npx.relu(mx.np.ones((2, 3))), ndarray)

# So have methods.
assert_type(x.relu(), mx.nd.NDArray)
assert_type(x.sum(axis=1, keepdims=True).sqrt(), mx.nd.NDArray)
assert_type(mx.sym.var("data").relu().mean(axis=(0, 1)), mx.sym.Symbol)

# What does not exist is an error, as is an argument of another type.
x.rellu()  # type: ignore[attr-defined]
mx.sym.var("data").rellu()  # type: ignore[attr-defined]
mx.nd.rellu(x)  # type: ignore[attr-defined]
mx.sym.rellu(x)  # type: ignore[attr-defined]
mx.npx.rellu(x)  # type: ignore[attr-defined]
mx.nd.relu("x")  # type: ignore[arg-type]
mx.nd.Convolution(image, kernel=(3, 3), num_filter="4")  # type: ignore[arg-type]
mx.nd.Convolution(image, kernels=(3, 3))  # type: ignore[call-arg]
x.sum(axes=1)  # type: ignore[call-arg]


# A user's classes name and type their arguments as they like, and common calls need no casts.
class OwnFunction(mx.autograd.Function):
    def forward(self, x: mx.nd.NDArray, y: mx.nd.NDArray) -> mx.nd.NDArray:
        return x

    def backward(self, dy: mx.nd.NDArray) -> mx.nd.NDArray:
        return dy


class Net(mx.gluon.HybridBlock):
    def forward(self, x: mx.nd.NDArray, y: mx.nd.NDArray | None = None) -> mx.nd.NDArray:
        return x


class HybridNet(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: object, data: mx.nd.NDArray, w: mx.nd.NDArray) -> mx.nd.NDArray:
        return data


class OwnBlock(mx.gluon.Block):
    def forward(self, data: mx.nd.NDArray, w: mx.nd.NDArray) -> mx.nd.NDArray:
        return data


class OwnLoss(mx.gluon.loss.Loss):
    def hybrid_forward(
        self, F: object, pred: mx.nd.NDArray, label: mx.nd.NDArray, sample_weight: object = None
    ) -> mx.nd.NDArray:
        return pred


class OwnCell(mx.gluon.rnn.HybridRecurrentCell):
    def hybrid_forward(
        self, F: object, inputs: mx.nd.NDArray, states: list[mx.nd.NDArray], w: mx.nd.NDArray
    ) -> tuple[mx.nd.NDArray, list[mx.nd.NDArray]]:
        return inputs, states


class OwnOptimizer(mx.optimizer.Optimizer):
    def create_state(self, index: int, weight: mx.nd.NDArray) -> None:
        return None

    def update(
        self, index: int, weight: mx.nd.NDArray, grad: mx.nd.NDArray, state: object
    ) -> None: ...


class OwnMetric(mx.metric.EvalMetric):
    def update(self, labels: list[mx.nd.NDArray], preds: list[mx.nd.NDArray]) -> None: ...


class OwnInitializer(mx.init.Initializer):
    def _init_weight(self, name: str, arr: mx.nd.NDArray) -> None: ...


class OwnScheduler(mx.lr_scheduler.LRScheduler):
    def __call__(self, num_update: int) -> float:
        return 1.0


class OwnDataset(mx.gluon.data.Dataset):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, idx: int) -> int:
        return 1


class OwnIterator(mx.io.DataIter):
    def next(self) -> mx.io.DataBatch:
        raise StopIteration


class OwnOperator(mx.operator.CustomOp):
    def forward(
        self,
        is_train: bool,
        req: list[str],
        in_data: list[mx.nd.NDArray],
        out_data: list[mx.nd.NDArray],
        aux: list[mx.nd.NDArray],
    ) -> None: ...


x.attach_grad()
x.grad.asnumpy()
net = mx.gluon.nn.Sequential()
net[0].weight.data()
store = mx.kv.create("local")
store.init(3, x)
store.push(3, x)
store.pull(3, out=x)
store.set_optimizer(mx.optimizer.SGD())
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=store)
with mx.autograd.record():
    loss = mx.gluon.loss.L2Loss()(x, x + 1)
loss.backward()
trainer.step(1)
