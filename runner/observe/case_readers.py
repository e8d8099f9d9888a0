"""What reads each kind of recorded case: answers, logs, pages of metrics."""

from runner.judge.recorded_cases import STREAM_READERS, CaseReaders
from runner.observe.event_catalogue import EventCatalogue
from runner.observe.log_cases import log_case_reader
from runner.observe.metrics_cases import read_metrics_case


def case_readers(catalogue: EventCatalogue) -> CaseReaders:
    return {
        **STREAM_READERS,
        "log": log_case_reader(catalogue),
        "metrics": read_metrics_case,
    }
