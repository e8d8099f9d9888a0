"""How the services of a stack are spoken with: keys, headers, certificates, proxies.

Values come from the environment that is given; they stand in no stack file and in no record.
"""

import ssl
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from runner.campaign.file_shape import LevelValue, level_text
from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ServiceDefinition
from runner.control.hiding_transport import HidingTransport
from runner.control.secrets import Secrets, secret_named
from runner.errors import UsageError
from runner.stacks.service_launch import ServiceLaunch

Factors = Mapping[str, tuple[LevelValue, ...]]


@dataclass(frozen=True, slots=True)
class Connection:
    """With one service. `headers` and `proxy` may hold secrets; its text shows none of them."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    admin_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    admin_paths: frozenset[str] = frozenset()
    proxy: str | None = field(default=None, repr=False)
    tls: ssl.SSLContext | None = None


def connection_with(definition: ServiceDefinition, environment: Mapping[str, str]) -> Connection:
    """Raises UsageError where a variable is missing or holds no URL of a proxy, and where a file of
    certificates cannot be read.
    """
    headers = dict(definition.headers)
    for header, name in definition.header_env.items():
        headers[header] = secret_named(name, environment, what=f"the header {header}")
    if definition.api_key_env is not None:
        key = secret_named(definition.api_key_env, environment, what="the API key")
        headers["authorization"] = f"Bearer {key}"
    admin = {}
    if definition.admin_key_env is not None:
        key = secret_named(definition.admin_key_env, environment, what="the admin key")
        admin["authorization"] = f"Bearer {key}"
    paths = (definition.flush_cache, definition.clear_storage)
    return Connection(
        headers=headers,
        admin_headers=admin,
        admin_paths=frozenset(path for path in paths if path is not None),
        proxy=None if definition.proxy_env is None else _proxy(definition.proxy_env, environment),
        tls=None if definition.ca_file is None else _trusting(definition.ca_file),
    )


def secrets_of(
    stack: Stack, environment: Mapping[str, str], *, factors: Factors | None = None
) -> Secrets:
    """All values that must be found nowhere: of the services, and of the levels in `factors`.

    Raises UsageError where a variable is missing.
    """
    values: list[str] = []
    for service in stack.services.values():
        values += _values_of(service, environment)
    for factor, levels in (factors or {}).items():
        for level in levels:
            effect = stack.factors.get(factor, {}).get(level_text(level))
            if effect is not None and effect.api_key_env is not None:
                values.append(secret_named(effect.api_key_env, environment, what="the API key"))
    return Secrets(values)


def secrets_of_service(definition: ServiceDefinition, environment: Mapping[str, str]) -> Secrets:
    """Of one alone. Raises UsageError where a variable is missing."""
    return Secrets(_values_of(definition, environment))


class ServiceKeys(httpx.Auth):
    """Gives every request the headers of the service that it goes to, and no other's."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._services: list[tuple[httpx.URL, Connection]] = []

    def use(self, launches: Iterable[ServiceLaunch]) -> None:
        """From now on these are the services. Raises UsageError."""
        self._services = [
            (httpx.URL(each.base_url), connection_with(each.definition, self._environment))
            for each in launches
        ]

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        for base_url, connection in self._services:
            if _is_below(request.url, base_url):
                path = request.url.path.removeprefix(base_url.path.rstrip("/"))
                request.headers.update(connection.headers)
                if path in connection.admin_paths:
                    request.headers.update(connection.admin_headers)
                break
        yield request


def control_client(
    stack: Stack | None,
    *,
    environment: Mapping[str, str],
    keys: ServiceKeys | None = None,
    secrets: Secrets | None = None,
) -> httpx.AsyncClient:
    """For control and metrics only; the sessions have a transport of their own.

    No proxy of the environment is used but those that the stack file names.
    """
    hidden = secrets or Secrets()
    mounts = {}
    for service in stack.services.values() if stack is not None else ():
        connection = connection_with(service, environment)
        if connection.proxy is not None or connection.tls is not None:
            own = httpx.AsyncHTTPTransport(
                verify=connection.tls or True, proxy=connection.proxy, trust_env=False
            )
            mounts[_origin_of(service)] = HidingTransport(own, hidden)
    return httpx.AsyncClient(
        transport=HidingTransport(httpx.AsyncHTTPTransport(trust_env=False), hidden),
        mounts=mounts,
        auth=keys,
        trust_env=False,
        follow_redirects=False,
    )


def _values_of(service: ServiceDefinition, environment: Mapping[str, str]) -> list[str]:
    connection = connection_with(service, environment)
    values = [secret_named(name, environment, what="a key") for name in _names_of(service)]
    if connection.proxy is not None:
        values.append(httpx.URL(connection.proxy).password)
    return values


def _names_of(service: ServiceDefinition) -> list[str]:
    names = [service.api_key_env, service.admin_key_env, *service.header_env.values()]
    return [name for name in names if name is not None]


def _origin_of(service: ServiceDefinition) -> str:
    """As a pattern: another service of the same host may have neither its proxy nor its CA."""
    is_known = isinstance(service.port, int) or "{port}" not in service.base_url
    url = httpx.URL(service.base_url.replace("{port}", str(service.port) if is_known else "0"))
    if not is_known:
        return f"all://{url.host}"
    return str(url.copy_with(path="/")).rstrip("/")


def _is_below(url: httpx.URL, base_url: httpx.URL) -> bool:
    is_same_origin = (url.scheme, url.host, url.port) == (
        base_url.scheme,
        base_url.host,
        base_url.port,
    )
    folder = base_url.path.rstrip("/") + "/"
    return is_same_origin and url.path.startswith(folder)


def _proxy(name: str, environment: Mapping[str, str]) -> str:
    """The URL, which is not told: it may hold a password."""
    value = secret_named(name, environment, what="the URL of the proxy")
    try:
        url = httpx.URL(value)
        is_usable = url.scheme in ("http", "https") and bool(url.host)
    except httpx.InvalidURL:
        is_usable = False
    if not is_usable:
        raise UsageError(f"the variable {name} holds no URL of a proxy: write http://HOST:PORT")
    return value


def _trusting(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(Path(ca_file).expanduser()))
    except OSError as error:
        reason = error.strerror or "it holds no certificate in PEM"
        raise UsageError(f"the certificates in {ca_file} cannot be read: {reason}") from error
