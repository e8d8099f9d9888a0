"""A stack file as lines for people and as JSON for scripts."""

from collections.abc import Iterator
from shlex import join
from typing import Any

from runner.campaign.effect_checks import offers
from runner.campaign.file_shape import level_text
from runner.campaign.level_effect import LevelCheck, LevelEffect, ProofSource
from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ServiceDefinition
from runner.stacks.verification import expectation


def stack_lines(stack: Stack) -> Iterator[str]:
    yield f"{stack.name}: {stack.description}"
    restarts = "may be restarted" if stack.may_restart else "is not restarted"
    yield f"model {stack.model}; {restarts} by a campaign; {stack.source_path}"
    for name, service in stack.services.items():
        yield f"service {name}: {_service_text(service)}"
    for factor, levels in stack.factors.items():
        yield f"factor {factor}"
        for level, effect in levels.items():
            yield f"  {level}: {_effect_text(effect)}"
            yield f"    {_proof_text(effect)}"


def stack_json(stack: Stack) -> dict[str, Any]:
    return {
        "stack": stack.name,
        "description": stack.description,
        "model": stack.model,
        "may_restart": stack.may_restart,
        "services": {
            name: {
                "controller": service.controller,
                "role": service.role,
                "host": service.host,
                "base_url": service.base_url,
                "proofs": [source for source in ProofSource if offers(service, source)],
            }
            for name, service in stack.services.items()
        },
        "factors": {
            factor: {
                level: {
                    "does": _effect_text(effect),
                    "verified_by": [_check_text(check) for check in effect.verify],
                    "exercised_by": [check.counter for check in effect.exercise],
                }
                for level, effect in levels.items()
            }
            for factor, levels in stack.factors.items()
        },
    }


def _service_text(service: ServiceDefinition) -> str:
    where = service.unit or (join(service.command[:4]) if service.command else "")
    host = f" on {service.host}" if service.host else ""
    proofs = ", ".join(source for source in ProofSource if offers(service, source)) or "nothing"
    started = f" ({where})" if where else ""
    return (
        f"{service.role}, {service.controller}{started}{host} at {service.base_url}; "
        f"can be verified by {proofs}; log: {service.log}"
    )


def _effect_text(effect: LevelEffect) -> str:
    at = f" at {', '.join(effect.at)}" if effect.at else ""
    parts = [f"{join(effect.args)}{at}"] if effect.args else []
    parts += [f"{name}={value}{at}" for name, value in effect.env.items()]
    for service, own in effect.services.items():
        words = [*own.args, *(f"{name}={value}" for name, value in own.env.items())]
        parts.append(f"{join(words)} at {service}")
    parts += [f"request {name}: {value}" for name, value in effect.request.items()]
    if effect.url is not None:
        parts.append(f"sessions go to {effect.url}")
    if effect.command:
        parts.append(f"runs {join(effect.command)}")
    return "; ".join(parts) or "nothing is set"


def _proof_text(effect: LevelEffect) -> str:
    checks = [_check_text(check) for check in effect.verify]
    counters = [f"{check.counter} grows by {check.at_least:g}" for check in effect.exercise]
    proof = f"proved by {'; '.join(checks)}" if checks else "nothing proves it"
    return proof + (f"; exercised where {'; '.join(counters)}" if counters else "")


def _check_text(check: LevelCheck) -> str:
    where = f" at {', '.join(check.at)}" if check.at else ""
    when = ", ".join(f"{factor}={level}" for factor, level in check.when.items())
    needed = f" when {when}" if when else ""
    expected = level_text(expectation(check))
    return f"{check.source} {check.place}: {expected}{where}{needed}"
