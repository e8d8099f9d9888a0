"""Every entry of the catalogue: a leak in its form, and an innocent text that comes near to it."""

import pytest

from runner.judge.markup_catalogue import (
    CATALOGUE,
    UNMARKED_FAMILIES,
    families_for_model,
    families_of_parser,
    parser_names,
)
from runner.judge.markup_family import MarkupFamily
from runner.judge.markup_scan import holds_cue, scan_marks
from tests.runner.judge.answers import LIST_FILES, WEATHER, judge_text

SGLANG_PARSERS = """
    deepseekv3 deepseekv31 deepseekv32 deepseekv4 kimi_k2 kimi_k3 glm glm45 glm47 poolside_v1 qwen
    qwen25 hermes trinity qwen3_coder step3p5 mimo minicpm5 minimax-m2 minimax-m3 step3 gpt-oss muse
    hunyuan llama3 pythonic lfm2 mistral cohere_command4 apertus2509 dots interns1 gigachat3 gemma4
    inkling
"""
VLLM_PARSERS = """
    ernie45 granite granite-20b-fc hunyuan_a13b jamba longcat olmo3 phi4_mini_json seed_oss
    solar_open2 xlam functiongemma internlm llama4_pythonic cohere_command3 hy_v3 granite4 apertus
"""

JSON_CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'

# id of the entry -> (a leak in its form, an innocent text that comes near to it)
SAMPLES = {
    "dsml": (
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city"'
        ' string="true">Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
        "The parameter of the invoke step is a city; see the DSL section.",
    ),
    "step3": (
        "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
        '<steptml:invoke name="get_weather"><steptml:parameter name="city">Oslo',
        "Step 3: begin the call, then ｜ separate ｜ the parts.",
    ),
    "deepseek_v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
        '```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        "The tool calls begin at noon and end at one.",
    ),
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>',
        "The section on tools begins on page 3 | see functions.",
    ),
    "kimi_k3": (
        '<|open|>tools<|sep|><|open|>call tool="get_weather"<|sep|>'
        '<|open|>argument key="city"<|sep|>Oslo<|close|>argument<|sep|>',
        "The shop is <open> from nine; call the tools desk.",
    ),
    "minimax_m3": (
        ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="get_weather">',
        "The minimax algorithm [1] looks two moves ahead.",
    ),
    "gpt_oss": (
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
        '{"city":"Oslo"}<|call|>',
        "My commentary to the functions team: set to=42.",
    ),
    "llama_tokens": (
        '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}',
        "Tag the post with python_tag | other.",
    ),
    "mistral": (
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}',
        "Usage: weather [OPTIONS] CITY [DAYS]",
    ),
    "gemma4": (
        '<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|>',
        'The value is "|" and the tool is calm.',
    ),
    "granite": (f"<|tool_call|>[{JSON_CALL}]", "Granite is a rock | tool steel is not."),
    "cohere": (
        '<|START_ACTION|>[{"tool_name": "get_weather", "parameters": {"city": "Oslo"}}]'
        "<|END_ACTION|>",
        "START_ACTION is a constant of the old API.",
    ),
    "apertus": (
        '<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}]<|tools_suffix|>',
        "The prefix of all tools is t_, the suffix is .py.",
    ),
    "lfm2": (
        '<|tool_call_start|>[get_weather(city="Oslo")]<|tool_call_end|>',
        "start | end of the call",
    ),
    "solar": (
        "<|tool_call:start|>get_weather\n<|tool_arg:start|>city<|tool_arg:value|>Oslo<|tool_arg:end|>",
        "Solar power: start at 9, end at 17.",
    ),
    "internlm": (
        '<|action_start|> <|plugin|>{"name": "get_weather", "parameters": {"city": "Oslo"}}',
        "Install the plugin, then start the action.",
    ),
    "gigachat3": (
        f"function call<|role_sep|>\n{JSON_CALL}",
        "A function call costs 2 ns.",
    ),
    "inkling": (
        '<|content_invoke_tool_json|>{"name": "get_weather"}',
        "The content can invoke a tool as JSON.",
    ),
    "phi4_mini": (f"functools[{JSON_CALL}]", "Use functools.cache here, or functools[0]."),
    "minimax_m2": (
        '<minimax:tool_call>\n<invoke name="get_weather">',
        "See minimax: tool call counts are in table 2.",
    ),
    "muse": (
        '<atem:function_calls><atem:invoke name="get_weather">',
        "Item: function calls at em: 3.",
    ),
    "seed_oss": ("<seed:tool_call>\n<function=get_weather>", "The seed: tool calls use 42."),
    "longcat": (
        "<longcat_tool_call>get_weather\n<longcat_arg_key>city</longcat_arg_key>",
        "The longcat meme is from 2004.",
    ),
    "dots": (
        "<dots_function_call><invoke name=get_weather><parameter name=city>Oslo",
        "Three dots... function call.",
    ),
    "glm": (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>",
        "The key and the value of each argument are texts.",
    ),
    "hunyuan": (
        f"<tool_calls>[{JSON_CALL}]</tool_calls>",
        "It made 3 tool_calls in 2 s.",
    ),
    "qwen3_coder": (
        "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
        "a<b and function=f gives parameter=3 > 2",
    ),
    "minicpm5": (
        '<function name="get_weather"><param name="city">Oslo</param></function>',
        'The <div name="function"> element.',
    ),
    "olmo3": (
        '<function_calls>\nget_weather(city="Oslo")\n</function_calls>',
        "All function_calls are counted.",
    ),
    "invoke": (
        '<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>',
        '<config><parameter name="port">80</parameter></config>',
    ),
    "granite_function_call": (
        f"<function_call> {JSON_CALL}",
        "function_call > 3 means that it was called often.",
    ),
    "functiongemma": (
        "<start_function_call>call:get_weather{city:<escape>Oslo<escape>}<end_function_call>",
        "Press <Esc> to escape.",
    ),
    "nemotron": (f"<TOOLCALL>[{JSON_CALL}]</TOOLCALL>", "TOOLCALL > 3 is an alarm."),
    "tool_call_tag": (
        f"<tool_call>\n{JSON_CALL}\n</tool_call>",
        "The tool call was fast.",
    ),
    "other_tool_call": (
        "<|begin_tool_call|>weather(Oslo)<|finish_tool_call|>",
        "a < tool_call_count and b > 3",
    ),
    "json_call": (JSON_CALL, '{"name": "tide-clock", "arguments": {"port": 1}}'),
    "pythonic": ('[get_weather(city="Oslo")]', "[weather(city) for city in cities]"),
    "name_and_json": (
        'functions.get_weather:0{"city": "Oslo"}',
        "With get_weather you get the weather of a city.",
    ),
    "name_tag": (
        "<get_weather>\n<city>Oslo</city>\n</get_weather>",
        "<weather><city>Oslo</city></weather>",
    ),
    "react": (
        'Action: get_weather\nAction Input: {"city": "Oslo"}',
        "Action: buy milk\nAction Input: none",
    ),
}
MARKED_IDS = [family.id for family in CATALOGUE if not family.is_control]


