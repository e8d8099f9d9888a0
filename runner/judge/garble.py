"""Signs that a text is no language any more: loops, token soup, broken encodings.

Each sign is made to stay silent on ordinary text of any language, on code and on tables, so it
misses mild garbling: there is no calibrated measure here. What the conversation itself holds or
asks for is no sign.
"""

import re
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Final
from unicodedata import name as unicode_name

_MAX_READ: Final = 20_000
_LOOP_WINDOW: Final = 1_000
_LOOP_STEP: Final = 100
_MIN_LOOP: Final = 100
_SAID_TWICE: Final = 16
_MIN_REPEATS: Final = 5
_MIN_SCRIPTS: Final = 3

_MOJIBAKE: Final = re.compile(
    r"Ã[\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u2013-\u2122]"
    r"|â€[\u0080-\u00bf\u0152\u0153\u02dc\u2013-\u2122]|Â[\u00a0-\u00bf]|ðŸ[\u0080-\u2122]"
)
_BYTE_TOKENS: Final = re.compile(r"[ĠĊĉ](?=[A-Za-z(\"'])|<0x[0-9A-F]{2}>|(?<=\w)▁(?=\w)")
_SPECIAL_TOKEN: Final = re.compile(r"<?[｜|][^>｜|\s]{1,40}[｜|]>?")
_CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\ue000-\uf8ff]")
_REPEAT_WORDS: Final = re.compile(
    r"\brepeat|\btimes\b|\bloop|\bmal\b|wiederhol|\bfois\b|\bveces\b|\bvezes\b|重复|遍|繰り返|반복|\bраз\b",
    re.IGNORECASE,
)
_LANGUAGE_WORDS: Final = re.compile(
    r"languag|translat|alphabet|script|unicode|emoji|letters?\b|sprach|übersetz|langue|tradui|idioma"
    r"|traduc|traduz|язык|перев|语言|翻译|言語|翻訳|언어|번역",
    re.IGNORECASE,
)
_EAST_ASIAN: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH", "HALFWIDTH"})
_NO_SCRIPT: Final = frozenset({"MODIFIER", "DIGIT", "SUPERSCRIPT", "SUBSCRIPT", "FEMININE"})
# Tables, rules and rows of zeros repeat for pages; letters, and a row of "!", do not.
_DECORATION: Final = re.compile(r"[\s\d\-=_*~#.,:;|+<>/\\─━│═—–·•]+")
_WORD: Final = re.compile(r"\w+")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")


