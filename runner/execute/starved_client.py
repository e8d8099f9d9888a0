"""What is said of a run whose load client the machine did not let run."""

from runner.sessions.client_health import ClientHealth


def starved_client_note(health: ClientHealth | None) -> str | None:
    """None where it was let run, and where it is saturated, which flags the run itself."""
    if health is None or health.saturated or not health.starved:
        return None
    why = "; ".join(health.reasons)
    return (
        f"the load client was held up ({why}): the times of this run are not to be trusted, its "
        "counts are"
    )
