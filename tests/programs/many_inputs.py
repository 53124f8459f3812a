"""Blocks with nested lists of inputs and outputs, None among them, in and out of hybridize."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Cell(mx.gluon.HybridBlock):
        def __init__(self, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.mix = nn.Dense(size * 2)

        def hybrid_forward(self, F: Any, x: Any, states: Any, mask: Any = None) -> Any:
            h, (c, d) = states
            both = self.mix(F.concat(x, h, dim=1))
            a, b = F.split(both, num_outputs=2, axis=1)
            new = F.sigmoid(a) * c + F.tanh(b)
            if mask is not None:
                new = F.where(mask, new, d)
            return new, [new * 2, [F.relu(a), b]]

    return Cell


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    cell = make_classes(mx)(3, prefix="many_")
    cell.initialize()
    x = mx.nd.array(normal(1, 2, 4))
    h, c, d = (mx.nd.array(normal(s, 2, 3)) for s in (2, 3, 4))
    if hybridize:
        cell.hybridize()
    mask = mx.nd.array([[1, 0, 1], [0, 0, 1]])
    cell(x, [h, [c, d]], mask)
    fill(mx, cell.collect_params(), 5)
    out: dict[str, Any] = {}
    for name, extra in {"masked": (mask,)}.items():
        for array in (x, h, c, d):
            array.attach_grad()
        with mx.autograd.record():
            y, (z, (r, s)) = cell(x, [h, [c, d]], *extra)
            total = y.sum() + (z * r).sum() - s.mean()
        total.backward()
        out[f"{name} outputs"] = [v.asnumpy() for v in (y, z, r, s)]
        out[f"{name} x"] = x.grad.asnumpy()
        out[f"{name} states"] = [v.grad.asnumpy() for v in (h, c, d)]
        out[f"{name} weight"] = cell.mix.weight.grad().asnumpy()
    return {**out, **values_of(cell.collect_params())}