def garble_signs(text: str, *, conversation_text: Callable[[], str]) -> tuple[str, ...]:
    """The signs found, as words for people; () for a text that may be language.

    `conversation_text` gives what was said before, and is asked only where a sign is seen.
    """
    sample = text if len(text) <= _MAX_READ else text[: _MAX_READ // 2] + text[-_MAX_READ // 2 :]
    checks = (
        ("a loop", _is_loop),
        ("token soup", _is_soup),
        ("a broken encoding", _is_mojibake),
        ("control characters", _has_control_characters),
    )
    return tuple(sign for sign, check in checks if check(sample, conversation_text))


def has_replacement_characters(text: str, *, conversation_text: Callable[[], str]) -> bool:
    """Whether U+FFFD stands in the text though nobody wrote it before."""
    return "\ufffd" in text and "\ufffd" not in conversation_text()


def _is_loop(text: str, conversation_text: Callable[[], str]) -> bool:
    """Whether a stretch of the text repeats one unit, not counting rules and empty cells."""
    ends = [
        end
        for end in range(len(text), _MIN_LOOP - 1, -_LOOP_STEP)
        if _was_said_before(text, max(0, end - _LOOP_WINDOW), end)
    ]
    if not ends or not _compresses(text):
        return False
    if not any(_ends_in_loop(text[max(0, end - _LOOP_WINDOW) : end]) for end in ends):
        return False
    return _REPEAT_WORDS.search(conversation_text()) is None


def _was_said_before(text: str, start: int, end: int) -> bool:
    """Whether the last characters of the window stand in it once more, as those of a loop do.

    No text that lacks it is a loop, which five units of at least a hundred characters make; this
    look costs a hundredth of the others.
    """
    return text.rfind(text[end - _SAID_TWICE : end], start, end - 1) >= 0


def _compresses(text: str) -> bool:
    parts = dict.fromkeys((text[-_LOOP_WINDOW:], text))  # of a short text they are one
    encoded = (part.encode("utf-8", "replace") for part in parts)
    return any(len(zlib.compress(part, 1)) < 0.4 * len(part) for part in encoded)


def _ends_in_loop(window: str) -> bool:
    period, repeated = _period_of_end(window)
    unit = window[-period:]
    if repeated < _MIN_LOOP or repeated < _MIN_REPEATS * period:
        return False
    return _DECORATION.fullmatch(unit) is None or repeated >= _LOOP_WINDOW - period


def _period_of_end(window: str) -> tuple[int, int]:
    """The period that repeats at the end of the window and how many characters it covers.

    The border table of the reversed window (Knuth, Morris, Pratt): linear.
    """
    reverse = window[::-1]
    borders = [0] * len(reverse)
    length = 0
    best_period, best_repeated = len(reverse), 0
    for position in range(1, len(reverse)):
        while length and reverse[position] != reverse[length]:
            length = borders[length - 1]
        if reverse[position] == reverse[length]:
            length += 1
        borders[position] = length
        period = position + 1 - length
        if length and period * _MIN_REPEATS <= position + 1 > best_repeated:
            best_period, best_repeated = period, position + 1
    return best_period, best_repeated


def _is_soup(text: str, conversation_text: Callable[[], str]) -> bool:
    """Words of many scripts side by side, or scripts mixed inside words."""
    if text.isascii():
        return False
    words = [scripts for word in _WORD.findall(text) if (scripts := _scripts_of(word))]
    foreign = set().union(*words) - {"LATIN"} if words else set()
    mixed = sum(_is_mixed(scripts) for scripts in words)
    if len(foreign) < _MIN_SCRIPTS and mixed < _MIN_SCRIPTS:
        return False
    said = conversation_text()
    foreign -= set().union(*(_scripts_of(word) for word in _WORD.findall(said[:_MAX_READ])), set())
    if mixed >= _MIN_SCRIPTS and foreign:
        return True
    if len(foreign) < _MIN_SCRIPTS:
        return False
    if mixed or "\ufffd" in text:
        return True
    switches = sum(one != other for one, other in pairwise(words))
    is_wild = len(foreign) > _MIN_SCRIPTS and switches >= 0.25 * len(words) >= 2
    return is_wild and _LANGUAGE_WORDS.search(said) is None


def _scripts_of(word: str) -> frozenset[str]:
    """The scripts of a word's letters; mathematics and units, one letter at a time, have none."""
    if word.isascii():
        return frozenset({"LATIN"}) if _HAS_LETTER.search(word) else frozenset()
    counts: dict[str, int] = {}
    for character in word[:40]:
        if character.isalpha():
            script = unicode_name(character, "UNKNOWN").split(" ", 1)[0]
            script = "EAST ASIAN" if script in _EAST_ASIAN else script
            if script not in _NO_SCRIPT:
                counts[script] = counts.get(script, 0) + 1
    return frozenset(
        script for script, count in counts.items() if count > 1 or script == "EAST ASIAN"
    )


def _is_mixed(scripts: frozenset[str]) -> bool:
    """Chinese, Japanese and Korean run on without spaces and take Latin words in."""
    return len(scripts - {"EAST ASIAN", "HANGUL"}) > 1


def _is_mojibake(text: str, conversation_text: Callable[[], str]) -> bool:
    """UTF-8 read as Latin-1, or the byte-level alphabet of a tokenizer that was not undone."""
    if text.isascii() and "<0x" not in text:
        return False
    for expression in (_MOJIBAKE, _BYTE_TOKENS):
        hits = expression.findall(_SPECIAL_TOKEN.sub("", text))
        if len(hits) > 1 and hits[0] not in conversation_text():
            return True
    return text.count("\ufffd") >= 3 and "\ufffd" not in conversation_text()


def _has_control_characters(text: str, conversation_text: Callable[[], str]) -> bool:
    hits = _CONTROL_CHARACTERS.findall(text)
    return len(hits) > 2 and hits[0] not in conversation_text()
