"""Pages of metrics as SGLang and vLLM serve them, and what is read from a page."""

from runner.observe.engine_readings import PageReading, read_page
from runner.observe.exposition import read_exposition
from runner.observe.metric_dialects import dialect_of


def page(text: str, *, model: str | None = None) -> PageReading:
    samples = read_exposition(text.encode())
    dialect = dialect_of(samples)
    assert dialect is not None
    return read_page(samples, dialect, model=model)


def sglang(running: float, tokens: float, **more: float) -> str:
    lines = {"num_running_reqs": running, "generation_tokens_total": tokens, **more}
    return "".join(f'sglang:{name}{{tp_rank="0"}} {value}\n' for name, value in lines.items())


def vllm_engine(engine: int, running: int, tokens: int) -> str:
    return (
        f'vllm:num_requests_running{{engine="{engine}"}} {running}\n'
        f'vllm:generation_tokens_total{{engine="{engine}"}} {tokens}\n'
    )
