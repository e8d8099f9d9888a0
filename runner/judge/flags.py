"""The secondary findings of the judge: counted apart, and by themselves no outcome.

The words of recorded cases are kept as they are.
"""

from enum import StrEnum


class Flag(StrEnum):
    # markup
    MARKUP_IN_CONTENT = "markup_in_content"
    MARKUP_IN_REASONING = "markup_in_reasoning"
    MARKUP_IN_ARGS = "markup_in_args"
    MARKUP_RESIDUE = "markup_residue"
    MARKUP_QUOTED = "markup_quoted"
    FOREIGN_MARKUP = "foreign_markup"
    TEMPLATE_RESIDUE = "template_residue"
    # calls
    UNKNOWN_FUNCTION = "unknown_function"
    NAME_CUT = "name_cut"
    BROKEN_JSON = "broken_json"
    TRUNCATED_ARGS = "truncated_args"
    DUPLICATED_ARGS = "duplicated_args"
    DOUBLE_ENCODED_ARGS = "double_encoded_args"
    ARGUMENTS_OBJECT = "arguments_object"
    MISSING_REQUIRED = "missing_required"
    UNKNOWN_ARGUMENT = "unknown_argument"
    DUPLICATE_KEY = "duplicate_key"
    TYPE_MISMATCH = "type_mismatch"
    REPEATED_CALL = "repeated_call"
    UNASKED_CALL = "unasked_call"
    EXTRA_CALL = "extra_call"
    # how calls were streamed
    INDEX_REUSE = "index_reuse"
    INDEX_MISSING = "index_missing"
    INDEX_DRIFT = "index_drift"
    ID_DRIFT = "id_drift"
    ID_REUSE = "id_reuse"
    NAME_REPEATED = "name_repeated"
    NAME_IN_PIECES = "name_in_pieces"
    NAME_CHANGED = "name_changed"
    LEGACY_FUNCTION_CALL = "legacy_function_call"
    # the end of a turn
    LENGTH = "length"
    NO_FINISH = "no_finish"
    DOUBLE_FINISH = "double_finish"
    FINISH_MISMATCH = "finish_mismatch"
    SERVER_ABORT = "server_abort"
    CONTENT_FILTER = "content_filter"
    RESET = "reset"
    CLIENT_TIMEOUT = "client_timeout"
    PROGRESSING = "progressing"
    WEDGE_VICTIM = "wedge_victim"
    # the request
    RESENT = "resent"
    # the body
    NOT_STREAMED = "not_streamed"
    UNREADABLE_CHUNK = "unreadable_chunk"
    DATA_AFTER_DONE = "data_after_done"
    SEVERAL_CHOICES = "several_choices"
    REFUSAL = "refusal"
    # the text
    GARBLED = "garbled"
    REPLACEMENT_CHARACTER = "replacement_character"
    EMPTY_ANSWER = "empty_answer"
    TEXT_SWALLOWED = "text_swallowed"
    # the dialogue's own truth
    ECHO_MISMATCH = "echo_mismatch"
    FOREIGN_CANARY = "foreign_canary"
    WRONG_TOOL = "wrong_tool"
    WRONG_ARGUMENTS = "wrong_arguments"
    WRONG_ANSWER = "wrong_answer"
