"""Certificates, proxies, keys and headers of a stack file, against a real TLS server and proxy."""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import trustme

from db.vocabulary import TransportEnd
from runner.campaign.campaign import Deadlines
from runner.campaign.stack_file import Stack
from runner.control.machine import RealMachine
from runner.execute.stack_check import check_stack
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient
from runner.stacks.service_connection import ServiceKeys, connection_with, control_client
from runner.stacks.service_launch import ServiceLaunch
from tests.runner.campaign.files import stack as stack_of

ENVIRONMENT = {"KEY": "sk-user-1", "ADMIN": "sk-admin-2", "TEAM": "blue"}
LOGIN = base64.b64encode(b"me:pw-three").decode()


@dataclass
class TlsServer:
    """Answers every request with `{}`; `heads` are those that it got."""

    port: int = 0
    heads: list[str] = field(default_factory=list)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                sizes = [x for x in head.splitlines() if x.lower().startswith("content-length:")]
                await reader.readexactly(int(sizes[0].split(":")[1]) if sizes else 0)
                self.heads.append(head)
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                    b"content-length: 2\r\n\r\n{}"
                )
        writer.close()


@dataclass
class Proxy:
    """Tunnels what asks for it with the right login; `heads` are the requests, `seen` all bytes."""

    port: int = 0
    heads: list[str] = field(default_factory=list)
    seen: bytearray = field(default_factory=bytearray)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        if f"proxy-authorization: basic {LOGIN}".lower() not in head.lower():
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
            writer.close()
            return
        host, _, port = head.split(" ")[1].rpartition(":")
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pump(reader, inner_writer))
            group.create_task(self._pump(inner_reader, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65_536):
                self.seen += piece
                writer.write(piece)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def listening(
    made: TlsServer | Proxy, tls: ssl.SSLContext | None = None
) -> AsyncIterator[None]:
    tasks: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        writers.append(writer)
        await made.connected(reader, writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        server.close()
        for writer in writers:
            writer.close()
        if tasks:
            await asyncio.wait(tasks, timeout=60)


@dataclass
class Company:
    """A server behind a proxy, with certificates of the company's own."""

    server: TlsServer
    proxy: Proxy
    ca_file: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**ENVIRONMENT, "PROXY": f"http://me:pw-three@127.0.0.1:{self.proxy.port}"}

    def stack(self, **changes: str) -> Stack:
        keys = {"ca_file": str(self.ca_file), "proxy_env": "PROXY", **changes}
        lines = "".join(f"    {key}: {value}\n" for key, value in keys.items() if value)
        return stack_of(
            "stack: s\ndescription: d\nmodel: m\nservices:\n  server:\n"
            "    controller: external\n"
            f"    base_url: https://127.0.0.1:{self.server.port}\n"
            "    api_key_env: KEY\n    admin_key_env: ADMIN\n    flush_cache: /flush_cache\n"
            "    headers: {X-Plain: written down}\n    header_env: {X-Team: TEAM}\n" + lines
        )


@pytest.fixture
async def company(tmp_path: Path) -> AsyncIterator[Company]:
    authority = trustme.CA()
    ca_file = tmp_path / "company.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    made = Company(TlsServer(), Proxy(), ca_file)
    async with listening(made.server, context), listening(made.proxy):
        yield made


@asynccontextmanager
async def controlling(company: Company, stack: Stack) -> AsyncIterator[httpx.AsyncClient]:
    keys = ServiceKeys(company.environment)
    definition = stack.services["server"]
    keys.use([ServiceLaunch("server", (), {}, definition.base_url, definition)])
    async with control_client(stack, environment=company.environment, keys=keys) as http:
        yield http


def headers_of(head: str) -> dict[str, str]:
    lines = head.split("\r\n")[1:]
    return {k.lower(): v for k, _, v in (line.partition(": ") for line in lines if line)}


async def test_control_goes_through_the_proxy_to_a_server_of_the_companys_own_ca(
    company: Company,
) -> None:
    stack = company.stack()
    url = stack.services["server"].base_url

    async with controlling(company, stack) as http:
        answer = await http.get(f"{url}/health")
        await http.post(f"{url}/flush_cache")

    assert answer.status_code == 200
    asked, flushed = map(headers_of, company.server.heads)
    assert (asked["authorization"], flushed["authorization"]) == (
        "Bearer sk-user-1",
        "Bearer sk-admin-2",
    )
    assert (asked["x-plain"], asked["x-team"]) == ("written down", "blue")
    assert [head.split("\r\n")[0] for head in company.proxy.heads] == [
        f"CONNECT 127.0.0.1:{company.server.port} HTTP/1.1"
    ]
    assert b"sk-user-1" not in company.proxy.seen and "sk-user-1" not in company.proxy.heads[0]


@pytest.mark.parametrize("proxy_env", ["PROXY", ""], ids=["through the proxy", "straight"])
async def test_sessions_go_the_same_way(company: Company, proxy_env: str) -> None:
    definition = company.stack(proxy_env=proxy_env).services["server"]
    connection = connection_with(definition, company.environment)

    async with StreamingClient(
        definition.base_url,
        transport=session_transport(tls=connection.tls, proxy=connection.proxy),
        deadlines=Deadlines(),
        headers=connection.headers,
    ) as client:
        record = await client.send({"messages": []}, request_id="r1-s0-t0")

    assert (record.http_status, record.transport_end) == (200, TransportEnd.CLEAN_EOF)
    (head,) = company.server.heads
    assert headers_of(head)["authorization"] == "Bearer sk-user-1"
    assert headers_of(head)["x-team"] == "blue"
    assert len(company.proxy.heads) == (1 if proxy_env else 0)


async def test_a_server_whose_ca_is_not_named_is_not_spoken_with(company: Company) -> None:
    findings = await check_stack(
        company.stack(ca_file=""),
        addresses={},
        environment=company.environment,
        machine=RealMachine(),
    )

    health = next(each for each in findings if each.part == "server health")
    assert health.is_ok is False
    assert "certificate verify failed" in health.said.lower()
    assert company.server.heads == [], "no key was sent"


async def test_a_proxy_that_refuses_is_named_without_the_login(company: Company) -> None:
    wrong = {**company.environment}
    wrong["PROXY"] = wrong["PROXY"].replace("pw-three", "pw-wrong")

    findings = await check_stack(
        company.stack(), addresses={}, environment=wrong, machine=RealMachine()
    )

    health = next(each for each in findings if each.part == "server health")
    assert health.is_ok is False
    assert "407" in health.said and "pw-wrong" not in health.said
