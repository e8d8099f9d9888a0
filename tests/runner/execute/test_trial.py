import httpx
import pytest

from runner.campaign.stack_shape import MetricsDialect
from runner.execute.trial import TrialRequest, find_server, trial_campaign

REQUEST = TrialRequest(
    base_url="http://gpu-7:30000",
    model=None,
    concurrency=4,
    sessions=8,
    rounds=2,
    context_tokens=140,
    max_tokens=400,
    seed=5,
)


@pytest.mark.parametrize(
    ("metrics", "dialect"),
    [
        ('sglang:num_running_reqs{model_name="m"} 0', MetricsDialect.SGLANG),
        ('smg_worker_requests_active{worker="w"} 0', MetricsDialect.AUTO),  # a router in front
        ("my_server_running_requests 0", MetricsDialect.AUTO),
    ],
)
async def test_any_server_with_metrics_is_tried(metrics: str, dialect: MetricsDialect) -> None:
    def server(request: httpx.Request) -> httpx.Response:
        match request.url.path:
            case "/v1/models":
                return httpx.Response(200, json={"data": [{"id": "m"}]})
            case "/metrics":
                return httpx.Response(200, text=metrics + "\n")
        return httpx.Response(404)

    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        found = await find_server(REQUEST, http)
    _, stack = trial_campaign(REQUEST, found)

    endpoint = stack.services["server"].metrics
    assert endpoint is not None
    assert endpoint.dialect is dialect


OF_WORKERS = 'sglang:num_running_reqs{worker_addr="http://gpu-8:30000"} 0'


@pytest.mark.parametrize(
    ("pages", "path"),
    [
        ({"/engine_metrics": OF_WORKERS}, "/engine_metrics"),
        (
            {
                "/metrics": 'smg_worker_requests_active{worker="w"} 0',
                "/engine_metrics": OF_WORKERS,
            },
            "/engine_metrics",
        ),
        ({"/metrics": OF_WORKERS, "/engine_metrics": OF_WORKERS}, "/metrics"),
        ({"/metrics": 'smg_worker_requests_active{worker="w"} 0'}, "/metrics"),
    ],
)
async def test_a_router_is_asked_for_the_metrics_of_its_workers(
    pages: dict[str, str], path: str
) -> None:
    def server(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": "m"}]})
        page = pages.get(request.url.path)
        return httpx.Response(404) if page is None else httpx.Response(200, text=page + "\n")

    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        _, stack = trial_campaign(REQUEST, await find_server(REQUEST, http))

    endpoint = stack.services["server"].metrics
    assert endpoint is not None
    assert endpoint.path == path
