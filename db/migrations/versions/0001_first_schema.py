"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("stack", sa.String(), nullable=False),
        sa.Column("source_path", sa.String(), nullable=False),
        sa.Column("source_text", sa.Text(), nullable=False),
        sa.Column("definition", sa.JSON(), nullable=False),
        sa.Column("definition_key", sa.String(), nullable=False),
        sa.Column("order_seed", sa.BigInteger(), nullable=False),
        sa.Column("corrupt_outcomes", sa.JSON(), nullable=False),
        sa.Column("created_at_us", sa.BigInteger(), nullable=False),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("definition_key", name=op.f("uq_campaign_definition_key")),
    )
    op.create_index("ix_campaign_name", "campaign", ["name"])
    op.create_table(
        "stack_lease",
        sa.Column("stack", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("acquired_at_us", sa.BigInteger(), nullable=False),
        sa.Column("lease_until_us", sa.BigInteger(), nullable=False),
        sa.Column("found", sa.JSON(), nullable=False),
        sa.Column("process_ids", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("stack", name=op.f("pk_stack_lease")),
    )
    op.create_table(
        "worker",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("started_at_us", sa.BigInteger(), nullable=False),
        sa.Column("heartbeat_at_us", sa.BigInteger(), nullable=False),
        sa.Column("doing", sa.String(), nullable=True),
        sa.Column("ended_at_us", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_worker")),
    )
    op.create_table(
        "arm",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("levels", sa.JSON(), nullable=False),
        sa.Column("tag", sa.String(), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("sessions_per_run", sa.Integer(), nullable=False),
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_arm_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arm")),
        sa.UniqueConstraint("campaign_id", "position", name=op.f("uq_arm_campaign_id_position")),
    )
    op.create_index("ix_arm_campaign_id", "arm", ["campaign_id"])
    op.create_table(
        "launch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("stack", sa.String(), nullable=False),
        sa.Column("commands", sa.JSON(), nullable=False),
        sa.Column("process_ids", sa.JSON(), nullable=False),
        sa.Column("started_at_us", sa.BigInteger(), nullable=False),
        sa.Column("ready_at_us", sa.BigInteger(), nullable=True),
        sa.Column("ended_at_us", sa.BigInteger(), nullable=True),
        sa.Column("end_reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_launch_campaign_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_launch")),
    )
    op.create_index("ix_launch_campaign_id", "launch", ["campaign_id"])
    op.create_table(
        "launch_request",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_file", sa.String(), nullable=False),
        sa.Column("levels", sa.JSON(), nullable=False),
        sa.Column("order_seed", sa.BigInteger(), nullable=True),
        sa.Column("blocks", sa.Integer(), nullable=True),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("requested_at_us", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("lease_until_us", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("stop_requested", sa.Boolean(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=True),
        sa.Column("message", sa.String(), nullable=True),
        sa.Column("ended_at_us", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'claimed', 'done', 'failed', 'stopped')",
            name=op.f("ck_launch_request_state_known"),
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_launch_request_campaign_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_launch_request")),
    )
    op.create_index("launch_queue", "launch_request", ["state", "requested_at_us"])
    op.create_table(
        "note",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.String(), nullable=True),
        sa.Column("written_at_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_note_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note")),
    )
    op.create_index("ix_note_campaign_id", "note", ["campaign_id"])
    op.create_table(
        "fingerprint",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("launch_id", sa.Integer(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("taken_at_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["launch_id"], ["launch.id"], name=op.f("fk_fingerprint_launch_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fingerprint")),
    )
    op.create_index("ix_fingerprint_launch_id", "fingerprint", ["launch_id"])
    op.create_table(
        "hypothesis",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("claim", sa.String(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("versus_arm_id", sa.Integer(), nullable=False),
        sa.Column("predict", sa.String(), nullable=False),
        sa.Column("tolerate", sa.Float(), nullable=False),
        sa.Column("goal", sa.String(), nullable=False),
        sa.Column("predicted_rate", sa.Float(), nullable=True),
        sa.Column("known_good_arm_id", sa.Integer(), nullable=True),
        sa.Column("definition_key", sa.String(), nullable=False),
        sa.Column("is_registered", sa.Boolean(), nullable=False),
        sa.Column("recorded_at_us", sa.BigInteger(), nullable=False),
        sa.Column("progress_said", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "goal IN ('eliminate', 'reduce', 'cause')", name=op.f("ck_hypothesis_goal_known")
        ),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_hypothesis_arm_id")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_hypothesis_campaign_id")
        ),
        sa.ForeignKeyConstraint(
            ["known_good_arm_id"], ["arm.id"], name=op.f("fk_hypothesis_known_good_arm_id")
        ),
        sa.ForeignKeyConstraint(
            ["versus_arm_id"], ["arm.id"], name=op.f("fk_hypothesis_versus_arm_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hypothesis")),
        sa.UniqueConstraint("campaign_id", "slug", name=op.f("uq_hypothesis_campaign_id_slug")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("run_key", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("launch_id", sa.Integer(), nullable=True),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("sessions_planned", sa.Integer(), nullable=False),
        sa.Column("planned_at_us", sa.BigInteger(), nullable=False),
        sa.Column("started_at_us", sa.BigInteger(), nullable=True),
        sa.Column("driving_at_us", sa.BigInteger(), nullable=True),
        sa.Column("ended_at_us", sa.BigInteger(), nullable=True),
        sa.Column("wall_s", sa.Float(), nullable=True),
        sa.Column("n_ended", sa.Integer(), nullable=False),
        sa.Column("n_done", sa.Integer(), nullable=False),
        sa.Column("n_maxrounds", sa.Integer(), nullable=False),
        sa.Column("n_leak", sa.Integer(), nullable=False),
        sa.Column("n_no_tool", sa.Integer(), nullable=False),
        sa.Column("n_malformed", sa.Integer(), nullable=False),
        sa.Column("n_wrong", sa.Integer(), nullable=False),
        sa.Column("n_degenerate", sa.Integer(), nullable=False),
        sa.Column("n_error", sa.Integer(), nullable=False),
        sa.Column("n_harness_error", sa.Integer(), nullable=False),
        sa.Column("wedges", sa.Integer(), nullable=True),
        sa.Column("wedge_requests", sa.Integer(), nullable=False),
        sa.Column("wedge_lines", sa.Integer(), nullable=False),
        sa.Column("peak_running", sa.Float(), nullable=True),
        sa.Column("verification", sa.JSON(), nullable=False),
        sa.Column("exposure", sa.JSON(), nullable=False),
        sa.Column("client_health", sa.JSON(), nullable=False),
        sa.Column("wedge_facts", sa.JSON(), nullable=False),
        sa.Column("progress_said", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('planned', 'applying', 'verifying', 'warming', 'driving', 'settling', 'done', 'stopped', 'failed', 'invalid')",
            name=op.f("ck_run_state_known"),
        ),
        sa.CheckConstraint("attempt >= 1", name=op.f("ck_run_attempt_from_one")),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_run_arm_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_run_campaign_id")),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name=op.f("fk_run_launch_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint(
            "campaign_id", "run_key", "attempt", name=op.f("uq_run_campaign_id_run_key_attempt")
        ),
    )
    op.create_index("run_of_arm", "run", ["campaign_id", "arm_id", "state"])
    op.create_table(
        "log_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("event_class", sa.String(), nullable=False),
        sa.Column("request_ref", sa.String(), nullable=True),
        sa.Column("is_own_cancellation", sa.Boolean(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_log_event_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log_event")),
    )
    op.create_index("log_event_of_run", "log_event", ["run_id", "at_us"])
    op.create_table(
        "metric_sample",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_metric_sample_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_sample")),
    )
    op.create_index("metric_series", "metric_sample", ["run_id", "name", "at_us"])
    op.create_table(
        "session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("session_index", sa.Integer(), nullable=False),
        sa.Column("dialogue_key", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("detail", sa.String(), nullable=True),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("decisive_turn", sa.Integer(), nullable=True),
        sa.Column("rounds_planned", sa.Integer(), nullable=False),
        sa.Column("rounds_completed", sa.Integer(), nullable=False),
        sa.Column("started_at_us", sa.BigInteger(), nullable=False),
        sa.Column("ended_at_us", sa.BigInteger(), nullable=False),
        sa.Column("first_token_s", sa.Float(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("host_cached_tokens", sa.Integer(), nullable=False),
        sa.Column("judge_version", sa.String(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('leak', 'no_tool', 'malformed', 'wrong', 'degenerate', 'error', 'done', 'maxrounds', 'harness_error')",
            name=op.f("ck_session_outcome_known"),
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_session_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint(
            "run_id", "session_index", name=op.f("uq_session_run_id_session_index")
        ),
    )
    op.create_index("session_by_outcome", "session", ["run_id", "outcome"])
    op.create_table(
        "verdict",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hypothesis_id", sa.Integer(), nullable=False),
        sa.Column("headline", sa.String(), nullable=False),
        sa.Column("elimination", sa.String(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("availability", sa.String(), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("decided_at_us", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "headline IN ('confirmed', 'improved_not_eliminated', 'worse', 'refuted', 'inconclusive')",
            name=op.f("ck_verdict_headline_known"),
        ),
        sa.ForeignKeyConstraint(
            ["hypothesis_id"], ["hypothesis.id"], name=op.f("fk_verdict_hypothesis_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict")),
    )
    op.create_index("ix_verdict_hypothesis_id", "verdict", ["hypothesis_id"])
    op.create_table(
        "wedge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("started_at_us", sa.BigInteger(), nullable=False),
        sa.Column("ended_at_us", sa.BigInteger(), nullable=True),
        sa.Column("victims", sa.JSON(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_wedge_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_wedge")),
    )
    op.create_index("ix_wedge_run_id", "wedge", ["run_id"])
    op.create_table(
        "turn",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("turn_index", sa.Integer(), nullable=False),
        sa.Column("round_index", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("due", sa.JSON(), nullable=False),
        sa.Column("got", sa.JSON(), nullable=False),
        sa.Column("context", sa.JSON(), nullable=False),
        sa.Column("reading", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("detail", sa.String(), nullable=True),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("markup", sa.JSON(), nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("content_type", sa.String(), nullable=True),
        sa.Column("transport_end", sa.String(), nullable=False),
        sa.Column("started_at_us", sa.BigInteger(), nullable=False),
        sa.Column("first_byte_s", sa.Float(), nullable=True),
        sa.Column("first_token_s", sa.Float(), nullable=True),
        sa.Column("last_progress_s", sa.Float(), nullable=True),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.Column("finish_reason", sa.String(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name=op.f("fk_turn_session_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turn")),
        sa.UniqueConstraint("session_id", "turn_index", name=op.f("uq_turn_session_id_turn_index")),
    )
    op.create_table(
        "raw",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("service", sa.String(), nullable=True),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("is_capped", sa.Boolean(), nullable=False),
        sa.Column("reads", sa.JSON(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('request', 'response', 'service_log', 'scrape', 'server_info', 'wedge_metrics', 'wedge_server_info', 'wedge_loads', 'wedge_log_tail', 'wedge_in_flight', 'wedge_stacks', 'wedge_gpu')",
            name=op.f("ck_raw_kind_known"),
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_raw_run_id")),
        sa.ForeignKeyConstraint(["turn_id"], ["turn.id"], name=op.f("fk_raw_turn_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raw")),
    )
    op.create_index("raw_of_run", "raw", ["run_id", "kind", "at_us"])
    op.create_index("raw_of_turn", "raw", ["turn_id", "kind"])
