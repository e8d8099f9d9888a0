"""Other settings that a server derives from a level are told from those that nobody declared."""

from typing import Any

from db.reads.campaigns import ArmFacts
from runner.evidence.fingerprint_differences import Launch
from runner.execute.launch_differences import (
    LaunchDifferences,
    declared_between,
    implied_between,
    launch_differences,
)

DEFINITION: dict[str, Any] = {
    "stack": {
        "factors": {
            "kv_cache": {
                "bf16": {"args": ["--kv-cache-dtype", "bfloat16"]},
                "fp8": {
                    "args": ["--kv-cache-dtype", "fp8_e4m3"],
                    "implies": ["dsa_decode_backend", "HiCache-IO"],
                },
            },
            "overlap": {"on": {}, "off": {"args": ["--disable-overlap-schedule"]}},
        }
    }
}


def arm(**levels: str) -> ArmFacts:
    return ArmFacts(
        id=1,
        campaign_id=1,
        position=0,
        name="an arm",
        levels=levels,
        tag=None,
        concurrency=1,
        sessions_per_run=1,
        is_baseline=False,
    )


# What SGLang resolves on Hopper for each dtype of the cache.
BF16: Launch = {
    "server": {"kv_cache_dtype": "bfloat16", "dsa_decode_backend": "fa3", "page_size": 64}
}
FP8: Launch = {
    "server": {"kv_cache_dtype": "fp8_e4m3", "dsa_decode_backend": "flashmla_kv", "page_size": 64}
}
BF16_ARM, FP8_ARM = arm(kv_cache="bf16", overlap="on"), arm(kv_cache="fp8", overlap="on")


def differences(
    after: Launch, before: Launch, first: ArmFacts, second: ArmFacts
) -> LaunchDifferences:
    return launch_differences(
        [after],
        [before],
        declared=declared_between(DEFINITION, first, second),
        implied=implied_between(DEFINITION, first, second),
    )


def test_what_a_level_implies_stands_beside_what_nobody_declared() -> None:
    other_pages = {"server": {**BF16["server"], "page_size": 1}}

    found = differences(FP8, other_pages, FP8_ARM, BF16_ARM)

    assert found.undeclared == ("server page_size: 64 v 1",)
    assert found.implied == ("server dsa_decode_backend: flashmla_kv v fa3",)


def test_what_another_factor_implies_is_not_implied_here() -> None:
    off = arm(kv_cache="fp8", overlap="off")
    other_backend = {"server": {**FP8["server"], "dsa_decode_backend": "fa3"}}

    found = differences(FP8, other_backend, FP8_ARM, off)

    assert found == LaunchDifferences(("server dsa_decode_backend: flashmla_kv v fa3",), ())


def test_what_is_implied_and_does_not_differ_is_not_told() -> None:
    assert differences(BF16, BF16, FP8_ARM, BF16_ARM) == LaunchDifferences((), ())


def test_names_are_compared_as_the_report_writes_them() -> None:
    assert implied_between(DEFINITION, FP8_ARM, BF16_ARM) == {"dsa_decode_backend", "hicache_io"}
