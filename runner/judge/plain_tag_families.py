"""Families whose calls are framed by ordinary tags, which prose and documents may also name.

Data only.
"""

from typing import Final

from runner.judge.markup_family import MarkupFamily

PLAIN_TAG_FAMILIES: Final[tuple[MarkupFamily, ...]] = (
    MarkupFamily(
        id="minimax_m2",
        title="MiniMax M2",
        parsers=("minimax-m2", "minimax_m2", "minimax"),
        models=("minimax",),
        cues=("minimax:tool_call",),
        markers=r"</?minimax:tool_call\b>?",
        source="sglang function_call/minimax_m2.py",
    ),
    MarkupFamily(
        id="muse",
        title="Muse",
        parsers=("muse",),
        models=("muse",),
        cues=("atem:",),
        markers=r"</?atem:(?:function_calls|invoke|parameter)\b[^>\n]{0,120}>?",
        source="sglang function_call/muse_detector.py",
    ),
    MarkupFamily(
        id="seed_oss",
        title="Seed-OSS",
        parsers=("seed_oss",),
        models=("seed",),
        cues=("seed:tool_call",),
        markers=r"</?seed:tool_call\b>?",
        source="vllm-project/vllm#47741",
    ),
    MarkupFamily(
        id="longcat",
        title="LongCat",
        parsers=("longcat",),
        models=("longcat",),
        cues=("longcat_",),
        markers=r"</?longcat_(?:tool_call|arg_key|arg_value)\b>?",
        source="vllm tool_parsers/longcat_tool_parser.py",
    ),
    MarkupFamily(
        id="dots",
        title="dots.llm",
        parsers=("dots",),
        models=("dots",),
        cues=("dots_function_call",),
        markers=r"</?dots_function_call\b>?",
        source="sglang function_call/dots_detector.py",
    ),
    MarkupFamily(
        id="glm",
        title="GLM-4.5 and later, Poolside",
        parsers=("glm", "glm45", "glm47", "poolside_v1", "glm4_moe"),
        models=("glm", "poolside"),
        cues=("arg_key", "arg_value"),
        markers=r"</?arg_(?:key|value)(?::[^>\n]{1,24})?>|\barg_(?:key|value)>",
        source="sgl-project/sglang#30925",
    ),
    MarkupFamily(
        id="hunyuan",
        title="Hunyuan, HY-V3, Jamba",
        parsers=("hunyuan", "hy_v3", "hunyuan_a13b", "jamba"),
        models=("hunyuan", "hy-", "jamba"),
        cues=("tool_calls", "tool_sep"),
        markers=r"</?tool_calls?:[^>\n]{1,24}>|</?tool_calls>|<tool_sep(?::[^>\n]{1,24})?>",
        source="sglang function_call/hunyuan_detector.py; vllm tool_parsers/jamba_tool_parser.py",
    ),
    MarkupFamily(
        id="qwen3_coder",
        title="Qwen3-Coder, Step-3.5, MiMo",
        parsers=("qwen3_coder", "step3p5", "mimo", "qwen3_xml"),
        models=("qwen3-coder", "step-3.5", "mimo"),
        cues=("<function=", "<parameter=", "</function>", "</parameter>"),
        markers=r"<function=[^>\n]{1,120}>?|<parameter=[^>\n]{1,120}>?",
        supports=r"</function>|</parameter>",
        source="vllm-project/vllm#22975; jundot/omlx#844",
    ),
    MarkupFamily(
        id="minicpm5",
        title="MiniCPM5",
        parsers=("minicpm5",),
        models=("minicpm",),
        cues=("<function ", "<param ", "</param>"),
        markers=r"<function\s{1,4}name=[\"'][^\"'\n]{1,120}[\"']\s{0,4}/?>",
        supports=r"<param\s{1,4}name=[\"'][^\"'\n]{1,120}[\"']\s{0,4}>|</param>",
        is_document_like=True,
        source="sglang function_call/minicpm5_detector.py",
    ),
    MarkupFamily(
        id="olmo3",
        title="Olmo 3",
        parsers=("olmo3",),
        models=("olmo",),
        cues=("<function_calls>",),
        markers=r"<function_calls>(?=\s{0,4}\[?\s{0,4}[A-Za-z_][\w.]{0,80}\()",
        source="vllm tool_parsers/olmo3_tool_parser.py",
    ),
    MarkupFamily(
        id="invoke",
        title="plain invoke tags: DSML or MiniMax without its own tokens, and prompted calls",
        cues=("invoke", "<parameter ", "</parameter>", "function_calls>", "function_results>"),
        markers=r"<invoke\s{1,4}name\s{0,2}=\s{0,2}[^>\n]{1,120}>?|</invoke>"
        r"|</?function_calls>|</?function_results>",
        supports=r"<parameter\s{1,4}name\s{0,2}=\s{0,2}[^>\n]{1,120}>|</parameter>",
        is_document_like=True,
        source="sgl-project/sglang#40236 (special tokens dropped)",
    ),
    MarkupFamily(
        id="granite_function_call",
        title="Granite 20B",
        parsers=("granite-20b-fc",),
        models=("granite-20b",),
        cues=("function_call>",),
        markers=r"</?function_call>",
        source="vllm tool_parsers/granite_20b_fc_tool_parser.py",
    ),
    MarkupFamily(
        id="functiongemma",
        title="FunctionGemma",
        parsers=("functiongemma",),
        models=("functiongemma",),
        cues=("_function_call>", "_function_response>", "_function_declaration>", "<escape>"),
        markers=r"</?(?:start|end)_function_(?:call|response|declaration)>",
        supports=r"<escape>",
        source="vllm tool_parsers/functiongemma_tool_parser.py",
    ),
    MarkupFamily(
        id="nemotron",
        title="Nemotron Nano",
        models=("nemotron",),
        cues=("TOOLCALL>",),
        markers=r"</?TOOLCALL>",
        source="NVIDIA Nemotron Nano's chat template (vLLM plug-in parser)",
    ),
    MarkupFamily(
        id="tool_call_tag",
        title="Qwen 2.5 and 3, Hermes, Trinity, ERNIE, Granite 4",
        parsers=("qwen", "qwen25", "hermes", "trinity", "ernie45", "granite4", "xlam", "granite"),
        models=("qwen", "hermes", "trinity", "ernie", "granite-4", "glm", "mimo"),
        cues=("tool_call", "tool_response"),
        markers=r"<\s?/?\s?tool_call\s{0,2}>|<\s?/?\s?tool_response\s{0,2}>"
        r"|</?tool_call(?=\s{0,4}(?:\{|\Z))",
        source="sgl-project/sglang#22837; vllm-project/vllm#22975",
    ),
    MarkupFamily(
        id="other_tool_call",
        title="a tag or token that names a tool call, of no family known here",
        cues=("tool", "function", "<｜", "<|"),
        markers=r"(?<!\w)<[|｜]{0,2}/?[\w▁:.\-]{0,24}(?:tool|function)[_▁:\-]?(?:calls?|use)"
        r"[\w▁:.\-]{0,24}[|｜]{0,2}>"
        r"|<[|｜]{1,2}(?:tool|pyth|DS|acti|plug|START_A|END_A|constr|func)[\w▁]{0,24}\Z"
        r"|<｜[\w▁]{0,24}\Z|(?<!\w)<(?:tool_[a-z]{0,8}|function(?:=[^>\n]{0,80})?)\Z",
        source="the common shape of all entries above",
    ),
)
