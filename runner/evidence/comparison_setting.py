"""How a comparison was made, as far as its counts do not tell: launches, order, checks, costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.evidence.run_cost import RunCost


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSetting:
    """Runs are named by their `label`. What is not known is left out, never guessed.

    `scope` says what the claim is about ("C=80, stack testbed"). `launch_of`: runs of one launch
    are one cluster; a run without an entry had its own. `perhaps_one_start`: launches of runs with
    the same entry are counted apart, and nothing shows that the servers, which others run, were
    restarted between them. `order`: labels as the runs were started.
    `implied_differences`: in what the servers differ as a consequence of the levels.
    `sessions_planned`: how many each run was to have. `historical_rate`: what the fault was seen
    at before, for planning. `ended_by_rule`: the stop rule, not an accident, left runs undone.
    `background`: the sentence on the known-good arm, where one was named. `earlier_campaigns`:
    those of the same name that had begun before and of which nothing is compared.
    `planned_blocks`: of the campaign before its first run, where it was extended since.
    """

    scope: str = ""
    launch_of: Mapping[str, str] = field(default_factory=dict)
    perhaps_one_start: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    order_is_random: bool | None = None
    sessions_planned: Mapping[str, int] = field(default_factory=dict)
    undeclared_differences: tuple[str, ...] = ()
    implied_differences: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    is_versus_concurrent: bool = True
    ended_by_rule: bool = False
    historical_rate: float | None = None
    background: str = ""
    earlier_campaigns: tuple[str, ...] = ()
    each_run: RunCost | None = None
    planned_blocks: int | None = None
