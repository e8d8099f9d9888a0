"""Families whose calls are framed by special tokens, which do not occur in prose by chance.

Data only. The bars of a token may come full-width, in ASCII, doubled, or not at all, when a model
garbles its own token or a detokenizer drops one.
"""

from typing import Final

from runner.judge.markup_family import MarkupFamily

BAR: Final = r"[｜|‖¦│]{1,3}"
_PART: Final = r"(?:function_calls?|tool_calls?|invoke|parameter)"

SPECIAL_TOKEN_FAMILIES: Final[tuple[MarkupFamily, ...]] = (
    MarkupFamily(
        id="dsml",
        title="DeepSeek V3.2 and V4 (DSML)",
        parsers=("deepseekv32", "deepseekv4", "deepseek_v32", "deepseek_v4"),
        models=("deepseek-v3.2", "deepseek-v4", "dsml"),
        cues=("DSML", "invoke", "parameter", "tool_call", "function_call"),
        markers="|".join(
            (
                rf"<?\s?/?\s?{BAR}\s?DSML\s?{BAR}\s?\w{{0,24}}(?:\s{{1,2}}name\s?=[^>\n]{{1,160}})?/?>?",
                rf"<\s?/?\s?{BAR}\s?DSML\b",
                rf"\bDSML\s?{BAR}",
                rf"</?DSML\b|\bDSML\s?{_PART}\b",
                rf"<\s?/?\s?{BAR}\s?[A-Za-z][A-Za-z ]{{0,9}}{BAR}\s?{_PART}\b",
                rf"{BAR}[A-Z]{{1,8}}{BAR}\s?{_PART}\b",
                rf"<\s?/?\s?{BAR}\s?{_PART}\b",
            )
        ),
        source="sgl-project/sglang#40236; lsdefine/GenericAgent#804; cline/cline#13348",
    ),
    MarkupFamily(
        id="step3",
        title="Step-3",
        parsers=("step3",),
        models=("step-3", "step3"),
        cues=("｜tool_", "steptml:"),
        markers=r"<｜tool_calls?_(?:begin|end)｜>|<｜tool_sep｜>"
        r"|</?steptml:(?:invoke|parameter|toolcall)\b",
        source="sglang function_call/step3_detector.py",
    ),
    MarkupFamily(
        id="deepseek_v3",
        title="DeepSeek V3, V3.1 and R1",
        parsers=("deepseekv3", "deepseekv31", "deepseek_v3", "deepseek_v31"),
        models=("deepseek",),
        cues=("tool▁", "tool calls begin", "tool call begin"),
        markers=r"<?[｜|]{0,2}tool▁(?:calls?|outputs?|sep)(?:▁(?:begin|end))?[｜|]{0,2}>?"
        r"|<[｜|]tool (?:calls?|outputs?) (?:begin|end)[｜|]>",
        source="tenstorrent/tt-inference-server#3683; sgl-project/sglang#5224",
    ),
    MarkupFamily(
        id="kimi_k2",
        title="Kimi K2 and K2.5",
        parsers=("kimi_k2",),
        models=("kimi-k2", "kimi_k2", "kimi"),
        cues=("tool_calls_section_", "tool_call_section_", "tool_call_argument_", "|tool_call_"),
        markers=r"(?:<\|)?tool_calls?_section_(?:begin|end)(?:\|>)?"
        r"|(?:<\|)?tool_call_argument_(?:begin|end)(?:\|>)?|<\|tool_call_(?:begin|end)\|>",
        source="MoonshotAI/Kimi-K2#89; sglang function_call/kimik2_detector.py",
    ),
    MarkupFamily(
        id="kimi_k3",
        title="Kimi K3",
        parsers=("kimi_k3",),
        models=("kimi-k3", "kimi"),
        cues=("<|open|>", "<|close|>"),
        markers=r"<\|(?:open|close)\|>\s{0,2}(?:tools|call|argument)\b",
        supports=r"<\|sep\|>",
        source="sglang function_call/kimik3_detector.py",
    ),
    MarkupFamily(
        id="minimax_m3",
        title="MiniMax M3",
        parsers=("minimax-m3", "minimax_m3"),
        models=("minimax-m3", "minimax"),
        cues=("]minimax[",),
        markers=r"\]?<?\]minimax\[>?\[?(?:<?/?(?:tool_call|invoke|parameter)[^>\n]{0,120}>)?",
        source="sglang function_call/minimax_m3_detector.py",
    ),
    MarkupFamily(
        id="gpt_oss",
        title="gpt-oss (Harmony)",
        parsers=("gpt-oss", "openai"),
        models=("gpt-oss",),
        cues=("to=", "<|constrain|>", "<|call|>"),
        markers=r"(?:<\|channel\|>\s{0,2})?(?:\bcommentary|\banalysis|assistantcommentary)"
        r"\s{1,2}to=[\w.\-]{1,80}"
        r"|\bto=(?:functions|browser|python)\.[\w.\-]{1,80}|<\|constrain\|>|<\|call\|>",
        source="raullenchai/Rapid-MLX#480; sglang function_call/gpt_oss_detector.py",
    ),
    MarkupFamily(
        id="llama_tokens",
        title="Llama 3.x and 4",
        parsers=("llama3", "pythonic", "llama4_pythonic", "llama3_json", "llama4_json"),
        models=("llama",),
        cues=("<|python_",),
        markers=r"<\|python_(?:tag|start|end)\|>",
        source="sglang function_call/llama32_detector.py, pythonic_detector.py",
    ),
    MarkupFamily(
        id="mistral",
        title="Mistral, Devstral, xLAM",
        parsers=("mistral", "xlam"),
        models=("mistral", "devstral", "magistral", "ministral", "xlam"),
        cues=("[TOOL_", "[ARGS]", "[/TOOL_", "[CALL_ID]", "[AVAILABLE_TOOLS]"),
        markers=r"\[/?TOOL_CALLS?\]?|\[/?TOOL_RESULTS\]|\[CALL_ID\]|\[/?AVAILABLE_TOOLS\]"
        r"|\[ARGS\](?=\s{0,2}\{)",
        supports=r"\[ARGS\]",
        source="vllm-project/vllm#20028; raullenchai/Rapid-MLX#579",
    ),
    MarkupFamily(
        id="gemma4",
        title="Gemma 4",
        parsers=("gemma4",),
        models=("gemma-4", "gemma4"),
        cues=("<|tool_call>", "<tool_call|>", '<|"|>', "<|tool_response>", "<tool_response|>"),
        markers=r'<\|tool_(?:call|response)>|<tool_(?:call|response)\|>|<\|"\|>',
        source="sglang function_call/gemma4_detector.py",
    ),
    MarkupFamily(
        id="granite",
        title="Granite 3",
        parsers=("granite",),
        models=("granite",),
        cues=("<|tool_call|>",),
        markers=r"<\|tool_call\|>",
        source="vllm tool_parsers/granite_tool_parser.py",
    ),
    MarkupFamily(
        id="cohere",
        title="Command A and R7B",
        parsers=("cohere_command3", "cohere_command4"),
        models=("command", "cohere"),
        cues=("_ACTION|>", "_TOOL_RESULT|>"),
        markers=r"<\|(?:START|END)_(?:ACTION|TOOL_RESULT)\|>",
        source="sglang function_call/cohere_command4_detector.py",
    ),
    MarkupFamily(
        id="apertus",
        title="Apertus",
        parsers=("apertus2509", "apertus"),
        models=("apertus",),
        cues=("<|tools_prefix|>", "<|tools_suffix|>"),
        markers=r"<\|tools_(?:prefix|suffix)\|>",
        source="sglang function_call/apertus2509_detector.py",
    ),
    MarkupFamily(
        id="lfm2",
        title="LFM2",
        parsers=("lfm2",),
        models=("lfm2",),
        cues=("<|tool_call_", "<|tool_list_", "<|tool_response_"),
        markers=r"<\|tool_(?:call|list|response)_(?:start|end)\|>",
        source="sglang function_call/lfm2_detector.py",
    ),
    MarkupFamily(
        id="solar",
        title="Solar Open 2",
        parsers=("solar_open2",),
        models=("solar",),
        cues=("<|tool_call:", "<|tool_arg:"),
        markers=r"<\|tool_(?:call|arg):(?:start|end|value)\|>",
        source="vllm tool_parsers/solar_open2_tool_parser.py",
    ),
    MarkupFamily(
        id="internlm",
        title="InternLM2 and Intern-S1",
        parsers=("interns1", "internlm"),
        models=("intern",),
        cues=("<|action_", "<|plugin|>"),
        markers=r"<\|action_(?:start|end)\|>|<\|plugin\|>",
        source="sglang function_call/interns1_detector.py",
    ),
    MarkupFamily(
        id="gigachat3",
        title="GigaChat 3",
        parsers=("gigachat3",),
        models=("gigachat",),
        cues=("function call<|role_sep|>", "<|function_call|>"),
        markers=r"function call<\|role_sep\|>|<\|function_call\|>",
        source="sglang function_call/gigachat3_detector.py",
    ),
    MarkupFamily(
        id="inkling",
        title="Inkling",
        parsers=("inkling",),
        models=("inkling",),
        cues=("<|content_invoke_tool_",),
        markers=r"<\|content_invoke_tool_(?:json|text)\|>",
        source="sglang function_call/inkling_detector.py",
    ),
    MarkupFamily(
        id="phi4_mini",
        title="Phi-4-mini",
        parsers=("phi4_mini_json",),
        models=("phi-4",),
        cues=("functools[",),
        markers=r"\bfunctools\[(?=\s{0,8}\{)",
        source="vllm tool_parsers/phi4mini_tool_parser.py",
    ),
)
