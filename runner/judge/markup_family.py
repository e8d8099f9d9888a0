"""What one entry of the markup catalogue is; the entries themselves are data elsewhere."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkupFamily:
    """The raw form in which one family of models writes tool calls.

    `markers` and `supports` are regular expressions with bounded repetition. A marker is markup
    wherever it stands unquoted. A support counts only beside a marker of any family, or as a
    closing tag that nothing opened. `cues` are literal texts, one of which every hit contains;
    they decide cheaply that a text holds nothing of the family. A family without markers writes
    calls as plain JSON or code, and is found by the names of the offered tools.
    """

    id: str
    title: str
    source: str
    parsers: tuple[str, ...] = ()
    """Names that SGLang (`--tool-call-parser`) and vLLM give to the parsers of this form."""
    models: tuple[str, ...] = ()
    """Lower-case parts of the names of models that write it."""
    cues: tuple[str, ...] = ()
    markers: str = ""
    supports: str = ""
    is_document_like: bool = False
    """XML documents legitimately hold such tags."""
    is_control: bool = False
    """Tokens of a chat template, not of a tool call: residue, and no leak."""
