"""Stack files: what they mean, and what is said of those that cannot be meant."""

from pathlib import Path

import pytest

from runner.campaign.campaign import Levels
from runner.campaign.level_effect import CounterCheck, LevelCheck, LevelEffect
from runner.campaign.stack_file import Endpoint, LaunchSettings, ServiceSettings, load_stack
from runner.campaign.stack_shape import (
    ControllerName,
    LogSource,
    MetricRole,
    MetricsDialect,
)
from runner.errors import ConfigError
from tests.runner.campaign.files import STACK, spoiled, stack, written


def test_a_stack_is_what_its_file_says(tmp_path: Path) -> None:
    loaded = load_stack(written(tmp_path, STACK))

    server = loaded.services["server"]
    assert (loaded.name, loaded.model, loaded.may_restart) == ("little", "tiny", True)
    assert server.controller is ControllerName.PROCESS
    assert server.command == ("{python}", "-m", "server", "--port", "{port}")
    assert (server.port, server.base_url) == ("free", "http://127.0.0.1:{port}")
    assert (server.health, server.server_info, server.flush_cache) == (
        "/health",
        "/server_info",
        None,
    )
    assert server.metrics is not None
    assert (server.metrics.path, server.metrics.dialect) == ("/metrics", MetricsDialect.SGLANG)
    assert (server.log, server.ready_within_s) == (LogSource.PROCESS, 90)


def test_the_effects_of_an_arm_come_in_the_order_of_its_factors() -> None:
    levels: Levels = {"pool": "dtype-aware", "cache": "on", "keys": "bf16", "concurrency": 80}

    effects = stack().effects_of(levels)

    assert [factor for factor, _ in effects] == ["pool", "cache", "keys"]
    assert effects[1][1] == LevelEffect(args=("--cache",), exercise=(CounterCheck(counter="hits"),))
    assert effects[2][1].verify == (LevelCheck(server_info="keys", equals="bf16"),)


def test_a_proof_is_asked_only_where_its_other_levels_stand() -> None:
    text = spoiled(STACK, "equals: bf16}", "equals: bf16, when: {cache: on}}")
    levels: Levels = {"keys": "bf16", "cache": "on", "concurrency": 80}

    def proofs(asked: Levels) -> int:
        return len(dict(stack(text).effects_of(asked))["keys"].verify)

    assert proofs(levels) == 1
    assert proofs({**levels, "cache": "off"}) == 0


def test_launch_settings_are_all_arguments_and_variables_of_the_levels() -> None:
    settings = stack().launch_settings({"keys": "bf16", "cache": "on", "pool": "dtype-aware"})

    own = ServiceSettings(("--keys", "bf16", "--cache"), (("POOL", "dtype"),))
    assert settings == LaunchSettings((("server", own),))


def test_levels_that_are_numbers_are_found_however_they_are_written() -> None:
    text = spoiled(STACK, "factors:\n", "factors:\n  pages: {264: {args: [--pages, '264']}}\n")

    assert stack(text).effects_of({"pages": "264"}) == stack(text).effects_of({"pages": 264})


def test_a_level_without_a_word_does_nothing() -> None:
    assert stack(spoiled(STACK, "off: {}", "off:")).factors["cache"]["off"] == LevelEffect()


EXTERNAL = """\
stack: there
description: A server that runs anyway.
model: m
services:
  server: {controller: external, base_url: "http://10.0.0.1:8000"}
"""


def test_json_in_a_command_is_no_placeholder() -> None:
    config = '{"kv_connector": "a", "extra": {"n": 1}, "list": [{}]}'
    text = spoiled(STACK, '--port, "{port}"]', f"--port, \"{{port}}\", --kv, '{config}']")

    assert stack(text).services["server"].command[-1] == config


