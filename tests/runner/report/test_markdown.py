import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.report.document import (
    Paragraph,
    ReportDocument,
    Section,
    SectionTag,
    Table,
    Verbatim,
)
from runner.report.markdown import escaped, to_markdown


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
