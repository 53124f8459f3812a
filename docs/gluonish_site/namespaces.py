"""The public namespaces, their names, and the page on which each name is described."""

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import gluonish
from gluonish.ops.registry import Operator

# Namespaces by subject, each with a line for the overview. A name that several have is described in
# the first of them; the others link to it.
GROUPS: dict[str, dict[str, str]] = {
    "Networks and training": {
        "gluon": "Blocks, parameters and the Trainer",
        "gluon.nn": "Layers",
        "gluon.rnn": "Recurrent layers and cells",
        "gluon.loss": "Losses",
        "gluon.probability": "Distributions, transformations, divergences",
        "gluon.probability.distributions.constraint": "Sets of parameters and samples",
        "gluon.probability.distributions.utils": "Functions that distributions share",
        "gluon.data": "Datasets, samplers and the DataLoader",
        "gluon.data.batchify": "Functions that make batches of samples",
        "gluon.data.vision": "Datasets of images",
        "gluon.data.vision.datasets": "Datasets of images, by class",
        "gluon.data.vision.transforms": "Transforms of images",
        "gluon.utils": "Split and load data, clip gradients, download",
        "autograd": "Record calls and compute gradients",
        "optimizer": "Optimizers",
        "optimizer.contrib": "Further optimizers",
        "optimizer.adamW": "Adam, its relatives and their base class",
        "lr_scheduler": "Learning rate schedules",
        "init": "Initializers of parameters",
        "metric": "Metrics",
        "gluon.metric": "Metrics of MXNet 2.0, averaged over samples",
        "kv": "Stores that combine gradients of several devices or processes",
    },
    "Ready networks": {
        "gluon.model_zoo": "Networks by name, and pretrained weights",
        "gluon.model_zoo.vision": "Networks for images",
        "gluon.model_zoo.text": "Networks for text, tokenizers, generation",
        "gluon.model_zoo.speech": "Networks for speech",
        "gluon.model_zoo.model_store": "Files of published weights",
    },
    "Arrays": {
        "nd": "Arrays as in MXNet 1.9",
        "nd.random": "Random arrays",
        "nd.linalg": "Linear algebra",
        "nd.image": "Images",
        "nd.contrib": "Further functions",
        "nd.sparse": "Sparse arrays",
        "np": "Arrays and functions as in NumPy",
        "np.random": "Random arrays as in NumPy",
        "np.linalg": "Linear algebra as in NumPy",
        "np.array_api": "The functions of the array API standard",
        "npx": "What networks need beside NumPy's functions",
        "npx.random": "Further random arrays",
        "npx.image": "Images",
    },
    "Symbols": {
        "sym": "Graphs as in MXNet 1.9",
        "sym.random": "Random values in graphs",
        "sym.linalg": "Linear algebra in graphs",
        "sym.image": "Images in graphs",
        "sym.contrib": "Further functions in graphs",
        "sym.sparse": "Sparse values in graphs",
        "sym.np": "NumPy's functions in graphs",
        "sym.npx": "Neural network functions beside those",
        "executor": "Executors of graphs",
        "viz": "Plots and tables of graphs",
    },
    "Devices, files and tools": {
        "": "Devices, modes and what else is in the package itself",
        "context": "Devices",
        "util": "Modes of NumPy's semantics, and measures of devices",
        "random": "Seeds and random arrays",
        "engine": "The engine that runs operators",
        "profiler": "Measure operators, memory and tasks",
        "runtime": "Features of this installation",
        "recordio": "RecordIO files",
        "io": "Data iterators",
        "image": "Read, decode and augment images",
        "onnx": "ONNX export and import",
        "operator": "Operators written in Python",
        "test_utils": "Compare arrays and check gradients",
        "core.errors": "Errors that gluonish raises",
    },
    "Module and further packages": {
        "mod": "Train graphs with Module",
        "model": "Checkpoints and FeedForward",
        "callback": "Callbacks of Module",
        "monitor": "Watch values while training",
        "rnn": "Symbolic recurrent cells",
        "contrib.amp": "Mixed precision",
        "contrib.quantization": "Networks in 8 bits",
        "contrib.lora": "Adapters of low rank",
        "contrib.onnx": "ONNX under MXNet's older names",
        "contrib.text": "Vocabularies and embeddings of words",
        "contrib.text.embedding": "Embeddings of words",
        "contrib.text.utils": "Count words",
        "contrib.text.vocab": "Vocabularies and data of text",
        "contrib.tensorboard": "Write events for TensorBoard",
        "contrib.svrg_optimization": "Stochastic variance reduced gradients",
        "contrib.autograd": "Older names of autograd",
        "contrib.io": "Iterators over a DataLoader",
        "gluon.contrib.estimator": "Estimator: a training loop with event handlers",
        "gluon.contrib.nn": "Further layers",
        "gluon.contrib.rnn": "Further recurrent cells",
        "gluon.contrib.cnn": "Deformable convolutions",
        "gluon.contrib.data": "Further samplers and data",
        "gluon.contrib.data.vision": "Loaders of images and boxes",
        "gluon.contrib.data.vision.transforms.bbox": "Transforms of images with boxes",
        "gluon.contrib.attention_view": "Look at the weights of attention",
    },
    "Parts under MXNet's own paths": {
        "attribute": "Attributes of symbols",
        "base": "MXNetError, and helpers of MXNet's own modules",
        "error": "Registered errors",
        "cuda": "Profilers of CUDA",
        "cuda.nvtx": "Ranges that profilers of CUDA show",
        "dlpack": "Arrays of and for other packages",
        "registry": "Registries of classes",
        "log": "Loggers",
        "libinfo": "Paths and version",
        "library": "Libraries of operators",
        "executor_manager": "Executors of several devices",
        "mod.executor_group": "Executors of a Module",
        "notebook.callback": "Plots while a Module trains",
        "rtc": "CUDA kernels as text",
        "gluon.parameter": "Registries of parameters",
        "gluon.trainer": "Errors of the Trainer",
        "gluon.contrib.rnn.rnn_cell": "Unroll a cell over a number of steps that varies",
        "gluon.contrib.estimator.event_handler": "The base class of event handlers",
        "gluon.contrib.estimator.utils": "Checks of the Estimator",
        "contrib.amp.loss_scaler": "Scales of losses in float16",
        "contrib.svrg_optimization.svrg_module": "Module with reduced variance",
        "contrib.tensorrt": "What was there for TensorRT",
    },
}
# Namespaces whose functions are made from the registry of operators when they are asked for.
_GENERATED = ("nd", "sym", "npx")


