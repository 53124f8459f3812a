"""Every environment variable that gluonish acts on, each one a typed `Flag`.

A flag is read as ``FLAG.value`` where the thing it configures is built, because programs set
``os.environ`` after the import; it is never read in a hot path. An unset or empty variable means
the default. Nothing else in the package reads ``os.environ``.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

from gluonish.core.errors import ArgumentTypeError, ConfigError

__all__ = [
    "DMLC_LOG_STACK_TRACE_DEPTH",
    "MXNET_BACKWARD_DO_MIRROR",
    "MXNET_CPU_PRIORITY_NTHREADS",
    "MXNET_CPU_WORKER_NTHREADS",
    "MXNET_DISABLED_GRAPH_PASSES",
    "MXNET_ELIMINATE_COMMON_EXPR",
    "MXNET_ENGINE_TYPE",
    "MXNET_EXEC_BULK_EXEC_INFERENCE",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD",
    "MXNET_EXEC_BULK_EXEC_TRAIN",
    "MXNET_EXEC_ENABLE_INPLACE",
    "MXNET_EXEC_NUM_TEMP",
    "MXNET_FUSION_VERBOSE",
    "MXNET_GLUON_REPO",
    "MXNET_HOME",
    "MXNET_LIBRARY_PATH",
    "MXNET_MEMORY_OPT",
    "MXNET_MKLDNN_CACHE_NUM",
    "MXNET_MKLDNN_ENABLED",
    "MXNET_MP_OPENCV_NUM_THREADS",
    "MXNET_MP_WORKER_NTHREADS",
    "MXNET_OPTIMIZER_AGGREGATION_SIZE",
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
    "MXNET_SUBGRAPH_BACKEND",
    "MXNET_UPDATE_ON_KVSTORE",
    "MXNET_USE_FUSION",
    "MXNET_WINOGRAD_CONVOLUTION",
    "NNVM_EXEC_MATCH_RANGE",
    "Flag",
    "Kind",
    "LoadEnvironment",
    "all_flags",
    "get_variable",
    "is_set",
    "kernel_switches",
    "set_variable",
]

T = TypeVar("T")

_changes = [0]  # how often an override began or ended
_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What a variable may hold.

    Args:
        name: One word for the table of ``gluonish env``, such as ``int``.
        expected: What an allowed text is, as it stands in error messages: ``an integer in 1..60``.
        parse: Turns a non-empty text into the value, or raises ValueError.
        show: Turns a value into text that `parse` reads back.
    """

    name: str
    expected: str
    parse: Callable[[str], T]
    show: Callable[[T], str]


def _boolean() -> Kind[bool]:
    def parse(text: str) -> bool:
        if text.lower() not in _BOOLEANS:
            raise ValueError(text)
        return _BOOLEANS[text.lower()]

    return Kind("bool", "one of 0, 1, false, true", parse, lambda value: str(int(value)))


def _integer(low: int, high: int | None = None) -> Kind[int]:
    def parse(text: str) -> int:
        if not re.fullmatch("[+-]?[0-9]{1,18}", text):
            raise ValueError(text)
        number = int(text)
        if number < low or (high is not None and number > high):
            raise ValueError(text)
        return number

    limits = f"an integer >= {low}" if high is None else f"an integer in {low}..{high}"
    return Kind("int", limits, parse, str)


