"""Write training_api.json: the recorded public names of the modules of the training API.

Usage: python tests/golden/make_training_api.py path/to/mxnet-1.9.1.json
"""

import ast
import json
import sys
from pathlib import Path
from typing import Any

MODULES = (
    "attribute",
    "autograd",
    "callback",
    "context",
    "contrib.text.embedding",
    "contrib.text.utils",
    "contrib.text.vocab",
    "engine",
    "gluon",
    "gluon.block",
    "gluon.contrib",
    "gluon.contrib.cnn",
    "gluon.contrib.data",
    "gluon.contrib.data.text",
    "gluon.contrib.estimator",
    "gluon.contrib.nn",
    "gluon.contrib.rnn",
    "gluon.data",
    "gluon.data.dataloader",
    "gluon.data.dataset",
    "gluon.data.sampler",
    "gluon.data.vision",
    "gluon.data.vision.transforms",
    "gluon.loss",
    "gluon.model_zoo",
    "gluon.model_zoo.model_store",
    "gluon.model_zoo.vision",
    "gluon.nn",
    "gluon.parameter",
    "gluon.rnn",
    "gluon.rnn.rnn_cell",
    "gluon.rnn.rnn_layer",
    "gluon.trainer",
    "gluon.utils",
    "initializer",
    "kvstore",
    "lr_scheduler",
    "metric",
    "monitor",
    "name",
    "ndarray.random",
    "optimizer",
    "optimizer.contrib",
    "profiler",
    "random",
    "recordio",
    "registry",
    "test_utils",
    "util",
    "visualization",
)
CALLABLE = ("method", "classmethod", "staticmethod")


def arguments(signature: str | None) -> list[str] | None:
    """Return the argument names of a recorded signature, with ``*`` before a variadic one."""
    if signature is None:
        return None
    function = ast.parse(f"def f{signature}: pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    return names + [argument.arg for argument in given.kwonlyargs]


def entry(name: str, spec: dict[str, Any], classes: dict[str, Any]) -> dict[str, Any]:
    """Return what the test needs of one public name."""
    kept: dict[str, Any] = {"kind": spec["kind"]}
    if spec["kind"] == "function":
        kept["arguments"] = arguments(spec.get("sig"))
    if spec["kind"] == "class" and spec.get("class") in classes:
        recorded = classes[spec["class"]]
        kept["arguments"] = arguments(recorded.get("sig"))
        kept["members"] = {
            member: arguments(own.get("sig")) if own["kind"] in CALLABLE else None
            for member, own in recorded.get("members", {}).items()
        }
    return kept


def main(source: str) -> None:
    """Copy the names of the modules out of the recorded API."""
    recorded = json.loads(Path(source).read_text(encoding="utf-8"))
    classes = recorded["classes"]
    lines = []
    for module in MODULES:
        names = recorded["modules"][f"mxnet.{module}"]["names"]
        inner = [
            f"  {json.dumps(name)}: {json.dumps(entry(name, spec, classes))}"
            for name, spec in sorted(names.items())
        ]
        lines.append(f" {json.dumps(module)}: {{\n" + ",\n".join(inner) + "\n }")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("training_api.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
