"""The forms of calls that have no marker, as data, one or more templates a catalogue entry.

A template is a regular expression with the function's name left open. In it a blank stands for
optional white space, `~` for optional white space inside a line, and these words for parts:

    @NAME the function's name          @WORD the name as a word, with or without a namespace
    @QUOTED the same in quotes         @KEYS any parameter of the function
    @NAME_KEY, @ARGUMENT_KEY           the quoted keys under which JSON calls hold the two
    @FIELDS                            an id or a type that may stand before them
    @Q                                 a quote

The group `payload` marks where the arguments begin. Repetition is bounded, so that matching stays
linear.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_QUOTE: Final = "[\"'“”]"
_NAMESPACE: Final = r"(?:functions?\.|tools?\.|default_api\.|api\.)?"
_PARTS: Final[Mapping[str, str]] = {
    "@NAME_KEY": "@Q(?:name|function|tool|tool_name|function_name|action|recipient_name|api)@Q",
    "@ARGUMENT_KEY": "@Q(?:arguments|parameters|args|input|params|kwargs|tool_input|tool_args"
    "|tool_arguments|action_input)@Q",
    "@FIELDS": r"(?:@Q(?:id|type|index|call_id|tool_call_id)@Q : [^,{}\n]{1,60}, ){0,2}",
    "@QUOTED": f"@Q{_NAMESPACE}@NAME@Q",
    "@WORD": rf"(?<![\w.]){_NAMESPACE}@NAME(?!\w)",
    "@Q": _QUOTE,
    "~": r"[\x20\t]{0,8}",
}

_PART: Final = re.compile(r"@[A-Z_]+|~")

_TEMPLATES: Final = (
    ("json_call", r"\{ @FIELDS@NAME_KEY : @QUOTED , @FIELDS@ARGUMENT_KEY : (?P<payload>\S)"),
    (
        "json_call",
        r"\{ @ARGUMENT_KEY : (?P<payload>\{)[^{}\n]{0,2000}\} , @FIELDS@NAME_KEY : @QUOTED",
    ),
    ("json_call", r"\{ @FIELDS@NAME_KEY : @QUOTED \}"),
    ("json_call", r"\{ @QUOTED : (?P<payload>\{)(?= @Q(?:@KEYS)@Q)"),
    # A parser took the beginning and let the rest through.
    ("json_call", r"(?<!\w)@NAME@Q , @ARGUMENT_KEY : (?P<payload>\S)"),
    ("pythonic", r"(?m)^~(?:\[ )?(?:print\( )?@WORD(?:\.call)?\("),
    ("pythonic", r"\[ @WORD\("),
    (
        "name_and_json",
        r"(?:(?:^|(?<=[\n>｜|\]]))~(?:function)?@WORD|(?<![\w.])functions\.@NAME(?!\w))"
        r"(?::\d{1,3})? (?:json|code|```json)? (?P<payload>\{)(?= (?:@Q?(?:@KEYS)@Q? :|\}))",
    ),
    ("name_and_json", r"(?:^|(?<=[\n>｜|\]\x20]))call:@WORD (?P<payload>\{)"),
    ("name_and_json", r"\bto=@WORD(?= (?:json|code|<|\{|\Z))"),
    # All tags of GLM's form dropped: the name, a parameter and its value, a line each.
    ("name_and_json", r"\A @WORD~\n (?:@KEYS)\n"),
    ("name_tag", r"<@NAME> (?:\{|</@NAME>|<(?:@KEYS)>)"),
    (
        "name_tag",
        r"<\w[\w:.\-]{0,40}\s[^<>\n]{0,80}?(?:name|tool|function) = @Q?@NAME@Q?[^<>\n]{0,80}>",
    ),
    (
        "react",
        r"(?mi)^~\W{0,4}(?:action|(?:tool|function)(?: call)?)\W{0,2}:\W{0,4}@WORD\W{0,4}$"
        r"(?:\n[^\n]{0,200}){0,2}?"
        r"\n~\W{0,4}(?:action[\x20_]input|arguments|parameters|args|input)\W{0,2}:",
    ),
)


@dataclass(frozen=True, slots=True)
class BareForm:
    """`id` is the catalogue entry; `expression` matches a call of one function."""

    id: str
    expression: re.Pattern[str]


@lru_cache(maxsize=256)
def bare_forms(name: str, parameters: tuple[str, ...]) -> tuple[BareForm, ...]:
    """All forms of a call of the function `name`."""
    keys = "|".join(re.escape(key) for key in parameters) or "(?!)"
    return tuple(
        BareForm(form, re.compile(_fill(template, re.escape(name), keys)))
        for form, template in _TEMPLATES
    )


def _fill(template: str, name: str, keys: str) -> str:
    """Names and keys go in last and at once, so that nothing in them is taken for a part."""
    for _ in range(2):
        template = _PART.sub(lambda part: _PARTS.get(part[0], part[0]), template)
    template = template.replace(" ", r"\s{0,16}")
    names = {"@NAME": name, "@KEYS": keys}
    return _PART.sub(lambda part: names[part[0]], template)
