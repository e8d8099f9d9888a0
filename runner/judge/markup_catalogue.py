"""The markup catalogue: every family that is looked for, most specific first, as data.

Parser names are those of SGLang's `ToolCallParserEnum` and of vLLM's `tool_parsers`; `source` says
where the form of an entry was seen.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from runner.judge.markup_family import MarkupFamily
from runner.judge.plain_tag_families import PLAIN_TAG_FAMILIES
from runner.judge.special_token_families import SPECIAL_TOKEN_FAMILIES
from runner.judge.template_tokens import TEMPLATE_TOKENS

UNMARKED_FAMILIES: Final = (
    MarkupFamily(
        id="json_call",
        title="a call as bare JSON (Llama 3.x, xLAM, Phi)",
        parsers=("llama3", "llama3_json", "llama4_json", "xlam", "phi4_mini_json"),
        models=("llama", "xlam", "phi-4"),
        source="jundot/omlx#1153; sglang function_call/llama32_detector.py",
    ),
    MarkupFamily(
        id="pythonic",
        title="a call as a line of Python (Llama 4, LFM2, Olmo, Gemma)",
        parsers=("pythonic", "llama4_pythonic", "lfm2", "olmo3"),
        models=("llama-4", "lfm2", "olmo", "gemma"),
        source="sglang function_call/pythonic_detector.py",
    ),
    MarkupFamily(
        id="name_and_json",
        title="a call whose tokens were dropped: the function's name, then its arguments",
        source="raullenchai/Rapid-MLX#480; MoonshotAI/Kimi-K2#89",
    ),
    MarkupFamily(
        id="name_tag",
        title="a tag named like the function, around its parameters",
        source="cline/cline#13348 (prompted XML calls)",
    ),
    MarkupFamily(
        id="react",
        title="ReAct: Action and Action Input lines",
        source="vllm-project/vllm tool_parsers (prompted calls of Qwen before 2.5)",
    ),
)

CATALOGUE: Final[tuple[MarkupFamily, ...]] = (
    *SPECIAL_TOKEN_FAMILIES,
    *PLAIN_TAG_FAMILIES,
    *UNMARKED_FAMILIES,
    *TEMPLATE_TOKENS,
)


def families_of_parser(parser: str) -> tuple[MarkupFamily, ...]:
    """The entries that the parser of this name stands for; () for a name nobody knows."""
    return tuple(family for family in CATALOGUE if parser in family.parsers)


@lru_cache(maxsize=64)
def families_for_model(model: str | None) -> tuple[MarkupFamily, ...]:
    """The whole catalogue, the families of the served model first."""
    if not model:
        return CATALOGUE
    return tuple(sorted(CATALOGUE, key=lambda family: not is_family_of(family, model)))


def is_family_of(family: MarkupFamily, model: str) -> bool:
    name = model.lower()
    return any(part in name for part in family.models)


def parser_names(families: Iterable[MarkupFamily] = CATALOGUE) -> frozenset[str]:
    return frozenset(parser for family in families for parser in family.parsers)
