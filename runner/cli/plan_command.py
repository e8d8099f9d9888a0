"""`decisive plan`: what a campaign will do and cost, before anything is touched."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from runner.campaign.plan import Plan, make_plan
from runner.cli.console import result_console, say, say_json
from runner.cli.opening import open_campaign, open_configs
from runner.cli.options import CampaignFile, ConfigsOption, JsonOption, SeedOption
from runner.evidence.wording import count_text, duration_text


def plan(
    file: CampaignFile,
    configs: ConfigsOption = None,
    order_seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show arms, order, sessions and estimated time; touches nothing."""
    opened = open_campaign(file, open_configs(configs), order_seed=order_seed)
    made = make_plan(opened.campaign, opened.stack)
    if as_json:
        say_json(_plan_json(made))
        return
    console = result_console()
    say(f"{made.campaign.name}: {made.campaign.question}")
    console.print(_arms_table(made))
    for line in _closing_lines(made):
        say(line)


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "campaign": plan.campaign.name,
        "stack": plan.campaign.stack,
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
        "estimated_s": round(plan.seconds, 1),
        "assumptions": list(plan.assumptions),
    }


def _arms_table(plan: Plan) -> Table:
    table = Table(title=f"{len(plan.arms)} arms on stack {plan.campaign.stack}")
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
    lines = [
        f"block {block}: " + " | ".join(run.arm.name for run in plan.runs if run.block == block)
        for block in range(1, blocks + 1)
    ]
    lines.append(
        f"{len(plan.runs)} runs, {count_text(plan.sessions)} sessions, {plan.launches} starts of "
        f"the servers, about {duration_text(plan.seconds)}"
    )
    lines.append(f"assumed: {'; '.join(plan.assumptions)}")
    lines += [
        f"hypothesis {each.id}: {each.claim}; predicts {each.predict}"
        for each in plan.campaign.hypotheses
    ]
    return lines
