"""What a reader must know beside the verdict: on what it rests, and what it leaves open."""

from collections.abc import Iterator

import numpy as np

from db.vocabulary import Headline
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.block_permutation import pair_by_block, permutation_less
from runner.evidence.caveat import Caveat as Caveat
from runner.evidence.caveat import CaveatKind as CaveatKind
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.early_end_words import early_end_sentence
from runner.evidence.elimination_process import wedge_rate_limit
from runner.evidence.launch_words import Unit
from runner.evidence.lower_rate import LowerRateMethod
from runner.evidence.number_words import counted_text, p_text, plural_of, rho_text, share_text
from runner.evidence.planned_looks import TWO_LOOKS
from runner.evidence.run_caveats import caveats_of_runs
from runner.evidence.run_rate_test import Cluster
from runner.evidence.verdict_decision import Decision

_MOSTLY = 0.5
_BLOCKS_THAT_TELL = 5  # with fewer, shuffling inside blocks cannot reach 0.05


def caveats_of(
    arm: ArmEvidence,
    versus: ArmEvidence,
    *,
    rule: DecisionRule,
    setting: ComparisonSetting,
    hypotheses: int,
) -> tuple[Caveat, ...]:
    """Those that hold whatever the numbers are."""
    return (
        *_of_the_plan(rule, setting, hypotheses=hypotheses),
        *_of_the_end(arm, versus, rule, setting),
        *_of_the_order(arm, versus, setting),
        *caveats_of_runs(arm),
        *caveats_of_runs(versus),
    )


def caveats_of_numbers(
    comparison: ArmComparison,
    decision: Decision,
    *,
    arm: ArmEvidence,
    versus: ArmEvidence,
    rule: DecisionRule,
    unit: Unit,
) -> tuple[Caveat, ...]:
    return tuple(_of_the_numbers(comparison, decision, arm, versus, rule, unit))


def basis_sentence(comparison: ArmComparison, *, rule: DecisionRule, unit: Unit) -> str:
    """Runs or launches, method and the correlation that was assumed."""
    noun, nouns = unit.noun, plural_of(unit.noun)
    runs = f"{counted_text(len(comparison.after.launches), noun)} after, "
    runs += f"{len(comparison.before.launches):,} before"
    rho = rho_text(comparison.rho)
    assumed = "estimated" if comparison.icc == comparison.rho else "assumed"
    if rule.ending is Ending.DECIDED:
        return (
            f"Basis: {runs}; e-values by {noun} pairs, valid for any ICC up to "
            f"{rho_text(rule.rho_max)}; ICC {rho} {assumed} for the limit."
        )
    if rule.ending is Ending.TWO_LOOKS:
        return (
            f"Basis: {runs}; two looks, planned after {_looks_text(nouns)}, each with the larger "
            f"p-value of Boschloo's test on sessions and the t test on {noun} rates; ICC {rho} "
            f"{assumed} for the limit."
        )
    if comparison.method is LowerRateMethod.CORRELATED_SESSIONS:
        return (
            f"Basis: {runs}; with one {noun} in an arm {noun}-to-{noun} variation cannot be "
            f"measured, ICC {rho} {assumed} (Boschloo's test on correlated sessions)."
        )
    if comparison.method is LowerRateMethod.RUN_RATES:
        return (
            f"Basis: {runs}; with six {nouns} an arm the t test on {noun} rates decides; ICC "
            f"{rho} {assumed} for the limit."
        )
    return (
        f"Basis: {runs}; the larger p-value of Boschloo's test on sessions and the t test on "
        f"{noun} rates; ICC {rho} {assumed} for the limit."
    )


def _looks_text(nouns: str) -> str:
    return " and ".join(f"{look.runs} {nouns} an arm at {look.alpha:g}" for look in TWO_LOOKS)


def _of_the_plan(
    rule: DecisionRule, setting: ComparisonSetting, *, hypotheses: int
) -> Iterator[Caveat]:
    if not rule.is_registered:
        yield Caveat(
            CaveatKind.EXPLORATORY,
            "Exploratory: the prediction was not registered before the first run, so both "
            "directions share alpha.",
        )
    if setting.planned_blocks is not None and rule.ending is Ending.FIXED:
        yield Caveat(
            CaveatKind.EXTENDED,
            f"Extended: {counted_text(setting.planned_blocks, 'block')} were planned before the "
            "first run, and more were added with the first ones known; p-values and limits take "
            "the number of runs as fixed beforehand.",
        )
    if hypotheses > 1:
        yield Caveat(
            CaveatKind.SEVERAL_HYPOTHESES,
            f"One of {hypotheses} hypotheses of this campaign; p-values are adjusted (Holm).",
        )
    if setting.implied_differences:
        yield Caveat(
            CaveatKind.IMPLIED_SETTINGS,
            f"The levels imply other settings too ({', '.join(setting.implied_differences)}): what "
            "is found holds for all of them together.",
        )
    if not setting.is_versus_concurrent:
        yield Caveat(
            CaveatKind.HISTORICAL_CONTROL,
            "The arm compared with ran in another campaign: a historical control. One concurrent "
            "control run is needed.",
        )
    if setting.earlier_campaigns:
        they = "it" if len(setting.earlier_campaigns) == 1 else "they"
        yield Caveat(
            CaveatKind.EARLIER_CAMPAIGNS,
            f"Not the first of its name in this store: {', '.join(setting.earlier_campaigns)} had "
            f"begun before, and what {they} showed is not counted here.",
        )
    if setting.background:
        yield Caveat(CaveatKind.BACKGROUND, setting.background)