class Home(NamedTuple):
    """Where a public object is described.

    Attributes:
        name: Its full name there, such as ``mx.gluon.nn.Dense``.
        page: The document, such as ``reference/gluon.nn``.
    """

    name: str
    page: str


def full(namespace: str, name: str = "") -> str:
    """Return a full name as users write it: ``mx.nd.softmax``."""
    return ".".join(part for part in ("mx", namespace, name) if part)


def page_of(namespace: str) -> str:
    """Return the document of a namespace."""
    return f"reference/{namespace or 'package'}"


def namespaces() -> Iterator[str]:
    """Yield the public namespaces in the order of the reference."""
    for group in GROUPS.values():
        yield from group


def resolve(namespace: str) -> ModuleType:
    """Return the module of a namespace."""
    found: Any = gluonish
    for part in namespace.split(".") if namespace else ():
        following = getattr(found, part, None)
        found = (
            importlib.import_module(f"{found.__name__}.{part}") if following is None else following
        )
    return found  # type: ignore[no-any-return]


def operator_of(value: Any) -> Operator | None:
    """Return the operator that a function was made from, or None."""
    found = getattr(value, "operator", None)
    return found if isinstance(found, Operator) and inspect.isroutine(value) else None


def is_absent(value: Any) -> bool:
    """Whether a function only says that an operator of MXNet's is not available."""
    return inspect.isroutine(value) and (value.__doc__ or "").startswith("Not available")


