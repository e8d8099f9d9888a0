import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.report.document import (
    Link,
    Paragraph,
    ReportDocument,
    Section,
    SectionTag,
    Table,
    Verbatim,
)
from runner.report.markdown import escaped, to_markdown
from tests.runner.report.documents import any_text, document_of, whole_document


def _document(*blocks: Paragraph | Table | Verbatim) -> ReportDocument:
    return ReportDocument("A title", "A question?", (Section("Part", tuple(blocks)),))


def test_a_document_becomes_headings_tags_tables_and_fences() -> None:
    document = ReportDocument(
        "decisive-test (c-1)",
        "Does it end?",
        (
            Section(
                "Arms",
                (
                    Table(("arm", "corrupt"), (("bf16", "12/80"),), numeric=frozenset({1})),
                    Verbatim("<｜DSML｜invoke"),
                ),
                SectionTag.ACTION_NEEDED,
            ),
        ),
    )

    assert to_markdown(document) == (
        "# decisive-test (c-1)\n\nDoes it end?\n\n## Arms\n\n_action needed_\n\n"
        "| arm | corrupt |\n| --- | ---: |\n| bf16 | 12/80 |\n\n"
        "```text\n<｜DSML｜invoke\n```\n"
    )


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "[x](javascript:1)", "a | b", "# head", "`code`"]
)
def test_text_of_others_is_never_read_as_markup(hostile: str) -> None:
    text = to_markdown(_document(Paragraph(hostile)))

    assert hostile not in text.splitlines()
    assert escaped(hostile) in text


def test_verbatim_text_cannot_close_its_own_fence() -> None:
    hostile = "```\n# not a heading\n````"

    lines = to_markdown(_document(Verbatim(hostile))).splitlines()

    assert lines.count("`````text") == 1
    assert lines.count("`````") == 1


@given(st.text())
def test_a_cell_stays_one_cell(text: str) -> None:
    table = Table(("only",), ((text,),))

    (row,) = to_markdown(_document(table)).split("| --- |\n")[1].splitlines()

    assert row.replace("\\|", "").count("|") == 2


def test_a_row_that_does_not_fit_its_header_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="1 cells under 2 headings"):
        Table(("a", "b"), (("only one",),))


@settings(deadline=None)
@given(any_text)
def test_a_document_has_the_headings_that_were_meant_and_no_others(text: str) -> None:
    def headings(shown: str) -> list[int]:
        return [len(line.split(" ")[0]) for line in _outside_fences(shown) if line.startswith("#")]

    assert headings(to_markdown(whole_document(text or "x"))) == [1, 2, 3]


@pytest.mark.parametrize(
    ("hostile", "written"),
    [
        ("@maintainer", "@<!-- -->maintainer"),
        ("#123", "\\#<!-- -->123"),
        ("https://evil.example", "https\\://evil.example"),
        ("www.evil.example", "www\\.evil.example"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
    ],
)
def test_a_forge_makes_nothing_of_what_a_server_wrote(hostile: str, written: str) -> None:
    assert escaped(hostile) == written


@pytest.mark.parametrize("begins", ["- a", "+ a", "1. a", "1) a", "===", "---"])
def test_a_paragraph_begins_no_list_and_no_rule(begins: str) -> None:
    line = to_markdown(document_of(Paragraph(begins))).splitlines()[-1]

    assert "\\" in line
    assert line.replace("\\", "") == begins


def test_links_lead_to_the_dashboard_where_it_is_named() -> None:
    paragraph = Paragraph(("see ", Link("r-2", "/run?run=r-2"), " and more"))

    def said(base_url: str | None) -> str:
        return to_markdown(document_of(paragraph, base_url=base_url)).splitlines()[-1]

    assert said("http://gpu-box:8501") == "see [r-2](http://gpu-box:8501/run?run=r-2) and more"
    assert said(None) == "see r-2 and more"


def _outside_fences(text: str) -> list[str]:
    lines, fence = [], None
    for line in text.splitlines():
        if fence is None and line.startswith("```"):
            fence = line.removesuffix("text")
        elif line == fence:
            fence = None
        elif fence is None:
            lines.append(line)
    assert fence is None
    return lines
