import logging

import pytest

from gluonish.ops.support.refusals import note_refusal, refusals


def test_each_refusal_is_counted_by_its_kernel() -> None:
    before = refusals().get("a kernel", 0)
    for _ in range(3):
        note_refusal("a kernel", "why")
    assert refusals()["a kernel"] == before + 3


def test_what_is_returned_may_be_changed() -> None:
    note_refusal("a kernel", "why")
    found = refusals()
    found.clear()
    assert refusals()["a kernel"] > 0


def test_the_reason_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gluonish")
    note_refusal("a kernel", ValueError("too long"))
    assert caplog.messages == ["a kernel falls back to the reference kernel: too long"]
