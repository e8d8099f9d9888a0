"""HTML is one file that fetches nothing and runs nothing, whatever servers wrote."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from runner.report.document import Link, Paragraph
from runner.report.html import to_html
from tests.runner.report.documents import HOSTILE, any_text, document_of, whole_document


class _Page(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "title":  # a long label of a figure has its whole text in one
            self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@settings(max_examples=20, deadline=None)
@given(any_text)
def test_no_text_of_others_becomes_an_element(text: str) -> None:
    page = _Page(to_html(whole_document(text or "nothing")))
    harmless = _Page(to_html(whole_document("harmless")))

    assert page.elements == harmless.elements
    assert page.addresses == harmless.addresses


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\x00" not in text])
def test_every_attack_is_shown_as_it_was_written(text: str) -> None:
    page = _Page(to_html(document_of(Paragraph(text))))

    shown = " ".join("".join(page.texts).split())
    assert " ".join(text.split("\u2028")[0].split()) in shown


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = to_html(whole_document("x"))
    page = _Page(text)

    names = {tag for tag, _ in page.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not [name for _, names in page.elements for name in names if name.startswith("on")]
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text


def test_links_are_whole_or_none() -> None:
    paragraph = Paragraph((Link("r-2", "/run?run=r-2"),))

    def addresses(base_url: str | None) -> list[str]:
        page = _Page(to_html(document_of(paragraph, base_url=base_url)))
        return [each for each in page.addresses if not each.startswith("#")]

    assert addresses("") == []
    assert addresses("http://gpu-box:8501/") == ["http://gpu-box:8501/run?run=r-2"]
    assert addresses(None) == []


def test_it_has_a_light_a_dark_and_a_printed_face() -> None:
    text = to_html(document_of())

    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
