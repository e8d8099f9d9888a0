"""What a launch was made of: the server's report, this machine, our versions; never a secret."""

import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from runner.stacks.verification import Statement

DISTRIBUTION = "decisive-test"
_OUR_PACKAGES = (DISTRIBUTION, "httpx", "torch")
_SECRET_NAME = re.compile(r"key$|token$|secret|password|credential|authorization", re.IGNORECASE)
_SECRET_FREE = re.compile(r"index_key|bytes_per_token|num_.*token|max_.*token", re.IGNORECASE)
REDACTED = "<redacted>"
TOO_DEEP = "<nested too deep>"
MAX_LEVELS = 64


def own_version() -> str:
    """Our version, or `unknown` where the project runs without being installed."""
    return _version_of(DISTRIBUTION) or "unknown"


def client_facts() -> dict[str, Any]:
    """The machine that drives the sessions, and the versions of what drives them."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: _version_of(name) for name in _OUR_PACKAGES if _version_of(name)},
    }


def launch_facts(statements: Mapping[str, Statement]) -> dict[str, dict[str, Any]]:
    """What is kept of a launch: what each service reports, and the machine of the client."""
    reports = {name: service_facts(said) for name, said in statements.items()}
    return {**{name: own for name, own in reports.items() if own}, "client": client_facts()}


def service_facts(said: Statement) -> dict[str, Any]:
    """Its report, and the names of its models; when these were made belongs to the moment."""
    facts = redacted(dict(said.server_info)) if said.server_info is not None else {}
    listed = said.models.get("data") if said.models is not None else None
    if isinstance(listed, list):
        names = [each.get("id") for each in listed if isinstance(each, Mapping)]
        facts["models"] = sorted(str(name) for name in names)
    return dict(facts)


def redacted(report: Any, *, levels: int = MAX_LEVELS) -> Any:
    """The report with the values of all keys that name a secret replaced, at any depth.

    What lies deeper than any report of a server does is left out: it would only be an attack.
    """
    if isinstance(report, Mapping | list) and levels == 0:
        return TOO_DEEP
    if isinstance(report, Mapping):
        return {
            name: REDACTED if value and _names_secret(name) else redacted(value, levels=levels - 1)
            for name, value in report.items()
        }
    if isinstance(report, list):
        return [redacted(item, levels=levels - 1) for item in report]
    return report


def _names_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _SECRET_FREE.search(name)


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
