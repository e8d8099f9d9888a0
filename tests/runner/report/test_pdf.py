"""A PDF is set from data: no text of others is ever read as markup."""

import subprocess
import sys

import pytest

from runner.report.document import Paragraph, Verbatim
from runner.report.pdf import pages, pdf_is_available, to_pdf
from tests.runner.report.documents import HOSTILE, document_of, whole_document

pytestmark = pytest.mark.skipif(not pdf_is_available(), reason="typst is not installed")


def test_all_attacks_at_once_still_make_one_document() -> None:
    made = to_pdf(whole_document("\n".join(HOSTILE), base_url="http://gpu-box:8501"))

    assert made.startswith(b"%PDF-")
    assert made.rstrip().endswith(b"%%EOF")


def test_the_same_document_gives_the_same_bytes() -> None:
    document = whole_document("bf16 · on · C=80")

    assert to_pdf(document) == to_pdf(document)


def test_only_whole_addresses_are_links() -> None:
    def links(base_url: str | None) -> bool:
        return b"/URI" in to_pdf(whole_document("x", base_url=base_url))

    assert links("http://gpu-box:8501")
    assert not links("")


def test_no_line_ends_between_a_number_and_its_unit_or_before_a_dot() -> None:
    document = document_of(
        Paragraph("bf16 · C=80: 3 runs, 68.6 s, at 95 % and −27.9 points, 5 sessions")
    )

    (section,) = pages(document)["sections"]

    (block,) = section["blocks"]
    said = block["spans"][0]["text"]
    assert (
        said
        == "bf16\u00a0· C=80: 3 runs, 68.6\u00a0s, at 95\u00a0% and −27.9\u00a0points, 5 sessions"
    )


def test_what_the_fonts_cannot_show_is_named() -> None:
    document = document_of(Paragraph("日"), Verbatim("<｜DSML｜tool_calls>"))

    (section,) = pages(document)["sections"]

    assert section["blocks"][0]["spans"] == [{"text": "<U+65E5>"}]
    assert section["blocks"][1]["text"] == "<|DSML|tool_calls>"


def test_without_typst_one_sentence_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['typst'] = None\n"
        "from runner.errors import UsageError\n"
        "from runner.report.document import ReportDocument\n"
        "from runner.report.pdf import to_pdf\n"
        "try: to_pdf(ReportDocument('t', 's'))\n"
        "except UsageError as error: sys.stdout.write(str(error))\n"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout == (
        "a PDF needs typst, which is not installed: pip install 'decisive-test[pdf]', or print "
        "the HTML"
    )
