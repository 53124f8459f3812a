"""Linear regression on a CSR matrix: row-sparse gradients, lazy updates, row_sparse_pull."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import normal

COLUMNS = 12


def batches() -> Any:
    """Three matrices with few columns in use, and labels."""
    for seed in range(3):
        values = normal(seed, 5, COLUMNS)
        used = np.random.default_rng(100 + seed).random((5, COLUMNS)) < 0.25
        used[:, seed::3] = False
        yield np.where(used, values, 0).astype(np.float32), normal(50 + seed, 5, 2)


def matrix(mx: ModuleType, values: Any) -> Any:
    """Return a CSR matrix of the elements that are not 0."""
    rows, columns = np.nonzero(values)
    starts = np.searchsorted(rows, np.arange(len(values) + 1))
    return mx.nd.sparse.csr_matrix((values[rows, columns], columns, starts), shape=values.shape)


def make_class(mx: ModuleType) -> Any:
    class Linear(mx.gluon.Block):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.weight = self.params.get(
                    "weight", shape=(COLUMNS, 2), stype="row_sparse", grad_stype="row_sparse"
                )
                self.bias = self.params.get("bias", shape=(2,))

        def forward(self, x: Any) -> Any:
            weight = self.weight.row_sparse_data(x.indices)
            return mx.nd.sparse.dot(x, weight) + self.bias.data()

    return Linear


def trained(mx: ModuleType, rule: str, settings: dict[str, Any]) -> dict[str, Any]:
    net = make_class(mx)(prefix=f"{rule}_")
    net.initialize()
    net.weight.set_data(mx.nd.array(0.5 * normal(7, COLUMNS, 2)).tostype("row_sparse"))
    net.bias.set_data(mx.nd.array([0.1, -0.1]))
    trainer = mx.gluon.Trainer(net.collect_params(), rule, settings, kvstore="local")
    loss_fn = mx.gluon.loss.L2Loss()
    losses, rows = [], []
    for _ in range(2):
        for values, labels in batches():
            x = matrix(mx, values)
            with mx.autograd.record():
                loss = loss_fn(net(x), mx.nd.array(labels))
            loss.backward()
            trainer.step(5)
            losses.append(loss.mean().asscalar())
            rows.append(str(net.weight.list_grad()[0].indices.asnumpy().tolist()))
    every_row = mx.nd.arange(COLUMNS, dtype="int64")
    return {
        f"{rule} losses": losses,
        f"{rule} rows": rows,
        f"{rule} weight": net.weight.row_sparse_data(every_row).asnumpy(),
        f"{rule} bias": net.bias.data().asnumpy(),
    }


def by_hand(mx: ModuleType) -> dict[str, Any]:
    """The same with a store, pulling the rows that a batch needs."""
    store = mx.kv.create("local")
    weight = mx.nd.array(0.5 * normal(7, COLUMNS, 2)).tostype("row_sparse")
    store.init("weight", weight)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.2, momentum=0.5, rescale_grad=0.2))
    pulled = mx.nd.sparse.zeros("row_sparse", (COLUMNS, 2))
    pulled.attach_grad(stype="row_sparse")
    results: dict[str, Any] = {"losses by hand": []}
    for number, (values, labels) in enumerate(batches()):
        x = matrix(mx, values)
        store.row_sparse_pull("weight", out=pulled, row_ids=x.indices)
        with mx.autograd.record():
            loss = mx.nd.square(mx.nd.dot(x, pulled) - mx.nd.array(labels)).sum(axis=1)
        loss.backward()
        store.push("weight", pulled.grad)
        results["losses by hand"].append(loss.mean().asscalar())
        results[f"gradient {number}"] = pulled.grad.asnumpy()
        results[f"rows {number}"] = str(pulled.grad.indices.asnumpy().tolist())
        results[f"pulled {number}"] = str(pulled.indices.asnumpy().tolist())
    store.row_sparse_pull("weight", out=pulled, row_ids=mx.nd.arange(COLUMNS))
    results["weight by hand"] = pulled.asnumpy()
    return results


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    del hybridize  # there is no graph of sparse parameters
    return {
        **trained(mx, "sgd", {"learning_rate": 0.2, "momentum": 0.9, "wd": 1e-2}),
        **trained(mx, "adam", {"learning_rate": 0.1, "wd": 1e-2, "lazy_update": True}),
        **by_hand(mx),
    }
