"""Skips are counted as everywhere in this repository."""

from tercet_skips import (  # noqa: F401
    pytest_make_collect_report,
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    pytest_sessionstart,
)