def test_a_service_that_others_start_needs_only_its_address() -> None:
    server = stack(EXTERNAL).services["server"]

    assert (server.base_url, server.command, server.log) == (
        "http://10.0.0.1:8000",
        (),
        LogSource.NONE,
    )


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("model: tiny\n", "", "1:1: the key model is missing"),
        (
            "controller: process",
            "controler: process",
            "7:5: unknown key; found controler; allowed: co",
        ),
        (
            "controller: process",
            "controller: sysv",
            "7:17: services.server.controller is not known",
        ),
        (
            '["{python}", -m, server, --port, "{port}"]',
            "python -m server",
            "8:14: services.server.comma",
        ),
        ('["{python}", -m, server, --port, "{port}"]', "[]", "6:3: a process needs a command"),
        (
            '"{port}"]',
            '"{prt}"]',
            "8:47: services.server.command.4 has an unknown placeholder; allowed:",
        ),
        (
            "server_info: /server_info",
            "server_info: server_info",
            "9:18: services.server.server_info",
        ),
        (
            "server_info: /server_info\n",
            "port: 0\n",
            "9:11: services.server.port must be a port from 1",
        ),
        (
            "server_info: /server_info\n",
            "port: any\n",
            "9:11: services.server.port must be a port from",
        ),
        ("server_info: /server_info", "base_url: ftp://a", "9:15: services.server.base_url"),
        (
            "    server_info: /server_info\n",
            "",
            "13:32: the service offers no server_info to verify",
        ),
        ("    metrics: {dialect: sglang}\n", "", "16:27: the service offers no metrics to see"),
        (
            "{dialect: sglang}",
            "{dialect: loki}",
            "10:24: services.server.metrics.dialect is not known",
        ),
        (
            "log: process",
            "ready_within_s: 0",
            "11:21: services.server.ready_within_s must be greater",
        ),
        ("log: process", "env: {A B: c}", "11:11: services.server.env"),
        ("log: process", "env: {A: true}", "11:14: services.server.env.A must be text"),
        ("[--keys, fp8]", "[--keys, 8]", "14:26: factors.keys.fp8.args.1 must be text"),
        (
            "equals: fp8",
            "equal: fp8",
            "14:61: unknown key; found equal; allowed: server_info, models, log",
        ),
        (
            "equals: fp8}",
            "equals: fp8, when: {cash: on}}",
            "14:81: unknown factor; found cash; allowed: keys, cache, pool; did you mean cache?",
        ),
        (
            "equals: fp8}",
            "equals: fp8, when: {cache: of}}",
            "14:88: unknown level of cache; found of; allowed: on, off",
        ),
        (
            "[--cache]",
            "[--cache], request: {stream: false}",
            "17:36: factors.cache.on.request cannot",
        ),
        (
            "{counter: hits}",
            "{counter: hits, at_least: 0}",
            "17:64: factors.cache.on.exercise.0.at_le",
        ),
        ("  pool:\n", "  concurrency: {1: {}}\n  pool:\n", "19:3: concurrency is the client's"),
    ],
)
def test_a_mistake_is_named_with_its_place(old: str, new: str, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        stack(spoiled(STACK, old, new))

    assert any(line.startswith(f"stack.yaml:{error}") for line in str(raised.value).splitlines())


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            "model: m",
            "model: m\nmay_restart: true",
            "4:14: an external service is not ours to restart",
        ),
        (
            '"http://10.0.0.1:8000"',
            '"http://h:8000", log: process',
            "5:66: only a process of ours shows",
        ),
        (
            '"http://10.0.0.1:8000"',
            '"http://h:8000", command: [a]',
            "5:61: an external service has no",
        ),
        (
            '"http://10.0.0.1:8000"',
            '"http://h:{port}"',
            "5:3: a service of external has a fixed port",
        ),
    ],
)
def test_an_external_service_cannot_be_commanded(old: str, new: str, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        stack(spoiled(EXTERNAL, old, new))

    assert any(line.startswith(f"stack.yaml:{error}") for line in str(raised.value).splitlines())


MAPPED = (
    "metrics: {path: /metrics, dialect: other, names: {running: my_running}, progress: [my_tokens]}"
)


def _with_metrics(text: str) -> str:
    found = next(line.strip() for line in STACK.splitlines() if "metrics:" in line)
    return spoiled(STACK, found, text)


def test_metrics_of_an_unknown_stack_are_mapped_in_its_file() -> None:
    metrics = stack(_with_metrics(MAPPED)).services["server"].metrics

    assert metrics is not None
    assert dict(metrics.names) == {MetricRole.RUNNING: "my_running"}
    assert metrics.progress == ("my_tokens",)


@pytest.mark.parametrize(
    ("metrics", "error"),
    [
        ("metrics: {dialect: other, progress: [t]}", "at least the series of running"),
        ("metrics: {dialect: other, names: {running: r}}", "needs progress"),
        ("metrics: {dialect: vllm, progress: [t]}", "progress is read only with the dialect other"),
        ("metrics: {dialect: other, names: {runing: r}, progress: [t]}", "runing"),
    ],
)
def test_a_mapping_that_cannot_be_read_is_refused(metrics: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        stack(_with_metrics(metrics))


SERVICES = """\
stack: pd
description: A router, prefill and decode.
model: m
may_restart: true
hosts:
  gpu1: {ssh: [ssh, gpu1]}
services:
  router: {controller: systemd, role: router, unit: r.service, port: 1, models: /v1/models}
  prefill: {controller: systemd, role: prefill, unit: p.service, port: 2, host: gpu1,
    server_info: /i, args_variable: A}
  decode: {controller: process, role: decode, command: [serve, "{prefill.url}"],
    server_info: /i, needs: [prefill]}
factors:
  keys:
    fp8: {args: [--keys, fp8], verify: [{server_info: keys, equals: fp8}]}
    bf16: {at: [decode], args: [--keys, bf16], services: {prefill: {env: {K: bf16}}}}
  where:
    here: {}
    there: {url: "https://there.example.com", model: v/m, api_key_env: THERE}
  pool:
    small: {command: [pool, small], undo: [pool, default]}
"""


def test_a_level_acts_on_the_services_or_roles_that_it_names_and_on_no_router() -> None:
    loaded = stack(SERVICES)

    fp8 = dict(loaded.launch_settings({"keys": "fp8"}).services)
    bf16 = dict(loaded.launch_settings({"keys": "bf16"}).services)

    assert [fp8[name].args for name in fp8] == [(), ("--keys", "fp8"), ("--keys", "fp8")]
    assert [bf16[name].args for name in bf16] == [(), (), ("--keys", "bf16")]
    assert bf16["prefill"].env == (("K", "bf16"),)


def test_an_arm_that_is_an_endpoint_asks_nothing_of_the_services() -> None:
    settings = stack(SERVICES).launch_settings({"keys": "fp8", "where": "there"})

    assert settings == LaunchSettings((), Endpoint("https://there.example.com", "v/m", "THERE"))


def test_a_level_that_a_command_enters_is_a_launch_of_its_own() -> None:
    loaded = stack(SERVICES)

    (command,) = loaded.launch_settings({"pool": "small"}).commands

    assert (command.enter, command.undo) == (("pool", "small"), ("pool", "default"))
    assert loaded.factors["pool"]["small"].needs_restart


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("unit: r.service, ", "", "8:3: systemd needs the unit of the service"),
        ("unit: r.service", "unit: r", "8:53: services.router.unit"),
        ("port: 1", "port: free", "8:64: a service of systemd has a fixed port: name it"),
        (
            "port: 1",
            "port: 1, commands: {start: [[a]], stop: [[b]]}",
            "8:73: commands is read only",
        ),
        ("host: gpu1", "host: gpu2", "9:81: unknown host; found gpu2; allowed: gpu1; did you mean"),
        ("command: [serve", "host: gpu1, command: [serve", "11:53: a process runs on this machine"),
        ("{prefill.url}", "{prefil.url}", "11:64: unknown service; found prefil; allowed: router,"),
        ("{prefill.url}", "{prefill.ur}", "11:64: services.decode.command.1 has an unknown place"),
        ("needs: [prefill]", "needs: [decode]", "12:30: a service needs another one; found decod"),
        ("args_variable: A", "needs: [decode]", "10:22: the services need each other in a circle"),
        ("args_variable: A", "log: process", "10:27: only a process of ours shows its output"),
        (", args_variable: A", "", "15:11: prefill takes no arguments: give its unit a command"),
        ("at: [decode]", "at: [decod]", "16:17: no service has this name or role; found decod"),
        ("services: {prefill", "services: {prefil", "16:59: unknown service; found prefil; allow"),
        ("server_info: keys,", "server_info: keys, log: x,", "15:41: a proof has exactly one sour"),
        ("server_info: keys, equals: fp8", "log: x", "15:32: the service offers no log to verify"),
        ("server_info: keys, equals: fp8", "server_info: keys", "15:41: a proof says what must"),
        ("equals: fp8", "absent: true, at_least: 1", "15:41: what is absent equals nothing and h"),
        ("equals: fp8", "equals: fp8, at: [router]", "15:32: the service offers no server_info t"),
        ("server_info: keys, equals: fp8", 'log: "("', "15:47: factors.keys.fp8.verify.0.log is n"),
        ("model: v/m", "args: [x]", "19:13: an endpoint takes requests only"),
        ('url: "https://there.example.com", ', "", "19:13: model is read only with url"),
        ("command: [pool, small], ", "", "21:13: undo leaves what a command has entered"),
        ("{ssh: [ssh, gpu1]}", "{ssh: ssh gpu1}", "6:15: hosts.gpu1.ssh must be a list; found ssh"),
        (
            "models: /v1/models",
            "headers: {Authorization: Bearer x}",
            "8:83: a secret does not stand in a file",
        ),
    ],
)
def test_services_that_do_not_fit_together_are_named_with_their_place(
    old: str, new: str, error: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        stack(spoiled(SERVICES, old, new))

    assert any(line.startswith(f"stack.yaml:{error}") for line in str(raised.value).splitlines()), (
        raised.value
    )
