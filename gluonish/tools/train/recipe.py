"""Recipes of ``gluonish train``: YAML files of its options, and published trainings by name.

A recipe is a mapping from names of options, without the dashes in front, to values::

    network: resnet50_v1
    lr: 0.005
    lr-step-epochs: [30, 60]
    opt-set: {beta2: 0.95}
    notes: [what cannot be stated in options]

Options of the command line win over those of the recipe. Notes are printed.
"""

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError, nearest
from gluonish.core.files import atomic_write, open_to_read
from gluonish.core.loading import load
from gluonish.tools.train.flags import add_options

_FOLDER = Path(__file__).parent / "recipes"
_MOST_NBYTES = 1 << 20
# Options that belong to one call and not to a training.
_LEFT_OUT = {"help", "json", "resume", "load_epoch", "model_prefix", "recipe", "write_recipe"}
_LISTS = {"lr_step_epochs", "image_shape", "test_image_shape", "rgb_mean", "rgb_std", "top_k"}
_LISTS |= {"gpus", "ctx", "loss"}
_NOTES = "notes"
_SOURCES = ("dataset", "data_train", "data_train_idx", "data_val", "data_val_idx", "benchmark")
# Options of a recipe that go when the command line has another value of the first one.
_DEPENDENT = {
    "optimizer": ("opt_set", "mom"),
    "lr_schedule": ("lr_step_epochs", "min_lr", "cycle_epochs", "cycle_mult", "plateau_patience"),
    "augment": ("augment_magnitude", "augment_std", "augment_ops"),
    "train_loss": ("bce_threshold",),
    "lookahead": ("lookahead_alpha",),
    "sam": ("asam",),
    "asam": ("sam",),
    "gc_type": ("gc_threshold",),
    "amp": ("dtype",),
    "dtype": ("amp",),
    "gpus": ("ctx",),
    "ctx": ("gpus",),
}


class Entry(NamedTuple):
    """A value of a recipe.

    Attributes:
        value: The value, of the option's type.
        line: Line of its key in the file, from 1.
    """

    value: Any
    line: int


