"""Families of networks that `from_pretrained` knows, by the ``model_type`` of config.json.

A family has a class for its body, such as `Llama`, and heads by the name in ``architectures``, such
as ``LlamaForCausalLM``. Each family's module registers it; `MODULES` says which one to import.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError, nearest
from gluonish.core.loading import load
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.model_zoo.pretrained.config import AnySetting, Config
from gluonish.model_zoo.pretrained.weights import Form, Names, WeightTable

Init = TypeVar("Init", bound=Callable[..., None])

_ZOO = "gluonish.model_zoo."
# Which module registers a model_type.
MODULES: Mapping[str, str] = {
    "clip": "vision.clip",
    "clip_text_model": "vision.clip",
    "clip_vision_model": "vision.clip",
    "deit": "vision.vit",
    "dinov2": "vision.dinov2",
    "swin": "vision.swin_names",
    "convnext": "vision.convnext",
    "bart": "text.bart",
    "bert": "text.bert",
    "distilbert": "text.bert",
    "electra": "text.bert",
    "gemma": "text.gemma",
    "gemma2": "text.gemma",
    "gemma3_text": "text.gemma",
    "gpt2": "text.gpt2",
    "gpt_neox": "text.gpt_neox",
    "llama": "text.llama",
    "mistral": "text.llama",
    "mixtral": "text.mixture",
    "modernbert": "text.modernbert",
    "phi3": "text.llama",
    "qwen2": "text.llama",
    "qwen3": "text.llama",
    "qwen3_moe": "text.mixture",
    "siglip": "vision.siglip",
    "siglip_text_model": "vision.siglip",
    "siglip_vision_model": "vision.siglip",
    "t5": "text.t5",
    "vit": "vision.vit",
    "whisper": "speech.whisper",
    "roberta": "text.bert",
}
_families: dict[str, "Family"] = {}


@dataclass(frozen=True)
class Head:
    """A network around a body.

    Attributes:
        network: Its class, called as ``network(body, **arguments)``; the body is its child
            ``body``.
        names: Names of its own weights in files, or a function that returns them for arguments
            of the class; of ``{}`` for the usual ones.
        settings: Settings that are arguments of the class.
        arguments: Further arguments of the class.
        timm_names: Names of its own weights in timm's files.
        body: Arguments of the body's class.
        prefix: What the names of the body's weights begin with; None for the family's.
        of_file: Returns arguments of the class that the names of a file's tensors decide, of these
            and of the arguments of the settings; None if settings decide all.
    """

    network: Callable[..., HybridBlock]
    names: Names | Callable[[Mapping[str, Any]], Names] = ()
    settings: Sequence[AnySetting] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    timm_names: Names = ()
    prefix: str | None = None
    of_file: Callable[[Collection[str], Mapping[str, Any]], Mapping[str, Any]] | None = None

    def table(self, arguments: Mapping[str, Any]) -> Names:
        """Return the names of its own weights, for arguments of the class."""
        return self.names(arguments) if callable(self.names) else self.names


@dataclass(frozen=True)
class Family:
    """Networks of one ``model_type``.

    Attributes:
        model_type: Value of the setting ``model_type``.
        architecture: Name of the body in ``architectures``, such as ``LlamaModel``.
        body: Class of the body.
        settings: Settings that are arguments of the body's class.
        names: Names of the body's weights in files, or a function that returns them for the
            arguments of the body's class.
        prefix: What the names of the body's weights begin with if it has a head.
        heads: By their names in ``architectures``; the first is the usual one.
        unused: Endings of names in files that no parameter needs, such as tables of positions that
            are computed.
        timm_names: Names of the body's weights in timm's files, which are read, too.
        optional: Beginnings of the body's parameters that a file may lack, if an initializer is
            given for them.
        variants: Families of the same ``model_type`` with other bodies, such as an encoder alone.
        others: Beginnings of names that only files of other architectures have; such tensors are
            left out if the architecture is asked for.
        of_file: See `Head.of_file`; of the body's class.
    """

    model_type: str
    architecture: str
    body: Callable[..., HybridBlock]
    settings: Sequence[AnySetting]
    names: Names | Callable[[Mapping[str, Any]], Names]
    prefix: str
    heads: Mapping[str, Head] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    timm_names: Names = ()
    variants: tuple["Family", ...] = ()
    others: tuple[str, ...] = ()
    of_file: Callable[[Collection[str], Mapping[str, Any]], Mapping[str, Any]] | None = None

    def variant(self, architecture: str) -> "Family":
        """Return the family of an architecture: a variant, or this one."""
        return next((one for one in self.variants if one.architecture == architecture), self)

    def head(self, architecture: str) -> Head | None:
        """Return the head of an architecture; None for the body alone.

        Raises:
            NotSupportedError: The family has no such architecture.
        """
        if architecture == self.architecture:
            return None
        if architecture not in self.heads:
            known = (self.architecture, *self.heads, *(x.architecture for x in self.variants))
            raise NotSupportedError(
                f"from_pretrained: expected an architecture of {self.model_type} among "
                f"{', '.join(known)}, got {architecture!r:.60}{nearest(architecture, known)}"
            )
        return self.heads[architecture]

    def build(self, config: Config, architecture: str, changes: Mapping[str, Any]) -> HybridBlock:
        """Return the network, without values, that settings describe.

        Args:
            config: The settings.
            architecture: Name of the body or of a head.
            changes: Arguments of the classes in place of those of the settings.

        Raises:
            FileFormatError: A setting is missing, of another type, or out of range.
            NotSupportedError: A setting, or a value, is not known.
        """
        head = self.head(architecture)
        arguments = {**_read(self.settings, config), **(head.body if head else {})}
        own = {**_read(head.settings, config), **head.arguments} if head else {}
        for other in self.heads.values():
            if other is not head:
                for setting in other.settings:
                    config.ignore(*setting.names)
        config.finish()
        of_body = _accepted(self.body)
        of_head = _accepted(head.network) - of_body if head else set()
        known = sorted(of_body | of_head)
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise ArgumentError(
                f"from_pretrained: expected arguments among {', '.join(known)}, got {unknown[0]!r}"
                f"{nearest(unknown[0], known)}"
            )
        arguments |= {name: value for name, value in changes.items() if name in of_body}
        own |= {name: value for name, value in changes.items() if name in of_head}
        try:
            body = self.body(**arguments)
            return head.network(body, **own) if head else body
        except (ArgumentError, TypeError) as error:
            raise FileFormatError(
                f"{config.source}: expected settings of a {self.model_type} network, got some that "
                f"do not fit each other: {error}"
            ) from error

    def decided_by(
        self, names: Collection[str], net: HybridBlock, changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments of a network that a file decides, other than it has them.

        Args:
            names: Names of the file's tensors.
            net: The network that settings describe.
            changes: Arguments in place of those of the settings, which come first.
        """
        made: dict[str, Any] = {}
        head = None if body_of(net) is net else self.head(self.architecture_of(net))
        if head is not None and head.of_file is not None:
            made |= head.of_file(names, getattr(net, "_arguments", {}))
        if self.of_file is not None:
            made |= self.of_file(names, body_of(net)._arguments)
        return {name: value for name, value in made.items() if name not in changes}

    def prefixes(self) -> tuple[str, ...]:
        """Return what the names of the body's weights may begin with, the usual one first."""
        others = (head.prefix for head in self.heads.values() if head.prefix is not None)
        return tuple(dict.fromkeys((self.prefix, "", *others)))

    def prefix_of(self, net: HybridBlock) -> str:
        """Return what the names of the weights of a network's body begin with."""
        if body_of(net) is net:
            return ""
        head = self.head(self.architecture_of(net))
        return self.prefix if head is None or head.prefix is None else head.prefix

    def table(self, net: HybridBlock, prefix: str, timm: bool = False) -> WeightTable:
        """Return the names of a network's weights in files.

        Args:
            net: The body, or a network around it.
            prefix: What the names of the body begin with.
            timm: Whether the names are timm's.
        """
        body = body_of(net)
        names = self.names(body._arguments) if callable(self.names) else self.names
        names = self.timm_names if timm else names
        start = "" if body is net else "body."
        table: list[tuple[str, str | Form]] = [
            (start + ours, prefixed(theirs, prefix)) for ours, theirs in names
        ]
        head = None if body is net else self.head(self.architecture_of(net))
        if head is not None:
            own = head.table(getattr(net, "_arguments", {}))
            table += head.timm_names if timm else own
        return WeightTable(net, table, f"{type(net).__name__} of {self.model_type}")

    def architecture_of(self, net: HybridBlock) -> str:
        """Return the name of a network in ``architectures``.

        Raises:
            NotSupportedError: The family has no such head.
        """
        if body_of(net) is net:
            return self.architecture
        for name, head in self.heads.items():
            given = getattr(net, "_arguments", {})
            same = head.network is type(net)
            if same and all(given.get(k) == v for k, v in head.arguments.items()):
                return name
        raise NotSupportedError(
            f"save_pretrained: expected a network of {self.model_type} with a head among "
            f"{', '.join(self.heads)}, got {type(net).__name__}"
        )

    def describe(self, net: HybridBlock) -> dict[str, Any]:
        """Return the settings of a network, for config.json."""
        architecture = self.architecture_of(net)
        found: dict[str, Any] = {"architectures": [architecture], "model_type": self.model_type}
        for setting in self.settings:
            found |= setting.write(body_of(net)._arguments)
        head = self.head(architecture)
        for setting in head.settings if head else ():
            found |= setting.write(getattr(net, "_arguments", {}))
        return found


