"""A report under the headings of a project's bug form, in the length that an issue takes."""

import re

import pytest

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


@pytest.mark.parametrize(
    ("texts", "rows", "is_cut"),
    [
        ([], 0, False),
        ([60_000], 0, False),
        ([70_000], 0, True),
        ([40_000, 40_000], 100, True),
        ([500] * 200, 0, True),
        ([], 10_000, True),
        ([200_000], 6_000, True),
    ],
)
def test_whatever_its_length_it_fits(texts: list[int], rows: int, is_cut: bool) -> None:
    blocks = [Verbatim("x" * length) for length in texts]
    table = Table(("a", "b"), (("cell", "cell"),) * rows)

    body = to_issue(_report(*blocks, table), Project.VLLM).body

    assert len(body) <= MAX_BODY
    assert _headings(body, 3) == VLLM
    assert ("cut: the whole report has more" in body) == is_cut


def test_what_was_cut_says_so_and_the_rest_stays() -> None:
    body = to_issue(_report(Verbatim("x" * 100_000), Verbatim("short")), Project.SGLANG).body

    assert body.count("cut: the whole report has more") == 1
    assert "short" in body


def test_sentences_that_alone_are_too_long_are_refused() -> None:
    with pytest.raises(UsageError, match="does not fit into an issue"):
        to_issue(_report(Paragraph("word " * 20_000)), Project.SGLANG)
