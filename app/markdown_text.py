"""How foreign text is kept from being read as Markdown; knows nothing of what it says.

Labels, badges and sentences on the pages are Markdown. Names and details come from files, servers
and models, so everything that Markdown or Streamlit's directives would act on is escaped. Whole
answers of a model are never put into Markdown at all: they go through `st.code`.
"""

import re
import unicodedata

_ACTIVE = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&@/=^\"'])")
_KEPT_CONTROLS = {"\t": " ", "\n": " ", "\r": " "}


def plain(text: str, *, limit: int = 400) -> str:
    """`text` on one line as literal characters inside Markdown, cut at `limit` characters."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return _ACTIVE.sub(r"\\\1", without_controls(shown))


def without_controls(text: str) -> str:
    """`text` with line ends as spaces and other control and direction characters made visible."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _KEPT_CONTROLS:
        return _KEPT_CONTROLS[character]
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co"):
        return f"⟨U+{ord(character):04X}⟩"
    return character


def badge(label: str, *, colour: str, icon: str = "") -> str:
    """A coloured word with its icon; `label` is escaped here."""
    return f":{colour}-badge[{icon + ' ' if icon else ''}{plain(label)}]"


def selected(words: str) -> str:
    """Words on a chip that is picked: in the accent alone they are too dark on a dark page."""
    return f":gray[**{words}**]"
