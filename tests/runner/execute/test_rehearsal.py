"""Every stack file that comes along can be planned on, and tells all commands that it would run."""

from pathlib import Path

import pytest

from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.plan import make_plan
from runner.campaign.stack_file import Stack, load_stack, stack_of
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.campaign.yaml_source import parse_yaml
from runner.execute.rehearsal import rehearse

CONFIGS = ConfigFolder(Path(__file__).parents[3] / "configs")
FACTORS = [
    pytest.param(path, factor, id=f"{path.stem}-{factor}")
    for path in CONFIGS.stack_files()
    for factor in load_stack(path).factors
]


def campaign_over(
    stack: Stack, *factors: str, restart: str = "when_needed", workload: str = ""
) -> Campaign:
    """All levels of these factors, each once."""
    lines = [f"  {name}: [{', '.join(stack.factors[name])}]" for name in factors]
    text = (
        f"campaign: rehearsed\nquestion: What would be done?\nstack: {stack.name}\nfactors:\n"
        + "\n".join([*lines, "  concurrency: [1]"])
        + f"\nworkload: {{sessions: 1{workload}}}\nschedule: {{blocks: 1, restart: {restart}}}\n"
    )
    return campaign_of(parse_yaml("rehearsed.yaml", text))


def told(stack: Stack, campaign: Campaign) -> list[str]:
    check_campaign_on_stack(campaign, stack)
    said: list[str] = []
    rehearse(campaign, stack, make_plan(campaign, stack).runs, say=said.append)
    return said


@pytest.mark.parametrize(("path", "factor"), FACTORS)
def test_each_level_of_a_stack_that_comes_along_is_brought_about(path: Path, factor: str) -> None:
    stack = load_stack(path)

    said = "\n".join(told(stack, campaign_over(stack, factor)))

    for effect in stack.factors[factor].values():
        for word in (*effect.args, *effect.env, *effect.env.values()):
            assert word in said
        assert effect.url is None or f"endpoint at {effect.url} is checked" in said


def test_only_the_services_that_a_level_acts_on_are_restarted() -> None:
    stack = load_stack(CONFIGS.stack_path("sglang-pd"))

    said = told(stack, campaign_over(stack, "hicache"))

    second = said[[i for i, line in enumerate(said) if line.startswith("# block")][1] :]
    changed = second[: second.index("# the end: everything as it was found")]
    assert "     decode stays as it is" in changed
    assert "     router stays as it is" in changed
    restarted = [line for line in changed if "systemctl restart" in line]
    assert len(restarted) == 1 and "sglang-prefill.service" in restarted[0]


def test_a_unit_of_another_host_is_reached_by_ssh_and_given_back_by_it() -> None:
    stack = load_stack(CONFIGS.stack_path("sglang-pd"))

    said = told(stack, campaign_over(stack, "index_keys", restart="every_run"))

    commands = [line for line in said if line.startswith("run  ")]
    assert all("ssh -o BatchMode=yes" in line and "sudo -n" in line for line in commands)
    assert any('Environment="SGLANG_ARGS=--index-k-dtype bf16"' in line for line in said)
    end = said[said.index("# the end: everything as it was found") :]
    for unit, host in (("router", "gpu1"), ("prefill", "gpu1"), ("decode", "gpu2")):
        back = [line for line in end if f"systemctl restart sglang-{unit}.service" in line]
        assert len(back) == 1 and f"ops@{host}" in back[0]


def test_a_container_gets_the_arguments_of_its_level_as_words() -> None:
    stack = load_stack(CONFIGS.stack_path("vllm-docker"))

    said = told(stack, campaign_over(stack, "prefix_cache"))

    (started,) = [line for line in said if "docker run" in line and "--no-enable" in line]
    assert "-e VLLM_SERVER_DEV_MODE=1 vllm/vllm-openai" in started
    assert started.endswith("--tool-call-parser hermes --no-enable-prefix-caching")


def test_a_deployment_gets_them_as_json() -> None:
    stack = load_stack(CONFIGS.stack_path("sglang-kubernetes"))

    said = told(stack, campaign_over(stack, "hicache"))

    assert any('"--hicache-ratio", "2"]}]' in line for line in said)


def requests_of(said: list[str]) -> list[list[str]]:
    """What is sent in each run, without the page of chats."""
    runs: list[list[str]] = []
    for line in said:
        if line.startswith("# block"):
            runs.append([])
        if line.startswith("send "):
            runs[-1].append(line.removeprefix("send ").rpartition(": POST ")[0] or line)
    return runs


def test_the_requests_that_change_the_server_are_told_in_their_place() -> None:
    stack = load_stack(CONFIGS.stack_path("sglang-pd"))
    flood = ", evict_flood: {tokens: 40_000, prompt_tokens: 8_000}"

    runs = requests_of(told(stack, campaign_over(stack, "hicache", workload=flood)))

    flushes = [
        f"send POST {service.base_url.replace('{port}', str(service.port))}{service.flush_cache}"
        for service in stack.services.values()
        if service.flush_cache
    ]
    assert flushes
    for sent in runs:
        assert sent == [
            "readiness: one generation, again until it is answered, 1800 s",
            "warm-up: 4 requests",
            *flushes,
            "flood: the first requests of 1 session, 2 times each, then 5 requests, each of "
            "about 8,000 tokens",
            "1 session, 1 at a time",
            "canary: one request whenever no token came for 21 s",
            *flushes,
        ]


def test_the_storage_behind_the_host_cache_is_cleared_once_a_run() -> None:
    text = CONFIGS.stack_path("testbed").read_text("utf-8")
    stack = stack_of(
        parse_yaml(
            "testbed.yaml",
            text.replace(
                "    flush_cache: /flush_cache\n",
                "    flush_cache: /flush_cache\n    clear_storage: /clear_hicache_storage\n",
            ),
        )
    )

    (sent, *_) = requests_of(told(stack, campaign_over(stack, "hicache")))

    assert sum("POST" in line and "/clear_hicache" in line for line in sent) == 1
    assert sum("POST" in line and "/flush_cache" in line for line in sent) == 2


def test_what_a_flood_is_without_numbers_is_said_by_what_decides_them() -> None:
    stack = load_stack(CONFIGS.stack_path("testbed"))

    said = "\n".join(told(stack, campaign_over(stack, "hicache", workload=", evict_flood: true")))

    assert "then requests for 1.1 times what the devices hold, each of 75% of the longest" in said
