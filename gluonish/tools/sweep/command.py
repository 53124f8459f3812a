"""The subcommand ``gluonish sweep``."""

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from gluonish.core.command import INTERRUPTED
from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.file_records import read_json
from gluonish.core.progress import progress_bar, shows_progress
from gluonish.tools.json_output import add_json_option, stdout_to_stderr
from gluonish.tools.json_output import write_json as print_json
from gluonish.tools.sweep.guided import Guided
from gluonish.tools.sweep.report import draw, in_order, shown_table, write_tables
from gluonish.tools.sweep.space import Setting, Space, grid, parse_space, random_settings
from gluonish.tools.sweep.trials import Trial, finished, run_trial
from gluonish.tools.table import terminal_width
from gluonish.tools.train.checkpoint import write_json
from gluonish.tools.train.options import add_options
from gluonish.tools.train.regimen import Best

SAMPLERS = ("random", "grid", "optuna")
_USUAL_TRIALS = 20
# Options of `gluonish train` that the sweep sets itself.
_OWN = ("--model-prefix", "--resume", "--load-epoch", "--json", "--progress", "--write-recipe")


def add_parser(parsers: Any) -> None:
    """Add ``sweep`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "sweep",
        help="train with many settings, and compare the results",
        description="Train with many settings of `gluonish train`, one after the other, and "
        "compare the results in one table and a picture. Each trial is a process; one that fails "
        "is recorded, and the others go on. The same command continues a sweep that was killed. "
        "Example: gluonish sweep --output out/sweep --param lr=log:1e-3..1 --param "
        "optimizer=sgd,adamw --trials 12 -- --dataset digits --num-epochs 5",
        usage="gluonish sweep --output FOLDER --param NAME=VALUES ... [options] -- TRAIN OPTIONS",
    )
    parser.add_argument("--output", required=True, metavar="FOLDER", help="folder of the results")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="an option of train to vary: values with commas, or a range as low..high, "
        "log:low..high, int:low..high or int-log:low..high; a grid needs the number of values "
        "behind it, as log:1e-3..1e-1:3. opt-set.NAME is an argument of the optimizer",
    )
    parser.add_argument(
        "--space", metavar="FILE", help="the same as a YAML file: a list of values or a range each"
    )
    parser.add_argument(
        "--sampler",
        choices=SAMPLERS,
        default="random",
        help="how settings are chosen: at random, all of a grid, or by Optuna's estimator, which "
        "needs the extra sweep (default: %(default)s)",
    )
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help=f"number of trials (default: {_USUAL_TRIALS}, of a grid all); more continue a sweep",
    )
    parser.add_argument(
        "--metric",
        default="validation-accuracy",
        metavar="NAME",
        help="what to compare, as of train's --best-metric, of each trial's best epoch (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the settings (default: %(default)s)"
    )
    parser.add_argument(
        "--timeout", type=float, metavar="S", help="seconds after which a trial has failed"
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help="when continuing, run failed trials again"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the settings, and do not train"
    )
    add_json_option(parser)
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="options of gluonish train"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the trials; return 0 if one or more succeeded."""
    with stdout_to_stderr(arguments.json):
        sweep = Sweep(arguments)
        status = sweep.run()
    if arguments.json:
        print_json(sweep.report())
    return status