def _of_the_end(
    arm: ArmEvidence, versus: ArmEvidence, rule: DecisionRule, setting: ComparisonSetting
) -> Iterator[Caveat]:
    sentence = early_end_sentence(arm, versus, rule=rule, setting=setting)
    if sentence:
        yield Caveat(CaveatKind.STOPPED_EARLY, sentence)


def _of_the_order(
    arm: ArmEvidence, versus: ArmEvidence, setting: ComparisonSetting
) -> Iterator[Caveat]:
    if setting.order_is_random is False or _is_one_arm_first(arm, versus, setting):
        yield Caveat(
            CaveatKind.ORDER_NOT_RANDOMISED,
            "Order: not randomised. Drift of the machine may pass for an effect of the arm.",
        )
    launches = {setting.launch_of.get(run.label, run.label) for run in (*arm.done, *versus.done)}
    runs = len(arm.done) + len(versus.done)
    if len(launches) < runs:
        yield Caveat(
            CaveatKind.SHARED_LAUNCHES,
            f"{runs} runs in {counted_text(len(launches), 'start')} of the servers: runs that "
            "share one count as one.",
        )
    yield from _of_the_restarts(arm, versus, setting)


def _of_the_restarts(
    arm: ArmEvidence, versus: ArmEvidence, setting: ComparisonSetting
) -> Iterator[Caveat]:
    launches: dict[str, set[str]] = {}
    for run in (*arm.done, *versus.done):
        if run.label in setting.perhaps_one_start:
            launch = setting.launch_of.get(run.label, run.label)
            launches.setdefault(setting.perhaps_one_start[run.label], set()).add(launch)
    unclear = [len(each) for each in launches.values() if len(each) > 1]
    if not unclear:
        return
    number = sum(unclear)
    servers, it_was = ("a server", "it was") if len(unclear) == 1 else ("servers", "they were")
    yield Caveat(
        CaveatKind.RESTARTS_NOT_SHOWN,
        f"{number} launches of {servers} that others run were counted as {number} starts; nothing "
        f"shows whether {it_was} restarted between them.",
    )


def _is_one_arm_first(arm: ArmEvidence, versus: ArmEvidence, setting: ComparisonSetting) -> bool:
    """Whether all runs of one arm came before all of the other, with two runs at least in each."""
    place = {label: i for i, label in enumerate(setting.order)}
    first, second = (
        [place[run.label] for run in each.done if run.label in place] for each in (arm, versus)
    )
    if min(len(first), len(second)) < 2:
        return False
    return max(first) < min(second) or max(second) < min(first)


def _of_the_numbers(
    comparison: ArmComparison,
    decision: Decision,
    arm: ArmEvidence,
    versus: ArmEvidence,
    rule: DecisionRule,
    unit: Unit,
) -> Iterator[Caveat]:
    after = comparison.after
    if after.silent_share > _MOSTLY:
        yield Caveat(CaveatKind.MOSTLY_SILENT, _mostly_silent(comparison))
    is_open = rule.ending is Ending.DECIDED and arm.missing > 0
    if is_open and decision.headline is Headline.INCONCLUSIVE:
        yield Caveat(CaveatKind.INTERIM, "Interim: the rule has not decided, and runs are open.")
    if comparison.surplus:
        yield Caveat(
            CaveatKind.SURPLUS_LEFT_OUT,
            f"Judged without {counted_text(comparison.surplus, 'clean session')} of runs of "
            "another size; a clean session more never weakens a confirmation.",
        )
    yield from _of_the_blocks(arm, versus)
    if comparison.icc is not None and comparison.icc > rule.rho_single:
        yield Caveat(
            CaveatKind.RUNS_DIFFER,
            f"{plural_of(unit.noun).capitalize()} of one arm differ more than chance (ICC "
            f"{rho_text(comparison.icc)}): find what changes from {unit.noun} to {unit.noun}.",
        )
    if decision.headline is Headline.CONFIRMED and arm.wedges == 0:
        runs = len(after.launches)
        yield Caveat(
            CaveatKind.WEDGES_LEFT_OPEN,
            f"No wedge in {counted_text(runs, unit.noun)} still leaves room for up to "
            f"{share_text(wedge_rate_limit(runs))} of {plural_of(unit.noun)} to wedge.",
        )


def _of_the_blocks(arm: ArmEvidence, versus: ArmEvidence) -> Iterator[Caveat]:
    """A second opinion that no drift from block to block can bend, silence at its worst."""
    after, before = ([run for run in each.done if run.counts.all] for each in (arm, versus))
    worst = [(r.block, Cluster(r.counts.corrupt + r.counts.silent, r.counts.all)) for r in after]
    best = [(r.block, Cluster(r.counts.corrupt, r.counts.all)) for r in before]
    blocks = pair_by_block(worst, best)
    if len(blocks) < _BLOCKS_THAT_TELL:
        return
    test = permutation_less(blocks, rng=np.random.default_rng(len(blocks)))
    yield Caveat(
        CaveatKind.SHUFFLED_BLOCKS,
        f"Shuffling the arms inside each of {len(blocks)} blocks, which no drift can bend, gives "
        f"{p_text(test.p)} for fewer ({p_text(test.smallest_p)} at best).",
    )


def _mostly_silent(comparison: ArmComparison) -> str:
    after = comparison.after
    if after.evidence == 0:
        return "No session of the changed arm gave evidence."
    corrupt = (
        f"All {after.evidence:,} sessions that gave evidence were corrupt"
        if after.corrupt == after.evidence
        else f"{after.corrupt:,} of the {after.evidence:,} sessions that gave evidence were corrupt"
    )
    return (
        f"{corrupt}. Neither {after.corrupt:,} of {after.evidence:,} nor {after.corrupt:,} of "
        f"{after.sessions:,} is a rate: corrupt sessions end first and clean ones last, so that a "
        "run that was cut short can hide most of its corruption."
    )
