"""Partings in sentences: of one pair, and of all pairs of an arm; claims no cause. Pure."""

from collections.abc import Mapping, Sequence

from db.identifiers import IdKind, format_id
from runner.difference.divergence import Divergence, Parting, TurnSide
from runner.difference.divergence_pattern import DivergencePattern, TraitContrast
from runner.difference.markup_break import MarkupBreak, MarkupPlace
from runner.evidence.number_words import counted_text, of_text, p_text, share_text

_DOUBT = 0.05
_MANY_BY_CHANCE = 0.05
_SHOWN_TURNS = 4


def divergence_lines(found: Divergence | None, *, a: str = "A", b: str = "B") -> list[str]:
    """One pair; `a` and `b` are how the sides are called."""
    if found is None:
        return ["Both were asked and answered alike in every turn, as far as it was recorded."]
    lines = [_place_line(found, a, b)]
    if found.parting in (Parting.ANSWER, Parting.REQUEST) and found.before:
        lines.append(f"Just before, in both: {_quoted(found.before)}")
    for name, side in ((a, found.a), (b, found.b)):
        lines.append(f"{name}: {_side_text(side)}")
    if found.markup is not None:
        lines.append(_markup_text(found.markup))
    context = _context_text(found)
    if context:
        lines.append(context)
    return lines


def pattern_lines(pattern: DivergencePattern, *, arm: str, reference: str) -> list[str]:
    """All pairs of an arm with its reference."""
    if not pattern.pairs:
        return [f"{arm} and {reference} have no dialogue in common, so no answers can be paired."]
    lines = [
        f"Of {counted_text(pattern.pairs, 'dialogue')} that {arm} and {reference} both played, "
        f"{pattern.agreed:,} were answered alike throughout, as far as it was recorded; "
        f"{_partings_text(pattern)}.",
        _chance_text(pattern, reference),
    ]
    if pattern.is_cut:
        lines.append("They played more dialogues together; the others were not looked at.")
    if not pattern.parted:
        return lines
    lines.append(
        f"They part {_turns_text(pattern.by_turn)}; in {_fields_text(pattern.by_field)}; "
        f"{of_text(pattern.at_start, pattern.parted)} at the very start of that field. In "
        f"{of_text(pattern.corrupt_partings, pattern.parted)} the turn that parts is the one in "
        f"which the session of {arm} went corrupt."
    )
    if pattern.context_tokens:
        low, high = pattern.context_tokens
        lines.append(f"Between {low:,} and {high:,} tokens of context stood before those places.")
    lines += [_trait_line(each) for each in pattern.contrasts]
    if pattern.contrasts:
        lines.append(
            "Each p is exact within one turn number of one run, adjusted for all lines above "
            "(Benjamini-Hochberg). Sessions of one run are not independent, so it may be too "
            "small; what goes with a parting need not cause it."
        )
    else:
        lines.append("The server told nothing of its cache that differs between turns.")
    return lines


def _place_line(found: Divergence, a: str, b: str) -> str:
    turn = f"turn {found.turn_index + 1} (round {found.round_index + 1})"
    if found.parting is Parting.LENGTH:
        missing = a if found.a is None else b
        return f"They agree up to {turn}, which {missing} did not play."
    if found.parting is Parting.REQUEST:
        return (
            f"They were asked otherwise in {turn}, at character {found.character:,} of what was "
            "asked: from there on the answers cannot be compared."
        )
    if found.parting is Parting.SILENCE:
        silent = a if found.a is not None and found.a.outcome else b
        return f"They agree up to {turn}, in which {silent} has no whole answer."
    token = "" if found.token is None else f", after {counted_text(found.token, 'common token')}"
    return f"They part in {turn}, at character {found.character:,} of {found.field}{token}."


def _side_text(side: TurnSide | None) -> str:
    if side is None:
        return "no such turn"
    facts = [side.outcome or side.reading]
    if side.reason:
        facts.append(side.reason)
    if side.finish_reason:
        facts.append(f"finish {side.finish_reason}")
    name = format_id(IdKind.SESSION, side.session_id)
    return f"{name} ({', '.join(facts)}) has {_quoted(side.text) if side.text else 'nothing'}"


def _markup_text(found: MarkupBreak) -> str:
    if found.place is MarkupPlace.FRAME:
        return "The text holds every word of the call; the markup around them was not taken."
    return (
        f"The text stops being the call of the other side in a {found.place}, at character "
        f"{found.character:,}."
    )


def _context_text(found: Divergence) -> str:
    context = found.context_tokens
    parts = []
    if context is not None:
        low, high = context
        depth = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        parts.append(f"{depth} tokens of context stood before it")
    for name, side in (("A", found.a), ("B", found.b)):
        if side is not None and side.cached:
            parts.append(f"{name} took {_cached_text(side.cached)}")
    return f"{'; '.join(parts)}." if parts else ""


def _cached_text(cached: Mapping[str, int]) -> str:
    used = [f"{tokens:,} tokens of its prompt from {k}" for k, tokens in cached.items() if tokens]
    return " and ".join(used) or "none of its prompt from a cache"


def _partings_text(pattern: DivergencePattern) -> str:
    words = {
        Parting.ANSWER: "part in an answer",
        Parting.SILENCE: "part where one side fell silent",
        Parting.LENGTH: "part where one session ended",
        Parting.REQUEST: "were asked otherwise",
    }
    told = [f"{n:,} {words[kind]}" for kind, n in pattern.partings.items()]
    return ", ".join(told) if told else "none parts"


def _chance_text(pattern: DivergencePattern, reference: str) -> str:
    if pattern.by_chance is None:
        return (
            f"How often answers part by chance is not known: {reference} has no second run to "
            "hold against its first."
        )
    parted, pairs = pattern.by_chance
    said = f"Two runs of {reference} itself part in {of_text(parted, pairs)} dialogues"
    if pairs and parted / pairs > _MANY_BY_CHANCE:
        return f"{said}: answers part by chance here, so that a parting by itself says little."
    return f"{said}: partings by chance are not seen often here."


def _trait_line(contrast: TraitContrast) -> str:
    here = of_text(contrast.parted_with, contrast.parted)
    there = of_text(contrast.others_with, contrast.others)
    line = f"{contrast.trait}: {here} turns that part, {there} others"
    if contrast.parted_with == contrast.parted:
        missed = 1 - _DOUBT ** (1 / contrast.parted)
        line += f"; always so far (up to {share_text(missed)} without it are not excluded)"
    elif contrast.parted_with == 0:
        line += "; never so far"
    else:
        line += "; not always"
    association = contrast.association
    if not association.strata:
        return f"{line}; nowhere can the two be held against each other within a run and turn."
    return f"{line}; {p_text(contrast.adjusted_p)} for more often than the others."


def _turns_text(by_turn: Mapping[int, int]) -> str:
    shown = [f"turn {turn + 1} ({n:,})" for turn, n in list(by_turn.items())[:_SHOWN_TURNS]]
    rest = sum(list(by_turn.values())[_SHOWN_TURNS:])
    return f"in {_listed(shown)}" + (f" and {rest:,} in others" if rest else "")


def _fields_text(by_field: Mapping[str, int]) -> str:
    return _listed([f"{field} ({n:,})" for field, n in list(by_field.items())[:_SHOWN_TURNS]])


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)


def _quoted(text: str) -> str:
    """On one line; what a terminal would obey is written out."""
    shown = text.replace("\n", "⏎")
    safe = "".join(x if x.isprintable() else x.encode("unicode_escape").decode() for x in shown)
    return f'"{safe}"'