def published_recipes() -> list[str]:
    """Return the names of the published trainings."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def apply_recipe(arguments: argparse.Namespace) -> None:
    """Set the options of ``--recipe`` that the command line does not have.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: The file is not YAML, or not a mapping.
        ArgumentError: An option is unknown, or has a value of another type.
    """
    if arguments.recipe is None:
        return
    entries = read_recipe(arguments.recipe)
    for note in entries.pop(_NOTES, Entry([], 0)).value:
        print(f"recipe {arguments.recipe}: {note}")
    given = {name for name, value in vars(arguments).items() if value is not None}
    dropped: set[str] = set()
    if given.intersection(("dataset", "data_train", "benchmark")):
        dropped.update(_SOURCES)
    for name, others in _DEPENDENT.items():
        found = entries.get(name)
        if name in given and (found is None or found.value != getattr(arguments, name)):
            dropped.update(others)
    if arguments.warmup_epochs == 0:
        dropped.update(("warmup_lr", "warmup_strategy"))
    for name, entry in entries.items():
        if name not in given and name not in dropped:
            setattr(arguments, name, entry.value)


def recipe_path(name: str) -> Path:
    """Return the path of a recipe: of a published training, or a file.

    Raises:
        MissingFileError: There is neither.
    """
    published = published_recipes()
    if name in published:
        return _FOLDER / f"{name}.yaml"
    path = Path(name).expanduser()
    if not path.is_file():
        raise MissingFileError(
            f"--recipe: expected a file or one of {', '.join(published)}, got {name!r}"
            f"{nearest(name, published)}"
        )
    return path


def read_recipe(name: str) -> dict[str, Entry]:
    """Read a recipe.

    Args:
        name: Name of a published training, or path of a file.

    Returns:
        Values by names of arguments, and ``notes``.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: The file is too large, or not YAML, or not a mapping.
        ArgumentError: An option is unknown, or has a value of another type.
    """
    path = recipe_path(name)
    found: dict[str, Entry] = {}
    for key, value, line in read_mapping(path):
        place = f"{path}:{line}"
        known = _options()
        dest = key.replace("-", "_") if isinstance(key, str) else key
        if dest == _NOTES:
            found[_NOTES] = Entry(_notes(value, place), line)
            continue
        if not isinstance(dest, str) or dest not in known:
            names = [option.replace("_", "-") for option in known]
            shown = str(key).replace("_", "-")
            raise ArgumentError(
                f"{place}: expected an option of `gluonish train`, got {key!r}"
                f"{nearest(shown, names)}"
            )
        if dest in found:
            raise ArgumentError(
                f"{place}: expected each option once, got {key!r} again, which line "
                f"{found[dest].line} has"
            )
        found[dest] = Entry(_checked(known[dest], value, f"{place}: {key}"), line)
    return found


def option_names() -> list[str]:
    """Return the names of the options that a recipe can have, without the dashes in front."""
    return [name.replace("_", "-") for name in _options()]


def check_option(name: str, value: Any, place: str) -> Any:
    """Return the value of an option as the command line would have it.

    Args:
        name: Name of the option, one of `option_names`.
        value: The value; numbers may be texts, and so may ``true`` and ``false``.
        place: Where it was found, for the message.

    Raises:
        ArgumentError: It has another type, or is not one of the choices.
    """
    action = _options()[name.replace("-", "_")]
    if action.nargs == 0 and isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower(), value)
    return _checked(action, value, place)


def write_recipe(path: str | Path, options: dict[str, Any], title: str) -> None:
    """Write a recipe, atomically.

    Args:
        path: The file.
        options: Values by names of arguments.
        title: What the options are of, for the comment in the file.
    """
    values = {
        name.replace("_", "-"): _plain(options[name]) for name in _options() if name in options
    }
    version = load("gluonish").__version__
    dumped = load("yaml").safe_dump(values, sort_keys=False, default_flow_style=None, width=100)
    text = f"# Options of {title}, by gluonish {version}; run `gluonish train --recipe FILE`.\n"
    with atomic_write(Path(path)) as file:
        file.write((text + dumped).encode())


@cache
def _options() -> dict[str, argparse.Action]:
    """Return the options that a recipe can have, by names of arguments."""
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    return {action.dest: action for action in parser._actions if action.dest not in _LEFT_OUT}


def read_mapping(path: Path) -> list[tuple[Any, Any, int]]:
    """Return key, value and line of each entry of a YAML file that holds a mapping.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: The file is larger than a megabyte, or not YAML, or not a mapping, or it
            has aliases.
    """
    with open_to_read(path, "recipe") as file:
        text = file.read(_MOST_NBYTES + 1)
    if len(text) > _MOST_NBYTES:
        raise FileFormatError(f"{path}: expected a file of at most {_MOST_NBYTES} bytes")
    yaml = load("yaml")
    loader = None
    try:
        for token in yaml.scan(text, yaml.SafeLoader) if b"*" in text else ():
            if isinstance(token, yaml.AliasToken):  # a few lines of them can mean gigabytes
                place = f"{path}:{token.start_mark.line + 1}"
                raise FileFormatError(
                    f"{place}: expected values without aliases, got '*{token.value}'; write the "
                    "value itself"
                )
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return []
        if not isinstance(node, yaml.MappingNode):
            raise FileFormatError(f"{path}: expected `option: value` on each line, got {node.id}")
        return [
            (
                loader.construct_object(key, deep=True),
                loader.construct_object(value, deep=True),
                key.start_mark.line + 1,
            )
            for key, value in node.value
        ]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileFormatError(f"{path}: expected YAML, got {reason}") from error
    finally:
        if loader is not None:
            loader.dispose()


def _notes(value: Any, place: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(note, str) for note in value):
        raise ArgumentError(f"{place}: notes: expected a list of texts, got {value!r}")
    return value


def _checked(action: argparse.Action, value: Any, place: str) -> Any:
    """Return a value as the command line would have it.

    Raises:
        ArgumentError: It has another type, or is not one of the choices.
    """
    if action.dest == "opt_set":
        return _optimizer_arguments(value, place)
    if action.nargs == 0:  # a switch
        return _of_type(value, bool, "true or false", place)
    if action.dest in _LISTS and isinstance(value, list):
        if not all(isinstance(x, int | float | str) and not isinstance(x, bool) for x in value):
            raise ArgumentError(f"{place}: expected a list of numbers or texts, got {value!r}")
        return ",".join(map(str, value))
    if action.type in (int, float):
        value = _number(value, action, place)
    elif action.dest in _LISTS and isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    else:
        value = _of_type(value, str, "a text", place)
    if action.choices is not None and value not in action.choices:
        choices = [str(choice) for choice in action.choices]
        raise ArgumentError(
            f"{place}: expected one of {', '.join(choices)}, got {value!r}{nearest(value, choices)}"
        )
    return value


def _number(value: Any, action: argparse.Action, place: str) -> Any:
    kind: Callable[[Any], Any] = int if action.type is int else float
    if action.choices is not None and 0 in action.choices and isinstance(value, bool):
        return int(value)
    if action.dest.startswith("random_") and isinstance(value, bool):
        return int(value)
    wanted = "a whole number" if kind is int else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ArgumentError(f"{place}: expected {wanted}, got {value!r}")
    try:
        found = kind(value)  # also of text: YAML has 5e-3, without a point, as one
    except (ValueError, OverflowError) as error:
        raise ArgumentError(f"{place}: expected {wanted}, got {value!r}") from error
    if kind is int and isinstance(value, float) and found != value:
        raise ArgumentError(f"{place}: expected {wanted}, got {value!r}")
    return found


def _of_type(value: Any, kind: type, wanted: str, place: str) -> Any:
    if not isinstance(value, kind):
        raise ArgumentError(f"{place}: expected {wanted}, got {value!r}")
    return value


def _optimizer_arguments(value: Any, place: str) -> list[str]:
    if isinstance(value, dict):
        if all(isinstance(x, bool | int | float | str | None) for x in value.values()):
            return [f"{name}={x}" for name, x in value.items()]
    elif isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value
    raise ArgumentError(f"{place}: expected arguments of the optimizer by name, got {value!r}")


def _plain(value: Any) -> Any:
    return [_plain(x) for x in value] if isinstance(value, list | tuple) else value
