"""Which levels of a campaign no service is asked to prove, told before the first run."""

from runner.campaign.campaign import CONCURRENCY, Campaign
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack


def is_made_by_the_client(stack: Stack, factor: str) -> bool:
    """A factor whose levels differ in request fields alone needs nobody's word for it."""
    levels = stack.factors[factor].values()
    return any(effect.request or effect.cancelling_clients for effect in levels) and all(
        effect.is_made_by_the_client for effect in levels
    )


def unproved_levels(campaign: Campaign, stack: Stack) -> tuple[str, ...]:
    """One sentence a factor of several levels, some of which have no `verify`.

    A level whose proofs hold only beside certain others is not told of here.
    """
    found: list[str] = []
    for factor, levels in campaign.factors.items():
        if factor == CONCURRENCY or len(levels) < 2 or is_made_by_the_client(stack, factor):
            continue
        texts = [level_text(level) for level in levels]
        bare = [f"{factor}={text}" for text in texts if not stack.factors[factor][text].verify]
        if bare:
            found.append(
                f"nothing proves {' and '.join(bare)} (no verify in the stack file), so that "
                "verdicts on these arms stay inconclusive, however much is run"
            )
    return tuple(found)
