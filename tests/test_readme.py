"""README.md and docs/ are true: programs run, commands exist, links lead somewhere."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gluonish.tools.cli import make_parser

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = ("pip install . && gluonish demo", "pip install '.[test]' && pytest")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tutorials/*.md")])


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The file and the anchor of each link of a page that stays in the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield (page.parent / file if file else page), anchor


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def subcommands() -> set[str]:
    (action,) = (
        action
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return set(action.choices)


def test_training_loop_runs_and_learns(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    accuracy = re.fullmatch(r"\('accuracy', ([0-9.]+)\)\n", printed)
    assert accuracy is not None, printed
    assert float(accuracy[1]) > 0.9


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_those_that_ci_runs(command: str) -> None:
    assert f"    {command}\n" in README
    assert f'"{command}"' in (ROOT / ".ci" / "run").read_text("utf-8")


def test_front_page_is_short() -> None:
    assert len(README.split()) < 600


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), (target, anchor)


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {target.resolve() for target, _ in links(index)}
    assert set(ROOT.glob("docs/**/*.md")) - linked == {index}


def test_pages_name_the_commands_that_there_are() -> None:
    listed = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert set(re.findall(r"^\| `gluonish ([a-z0-9]+)", listed, re.MULTILINE)) == subcommands()
    for page in PAGES:
        used = set(re.findall(r"`gluonish ([a-z0-9]+)", page.read_text("utf-8")))
        assert used <= subcommands(), page
