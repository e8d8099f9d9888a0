"""`decisive plan`: what a campaign will do and cost, before anything is touched."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from db.errors import StoreError, StoreMissingError
from db.reads.earlier_runs import earlier_runs
from db.store import open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.campaign import Campaign
from runner.campaign.earlier_times import NO_EARLIER_TIMES, EarlierTimes, earlier_times
from runner.campaign.plan import Plan, make_plan
from runner.cli.assessment_json import hypothesis_json
from runner.cli.chosen_configs import open_configs
from runner.cli.console import result_console, say, say_json, tell
from runner.cli.opening import open_campaign
from runner.cli.options import (
    BlocksOption,
    CampaignFile,
    ConfigsOption,
    JsonOption,
    SeedOption,
    StoreOption,
)
from runner.evidence.assessment_words import assessment_lines, closing_line
from runner.evidence.number_words import counted_text
from runner.evidence.plan_assessment import Assumptions, HypothesisPlan, assess_hypotheses
from runner.evidence.planner import ASSUMED_BEFORE_RATE
from runner.evidence.wording import count_text, duration_text


def plan(
    file: CampaignFile,
    configs: ConfigsOption = None,
    order_seed: SeedOption = None,
    blocks: BlocksOption = None,
    store: StoreOption = DEFAULT_STORE_URL,
    icc: Annotated[
        float | None,
        typer.Option(
            help="How much the sessions of one run resemble each other.",
            show_default="0.02, 0.05 for single runs",
        ),
    ] = None,
    before_rate: Annotated[
        float, typer.Option(help="The rate of the fault where it is expected.")
    ] = ASSUMED_BEFORE_RATE,
    gpus: Annotated[int, typer.Option(min=0, max=100_000, help="GPUs that a run holds.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Show arms, order, time, and what the plan can answer of its hypotheses; touches nothing."""
    assumptions = Assumptions(icc=icc, before_rate=before_rate, gpus=gpus)
    opened = open_campaign(file, open_configs(configs), order_seed=order_seed, blocks=blocks)
    made = make_plan(opened.campaign, opened.stack, earlier=_earlier_times(opened.campaign, store))
    assessed = assess_hypotheses(made, opened.stack, assumptions=assumptions)
    if as_json:
        say_json(_plan_json(made, assessed))
        return
    console = result_console()
    say(f"{made.campaign.name}: {made.campaign.question}")
    console.print(_arms_table(made))
    for line in [*_closing_lines(made), *_hypothesis_lines(assessed)]:
        say(line)


def _earlier_times(campaign: Campaign, store_url: str) -> EarlierTimes:
    """None where there is no store yet; one that cannot be read is told and is no hindrance."""
    try:
        with open_store_read_only(store_url) as store, store.session() as session:
            runs = earlier_runs(session.connection(), campaign.name, stack=campaign.stack)
    except StoreMissingError:
        return NO_EARLIER_TIMES
    except StoreError as error:
        tell(f"earlier runs are not counted on: {error}")
        return NO_EARLIER_TIMES
    return earlier_times(campaign, runs)


def _plan_json(plan: Plan, assessed: Sequence[HypothesisPlan]) -> dict[str, Any]:
    return {
        "campaign": plan.campaign.name,
        "stack": plan.campaign.stack,
        "order_seed": plan.campaign.schedule.order_seed,
        "arms": [
            {
                "name": arm.name,
                "arm": dict(arm.levels),
                "tag": arm.tag,
                "baseline": arm.is_baseline,
                "sessions_per_run": arm.sessions,
                "estimated_s": round(plan.estimates[arm.name].driving_s, 1),
            }
            for arm in plan.arms
        ],
        "runs": [{"position": r.position, "block": r.block, "arm": r.arm.name} for r in plan.runs],
        "sessions": plan.sessions,
        "launches": plan.launches,
        "switches_asked": plan.switches,
        "estimated_s": round(plan.seconds, 1),
        "assumptions": list(plan.assumptions),
        "warnings": list(plan.warnings),
        "hypotheses": [hypothesis_json(each) for each in assessed],
        "can_answer": all(each.assessment.can_answer for each in assessed),
    }


def _arms_table(plan: Plan) -> Table:
    table = Table(title=f"{counted_text(len(plan.arms), 'arm')} on stack {plan.campaign.stack}")
    for heading in ("arm", "tag", "sessions a run", "about"):
        table.add_column(heading, justify="left" if heading in ("arm", "tag") else "right")
    for arm in plan.arms:
        estimate = plan.estimates[arm.name]
        table.add_row(
            escape(arm.name) + (" (baseline)" if arm.is_baseline else ""),
            arm.tag or "",
            count_text(arm.sessions),
            duration_text(estimate.driving_s),
        )
    return table


def _closing_lines(plan: Plan) -> list[str]:
    blocks = plan.campaign.schedule.blocks
    lines = [f"order of the runs by order_seed {plan.campaign.schedule.order_seed}:"]
    lines += [
        f"block {block}: " + " | ".join(run.arm.name for run in plan.runs if run.block == block)
        for block in range(1, blocks + 1)
    ]
    lines.append(
        f"{counted_text(len(plan.runs), 'run')}, {counted_text(plan.sessions, 'session')}, "
        f"{plan.starts_text()}, about {duration_text(plan.seconds)}"
    )
    lines.append(f"assumed: {'; '.join(plan.assumptions)}")
    return [*lines, *(f"warning: {warning}" for warning in plan.warnings)]


def _hypothesis_lines(assessed: Sequence[HypothesisPlan]) -> list[str]:
    lines = []
    for each in assessed:
        hypothesis = each.hypothesis
        lines.append(
            f"hypothesis {hypothesis.id}: {hypothesis.claim}; predicts {hypothesis.predict}"
        )
        lines += [f"  {line}" for line in assessment_lines(each)]
    closing = closing_line(assessed)
    return lines if closing is None else [*lines, closing]
