"""Whether a conversation is about the form of tool calls, so that showing it is no leak.

Reads only what was said before the answer: the user's text and the messages before it.
"""

import re
from enum import IntEnum
from typing import Final

from runner.judge.markup_catalogue import CATALOGUE
from runner.judge.markup_scan import scan_marks
from runner.judge.record import TurnContext

_CALL_WORDS: Final = re.compile(
    r"tool[\s_-]?call|function[\s_-]?call|tool[\s_-]?use|(?:werkzeug|funktions|tool)[\s-]?aufruf"
    r"|工具调用|函数调用|ツール呼び出し|関数呼び出し|도구 호출|함수 호출"
    r"|appels? (?:d['’]outils?|de fonctions?)|llamadas? (?:a|de) (?:herramientas?|funci)"
    r"|chamadas? (?:de|a) (?:ferramentas?|fun)|вызов\w* (?:инструмент|функци)"
    r"|chiamat\w+ (?:a |di )?(?:strument|funzion)",
    re.IGNORECASE,
)
_FORM_WORDS: Final = re.compile(
    r"format|syntax|markup|\btags?\b|tokens?\b|\braw\b|\bwire\b|\bbytes?\b|templat|\bpars(?:e|er|ing)"
    r"|looks? like|look(?:s)? (?:before|on)|code block|\bexample|beispiel|delimit|\bescap|\bregex"
    r"|\bmarkers?\b|\bdocument(?:ation)?\b|\bquot|verbatim|格式|标签|标记|语法|模板|解析|示例|形式|タグ"
    r"|記法|형식|태그|balises?|exemple|etiquetas?|formato|ejemplo|формат|\bтег|разметк|пример|esempio"
    r"|exemplo",
    re.IGNORECASE,
)
_FAMILY_WORDS: Final = re.compile(
    r"deepseek|dsml|kimi|hermes|qwen|mistral|devstral|llama|harmony|gpt-oss|\bglm|minimax|gemma"
    r"|granite|command[- ][ar]|apertus|lfm2|internlm|hunyuan|solar|seed-oss|longcat|gigachat",
    re.IGNORECASE,
)
_STRONG_WORDS: Final = re.compile(
    r"\bmarkup\b|\bdsml\b|special tokens?|control tokens?|sentinel|chat[- ]?template"
    r"|tool[- _]?call(?:ing)?[- ](?:format|parser|markup|syntax|tag|token|template)"
    r"|tool[- _]?parser|特殊标记|特殊トークン|спецтокен",
    re.IGNORECASE,
)
_DATA_WORDS: Final = re.compile(
    r"\bjson\b|payload|request body|\bcurl\b|\bschema\b|\bconfig|\bpython\b|\bcode\b|\bscript\b"
    r"|\bfunction\b|\bsnippet|\bexample|\bapi\b|代码|コード|코드|beispiel|exemple|ejemplo",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s+")


class Topic(IntEnum):
    """How much the conversation gives leave to name markup."""

    NONE = 0
    CALLS = 1
    """It talks about tool calls."""
    FORM = 2
    """It asks for their form, or cites it."""


class Conversation:
    """The text before an answer; each question is answered once and only when asked."""

    def __init__(self, context: TurnContext) -> None:
        self._said = [context.user, *(item.text for item in context.prior if item.role == "user")]
        others = [item.text for item in context.prior if item.role != "user"]
        self._all = [text for text in (*self._said, *others) if text]
        self._topic: Topic | None = None
        self._normalised: str | None = None

    @property
    def topic(self) -> Topic:
        if self._topic is None:
            self._topic = max((_topic(text) for text in self._said), default=Topic.NONE)
        return self._topic

    @property
    def wants_form(self) -> bool:
        """Whether formats, parsers, templates or the like were asked for at all."""
        return any(_FORM_WORDS.search(text) for text in self._said)

    @property
    def wants_data(self) -> bool:
        """Whether JSON or code was asked for, which a bare call could be."""
        return any(_DATA_WORDS.search(text) for text in self._said)

    def text(self) -> str:
        """Everything that was said, for looking things up in it."""
        return "\n".join(self._all)

    def holds(self, text: str) -> bool:
        """Whether `text` stands in the conversation, white space and escapes apart."""
        wanted = _normal(text)
        return bool(wanted) and wanted in self._normal_text()

    def _normal_text(self) -> str:
        if self._normalised is None:
            self._normalised = _normal("\n".join(self._all))
        return self._normalised


def _topic(text: str) -> Topic:
    if _STRONG_WORDS.search(text):
        return Topic.FORM
    is_about_calls = _CALL_WORDS.search(text) is not None
    if _FORM_WORDS.search(text) and (is_about_calls or _FAMILY_WORDS.search(text)):
        return Topic.FORM
    if any(not mark.is_support for mark in scan_marks(text, CATALOGUE)):
        return Topic.FORM
    return Topic.CALLS if is_about_calls else Topic.NONE


def _normal(text: str) -> str:
    """Escapes of JSON strings undone, white space gone."""
    text = text.replace("\\n", " ").replace("\\t", " ").replace('\\"', '"').replace("\\/", "/")
    return _SPACE.sub("", text)
