import json

import gluonish as mx


def _operators(text: str) -> list[str]:
    return [node["op"] for node in json.loads(text)["nodes"]]


def test_casts_of_mixed_precision_stay_out_of_files_unless_wanted() -> None:
    y = mx.sym.amp_cast(mx.sym.var("x"), dtype="float16") * 2
    assert _operators(y.tojson()) == ["null", "_mul_scalar"]
    assert _operators(y.tojson(remove_amp_cast=False)) == ["null", "amp_cast", "_mul_scalar"]


def test_a_cast_of_several_is_left_out_for_each() -> None:
    a, b = mx.sym.amp_multicast(mx.sym.var("a"), mx.sym.var("b"), num_outputs=2)
    assert _operators((a * b).tojson()) == ["null", "null", "elemwise_mul"]
