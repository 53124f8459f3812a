"""Settings of a custom operator in a -symbol.json file."""

import gluonish as mx
from gluonish.ndarray import NDArray


@mx.operator.register("scaled_in_a_file")
class Scaled(mx.operator.CustomOpProp):
    def __init__(self, scale: str = "1") -> None:
        super().__init__()
        self.scale = float(scale)

    def create_operator(self, ctx: object, shapes: object, dtypes: object) -> mx.operator.CustomOp:
        return Scale(self.scale)


class Scale(mx.operator.CustomOp):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(
        self,
        is_train: bool,
        req: list[str],
        in_data: list[NDArray],
        out_data: list[NDArray],
        aux: list[NDArray],
    ) -> None:
        self.assign(out_data[0], req[0], in_data[0] * self.scale)


def test_settings_of_the_operator_survive_a_file() -> None:
    y = mx.sym.Custom(mx.sym.Variable("x"), op_type="scaled_in_a_file", scale="3")
    loaded = mx.sym.load_json(y.tojson())
    executor = loaded.bind(mx.cpu(), {"x": mx.nd.ones((2,))})
    assert executor.forward()[0].asnumpy().tolist() == [3.0, 3.0]
