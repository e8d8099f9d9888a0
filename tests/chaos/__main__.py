"""Kills campaigns at random instants: `python -m tests.chaos [SEED] [CAMPAIGNS]`; 1 if one breaks.

Costs about a minute a campaign on two cores.
"""

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.chaos.killed_campaigns import KilledCampaign


def main(arguments: list[str]) -> int:
    seed, campaigns = (int(text) for text in [*arguments, *("1", "10")[len(arguments) :]])
    broken = kills = 0
    for position in range(campaigns):
        with TemporaryDirectory(prefix="decisive-chaos-") as folder:
            campaign = KilledCampaign(Path(folder), Random(f"{seed}/{position}"))
            campaign.play()
        kills += len(campaign.kills)
        broken += bool(campaign.broken)
        held = "; ".join(campaign.broken) or "all held"
        sys.stdout.write(f"{position}: killed after {', '.join(campaign.kills)}: {held}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{campaigns} campaigns, {kills} kills, {broken} broke a promise\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
