"""Reads a campaign file into a Campaign; asks `campaign_checks` whether its names fit together."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from db.vocabulary import Outcome
from runner.campaign.campaign import (
    Campaign,
    Hypothesis,
    Levels,
    ScenarioName,
    Workload,
    scenario_file,
)
from runner.campaign.campaign_checks import reference_problems
from runner.campaign.campaign_shape import CampaignShape, HypothesisShape, tags_of
from runner.campaign.config_problems import raise_problems
from runner.campaign.file_shape import read_shape
from runner.campaign.matrix import Factors, completed_levels
from runner.campaign.prediction import parse_prediction
from runner.campaign.yaml_source import YamlSource, read_yaml
from runner.errors import ConfigError


def load_campaign(path: Path) -> Campaign:
    """Raises ConfigError with a line `file:line:column: ...` for each problem of the file."""
    return campaign_of(read_yaml(path))


def campaign_of(source: YamlSource) -> Campaign:
    """As `load_campaign`, from a file already read."""
    shape = read_shape(CampaignShape, source)
    raise_problems(source.path, reference_problems(shape, source))
    factors = {name: tuple(levels) for name, levels in shape.factors.items()}
    baseline = _completed(factors, shape.baseline)
    return Campaign(
        name=shape.campaign,
        question=shape.question,
        stack=shape.stack,
        factors=factors,
        tags={name: tags_of(levels) for name, levels in shape.factors.items()},
        exclude=shape.exclude,
        baseline=baseline,
        known_good=_completed(factors, shape.known_good),
        workload=shape.workload,
        schedule=shape.schedule,
        corrupt=tuple(Outcome(word) for word in shape.corrupt),
        stop=shape.stop,
        on_wedge=shape.on_wedge,
        longest_pause_s=shape.longest_pause_s,
        notify=shape.notify,
        hypotheses=tuple(_hypothesis_of(each, factors, baseline) for each in shape.hypotheses),
        workload_files=_digests(shape.workload, Path(source.path).parent),
        source_path=source.path,
        source_text=source.text,
        client_processes=None if shape.client_processes == "auto" else shape.client_processes,
    )


def _hypothesis_of(shape: HypothesisShape, factors: Factors, baseline: Levels | None) -> Hypothesis:
    versus = baseline
    if isinstance(shape.versus, Mapping):
        versus = completed_levels(factors, shape.versus)
    assert versus is not None, "checked before: `versus: baseline` needs a baseline"
    return Hypothesis(
        id=shape.id,
        claim=shape.claim,
        arm=completed_levels(factors, shape.arm),
        versus=versus,
        predict=parse_prediction(shape.predict),
        tolerate=shape.tolerate,
        goal=shape.goal,
        predicted_rate=shape.predicted_rate,
    )


def _digests(workload: Workload, folder: Path) -> dict[str, str]:
    """A file that cannot be read has none; the scenario says so when it is made."""
    names = [] if workload.replay is None else [workload.replay.file]
    if not isinstance(workload.scenario, ScenarioName):
        names.append(scenario_file(workload.scenario))
    readable = [name for name in names if (folder / name).is_file()]
    return {name: sha256((folder / name).read_bytes()).hexdigest() for name in readable}


def require_unchanged_files(campaign: Campaign) -> None:
    """Raises ConfigError where a file that its sessions come from is not as it was registered."""
    folder = Path(campaign.source_path).parent
    now = _digests(campaign.workload, folder)
    changed = [name for name, digest in campaign.workload_files.items() if now.get(name) != digest]
    if changed:
        raise ConfigError(
            f"{folder / changed[0]} was changed while the campaign ran, so that its sessions would "
            "be others: put it back and give the same command again; given now, it begins another "
            "campaign"
        )


def _completed(factors: Factors, levels: Levels | None) -> Levels | None:
    return None if levels is None else completed_levels(factors, levels)
