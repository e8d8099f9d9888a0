"""Reads a Prometheus or OpenMetrics page into samples; knows no series and invents none."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Metric

MAX_PAGE_BYTES = 64 * 1024 * 1024
LARGE_PAGE_BYTES = 1024 * 1024
"""A larger page takes longer to read than passes between two looks: about a second for each."""
_PIECE_BYTES = 128 * 1024
_MAX_SALVAGED_LINES = 200_000
_Reader = Callable[[str], "Iterable[Metric]"]


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


def read_exposition(
    body: bytes, *, content_type: str = "", wanted: Collection[str] | None = None
) -> tuple[Sample, ...]:
    """Every finite value of the page. NaN and infinities mean "not known" and are left out.

    A page with a few broken lines is read without them: a server that is cut off in the middle of
    a page has still said the rest. A last line without its end is not believed: 20 may have been
    20500. Of a large page only the `wanted` series are read, or its beginning where it has none.
    Raises ValueError where no line of it is a sample.
    """
    body = body.removeprefix(BOM_UTF8)
    if wanted is not None and len(body) > LARGE_PAGE_BYTES:
        body = _lines_of(wanted, body) or body[:LARGE_PAGE_BYTES]
    everything = body[:MAX_PAGE_BYTES].decode("utf-8", errors="replace")
    text = _whole_lines(everything)
    if everything.strip() and not text.strip():
        raise ValueError(f"this is no page of metrics: {everything[:80]!r}")
    for reader in _readers(content_type):
        try:
            return tuple(_finite(reader(text)))
        except _NOT_THIS_FORMAT:
            continue
    return _salvaged(text)


def _lines_of(names: Collection[str], body: bytes) -> bytes:
    """The samples of these series, and what their types are; found at the speed of memory."""
    # A counter's samples may lack the ending that prometheus_client gives them.
    either = {*names, *(name.removesuffix("_total") for name in names)}
    listed = "|".join(map(re.escape, sorted(either)))
    line = rf"^(?:(?:{listed})[{{ \t]|#[ \t]*TYPE[ \t]+(?:{listed})[ \t]|# EOF).*\n?"
    find = re.compile(line.encode(), re.MULTILINE).findall
    return b"".join(found for piece in _pieces(body[:MAX_PAGE_BYTES]) for found in find(piece))


def _pieces(body: bytes) -> Iterator[bytes]:
    """Of whole lines: a search holds the interpreter to its end, and our answers wait for it."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + _PIECE_BYTES) + 1
        yield body[start : end or len(body)]
        start = end or len(body)


def _readers(content_type: str) -> tuple[_Reader, ...]:
    """Imported with the first page: who only reads logs has none, and the library is large."""
    from prometheus_client.openmetrics.parser import (
        text_string_to_metric_families as read_openmetrics,
    )
    from prometheus_client.parser import text_string_to_metric_families as read_text

    return (read_openmetrics, read_text) if "openmetrics" in content_type else (read_text,)


# What prometheus_client raises on pages that are none depends on where they break.
_NOT_THIS_FORMAT = (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError)


def _whole_lines(text: str) -> str:
    """Both formats end every line with a line feed, but for the end mark of OpenMetrics."""
    if text.endswith(("\n", "# EOF")):
        return text
    return text[: text.rfind("\n") + 1]


def _finite(families: "Iterable[Metric]") -> Iterator[Sample]:
    for family in families:
        for sample in family.samples:
            value = float(sample.value)
            if isfinite(value):
                yield Sample(sample.name, value, dict(sample.labels))


def _salvaged(text: str) -> tuple[Sample, ...]:
    (read_text,) = _readers("text/plain")
    found: list[Sample] = []
    is_page = False
    for line in text.split("\n")[:_MAX_SALVAGED_LINES]:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            families = list(read_text(line + "\n"))
        except _NOT_THIS_FORMAT:
            continue
        is_page = is_page or any(family.samples for family in families)
        found.extend(_finite(families))
    if not is_page:
        raise ValueError(f"this is no page of metrics: {text[:80]!r}")
    return tuple(found)
