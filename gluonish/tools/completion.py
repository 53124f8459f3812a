"""``gluonish completion``: a script that completes command lines in bash, zsh and fish.

The script is made from the parser, so it has every subcommand, option and choice, and completing
starts no Python.
"""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
from gluonish.core.config import all_flags
from gluonish.model_zoo.registry import model_names
from gluonish.tools.train.recipe import published_recipes

# What an argument that is no choice stands for, by how the help calls it or by its name.
_FILES = {
    *("FILE", "NAME|FILE", "PATH", "FROM", "TO", "JSON", "SYMBOL", "PARAMS", "SCRIPT", "PREFIX"),
    *("FOLDER", "COMMAND"),
    *("file", "symbol", "params", "script", "output", "plot", "root", "prefix", "data", "model"),
    *("data_train", "data_train_idx", "data_val", "data_val_idx", "model_prefix", "tensorboard"),
    *("space", "write_recipe", "hostfile", "log_folder", "arguments", "command", "index"),
}
_NETWORKS = {"network", "networks", "what", "names"}
_DTYPES = {"dtype", "dtypes", "type"}


class Argument(NamedTuple):
    """How an argument is completed.

    Attributes:
        flags: The names of an option; empty for a positional argument.
        help: Its description.
        words: The values it may have.
        files: Whether it names a file.
        values: Number of values: 0 for a switch.
    """

    flags: tuple[str, ...]
    help: str
    words: tuple[str, ...]
    files: bool
    values: int


class Command(NamedTuple):
    """How a command is completed.

    Attributes:
        path: Its words after ``gluonish``.
        help: Its description.
        options: Its options.
        positional: What stands for its positional arguments, all of them alike.
        commands: The names of its subcommands.
    """

    path: tuple[str, ...]
    help: str
    options: tuple[Argument, ...]
    positional: Argument
    commands: tuple[str, ...]


def commands_of(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = (), text: str = ""
) -> Iterator[Command]:
    """Yield a command and all its subcommands.

    Args:
        parser: The command's parser.
        path: Its words.
        text: Its description.
    """
    options: list[Argument] = []
    words: list[str] = []
    files = False
    inner: dict[str, argparse.ArgumentParser] = {}
    helps: dict[str, str] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = dict(action.choices)
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        elif action.option_strings:
            options.append(_argument(action, path))
        elif action.help != argparse.SUPPRESS:
            argument = _argument(action, path)
            words += argument.words
            files |= argument.files
    positional = Argument((), "", tuple(dict.fromkeys(words)), files, 1)
    yield Command(path, text, tuple(options), positional, tuple(inner))
    for name, child in inner.items():
        yield from commands_of(child, (*path, name), helps.get(name, ""))


def _argument(action: argparse.Action, path: tuple[str, ...]) -> Argument:
    names = {action.dest, *([action.metavar] if isinstance(action.metavar, str) else [])}
    if isinstance(action.metavar, tuple):
        names |= set(action.metavar)
    words: tuple[str, ...] = ()
    if action.choices is not None:
        words = tuple(map(str, action.choices))
    elif names & _NETWORKS and path[:1] != ("where",):  # whose names are those of operators
        words = tuple(model_names())
    elif "recipe" in names:
        words = tuple(published_recipes())
    elif "VARIABLE" in names:
        words = tuple(flag.name for flag in all_flags())
    elif names & _DTYPES:
        words = ("float32", "bfloat16", "float16")
    values = 1 if action.nargs is None else action.nargs if isinstance(action.nargs, int) else 1
    text = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
    text = re.sub(r"%\(default\)s", str(action.default), text).replace("%%", "%")
    return Argument(
        tuple(action.option_strings),
        text,
        words,
        bool(names & _FILES) and not action.choices,
        values,
    )


def bash_script(commands: list[Command]) -> str:
    """Return the script for bash (3.2 or later), which zsh's ``bashcompinit`` takes, too."""
    return _BASH.replace("@CASES@", "\n".join(_cases(commands)))


def zsh_script(commands: list[Command]) -> str:
    """Return the script for zsh, as a file of ``$fpath`` or by ``source``."""
    return _ZSH.replace("@CASES@", "\n".join(_cases(commands)))


