"""How `decisive diff` says what two things differ in: lines for people, values for scripts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from db.identifiers import IdKind, format_id
from db.reads.sessions import TurnFacts
from runner.difference.configuration import ConfigRow
from runner.difference.divergence import Divergence
from runner.difference.divergence_pattern import DivergencePattern
from runner.difference.log_patterns import pattern_rows
from runner.difference.transcript import answer_of, cached_by_source

_MOST_ROWS = 60
_MOST_TEXT = 70


def config_lines(rows: Sequence[ConfigRow]) -> list[str]:
    """Differences only; long ones are cut, `--json` has them whole."""
    differing = [row for row in rows if row.differs]
    if not differing:
        return ["Configuration: nothing that is known of the two differs."]
    lines = [f"Configuration: {len(differing)} differ, {len(rows) - len(differing)} do not."]
    lines += [f"  {x.kind:<8} {x.name}: {_cut(x.a)} | {_cut(x.b)}" for x in differing[:_MOST_ROWS]]
    if len(differing) > _MOST_ROWS:
        lines.append(f"  and {len(differing) - _MOST_ROWS} more: --json has all")
    return lines


def config_json(rows: Sequence[ConfigRow]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows if row.differs]


def log_lines(a: pd.DataFrame, b: pd.DataFrame) -> list[str]:
    rows = pattern_rows(a, b)
    if not rows:
        return ["Log events: every kind is as frequent on both sides."]
    return ["Log events that differ, lines of A | B:"] + [
        f"  {row['kind']} ({row['class']}): {row['A lines']} | {row['B lines']}" for row in rows
    ]


def turn_lines(a: Sequence[TurnFacts], b: Sequence[TurnFacts], at: int | None) -> list[str]:
    """Each turn of both, up to the one at which they part."""
    last = at if at is not None else max((x.turn_index for x in (*a, *b)), default=-1)
    ours, theirs = ({turn.turn_index: turn for turn in side} for side in (a, b))
    return ["Turns, A | B:"] + [
        f"  turn {n + 1}: {_turn_text(ours.get(n))} | {_turn_text(theirs.get(n))}"
        for n in range(last + 1)
    ]


def turns_json(a: Sequence[TurnFacts], b: Sequence[TurnFacts]) -> list[dict[str, Any]]:
    """All turns of both, paired by their number."""
    ours, theirs = ({turn.turn_index: turn for turn in side} for side in (a, b))
    return [
        {"turn": number, "a": _turn_json(ours.get(number)), "b": _turn_json(theirs.get(number))}
        for number in sorted(ours.keys() | theirs.keys())
    ]


def divergence_json(found: Divergence | None) -> dict[str, Any] | None:
    if found is None:
        return None
    told = asdict(found)
    for name in ("a", "b"):
        if told[name] is not None:
            told[name]["session"] = format_id(IdKind.SESSION, told[name].pop("session_id"))
    markup = found.markup
    return {
        **told,
        "markup": None if markup is None else markup._asdict(),
        "context_tokens": found.context_tokens,
    }


def pattern_json(pattern: DivergencePattern) -> dict[str, Any]:
    return {
        "pairs": pattern.pairs,
        "agreed": pattern.agreed,
        "partings": {str(kind): n for kind, n in pattern.partings.items()},
        "corrupt_partings": pattern.corrupt_partings,
        "by_turn": {str(turn): n for turn, n in pattern.by_turn.items()},
        "by_field": pattern.by_field,
        "at_start_of_field": pattern.at_start,
        "by_chance": None
        if pattern.by_chance is None
        else dict(zip(("parted", "pairs"), pattern.by_chance, strict=True)),
        "context_tokens": pattern.context_tokens,
        "is_cut": pattern.is_cut,
        "traits": [_trait_json(asdict(each)) for each in pattern.contrasts],
        "examples": [divergence_json(each.divergence) for each in pattern.examples],
    }


def _trait_json(told: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity: where nothing stands against a trait its odds ratio is null."""
    association = dict(told["association"])
    ratio = association["odds_ratio"]
    association["odds_ratio"] = ratio if ratio is not None and ratio < float("inf") else None
    return {**told, "association": association}


def indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _turn_json(turn: TurnFacts | None) -> dict[str, Any] | None:
    if turn is None:
        return None
    return {
        "reading": turn.reading,
        "outcome": turn.outcome,
        "prompt_tokens": turn.prompt_tokens,
        "completion_tokens": turn.completion_tokens,
        "cached": cached_by_source(turn),
        "answer": {field.name: field.text for field in answer_of(turn)},
    }


def _turn_text(turn: TurnFacts | None) -> str:
    if turn is None:
        return "not played"
    cached = ", ".join(f"{n:,} {source}" for source, n in cached_by_source(turn).items() if n)
    prompt = "?" if turn.prompt_tokens is None else f"{turn.prompt_tokens:,}"
    return f"{turn.outcome or turn.reading}, prompt {prompt}" + (f" ({cached})" if cached else "")


def _cut(text: str) -> str:
    shown = "".join(x if x.isprintable() else "·" for x in text)
    return shown if len(shown) <= _MOST_TEXT else f"{shown[: _MOST_TEXT - 1]}…"
