"""Documents for the tests of every form: one with all kinds of blocks, and texts that attack."""

from hypothesis import strategies as st

from db.vocabulary import OutcomeClass
from runner.report.document import (
    Block,
    Heading,
    Link,
    OutcomeBar,
    OutcomeFigure,
    Paragraph,
    RateFigure,
    RateMark,
    ReportDocument,
    Section,
    SectionTag,
    Table,
    TurnBar,
    TurnFigure,
    Verbatim,
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></body><h1>gone</h1>",
    "</style><script>1</script>",
    "<!--",
    "]]>",
    "{{ document }} {% include 'x' %}",
    '#eval("1") $x$ @ref <label> *bold* _it_ \\ #read("/etc/passwd")',
    "```\n# heading\n````",
    "[click](javascript:alert(1)) ![x](http://evil/x.png)",
    "| a | b |\n|---|---|",
    "@everybody #1 https://evil.example www.evil.example",
    "\x00\x07\x1b[31m\u202e\u2066\ufeff\ud800",
    '=HYPERLINK("http://evil")',
    "- list\n1. list\n> quote\n===",
    "\r\r\n\u2028\u2029",
)

any_text = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60))


def document_of(*blocks: Block, base_url: str | None = "") -> ReportDocument:
    return ReportDocument("A title", "A question?", (Section("Part", blocks),), base_url=base_url)


def whole_document(text: str, *, base_url: str | None = "") -> ReportDocument:
    """Every kind of block, with `text` wherever a text can be."""
    link = Link(text, "/arm?arm=a-5")
    counts = ((OutcomeClass.CLEAN, 68), (OutcomeClass.CORRUPT, 12))
    blocks: tuple[Block, ...] = (
        Heading(text),
        Paragraph((text, link, text)),
        Verbatim(text),
        Table((text, "number"), ((text, "1"), ((link,), "2")), numeric=frozenset({1})),
        RateFigure(
            text,
            (
                RateMark(link, text, 0.15, 0.088, 0.244, (0.1, 0.2)),
                RateMark(link, text, None, None, None),
            ),
        ),
        OutcomeFigure(text, (OutcomeBar(link, counts),)),
        TurnFigure(
            text,
            (
                TurnBar(text, 0.0, 0.5, 1.0, OutcomeClass.CORRUPT, text),
                TurnBar(text, 1.0, None, 2.0, None, text),
            ),
        ),
    )
    section = Section(text, blocks, SectionTag.ACTION_NEEDED)
    return ReportDocument(text, text, (section,), made_from=text, base_url=base_url)
