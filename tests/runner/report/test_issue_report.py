"""A report under the headings of a project's bug form, in the length that an issue takes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.report.document import (
    Heading,
    Link,
    Paragraph,
    ReportDocument,
    Section,
    SectionRole,
    Table,
    Verbatim,
)
from runner.report.issue_report import MAX_BODY, Project, to_issue

SGLANG = ["Checklist", "Describe the bug", "Reproduction", "Environment"]
VLLM = [
    "Your current environment",
    "🐛 Describe the bug",
    "Before submitting a new issue...",
]


def _report(*found: Verbatim | Table | Paragraph | Heading, base_url: str = "") -> ReportDocument:
    sections = (
        Section("Verdict", (*found, Paragraph((Link("r-2", "/run?run=r-2"),)))),
        Section("Servers", (Paragraph("version 0.5.6"),), role=SectionRole.ENVIRONMENT),
        Section("Commands", (Verbatim("serve --port 1"),), role=SectionRole.REPRODUCTION),
        Section("Runs", (Paragraph("every run"),), role=SectionRole.DETAIL),
    )
    return ReportDocument("Leak under load", "Does it leak?", sections, base_url=base_url)


def _headings(body: str, level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+)$", body, re.MULTILINE)


@pytest.mark.parametrize(
    ("project", "headings", "prefix"),
    [(Project.SGLANG, SGLANG, "[Bug] "), (Project.VLLM, VLLM, "[Bug]: ")],
)
def test_the_headings_are_those_of_the_form(
    project: Project, headings: list[str], prefix: str
) -> None:
    title, body = to_issue(_report(Heading("host-pool")), project)

    assert title == f"{prefix}Leak under load"
    assert _headings(body, 3) == headings
    assert sorted(_headings(body, 4)) == ["Commands", "Servers", "Verdict"]
    assert "every run" not in body


def test_a_link_is_kept_only_where_the_dashboard_is_named() -> None:
    assert "r-2](" not in to_issue(_report(), Project.SGLANG).body
    named = to_issue(_report(base_url="http://gpu-box:8501"), Project.SGLANG).body
    assert "[r-2](http://gpu-box:8501/run?run=r-2)" in named


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 60_000), max_size=4),
    st.lists(st.integers(0, 2_000), max_size=2),
)
def test_whatever_its_length_it_fits(texts: list[int], tables: list[int]) -> None:
    blocks = [Verbatim("x" * length) for length in texts]
    rows = [Table(("a", "b"), (("cell", "cell"),) * number) for number in tables]

    body = to_issue(_report(*blocks, *rows), Project.VLLM).body

    assert len(body) <= MAX_BODY
    assert _headings(body, 3) == VLLM
    is_long = sum(texts) + 20 * sum(tables) > MAX_BODY
    assert is_long <= ("cut: the whole report has more" in body)


def test_what_was_cut_says_so_and_the_rest_stays() -> None:
    body = to_issue(_report(Verbatim("x" * 100_000), Verbatim("short")), Project.SGLANG).body

    assert body.count("cut: the whole report has more") == 1
    assert "short" in body


def test_sentences_that_alone_are_too_long_are_refused() -> None:
    with pytest.raises(UsageError, match="does not fit into an issue"):
        to_issue(_report(Paragraph("word " * 20_000)), Project.SGLANG)