def test_every_parser_of_sglang_and_vllm_stands_for_an_entry() -> None:
    of_sglang, of_vllm = SGLANG_PARSERS.split(), VLLM_PARSERS.split()

    assert len(of_sglang) == 35
    assert [name for name in [*of_sglang, *of_vllm] if not families_of_parser(name)] == []
    assert families_of_parser("no_such_parser") == ()
    assert {*of_sglang, *of_vllm} <= parser_names()


def test_every_entry_has_its_own_id_a_source_and_samples() -> None:
    ids = [family.id for family in CATALOGUE]

    assert len(set(ids)) == len(ids)
    assert all(family.source and family.title for family in CATALOGUE)
    assert set(SAMPLES) == set(MARKED_IDS)


def test_every_cue_is_seen_by_the_gate_that_stands_before_all_of_them() -> None:
    cues = [cue for family in CATALOGUE for cue in family.cues]

    assert [cue for cue in cues if not holds_cue(cue)] == []


@pytest.mark.parametrize("family_id", MARKED_IDS)
@pytest.mark.parametrize("tool_expected", [True, False])
def test_a_leak_in_the_form_of_each_entry_is_found(family_id: str, tool_expected: bool) -> None:
    leak, _ = SAMPLES[family_id]
    user = "What is the weather in Oslo?"

    turn = judge_text(leak, tool_expected=tool_expected, user=user)

    assert turn.reading == "leak"
    assert turn.outcome == "leak"
    assert turn.markup[0].field == "content"


@pytest.mark.parametrize("family_id", MARKED_IDS)
def test_a_text_that_looks_like_an_entry_is_no_leak(family_id: str) -> None:
    _, innocent = SAMPLES[family_id]

    turn = judge_text(innocent, tool_expected=False, user="Tell me.", tools=(WEATHER, LIST_FILES))

    assert turn.reading == "done"
    assert turn.markup == ()


@pytest.mark.parametrize("family", [f for f in CATALOGUE if f.markers], ids=lambda f: f.id)
def test_each_entry_finds_its_own_sample_alone(family: MarkupFamily) -> None:
    samples = CONTROL_SAMPLES[family.id] if family.is_control else [SAMPLES[family.id][0]]

    assert all(scan_marks(text, [family]) for text in samples)


CONTROL_SAMPLES = {
    "deepseek_roles": ["<｜end▁of▁sentence｜>", "<｜User｜>", "<|Assistant|>"],
    "chatml": ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>"],
    "harmony_channels": ["<|channel|>final<|message|>", "<|return|>"],
    "glm_roles": ["<|observation|>", "[gMASK]<sop>"],
    "think": ["</think>", "<seed:think>", "<|END_THINKING|>"],
    "turn_brackets": ["[/INST]", "<end_of_turn>", "<|message_sep|>", "fine.</s>"],
}


@pytest.mark.parametrize("token", [text for texts in CONTROL_SAMPLES.values() for text in texts])
def test_a_token_of_a_chat_template_is_a_residue_and_no_leak(token: str) -> None:
    turn = judge_text(f"It is sunny.\n{token}", tool_expected=False)

    assert turn.reading == "done"
    assert turn.flags == ("template_residue",)


def test_the_families_of_the_served_model_come_first_and_none_is_lost() -> None:
    ordered = families_for_model("Qwen/Qwen3-Coder-480B")

    assert {family.id for family in ordered[:2]} == {"qwen3_coder", "tool_call_tag"}
    assert set(ordered) == set(CATALOGUE)
    assert families_for_model(None) == CATALOGUE


def test_markup_of_another_family_than_the_served_model_writes_is_marked_as_foreign() -> None:
    leak = SAMPLES["kimi_k2"][0]

    assert "foreign_markup" in judge_text(leak, model="DeepSeek-V4").flags
    assert "foreign_markup" not in judge_text(leak, model="Kimi-K2.5").flags
    assert "foreign_markup" not in judge_text(leak, model="somebody/own-model").flags


def test_entries_without_markers_are_only_those_found_by_the_tools_names() -> None:
    assert {family.id for family in CATALOGUE if not family.markers} == {
        family.id for family in UNMARKED_FAMILIES
    }
