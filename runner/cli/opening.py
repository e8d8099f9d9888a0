"""Opens what a command names: campaign files with their stacks, a stored campaign or run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from db.identifiers import IdKind, parse_id
from db.reads.campaigns import CampaignFacts, campaigns
from db.reads.runs import RunCounts, run
from db.store import Store
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import load_campaign
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.file_shape import LevelValue
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.reduction_names import by_reduction
from runner.campaign.stack_file import Stack, load_stack
from runner.campaign.stack_fit import campaign_on_stack, check_campaign_on_stack
from runner.errors import UsageError
from runner.sessions.scenario import scenario_of

_SEARCHED_CAMPAIGNS = 10_000


class OpenedCampaign(NamedTuple):
    campaign: Campaign
    stack: Stack


def open_campaign(
    name: str,
    configs: ConfigFolder,
    *,
    levels: Mapping[str, Sequence[LevelValue]] | None = None,
    order_seed: int | None = None,
    blocks: int | None = None,
) -> OpenedCampaign:
    """The campaign of a path or a name, on its stack, and cut to `levels` where given.

    Raises ConfigError, UsageError.
    """
    path = Path(name)
    is_path = path.suffix in (".yaml", ".yml") and path.exists()
    campaign = load_campaign(path if is_path else configs.campaign_path(name))
    stack = load_stack(configs.stack_path(campaign.stack))
    campaign = campaign_on_stack(campaign, stack)
    check_campaign_on_stack(campaign, stack)
    scenario_of(campaign)  # so that what it cannot play is known before anything starts
    narrowed = narrow_campaign(campaign, levels or {}, order_seed=order_seed, blocks=blocks)
    return OpenedCampaign(narrowed, stack)


def find_stored_campaign(store: Store, reference: str | None) -> CampaignFacts:
    """The campaign of an id or of a name, the newest of that name; for None the newest of all that
    no reduction made.

    Raises UsageError.
    """
    with store.session() as session:
        known = campaigns(session.connection(), limit=_SEARCHED_CAMPAIGNS)
    wanted_id = parse_id(IdKind.CAMPAIGN, reference) if reference is not None else None
    if reference is None and known:
        return by_reduction(known)[0].campaign
    for facts in known:
        if wanted_id == facts.id or reference == facts.name:
            return facts
    if not known:
        raise UsageError(f"the store {store.url} holds no campaign: run one with `decisive run`")
    names = ", ".join(sorted({facts.name for facts in known}))
    raise UsageError(f"the store {store.url} has no campaign {reference!r}; it has: {names}")


def find_stored_run(store: Store, reference: str) -> RunCounts:
    """The run of an id. Raises UsageError."""
    run_id = parse_id(IdKind.RUN, reference)
    with store.session() as session:
        found = None if run_id is None else run(session.connection(), run_id)
    if found is None:
        raise UsageError(
            f"the store {store.url} has no run {reference}; "
            "`decisive show CAMPAIGN --lines` lists them"
        )
    return found
