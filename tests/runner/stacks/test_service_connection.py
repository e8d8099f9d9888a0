"""Keys go to the service that they are for, and to nobody else."""

from collections.abc import Mapping

import httpx
import pytest

from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import ControllerName, ServiceDefinition
from runner.control.hiding_transport import HidingTransport
from runner.control.secrets import Secrets
from runner.errors import UsageError
from runner.stacks.service_connection import ServiceKeys, connection_with, secrets_of
from runner.stacks.service_launch import ServiceLaunch
from tests.runner.campaign.files import stack

ENVIRONMENT = {"KEY": "sk-user\n", "ADMIN": "sk-admin", "TEAM": "blue", "PROXY": "http://u:pw-1@p"}


def definition(**settings: object) -> ServiceDefinition:
    return ServiceDefinition(controller=ControllerName.EXTERNAL, **settings)  # type: ignore[arg-type]


def launch(base_url: str, **settings: object) -> ServiceLaunch:
    own = definition(base_url=base_url, flush_cache="/flush_cache", **settings)
    return ServiceLaunch("server", (), {}, base_url, own)


async def headers_sent(url: str, *launches: ServiceLaunch) -> Mapping[str, str]:
    keys = ServiceKeys(ENVIRONMENT)
    keys.use(launches)
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=dict(request.headers)))
    async with httpx.AsyncClient(transport=transport, auth=keys) as http:
        sent: dict[str, str] = (await http.get(url)).json()
    return sent


SERVER = launch(
    "http://a:1/api", api_key_env="KEY", admin_key_env="ADMIN", header_env={"X-Team": "TEAM"}
)


async def test_every_request_to_a_service_has_its_key_and_headers() -> None:
    sent = await headers_sent("http://a:1/api/metrics", SERVER)

    assert (sent["authorization"], sent["x-team"]) == ("Bearer sk-user", "blue")


async def test_a_flush_has_the_key_of_the_administrator() -> None:
    sent = await headers_sent("http://a:1/api/flush_cache", SERVER)

    assert sent["authorization"] == "Bearer sk-admin"


@pytest.mark.parametrize(
    "url",
    ["http://a:2/api/x", "http://b:1/api/x", "https://a:1/api/x", "http://a:1/apix", "http://a:1/"],
)
async def test_no_other_address_gets_a_key(url: str) -> None:
    assert "authorization" not in await headers_sent(url, SERVER)


def test_a_connection_shows_none_of_its_secrets() -> None:
    made = connection_with(definition(api_key_env="KEY", proxy_env="PROXY"), ENVIRONMENT)

    assert made.proxy == "http://u:pw-1@p"
    assert "sk-user" not in repr(made) and "pw-1" not in repr(made)


def test_certificates_that_cannot_be_read_are_named() -> None:
    with pytest.raises(UsageError, match="the certificates in /no/such/file cannot be read"):
        connection_with(definition(ca_file="/no/such/file"), {})


@pytest.mark.parametrize(
    "value", ["proxy:3128", "not a url", "ftp://u:pw-1@p", "socks5://p", "http://", "http://p:x"]
)
def test_what_is_no_proxy_is_named_by_its_variable_alone(value: str) -> None:
    with pytest.raises(UsageError, match="PROXY holds no URL of a proxy: write") as raised:
        connection_with(definition(proxy_env="PROXY"), {"PROXY": value})

    assert value not in str(raised.value).replace("http://HOST:PORT", "")


TEXT = """\
stack: s
description: d
model: m
services:
  server: {controller: external, base_url: "http://a:1", api_key_env: KEY, proxy_env: PROXY}
factors:
  where:
    here: {}
    there: {url: "http://b.example", api_key_env: ADMIN, verify: [{models: x, equals: y}]}
"""


def test_secrets_are_the_keys_of_services_and_levels_and_the_password_of_a_proxy() -> None:
    loaded: Stack = stack(TEXT)

    hidden = secrets_of(loaded, ENVIRONMENT, factors={"where": ("here", "there")})

    assert hidden.hidden_text("sk-user pw-1 sk-admin blue") == "******* **** ******** blue"


def test_a_key_of_a_level_that_no_arm_has_is_not_asked_for() -> None:
    without = {name: value for name, value in ENVIRONMENT.items() if name != "ADMIN"}

    secrets_of(stack(TEXT), without, factors={"where": ("here",)})

    with pytest.raises(UsageError, match="no ADMIN"):
        secrets_of(stack(TEXT), without, factors={"where": ("here", "there")})


async def test_an_answer_that_repeats_a_secret_arrives_without_it() -> None:
    inner = httpx.MockTransport(lambda request: httpx.Response(200, text="no sk-user here"))

    async with httpx.AsyncClient(transport=HidingTransport(inner, Secrets(["sk-user"]))) as http:
        answer = await http.get("http://a")

    assert answer.text == "no ******* here"
    assert answer.request.headers["accept-encoding"] == "identity"
