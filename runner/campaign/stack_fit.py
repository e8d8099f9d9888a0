"""Whether a campaign can run on a stack: what the one names must be what the other defines."""

from collections.abc import Iterator
from dataclasses import replace

from runner.campaign.campaign import CONCURRENCY, Campaign, OnWedge, RestartPolicy
from runner.campaign.campaign_checks import place_of_level
from runner.campaign.config_problems import Problem, raise_problems
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack
from runner.campaign.yaml_source import YamlSource, parse_yaml


def campaign_on_stack(campaign: Campaign, stack: Stack) -> Campaign:
    """With what the stack decides where the file is silent: whether each run gets new servers."""
    if stack.may_restart or "restart" in campaign.schedule.model_fields_set:
        return campaign
    schedule = campaign.schedule.model_copy(update={"restart": RestartPolicy.WHEN_NEEDED})
    return replace(campaign, schedule=schedule)


def check_campaign_on_stack(campaign: Campaign, stack: Stack) -> None:
    """Raises ConfigError that points into the campaign file, with all problems at once."""
    source = parse_yaml(campaign.source_path, campaign.source_text)
    raise_problems(source.path, _problems(campaign_on_stack(campaign, stack), stack, source))


def _problems(campaign: Campaign, stack: Stack, source: YamlSource) -> Iterator[Problem]:
    if campaign.stack != stack.name:
        place = source.place_of_value(("stack",))
        yield Problem(place, f"{stack.source_path} defines another stack", stack.name)
    if campaign.schedule.restart is RestartPolicy.EVERY_RUN and not stack.may_restart:
        place = source.place_of_key(("schedule", "restart"))
        what = "this stack may not be restarted for a run"
        yield Problem(place, what, RestartPolicy.EVERY_RUN, (RestartPolicy.WHEN_NEEDED,))
    if campaign.on_wedge is OnWedge.RESTART and not stack.may_restart:
        place = source.place_of_value(("on_wedge",))
        what = "this stack may not be restarted after a wedge"
        yield Problem(place, what, OnWedge.RESTART, (OnWedge.RECORD, OnWedge.STOP))
    for factor in campaign.factors:
        if factor != CONCURRENCY:
            yield from _factor_problems(campaign, factor, stack, source)


def _factor_problems(
    campaign: Campaign, factor: str, stack: Stack, source: YamlSource
) -> Iterator[Problem]:
    defined = stack.factors.get(factor)
    if defined is None:
        place = source.place_of_key(("factors", factor))
        yield Problem(place, f"stack {stack.name} defines no such factor", factor, _known(stack))
        return
    for level in campaign.factors[factor]:
        text = level_text(level)
        place = place_of_level(source, factor, level)
        if text not in defined:
            what = f"stack {stack.name} defines no such level of {factor}"
            yield Problem(place, what, text, tuple(defined))
        elif defined[text].needs_restart and not stack.may_restart and _is_ours(stack):
            what = f"{factor} {text} needs other flags, and stack {stack.name} may not be restarted"
            yield Problem(place, what)


def _is_ours(stack: Stack) -> bool:
    """Where all is external, whoever runs it is asked to switch, and the arm is proved."""
    return any(service.controller.is_ours for service in stack.services.values())


def _known(stack: Stack) -> tuple[str, ...]:
    return (*stack.factors, CONCURRENCY)
