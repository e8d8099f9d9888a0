"""What a run may inherit from the run before it, because nothing starts anew or is emptied."""

from runner.campaign.campaign import Campaign, RestartPolicy
from runner.campaign.matrix import expand_arms
from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ControllerName, ServiceDefinition, ServiceRole


def carried_over(campaign: Campaign, stack: Stack) -> tuple[str, ...]:
    """A sentence where caches outlive a run, for people who plan or start the campaign."""
    if campaign.schedule.blocks * len(expand_arms(campaign)) < 2:
        return ()
    every_run = campaign.schedule.restart is RestartPolicy.EVERY_RUN
    names = [
        name
        for name, service in stack.services.items()
        if _keeps_a_cache(service)
        and service.flush_cache is None
        and not (every_run and _starts_anew(service, stack))
    ]
    if not names:
        return ()
    return (
        f"nothing empties the caches of {', '.join(names)} between runs, so that a run may use "
        "what an earlier one left there: name its flush_cache in the stack file (for SGLang "
        "/flush_cache)",
    )


def _keeps_a_cache(service: ServiceDefinition) -> bool:
    return service.role is not ServiceRole.ROUTER


def _starts_anew(service: ServiceDefinition, stack: Stack) -> bool:
    return stack.may_restart and service.controller is not ControllerName.EXTERNAL
