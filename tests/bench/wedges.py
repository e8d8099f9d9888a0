"""How rightly wedges are found: campaigns on the testbed with servers that stall, freeze or die.

python -m tests.bench.wedges [BLOCKS [CAMPAIGN[/FAULT] ...]]

Every run is held against the recorded bytes of its answers: when the last token came, and whose
answers paused. Nothing that the rules have computed goes into that.
"""

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from db.store import Store, open_store
from runner.campaign.config_folder import ConfigFolder
from runner.cli.opening import open_campaign
from runner.execute.campaign_loop import run_campaign
from runner.execute.heartbeat import heartbeat
from runner.execute.run_setting import Patience
from runner.execute.stop_request import StopRequest
from runner.execute.worker_identity import holder_of
from tests.bench.wedge_hand import Hand
from tests.bench.wedge_measures import Measured, measured_runs
from tests.bench.wedge_plans import Plan, campaign_text, plans, write_stack

HEADER = (
    "| arm | runs | wedges expected | found | paused for 10 s or more | of them named | "
    "named falsely | start minus last token | found after | silent sessions |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)


def main() -> int:
    """0 where every run has its number of spans."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    chosen = _chosen(plans(blocks), sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        configs = Path(folder)
        write_stack(configs)
        sys.stdout.write(HEADER)
        is_right = True
        for plan in chosen:
            measured = _run(plan, configs)
            sys.stdout.write(rows(measured))
            sys.stdout.flush()
            is_right = is_right and all(each.right_count for each in measured)
    return 0 if is_right else 1


def _chosen(every: Sequence[Plan], names: Sequence[str]) -> list[Plan]:
    """All, or those named: a campaign, or one fault of it."""
    if not names:
        return list(every)
    by_name = {plan.name: plan for plan in every}
    found: list[Plan] = []
    for name in names:
        campaign, _, fault = name.partition("/")
        plan = by_name[campaign]
        found.append(replace(plan, faults=(fault,)) if fault else plan)
    return found


def rows(measured: Sequence[Measured]) -> str:
    """One line for each arm, as Markdown."""
    by_arm: defaultdict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        by_arm[each.arm].append(each)
    lines: list[str] = []
    for arm, runs in by_arm.items():
        victims = [each.victims() for each in runs]
        errors = [error for each in runs for error in each.start_errors_s()]
        delays = [delay for each in runs for delay in each.delays_s()]
        cells = (
            arm,
            len(runs),
            sum(each.fault.wedges for each in runs),
            sum(len(each.spans) for each in runs),
            sum(paused for paused, _, _ in victims),
            sum(named for _, named, _ in victims),
            sum(invented for _, _, invented in victims),
            f"{min(errors):+.1f} to {max(errors):+.1f} s" if errors else "",
            f"{min(delays):.1f} to {max(delays):.1f}, median {median(delays):.1f} s"
            if delays
            else "",
            f"{sum(each.silent for each in runs)} of {sum(each.sessions for each in runs)}",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _run(plan: Plan, configs: Path) -> list[Measured]:
    (configs / "campaigns" / f"{plan.name}.yaml").write_text(campaign_text(plan), "utf-8")
    opened = open_campaign(plan.name, ConfigFolder(configs))

    async def run(store: Store) -> None:
        holder = holder_of("bench")
        async with heartbeat(store, holder, doing=lambda: plan.name):
            await run_campaign(
                opened.campaign,
                opened.stack,
                store=store,
                worker=holder,
                stop=StopRequest(),
                progress=Hand(store),
                patience=Patience(flush_s=5.0, drain_s=5.0),
            )

    with open_store(f"sqlite:///{configs / plan.name}.db") as store:
        asyncio.run(run(store))
        return measured_runs(store, plan)


if __name__ == "__main__":
    raise SystemExit(main())