def _cases(commands: list[Command]) -> Iterator[str]:
    """Yield the cases of the function that both shells have: what a command takes."""
    for command in commands:
        path = " ".join(command.path)
        flags = [flag for option in command.options for flag in option.flags]
        words = [*command.commands, *command.positional.words]
        yield f"    {shlex.quote(path)})"
        yield f"      commands={shlex.quote(' '.join(command.commands))}"
        yield f"      options={shlex.quote(' '.join(flags))}"
        yield f"      choices={shlex.quote(' '.join(words))}"
        yield f"      files={int(command.positional.files)}"
        valued = [option for option in command.options if option.values]
        if valued:
            yield '      case "$previous" in'
            for option in valued:
                choices = shlex.quote(" ".join(option.words))
                yield f"        {'|'.join(option.flags)})"
                yield f"          value=1 choices={choices} files={int(option.files)} ;;"
            yield "      esac"
        yield "      ;;"


_FUNCTION = """\
# Sets what the command whose words are $1 takes, after the word $previous.
_gluonish_command() {
  commands= options= choices= files=0 value=0
  case "$1" in
@CASES@
    *) return 1 ;;
  esac
}
"""

_BASH = (
    """\
# Completes gluonish in bash; made by `gluonish completion bash`.
"""
    + _FUNCTION
    + """
_gluonish() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous= at= i word
  local commands options choices files value
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    _gluonish_command "$at"
    case " $commands " in
      *" $word "*) at="${at:+$at }$word" ;;
    esac
  done
  previous="${COMP_WORDS[COMP_CWORD - 1]}"
  _gluonish_command "$at" || return 0
  if [[ $value == 0 && $current == -* ]]; then
    choices="$options" files=0
  fi
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
  if [[ $files == 1 ]]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$current"))
    compopt -o filenames 2>/dev/null
  fi
  return 0
}
complete -F _gluonish gluonish
"""
)

_ZSH = (
    """\
#compdef gluonish
# Completes gluonish in zsh; made by `gluonish completion zsh`.
"""
    + _FUNCTION
    + """
_gluonish() {
  local current="${words[CURRENT]}" previous= at= word
  local -a typed=("${(@)words[2,CURRENT-1]}")
  local last="${words[CURRENT-1]}"
  local commands options choices files value
  for word in "${typed[@]}"; do
    _gluonish_command "$at"
    [[ -n $word && " $commands " == *" $word "* ]] && at="${at:+$at }$word"
  done
  previous="$last"
  _gluonish_command "$at" || return 1
  if [[ $value == 0 && $current == -* ]]; then
    choices="$options" files=0
  fi
  local -a found=(${(s: :)choices})
  (( $#found )) && compadd -a found
  [[ $files == 1 ]] && _files
  return 0
}
if [[ "${funcstack[1]}" == _gluonish ]]; then
  _gluonish "$@"
else
  compdef _gluonish gluonish
fi
"""
)


def fish_script(commands: list[Command]) -> str:
    """Return the script for fish."""
    lines = [_FISH.replace("@PATHS@", " ".join(shlex.quote("/".join(c.path)) for c in commands))]
    helps = {command.path: command.help for command in commands}
    for command in commands:
        begin = f"complete -c gluonish -n '__gluonish_at {'/'.join(command.path)}'"
        for name in command.commands:
            lines.append(f"{begin} -a {name} -d {_fish(helps[(*command.path, name)])}")
        if command.positional.words:
            lines.append(f"{begin} -a {_fish(' '.join(command.positional.words))}")
        if command.positional.files:
            lines.append(f"{begin} -F")
        for option in command.options:
            lines.append(f"{begin} {_fish_option(option)}")
    return "\n".join(lines) + "\n"


def _fish_option(option: Argument) -> str:
    parts = []
    for flag in option.flags:
        kind = "-l" if flag.startswith("--") else "-s" if len(flag) == 2 else "-o"
        parts.append(f"{kind} {flag.lstrip('-')}")
    if option.values:
        parts.append("-rF" if option.files else "-x")
    if option.words:
        parts.append(f"-a {_fish(' '.join(option.words))}")
    parts.append(f"-d {_fish(option.help)}")
    return " ".join(parts)


def _fish(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


_FISH = """\
# Completes gluonish in fish; made by `gluonish completion fish`.
function __gluonish_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string join -- / $at $word)
        if contains -- $next @PATHS@
            set at $next
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gluonish -f"""

_SCRIPTS: dict[str, Callable[[list[Command]], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``completion`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "completion",
        help="print a script that completes command lines of gluonish in a shell",
        description="Print a script that makes a shell complete subcommands, options, their values,"
        " names of networks and files. For bash: put `source <(gluonish completion bash)` into"
        " ~/.bashrc; for zsh: `gluonish completion zsh > ~/.zfunc/_gluonish`, a folder of $fpath;"
        " for fish: `gluonish completion fish > ~/.config/fish/completions/gluonish.fish`.",
    )
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="the shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(_SCRIPTS[arguments.shell](list(commands_of(arguments.all_commands))), end="")
    return 0
