"""Metric samples as lines of a chart: named in plain words, in seconds from the first request.

A value that was not scraped has no point: missing is not zero. Ranks of one tensor-parallel group
repeat one number and are not added up; engines are.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from app.wording import SECOND_US

REQUEST_GAUGES: Mapping[str, str] = {
    "sglang:num_running_reqs": "running",
    "sglang:num_queue_reqs": "queued",
    "sglang:num_prefill_inflight_queue_reqs": "prefill in flight",
    "sglang:num_decode_prealloc_queue_reqs": "waiting for memory",
    "sglang:num_decode_transfer_queue_reqs": "in transfer queue",
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "queued",
    "llamacpp:requests_processing": "running",
    "llamacpp:requests_deferred": "queued",
}
IN_FLIGHT = "in flight (client)"
_REPEATING = ("tp_rank", "pp_rank", "moe_ep_rank")
_COLUMNS = ["series", "seconds", "value"]


def request_series(samples: pd.DataFrame, *, origin_us: int) -> pd.DataFrame:
    """The gauges that count requests, as `series`, `seconds`, `value`; all-zero ones left out."""
    known = samples[samples["name"].isin(list(REQUEST_GAUGES))]
    return _lines(known, REQUEST_GAUGES, origin_us)


def named_series(samples: pd.DataFrame, *, origin_us: int) -> pd.DataFrame:
    """Every series of the samples under its own name, as `series`, `seconds`, `value`."""
    return _lines(samples, {name: name for name in samples["name"].unique()}, origin_us)


def in_flight(
    spans: pd.DataFrame,
    *,
    origin_us: int,
    open_sessions: int = 0,
    concurrency: int | None = None,
    until_s: float | None = None,
) -> pd.DataFrame:
    """Sessions in flight as the client knows them: one step at each moment at which they change.

    `open_sessions` started and have not ended, so the store does not have them yet. When they
    started is not known, only that a closed loop never has more than `concurrency` in flight: up to
    that they are taken to have been there all along. The line goes on until `until_s`.
    """
    started = pd.Series(1, index=spans["started_at_us"].to_numpy())
    ended = pd.Series(-1, index=spans["ended_at_us"].to_numpy())
    steps = pd.concat([started, ended]).groupby(level=0).sum().sort_index()
    seconds = [(float(at) - origin_us) / SECOND_US for at in steps.index]
    heights = [float(height) + open_sessions for height in steps.cumsum()]
    if until_s is not None and heights and until_s > seconds[-1]:
        seconds.append(until_s)
        heights.append(heights[-1])
    if concurrency is not None:
        heights = [min(height, float(concurrency)) for height in heights]
    return pd.DataFrame({"series": IN_FLIGHT, "seconds": seconds, "value": heights})


def _lines(samples: pd.DataFrame, words: Mapping[str, str], origin_us: int) -> pd.DataFrame:
    if samples.empty:
        return pd.DataFrame(columns=_COLUMNS)
    frame = pd.DataFrame(
        {
            "name": samples["name"].map(words),
            "service": samples["service"],
            "engine": [_engine(labels) for labels in samples["labels"]],
            "member": [_member(labels) for labels in samples["labels"]],
            "seconds": (samples["at_us"] - origin_us) / SECOND_US,
            "value": samples["value"],
        }
    )
    once = frame.drop_duplicates(["name", "service", "engine", "member", "seconds"])
    once = once.assign(series=_series_names(once))
    summed = once.groupby(["series", "seconds"])["value"].sum().reset_index()
    moving = summed.groupby("series")["value"].transform("max") > 0
    return summed.loc[moving, _COLUMNS]


def _series_names(frame: pd.DataFrame) -> list[str]:
    """The name, with the service or the kind of engine where there is more than one."""
    many_services = frame["service"].nunique() > 1
    many_engines = frame["engine"].nunique() > 1
    names = []
    for name, service, engine in zip(frame["name"], frame["service"], frame["engine"], strict=True):
        of = [service] if many_services else []
        of += [engine] if many_engines and engine and not many_services else []
        names.append(f"{name} · {of[0]}" if of else name)
    return names


def _engine(labels: Any) -> str:
    return str(labels.get("engine_type", "")) if isinstance(labels, Mapping) else ""


def _member(labels: Any) -> str:
    """What tells one engine's sample from another's, ranks of one engine apart."""
    if not isinstance(labels, Mapping):
        return ""
    kept = sorted((key, str(value)) for key, value in labels.items() if key not in _REPEATING)
    return repr(kept)
