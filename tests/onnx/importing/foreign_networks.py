"""Networks that PyTorch writes as ONNX, and others from files, against ONNX Runtime; run by hand.

The first step needs torch, torchvision, onnxscript and onnxruntime, the second gluonish and onnx::

    python tests/onnx/importing/foreign_networks.py export FOLDER [FILE.onnx ..]
    python -m tests.onnx.importing.foreign_networks check FOLDER

Given files, the first step takes these in place of PyTorch's. It writes networks, inputs and ONNX
Runtime's outputs into the folder; the second reads the networks and prints the largest difference,
relative to the largest output, and how long reading took.
"""

import argparse
import importlib
import time
from pathlib import Path
from typing import Any

import numpy as np

_LSTM_STATE = 128
_SAMPLES = 576  # that silero-vad's detector of voices takes at once


def _networks() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return networks and their inputs."""
    torch: Any = importlib.import_module("torch")
    vision: Any = importlib.import_module("torchvision").models
    nn = torch.nn
    torch.manual_seed(0)

    class Language(nn.Module):  # type: ignore[misc, name-defined]  # torch is not known here
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(50, 32)
            self.lstm = nn.LSTM(32, 64, num_layers=2, bidirectional=True, batch_first=True)
            self.out = nn.Linear(_LSTM_STATE, 50)

        def forward(self, x: Any) -> Any:
            return self.out(self.lstm(self.embed(x))[0])

    image = torch.randn(2, 3, 64, 64)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2, enable_nested_tensor=False
    )
    return {
        "resnet18": (vision.resnet18(), (image,)),
        "mobilenet_v2": (vision.mobilenet_v2(), (image,)),
        "encoder": (encoder, (torch.randn(2, 10, 64),)),
        "lstm": (Language(), (torch.randint(0, 50, (2, 12)),)),
        "gru": (nn.GRU(16, 24, batch_first=True), (torch.randn(3, 7, 16),)),
    }


def export(folder: Path, files: list[Path]) -> None:
    """Write the networks, inputs and what ONNX Runtime gives."""
    torch: Any = importlib.import_module("torch")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (net, inputs) in _networks().items() if not files else ():
        for dynamo in (False, True):
            for dynamic in (False, True):
                path = folder / f"{name}-{'dynamo' if dynamo else 'legacy'}{'-open' * dynamic}.onnx"
                kwargs: dict[str, Any] = {"dynamo": dynamo, "input_names": ["x"]}
                if dynamic and dynamo:
                    kwargs["dynamic_shapes"] = ({0: torch.export.Dim("batch")},)
                elif dynamic:
                    kwargs["dynamic_axes"] = {"x": {0: "batch"}}
                try:
                    torch.onnx.export(net.eval(), inputs, path, **kwargs)
                except Exception as error:
                    _say(f"{path.name}: torch cannot write it: {str(error)[:200]}")
                    continue
                _run(path, {"x": inputs[0].numpy()})
    rng = np.random.default_rng(0)
    for file in files:
        path = folder / file.name
        path.write_bytes(file.read_bytes())
        try:
            _run(path, _inputs(path, rng))
        except Exception as error:
            path.unlink()
            _say(f"{path.name}: ONNX Runtime does not run it: {str(error)[:200]}")


def _inputs(path: Path, rng: np.random.Generator) -> dict[str, Any]:
    """Return numbers for the inputs of a file: small ones, a rate of 16000 samples a second."""
    runtime: Any = importlib.import_module("onnxruntime")
    given: dict[str, Any] = {}
    for value in runtime.InferenceSession(str(path)).get_inputs():
        shape = [n if isinstance(n, int) else 1 for n in value.shape]
        if value.name == "input" and not isinstance(value.shape[-1], int):
            shape[-1] = _SAMPLES
        if value.type == "tensor(int64)":
            given[value.name] = np.full(shape, 16000, np.int64)
        else:
            given[value.name] = rng.normal(size=shape).astype(np.float32) / 4
    return given


def _run(path: Path, given: dict[str, Any]) -> None:
    runtime: Any = importlib.import_module("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    outputs = session.run(None, given)
    results = {f"out{i}": value for i, value in enumerate(outputs)}
    np.savez(path.with_suffix(".npz"), **{f"in_{k}": v for k, v in given.items()}, **results)


def check(folder: Path) -> None:
    """Read the networks and compare."""
    from gluonish.ndarray import array
    from gluonish.onnx.importing import get_model_metadata, import_to_gluon

    for path in sorted(folder.glob("*.onnx")):
        stored = np.load(path.with_suffix(".npz"))
        names = [name for name, _ in get_model_metadata(path)["input_tensor_data"]]
        inputs = [array(stored[f"in_{n}"], dtype=stored[f"in_{n}"].dtype) for n in names]
        start = time.perf_counter()
        net = import_to_gluon(path)
        net.hybridize()
        taken_s = time.perf_counter() - start
        found = net(*inputs)
        several = found if isinstance(found, list | tuple) else [found]
        worst = 0.0
        for i, result in enumerate(several):
            expected = stored[f"out{i}"]
            difference = np.abs(result.asnumpy() - expected).max() / np.abs(expected).max()
            worst = max(worst, float(difference))
        kind = type(net).__name__
        _say(f"{path.name:32} {kind:12} difference {worst:.1e}, read in {taken_s:.2f} s")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # it is a report


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["export", "check"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    arguments = parser.parse_args()
    if arguments.step == "export":
        export(arguments.folder, arguments.files)
    else:
        check(arguments.folder)


if __name__ == "__main__":
    main()
