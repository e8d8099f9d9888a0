"""How foreign text is kept from being read as Markdown; knows nothing of what it says.

Labels, badges and sentences on the pages are Markdown. Names and details come from files, servers
and models, so everything that Markdown or Streamlit's directives would act on is escaped. Whole
answers of a model are never put into Markdown at all: they go through `st.code`.

An address in such a text would become a link whatever is escaped, for Markdown looks for addresses
after it has taken the escapes away. So it is shown as code: nobody is led where a server pleases,
and the address can still be copied as it was written.
"""

import re
import unicodedata
from itertools import cycle

_ACTIVE = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&@/=^\"'])")
_ADDRESS = re.compile(
    r"""((?:https?://|www\.)[-.\w][^\s`\[\]<>"]*|[-.\w+]+@[-\w]+(?:\.[-\w]+)+)""", re.IGNORECASE
)
_BREAKABLE_PERCENT, _WHOLE_PERCENT = "\N{THIN SPACE}%", "\N{NARROW NO-BREAK SPACE}%"
_KEPT_CONTROLS = {"\t": " ", "\n": " ", "\r": " "}


def plain(text: str, *, limit: int = 400) -> str:
    """`text` on one line as literal characters inside Markdown, cut at `limit` characters."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    pieces = _ADDRESS.split(without_controls(shown).replace(_BREAKABLE_PERCENT, _WHOLE_PERCENT))
    return "".join(
        f"`{piece}`" if is_address else _ACTIVE.sub(r"\\\1", piece)
        for piece, is_address in zip(pieces, cycle((False, True)), strict=False)
    )


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
