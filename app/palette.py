"""Colours by meaning for the light and the dark theme, and the icon that always stands beside one.

Hue is kept for the data; no plain red or green anywhere. Checked for three colour deficiencies.
"""

from dataclasses import dataclass

from db.vocabulary import Headline, Outcome, OutcomeClass, RunState


@dataclass(frozen=True, slots=True)
class Palette:
    """`rate_steps`: none seen, then corrupt below 5, 15, 30, 50 %, and from there on."""

    clean: str
    corrupt: str
    silent: str
    ours: str
    pending: str
    background: str
    panel: str
    text: str
    muted: str
    border: str
    hatch: str
    on_strong: str
    on_silent: str
    clean_tint: str
    corrupt_tint: str
    silent_tint: str
    rate_steps: tuple[str, str, str, str, str, str]
    silent_steps: tuple[str, str, str, str, str, str]


LIGHT = Palette(
    clean="#0072b2",
    corrupt="#d55e00",
    silent="#3b0f50",
    ours="#7a828e",
    pending="#cdd2da",
    background="#ffffff",
    panel="#f6f7f8",
    text="#14181d",
    muted="#57606a",
    border="#d8dce2",
    hatch="#b9cbd8",
    on_strong="#14181d",
    on_silent="#4d1a66",
    clean_tint="#e9f3fa",
    corrupt_tint="#fdf0e7",
    silent_tint="#f3ecf7",
    rate_steps=("#eef5fa", "#fbe0cd", "#f6c29f", "#f0a26f", "#e8823f", "#d55e00"),
    silent_steps=("#eef5fa", "#ece2f2", "#dccbe6", "#c9aed8", "#b693c9", "#a178b8"),
)

DARK = Palette(
    clean="#4ba3e3",
    corrupt="#ff8c42",
    silent="#f5e6ff",
    ours="#8a93a3",
    pending="#3b475a",
    background="#15171a",
    panel="#1c1f23",
    text="#e6e8eb",
    muted="#b3bac4",
    border="#353b43",
    hatch="#3f5263",
    on_strong="#15171a",
    on_silent="#dcc8f5",
    clean_tint="#152a3b",
    corrupt_tint="#3b2416",
    silent_tint="#2f2639",
    rate_steps=("#16232e", "#4a2c18", "#6b3b1b", "#84481b", "#c46c2e", "#ff8c42"),
    silent_steps=("#16232e", "#2f2639", "#41324f", "#574369", "#6d5583", "#84699d"),
)

RATE_LIMITS = (0.05, 0.15, 0.30, 0.50)
RATE_LABELS = ("0", "<5", "<15", "<30", "<50", "≥50")


def palette_for(theme: str | None) -> Palette:
    return DARK if theme == "dark" else LIGHT


def rate_step(rate: float) -> int:
    """Which of the six steps a rate belongs to; zero has a step of its own."""
    if rate <= 0:
        return 0
    return 1 + sum(rate >= limit for limit in RATE_LIMITS)


CLASS_HUES: dict[OutcomeClass, str] = {
    OutcomeClass.CLEAN: "blue",
    OutcomeClass.CORRUPT: "orange",
    OutcomeClass.SILENT: "violet",
    OutcomeClass.OURS: "gray",
}

CLASS_ICONS: dict[OutcomeClass, str] = {
    OutcomeClass.CLEAN: ":material/check:",
    OutcomeClass.CORRUPT: ":material/broken_image:",
    OutcomeClass.SILENT: ":material/hourglass_disabled:",
    OutcomeClass.OURS: ":material/build:",
}

STATE_ICONS: dict[RunState, str] = {
    RunState.PLANNED: ":material/more_horiz:",
    RunState.APPLYING: ":material/sync:",
    RunState.VERIFYING: ":material/fact_check:",
    RunState.WARMING: ":material/sync:",
    RunState.DRIVING: ":material/play_circle:",
    RunState.SETTLING: ":material/sync:",
    RunState.DONE: ":material/check:",
    RunState.STOPPED: ":material/stop_circle:",
    RunState.FAILED: ":material/build:",
    RunState.INVALID: ":material/block:",
}

HEADLINE_HUES: dict[Headline, str] = {
    Headline.CONFIRMED: "blue",
    Headline.IMPROVED_NOT_ELIMINATED: "yellow",
    Headline.WORSE: "orange",
    Headline.REFUTED: "orange",
    Headline.INCONCLUSIVE: "gray",
}

HEADLINE_ICONS: dict[Headline, str] = {
    Headline.CONFIRMED: ":material/check:",
    Headline.IMPROVED_NOT_ELIMINATED: ":material/trending_down:",
    Headline.WORSE: ":material/trending_up:",
    Headline.REFUTED: ":material/close:",
    Headline.INCONCLUSIVE: ":material/help:",
}


def colour_of(outcome: Outcome, palette: Palette) -> str:
    colours = {
        OutcomeClass.CLEAN: palette.clean,
        OutcomeClass.CORRUPT: palette.corrupt,
        OutcomeClass.SILENT: palette.silent,
        OutcomeClass.OURS: palette.ours,
    }
    return colours[outcome.outcome_class]
