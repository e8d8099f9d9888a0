"""Which rules judged: stored with every judgement, raised when a rule changes a reading."""

JUDGE_VERSION = "1"