def _read(settings: Sequence[AnySetting], config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in settings:
        found |= setting.read(config)
    return found


def _accepted(network: Any) -> set[str]:
    """Return the names of the arguments of a class, those of its base classes included."""
    names: set[str] = set()
    for kind in network.__mro__:
        if issubclass(kind, HybridBlock) and kind is not HybridBlock and "__init__" in vars(kind):
            names |= set(signature(kind.__init__).parameters)
    return names - {"self", "body", "args", "kwargs"}


def prefixed(theirs: str | Form, prefix: str) -> str | Form:
    """Return a name, or a form of names, with a prefix."""
    if isinstance(theirs, str):
        return prefix + theirs
    return theirs.renamed([prefix + name for name in theirs.names])


def body_of(net: HybridBlock) -> Any:
    """Return the network without its head."""
    return getattr(net, "body", net)


def keeps_arguments(init: Init) -> Init:
    """Decorate ``__init__`` of a network, so that `save_pretrained` finds its arguments."""
    parameters = signature(init)

    @wraps(init)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = parameters.bind(self, *args, **kwargs)
        bound.apply_defaults()
        init(self, *args, **kwargs)
        kinds = parameters.parameters
        several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        own = {k: v for k, v in list(bound.arguments.items())[1:] if kinds[k].kind not in several}
        self._arguments = {**getattr(self, "_arguments", {}), **own}

    return wrapped  # type: ignore[return-value]


def register_family(family: Family) -> None:
    """Make a family known to `from_pretrained` and `save_pretrained`."""
    _families[family.model_type] = family


def family_of_type(model_type: object, source: str) -> Family:
    """Return the family of a ``model_type``.

    Raises:
        NotSupportedError: There is none; the message names the nearest ones.
    """
    module = MODULES.get(model_type) if isinstance(model_type, str) else None
    if module is None:
        raise NotSupportedError(
            f"{source}: expected 'model_type' among {', '.join(sorted(MODULES))}, got "
            f"{model_type!r:.60}{nearest(model_type, MODULES)}"
        )
    load(_ZOO + module)
    return _families[str(model_type)]


def family_of(net: HybridBlock) -> Family:
    """Return the family of a network.

    Raises:
        NotSupportedError: There is none.
    """
    kind = type(body_of(net))
    for family in (x for one in _families.values() for x in (one, *one.variants)):
        if family.body is kind and hasattr(body_of(net), "_arguments"):
            return family
    raise NotSupportedError(
        f"save_pretrained: expected a network of the families {', '.join(sorted(MODULES))}, got "
        f"{kind.__name__}; save_parameters writes any network's parameters"
    )
