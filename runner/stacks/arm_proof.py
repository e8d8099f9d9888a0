"""What an arm must show on its services, and which of its factors nothing can prove."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from runner.campaign.campaign import Levels
from runner.campaign.effect_checks import offers
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ServiceDefinition
from runner.campaign.unproved_levels import is_made_by_the_client
from runner.stacks.service_launch import ENDPOINT, endpoint_definition
from runner.stacks.verification import Check, CheckResult, Statement, check_statement


class ArmProof(NamedTuple):
    """`unverifiable` are the factors whose level no service was asked for, and we do not send."""

    results: tuple[CheckResult, ...]
    unverifiable: tuple[str, ...]

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.results if not result.holds)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a check; an unverifiable factor stands there with `holds` null."""
        proven = [result.to_json() for result in self.results]
        return proven + [{"factor": name, "holds": None} for name in self.unverifiable]


def prove_arm(stack: Stack, levels: Levels, statements: Mapping[str, Statement]) -> ArmProof:
    """Holds every service against every check that is asked of it: each must state each fact.

    A service that is asked and made no statement fails the check.
    """
    results = tuple(
        result
        for name, definition in services_of(stack, levels).items()
        for result in check_statement(
            checks_of(stack, levels, name, definition),
            statements.get(name, Statement()),
            service=name,
        )
    )
    proven = {result.factor for result in results}
    unverifiable = tuple(
        name
        for name, _ in stack.effects_of(levels)
        if name not in proven and not is_made_by_the_client(stack, name)
    )
    return ArmProof(results, unverifiable)


def services_of(stack: Stack, levels: Levels) -> Mapping[str, ServiceDefinition]:
    """Those that serve this arm: the stack's, or the endpoint that stands for them."""
    endpoint = stack.endpoint_of(levels)
    return stack.services if endpoint is None else {ENDPOINT: endpoint_definition(endpoint)}


def checks_of(
    stack: Stack, levels: Levels, name: str, definition: ServiceDefinition
) -> tuple[Check, ...]:
    """The facts that this service must state in this arm."""
    return tuple(
        Check(factor, level_text(levels[factor]), check)
        for factor, effect in stack.effects_of(levels)
        for check in effect.verify
        if offers(definition, check.source)
        and (name == ENDPOINT or name in stack.services_at(check.at))
    )
