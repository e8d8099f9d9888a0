"""Every stack file that comes along can be planned on, and tells all commands that it would run."""

from pathlib import Path

import pytest

from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.plan import make_plan
from runner.campaign.stack_file import Stack, load_stack
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.campaign.yaml_source import parse_yaml
from runner.execute.rehearsal import rehearse

CONFIGS = ConfigFolder(Path(__file__).parents[3] / "configs")
FACTORS = [
    pytest.param(path, factor, id=f"{path.stem}-{factor}")
    for path in CONFIGS.stack_files()
    for factor in load_stack(path).factors
]


def campaign_over(stack: Stack, *factors: str, restart: str = "when_needed") -> Campaign:
    """All levels of these factors, each once."""
    lines = [f"  {name}: [{', '.join(stack.factors[name])}]" for name in factors]
    text = (
        f"campaign: rehearsed\nquestion: What would be done?\nstack: {stack.name}\nfactors:\n"
        + "\n".join([*lines, "  concurrency: [1]"])
        + f"\nworkload: {{sessions: 1}}\nschedule: {{blocks: 1, restart: {restart}}}\n"
    )
    return campaign_of(parse_yaml("rehearsed.yaml", text))


def told(stack: Stack, campaign: Campaign) -> list[str]:
    check_campaign_on_stack(campaign, stack)
    said: list[str] = []
    rehearse(stack, make_plan(campaign, stack).runs, campaign.schedule.restart, say=said.append)
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
