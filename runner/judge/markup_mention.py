"""Whether a mark is only named in a sentence ("wrap it in <tool_call>"), not used.

Looks at the words around it; knows nothing of the conversation.
"""

import re
from collections.abc import Sequence
from typing import Final

_AROUND: Final = 48
_BEFORE_IN_PROSE: Final = re.compile(
    r"[\w,;:(»”\"'’)\]>…][ ]$|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af、，：]\s?$"
)
_AFTER_IN_PROSE: Final = re.compile(
    r"[ ](?=[\w(\"'“«<])|[,;:.!?)](?=\s|$)|[’']s\b"
    r"|[ ]?[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af、。，]"
)
_USED_BEHIND: Final = re.compile(r"\s{0,4}[\[{(<]")
_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "「": "」", "(": ")"}
_CUE_BEFORE: Final = re.compile(
    r"(?:^|[\s(])(?:an?|the|an?other|in|into|with|without|within|inside|between|by|use[sd]?|using|like|as|of|on"
    r"|and|or|from|to|than|called|named|emits?|emitted|writes?|wraps?|tags?|tokens?|markers?|opening"
    r"|closing|literal|raw|missing|stray|no|each|every|this|that|both|e\.g\."
    r"|ein|eine[mnrs]?|der|die|das|dem|den|mit|ohne|zwischen|und|oder|von|aus"
    r"|un|une|les?|la|avec|sans|dans|entre|et|ou|des?|el|los|las|con|sin|y|o|um|uma|com|sem|em"
    r"|тег|теги|токен|в|с|без|между|и|или)[ ]$",
    re.IGNORECASE,
)
_CUE_BEHIND: Final = re.compile(
    r"[ ]?(?:blocks?|tags?|tokens?|markers?|sections?|elements?|formats?|syntax|markup|wrappers?"
    r"|delimiters?|sequences?|strings?|pairs?|Tags?|Blöcke?|Marken?|Zeichen|balises?|etiquetas?"
    r"|and|or|vs|is|are|was|were|means?|marks?|opens?|closes?|und|oder|ist|sind|et|ou|est|sont|y|o|es|son"
    r"|тег\w*|токен\w*|标签|标记|タグ|태그)\b",
    re.IGNORECASE,
)
_LINE_EDGE: Final = re.compile(r"(?:^|\n|<think(?:ing)?>)\s*$")


def is_named(text: str, start: int, end: int, *, tool_names: Sequence[str]) -> bool:
    """Whether the mark from `start` to `end` stands in a sentence as a thing that is talked about.

    A mark followed by a payload, by another mark or by the name of an offered tool is used.
    """
    before = text[max(0, start - _AROUND) : start]
    behind = text[end : end + _AROUND]
    if _is_quoted(before, behind):
        return True
    if _USED_BEHIND.match(behind) and not behind.startswith((" (", ", (")):
        return False
    if any(behind.lstrip().startswith(name) for name in tool_names):
        return False
    has_cue = _CUE_BEFORE.search(before) is not None or _CUE_BEHIND.match(behind) is not None
    is_after_prose = _BEFORE_IN_PROSE.search(before) is not None
    is_before_prose = _AFTER_IN_PROSE.match(behind) is not None
    if is_after_prose and is_before_prose:
        return True
    if has_cue and is_after_prose:
        return _LINE_EDGE.match(behind) is not None or behind.startswith(("\n", "."))
    return has_cue and is_before_prose and _LINE_EDGE.search(before) is not None


def has_naming_cue(text: str, start: int, end: int) -> bool:
    """Whether an article, a preposition or a noun beside the mark says that it is talked about."""
    before = text[max(0, start - _AROUND) : start]
    behind = text[end : end + _AROUND]
    if _is_quoted(before, behind):
        return True
    return _CUE_BEFORE.search(before) is not None or _CUE_BEHIND.match(behind) is not None


def _is_quoted(before: str, behind: str) -> bool:
    return bool(before and behind) and _QUOTES.get(before[-1]) == behind[0]