def _choice(*names: str) -> Kind[str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return Kind("choice", f"one of {', '.join(names)}", parse, str)


def _some_of(*names: str) -> Kind[tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(",") if word.strip())
        if not set(words) <= set(names):
            raise ValueError(text)
        return words

    return Kind("list", f"some of {', '.join(names)}, with commas between", parse, ",".join)


class Flag(Generic[T]):
    """One environment variable with its type, default and meaning.

    Args:
        name: The variable, as users know it.
        kind: What it may hold.
        default: The value when the variable is unset or empty; another flag lends its value, and
            a path is expanded at each reading.
        doc: One line saying what the variable does.
    """

    __slots__ = ("_default", "_kind", "_overrides", "doc", "name")

    def __init__(self, name: str, kind: Kind[T], default: "T | Flag[T]", doc: str) -> None:
        self.name = name
        self.doc = doc
        self._kind = kind
        self._default = default
        self._overrides: list[T] = []

    @property
    def kind(self) -> str:
        """One word for the type: bool, int, choice, list, text or path."""
        return self._kind.name

    @property
    def expected(self) -> str:
        """The allowed values in words, as in error messages."""
        return self._kind.expected

    @property
    def source(self) -> str:
        """Where `value` comes from now: ``override``, ``environment`` or ``default``."""
        if self._overrides:
            return "override"
        return "environment" if self.text else "default"

    @property
    def text(self) -> str:
        """What the environment holds, allowed or not, without blanks around it; empty if unset."""
        return os.environ.get(self.name, "").strip()

    @property
    def value(self) -> T:
        """The value now: the innermost override, else the environment's, else the default.

        Raises:
            ConfigError: The environment holds a text that the flag does not allow.
        """
        if self._overrides:
            return self._overrides[-1]
        text = self.text
        if text:
            return self._parse(text)
        if isinstance(self._default, Flag):
            return self._default.value
        return self._kind.parse(self._kind.show(self._default))

    @property
    def value_as_text(self) -> str:
        """`value` as one would write it in the environment."""
        return self._kind.show(self.value)

    @property
    def default_as_text(self) -> str:
        """The default as one would write it, or the name of the flag that lends its value."""
        if isinstance(self._default, Flag):
            return self._default.name
        return self._kind.show(self._default)

    def override(self, value: T) -> "_Override[T]":
        """A ``with`` scope in which the flag has ``value`` in all threads; scopes nest.

        Raises:
            ConfigError: ``value`` is not one that the flag allows.
        """
        return _Override(self._overrides, self._parse(self._kind.show(value)))

    def _parse(self, text: str) -> T:
        try:
            return self._kind.parse(text)
        except ValueError:
            raise ConfigError(f"{self.name}: expected {self.expected}, got {text!r}") from None

    def __bool__(self) -> bool:
        """Refused: a flag is an object, and its truth would say nothing of its value."""
        raise ArgumentTypeError(
            f"Flag: expected {self.name}.value, got the flag itself as a truth value"
        )

    def __repr__(self) -> str:
        """The name and the kind; never reads the environment."""
        return f"Flag({self.name}, {self.kind})"


class _Override(Generic[T]):
    __slots__ = ("_overrides", "_value")

    def __init__(self, overrides: list[T], value: T) -> None:
        self._overrides = overrides
        self._value = value

    def __enter__(self) -> None:
        self._overrides.append(self._value)
        _changes[0] += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._overrides.pop()
        _changes[0] += 1


class LoadEnvironment:
    """Scope in which variables have a value that a library reads once, when it is loaded.

    Args:
        unless: Names; if one of them is set, the user has decided, and nothing is changed.
        **variables: Values by name.
    """

    def __init__(self, *unless: str, **variables: str) -> None:
        decided = any(name in os.environ for name in (*unless, *variables))
        self._variables = {} if decided else variables

    def __enter__(self) -> None:
        os.environ.update(self._variables)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name in self._variables:
            os.environ.pop(name, None)


def is_set(*names: str) -> bool:
    """Whether the environment has one of some variables that are another library's."""
    return any(name in os.environ for name in names)


def get_variable(name: str) -> str | None:
    """Return what the environment holds under a name, None if it has no such variable.

    Raises:
        ArgumentTypeError: if the name is no text.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"getenv: expected the name as text, got {name!r}")
    return os.environ.get(name)


def set_variable(name: str, value: str | None) -> None:
    """Set an environment variable, or unset it with None, for users who ask for it.

    Raises:
        ArgumentTypeError: if the name or the value is no text.
    """
    if not isinstance(name, str) or not isinstance(value, str | None):
        raise ArgumentTypeError(f"setenv: expected name and value as text, got {name!r}, {value!r}")
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def all_flags() -> tuple[Flag[object], ...]:
    """Every flag of this module, in the order of declaration."""
    return tuple(item for item in globals().values() if isinstance(item, Flag))


def _expand(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


_TEXT: Kind[str] = Kind("text", "any text", str, str)
_PATH: Kind[str] = Kind("path", "a path", _expand, str)

MXNET_ENGINE_TYPE = Flag(
    "MXNET_ENGINE_TYPE",
    _choice("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"),
    "ThreadedEnginePerDevice",
    "Engine that runs operators: in the caller, on one pool of threads, or on lanes per device.",
)
MXNET_CPU_WORKER_NTHREADS = Flag(
    "MXNET_CPU_WORKER_NTHREADS", _integer(1), 1, "Engine threads per CPU device, for compute."
)
MXNET_CPU_PRIORITY_NTHREADS = Flag(
    "MXNET_CPU_PRIORITY_NTHREADS",
    _integer(1),
    4,
    "Engine threads for CPU operations of high priority, such as communication.",
)
MXNET_MP_WORKER_NTHREADS = Flag(
    "MXNET_MP_WORKER_NTHREADS",
    _integer(1),
    1,
    "Compute threads of each worker process of a DataLoader.",
)
MXNET_MP_OPENCV_NUM_THREADS = Flag(
    "MXNET_MP_OPENCV_NUM_THREADS",
    _integer(0),
    0,
    "OpenCV's own threads in each worker process of a DataLoader; 0 has it use none.",
)
MXNET_EXEC_BULK_EXEC_INFERENCE = Flag(
    "MXNET_EXEC_BULK_EXEC_INFERENCE",
    _boolean(),
    True,
    "Push a graph to the engine in bulk segments outside training.",
)
MXNET_EXEC_BULK_EXEC_TRAIN = Flag(
    "MXNET_EXEC_BULK_EXEC_TRAIN",
    _boolean(),
    True,
    "Push a graph to the engine in bulk segments while training.",
)
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN = Flag(
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN",
    _integer(0),
    15,
    "Largest number of operators in one bulk segment while training.",
)
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD = Flag(
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD",
    _integer(0),
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    "Largest number of operators in one bulk segment of the forward pass in training.",
)
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD = Flag(
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",
    _integer(0),
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    "Largest number of operators in one bulk segment of the backward pass.",
)
MXNET_EXEC_ENABLE_INPLACE = Flag(
    "MXNET_EXEC_ENABLE_INPLACE",
    _boolean(),
    True,
    "Let a graph's memory plan write an output over an input that is not needed any more.",
)
NNVM_EXEC_MATCH_RANGE = Flag(
    "NNVM_EXEC_MATCH_RANGE",
    _integer(0),
    16,
    "Share blocks up to so many times larger or smaller; 0 shares none. "
    "What is kept for backward is one block.",
)
MXNET_EXEC_NUM_TEMP = Flag(
    "MXNET_EXEC_NUM_TEMP",
    _integer(1),
    1,
    "Large scratch buffers kept for each CPU device, and for each graph; what comes beyond them "
    "allocates its own.",
)
MXNET_BACKWARD_DO_MIRROR = Flag(
    "MXNET_BACKWARD_DO_MIRROR",
    _boolean(),
    False,
    "Compute cheap values of a graph's forward pass again in the backward pass to save memory.",
)
MXNET_MEMORY_OPT = Flag(
    "MXNET_MEMORY_OPT",
    _boolean(),
    False,
    "Keep only about sqrt(N) of a graph's N forward values, and compute the others again.",
)
MXNET_ELIMINATE_COMMON_EXPR = Flag(
    "MXNET_ELIMINATE_COMMON_EXPR",
    _boolean(),
    True,
    "Compute equal operators on equal inputs of a graph once.",
)
MXNET_DISABLED_GRAPH_PASSES = Flag(
    "MXNET_DISABLED_GRAPH_PASSES",
    _some_of(
        "channels_last",
        "drop_bias_gradient",
        "drop_history",
        "eliminate_common_subexpressions",
        "eliminate_dead_code",
        "fold_batch_norm",
        "fuse_batch_norm_relu",
        "fuse_log_softmax_pick",
        "fuse_pointwise",
        "fuse_primitives",
        "fuse_rnn",
        "simplify",
        "split_batch_norm",
        "use_classic_operators",
    ),
    (),
    "Passes that graphs of hybridized blocks do not go through, by name: to see what one does.",
)
MXNET_USE_FUSION = Flag(
    "MXNET_USE_FUSION",
    _boolean(),
    True,
    "Join elementwise operators of a graph into kernels that are generated and compiled for it.",
)
MXNET_WINOGRAD_CONVOLUTION = Flag(
    "MXNET_WINOGRAD_CONVOLUTION",
    _boolean(),
    True,
    "Compute large float32 convolutions of 3 x 3 windows by Winograd's products, on the CPU.",
)
MXNET_FUSION_VERBOSE = Flag(
    "MXNET_FUSION_VERBOSE",
    _boolean(),
    False,
    "Print the source of each kernel that is generated for joined operators.",
)
MXNET_STORAGE_FALLBACK_LOG_VERBOSE = Flag(
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
    _boolean(),
    True,
    "Log, once each, which operators run on dense copies of sparse arrays.",
)
MXNET_MKLDNN_ENABLED = Flag(
    "MXNET_MKLDNN_ENABLED", _boolean(), True, "Use oneDNN kernels on the CPU; else NumPy's."
)
MXNET_SUBGRAPH_BACKEND = Flag(
    "MXNET_SUBGRAPH_BACKEND",
    _choice("MKLDNN", "ONEDNN", "NONE"),
    "ONEDNN",
    "Fuse layers with what follows them into primitives of oneDNN, on the CPU; NONE does not.",
)
MXNET_MKLDNN_CACHE_NUM = Flag(
    "MXNET_MKLDNN_CACHE_NUM",
    _integer(-1),
    -1,
    "Largest number of oneDNN primitives kept for reuse; -1 keeps all.",
)
MXNET_LIBRARY_PATH = Flag(
    "MXNET_LIBRARY_PATH",
    _TEXT,
    "",
    "Path of the oneDNN shared library to load; empty looks for the installed wheel.",
)
MXNET_OPTIMIZER_AGGREGATION_SIZE = Flag(
    "MXNET_OPTIMIZER_AGGREGATION_SIZE",
    _integer(1, 60),
    4,
    "Largest number of weights that one optimizer call updates together; unset: all of one dtype.",
)
MXNET_UPDATE_ON_KVSTORE = Flag(
    "MXNET_UPDATE_ON_KVSTORE",
    _boolean(),
    True,
    "Let the Trainer update weights in the kvstore where its caller leaves that open.",
)
MXNET_GLUON_REPO = Flag(
    "MXNET_GLUON_REPO",
    _TEXT,
    "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/",
    "Where pretrained models and datasets are downloaded from: a URL, file:// or a folder.",
)
MXNET_HOME = Flag(
    "MXNET_HOME",
    _PATH,
    "~/AppData/Roaming/mxnet" if os.name == "nt" else "~/.mxnet",
    "Folder that keeps downloaded models and datasets.",
)
DMLC_LOG_STACK_TRACE_DEPTH = Flag(
    "DMLC_LOG_STACK_TRACE_DEPTH",
    _integer(0),
    0,
    "How many calls up an operator's error tells where it was pushed from.",
)

# What `os.environ` keeps its texts in, under encoded names: reading it takes a tenth of the time.
_environment: Mapping[Any, object] = getattr(os.environ, "_data", {})
_encoded: Callable[[str], Any] = getattr(os.environ, "encodekey", str)
_SWITCHES = (MXNET_MKLDNN_ENABLED, MXNET_USE_FUSION, MXNET_WINOGRAD_CONVOLUTION)
_SWITCH_KEYS = tuple(_encoded(flag.name) for flag in _SWITCHES)


def kernel_switches() -> tuple[object, ...]:
    """Return what decides which kernels are switched on: equal as long as nothing has changed.

    It costs less than reading the flags, so that choices can be kept from call to call.
    """
    get = _environment.get
    first, second, third = _SWITCH_KEYS
    return (get(first), get(second), get(third), _changes[0])
