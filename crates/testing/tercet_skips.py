"""Skips of Python tests, by the rules of the crate in this folder: one word for what is missing, counted or forbidden.

A conftest.py imports the hooks below. The reason of each skip begins with a word of needs.tsv and a colon.
"""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

NEEDS = dict(line.split("\t", 1) for line in Path(__file__).with_name("needs.tsv").read_text().splitlines())


def required() -> set[str]:
    """The words of TERCET_REQUIRE."""
    words = {word.strip() for word in os.environ.get("TERCET_REQUIRE", "").split(",")} - {""}
    for word in sorted(words - {"all", *NEEDS}):
        raise pytest.UsageError(f"TERCET_REQUIRE: unknown word `{word}`; known: all, {', '.join(NEEDS)}")
    return set(NEEDS) if "all" in words else words


def fault(name: str, text: str) -> str | None:
    """Counts a skip; returns why it is a failure, if it is one."""
    reason = text.removeprefix("Skipped: ")
    if reason.startswith("could not import"):
        reason = f"python: {reason}"
    need, colon, rest = reason.partition(": ")
    if not colon or need not in NEEDS:
        return f"the reason of a skip begins with one of {', '.join(NEEDS)} and a colon: {reason}"
    if need in required():
        return f"{name} requires {need}: {rest}; to install it: {NEEDS[need]}"
    if file := os.environ.get("TERCET_SKIPS"):
        with open(file, "a", encoding="utf-8") as skips:
            skips.write(f"{need}\tpytest\t{name}\t{' '.join(rest.split())}\n")
    return None


def judge(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Makes a failure of a skip that is not allowed."""
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if message := fault(report.nodeid, text):
        report.outcome = "failed"
        report.longrepr = message


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    judge(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    judge(report)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Removes the skip of a test that passes in a later run: `make test` runs those of Spark again."""
    file = Path(os.environ.get("TERCET_SKIPS") or os.devnull)
    if report.when == "call" and report.outcome == "passed" and file.is_file():
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.split("\t")[1:3] != ["pytest", report.nodeid]]
        if len(kept) < len(lines):
            file.write_text("".join(kept), encoding="utf-8")


def pytest_sessionstart() -> None:
    required()