class Sweep:
    """A sweep: its settings, and the trials so far.

    Args:
        arguments: The options.

    Raises:
        ArgumentError: An option is out of range, or unknown.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._options = arguments.arguments[arguments.arguments[:1] == ["--"] :]
        self._space = parse_space(arguments.space, arguments.param)
        self._mode = Best(arguments.metric, "--metric").mode
        _check(self._options, self._space)
        for name, least in (("trials", 1), ("seed", 0), ("timeout", 0)):
            value = getattr(arguments, name)
            if value is not None and not value >= least:
                raise ArgumentError(f"--{name}: expected at least {least}, got {value}")
        self._guided: Guided | None = None
        self._folder = Path(arguments.output)
        self.trials: list[Trial] = []

    def run(self) -> int:
        """Run the trials that have no result."""
        if self._arguments.dry_run:
            return self._print_settings()
        if self._arguments.sampler == "grid":
            next(grid(self._space))  # refuses ranges without a number of values
        self._folder.mkdir(parents=True, exist_ok=True)
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._folder / ".sweep.lock", timeout=0):
                self._record()
                return self._run_all()
        except Timeout as error:
            raise ArgumentError(
                f"--output: expected a folder that no other sweep writes to, got "
                f"{str(self._folder)!r}"
            ) from error

    def _print_settings(self) -> int:
        if self._arguments.sampler == "optuna":
            raise ArgumentError("--dry-run: expected --sampler random or grid, got optuna")
        self.trials = [Trial(i, setting) for i, setting in enumerate(self._settings())]
        for trial in self.trials:
            print(f"{trial.name}: {_text(trial.setting)}")
        return 0

    def _record(self) -> None:
        """Write what the sweep is, or compare it with what the folder has.

        Raises:
            ArgumentError: The folder has another sweep.
        """
        names = ("sampler", "seed", "metric")
        now: dict[str, Any] = {name: getattr(self._arguments, name) for name in names}
        now["space"] = {name: repr(values) for name, values in self._space.items()}
        now["train"] = self._options
        path = self._folder / "sweep.json"
        if path.exists():
            before = read_json(path, "--output")
            for name, value in now.items():
                if before.get(name) != value:
                    raise ArgumentError(
                        f"--output: expected the same {name} as that of the sweep in "
                        f"{str(self._folder)!r}, {before.get(name)}, got {value}; choose another "
                        "folder"
                    )
        write_json(path, now)

    def _settings(self) -> Iterator[Setting]:
        """Yield the settings of all trials."""
        arguments = self._arguments
        if arguments.sampler == "grid":
            return islice(grid(self._space), arguments.trials)
        count = arguments.trials or _USUAL_TRIALS
        if arguments.sampler == "random":
            return islice(random_settings(self._space, arguments.seed), count)
        self._guided = Guided(self._space, arguments.seed, self._mode)
        return islice(self._guided.settings(), count)

    def _run_all(self) -> int:
        arguments = self._arguments
        settings = self._settings()
        total = arguments.trials or _USUAL_TRIALS
        if arguments.sampler == "grid":
            total = min(arguments.trials or 1 << 60, sum(1 for _ in grid(self._space)))
        try:
            with progress_bar(total=total, desc="sweep", unit="trial") as bar:
                for number, setting in enumerate(settings):
                    trial = self._one(Trial(number, setting))
                    self.trials.append(trial)
                    if self._guided is not None:
                        self._guided.tell(trial.value)
                    self._write()
                    bar.update()
                    best = in_order(self.trials, self._mode)[0]
                    if best.value is not None:
                        bar.set_postfix_str(f"best {best.value:.4f}")
        except KeyboardInterrupt:
            print("interrupted; the same command goes on")
            return INTERRUPTED
        print(shown_table(self.trials, self._space, arguments.metric, self._mode, terminal_width()))
        print(f"table: {self._folder / 'trials.csv'}")
        print(f"picture: {self._folder / 'sweep.png'}")
        return 0 if any(trial.status == "done" for trial in self.trials) else 1

    def _one(self, trial: Trial) -> Trial:
        """Return a trial with its result, which the folder may have already."""
        arguments = self._arguments
        found = finished(self._folder, trial)
        if found is not None and not (found.status == "failed" and arguments.retry_failed):
            return found
        made = run_trial(self._folder, trial, self._options, arguments.metric, arguments.timeout)
        result = made.error if made.value is None else f"{arguments.metric} {made.value:.6g}"
        if not shows_progress():
            print(f"{made.name}: {_text(made.setting)}: {result}", flush=True)
        return made

    def _write(self) -> None:
        metric = self._arguments.metric
        write_tables(self._folder, self.trials, self._space, metric)
        draw(self._folder / "sweep.png", self.trials, self._space, metric, self._mode)

    def report(self) -> dict[str, Any]:
        """Return the report for ``--json``."""
        best = next(iter(in_order(self.trials, self._mode)), None)
        shown = [
            {
                "trial": trial.number,
                "setting": trial.setting,
                "status": trial.status,
                "value": trial.value,
                "epoch": trial.epoch,
                "seconds": trial.seconds,
                "error": trial.error or None,
            }
            for trial in self.trials
        ]
        found = None if best is None or best.value is None else best.number
        files = {"table": self._folder / "trials.csv", "picture": self._folder / "sweep.png"}
        return {"metric": self._arguments.metric, "best": found, "trials": shown, **files}


def _check(options: Sequence[str], space: Space) -> None:
    """Refuse options that train lacks, that the sweep sets, or that it varies, too.

    Raises:
        ArgumentError: There is such an option.
    """
    parser = argparse.ArgumentParser()
    add_options(parser)
    known = [name for action in parser._actions for name in action.option_strings]
    for option in options:
        name = option.partition("=")[0]
        if name.startswith("--") and not any(one.startswith(name) for one in known):
            raise ArgumentError(
                f"sweep: expected options of gluonish train, got {name}{nearest(name, known)}"
            )
        if name in _OWN:
            raise ArgumentError(f"sweep: expected options of train without {name}, got {option}")
        if name.removeprefix("--") in space and name.startswith("--"):
            raise ArgumentError(f"sweep: expected {name} as --param or as an option, got both")


def _text(setting: Setting) -> str:
    shown = (
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in setting.items()
    )
    return " ".join(shown)