def public_names(namespace: str) -> dict[str, Any]:
    """Return the public names of a namespace with their values, without modules.

    They are those of ``__all__``, or without one the public functions and classes of the module's
    own package, and the functions of operators.
    """
    module = resolve(namespace)
    listed = getattr(module, "__all__", None)
    names = set(listed or ())
    if listed is None or namespace.partition(".")[0] in _GENERATED:
        for name in dir(module):
            if name.startswith("_") or name in names or not name.isidentifier():
                continue
            value = getattr(module, name, None)
            made = operator_of(value) is not None or is_absent(value)
            if made or (listed is None and _is_own(module, value)):
                names.add(name)
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {name: found[name] for name in sorted(found) if not inspect.ismodule(found[name])}


def _is_own(module: ModuleType, value: Any) -> bool:
    """Whether a module without ``__all__`` defines a value."""
    own = inspect.isroutine(value) or inspect.isclass(value)
    return own and getattr(value, "__module__", None) == module.__name__


class Names:
    """All public names and where each is described.

    Attributes:
        by_namespace: The public names of each namespace, with their values.
        operators: The full names of each operator's functions, by the operator's name.
        registered: The operators with public functions, by name.
    """

    def __init__(self) -> None:
        self.by_namespace = {namespace: public_names(namespace) for namespace in namespaces()}
        self.operators: dict[str, list[str]] = {}
        self.registered: dict[str, Operator] = {}
        self._homes: dict[int, Home] = {}
        self._short: dict[str, set[Home]] = {}
        for namespace, names in self.by_namespace.items():
            for name, value in names.items():
                self._add(namespace, name, value)
        for name, functions in self.operators.items():
            functions.sort(key=lambda function: _rank(function, name))
        pages = operator_pages(self.operators)
        for name, functions in self.operators.items():
            for function in functions:
                home = Home(functions[0], pages[name])
                self._short.setdefault(function.rpartition(".")[2], set()).add(home)
        self.pages = pages

    def _add(self, namespace: str, name: str, value: Any) -> None:
        op = operator_of(value)
        if op is not None:
            self.registered[op.name] = op
            self.operators.setdefault(op.name, []).append(full(namespace, name))
        elif has_identity(value):
            home = self._homes.setdefault(
                id(value), Home(full(namespace, name), page_of(namespace))
            )
            self._short.setdefault(name, set()).add(home)

    def home(self, namespace: str, name: str) -> Home:
        """Return where a public name is described."""
        value = self.by_namespace[namespace][name]
        op = operator_of(value)
        if op is not None:
            return Home(self.operators[op.name][0], self.pages[op.name])
        own = Home(full(namespace, name), page_of(namespace))
        return self._homes.get(id(value), own) if has_identity(value) else own

    def describes(self, value: Any) -> bool:
        """Whether a class or function is described on some page."""
        return id(value) in self._homes

    def find(self, name: str, namespace: str = "") -> str | None:
        """Return the full name for a name in a docstring, or None unless one object has it.

        Args:
            name: The name, perhaps with the end of its namespace before it.
            namespace: The namespace of the docstring, whose names come first.
        """
        homes = self._short.get(name.rpartition(".")[2], set())
        if name in self.by_namespace[namespace]:
            return self.home(namespace, name).name
        suffix = "." + name.removeprefix("mx.").removeprefix("gluonish.")
        exact = [home for home in homes if home.name.endswith(suffix)]
        found = exact if len(exact) == 1 else list(homes)
        return found[0].name if len(found) == 1 and found[0].name.endswith(suffix) else None


def _rank(function: str, operator: str) -> tuple[int, bool, bool, str]:
    """Return what orders the functions of an operator: the one with its own name comes first."""
    _, *namespace, name = function.split(".")
    place = list(namespaces()).index(".".join(namespace))
    return place, name != operator.lstrip("_"), name != name.lower(), name


def has_identity(value: Any) -> bool:
    """Whether a value is described once, wherever it is found: a class or a function."""
    return inspect.isclass(value) or inspect.isroutine(value)


def operator_pages(operators: dict[str, list[str]]) -> dict[str, str]:
    """Return the document of each operator, of different names also where case does not count."""
    taken: set[str] = set()
    pages = {}
    for name, functions in operators.items():
        stem = functions[0].rpartition(".")[2]
        while stem.lower() in taken:
            stem += "_"
        taken.add(stem.lower())
        pages[name] = f"reference/operators/{stem}"
    return pages
