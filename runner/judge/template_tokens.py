"""Tokens of chat templates that are no tool calls, but have no place in a visible answer.

Data only. Their presence is a residue to count, not a leak.
"""

from typing import Final

from runner.judge.markup_family import MarkupFamily

TEMPLATE_TOKENS: Final[tuple[MarkupFamily, ...]] = (
    MarkupFamily(
        id="deepseek_roles",
        title="DeepSeek's roles and ends",
        cues=("▁of▁", "User｜>", "Assistant｜>", "▁pad▁", "User|>", "Assistant|>"),
        markers=r"<[｜|](?:begin▁of▁sentence|end▁of▁sentence|User|Assistant|Tool"
        r"|end▁of▁thinking|▁pad▁)[｜|]>",
        is_control=True,
        source="DeepSeek's tokenizer configuration",
    ),
    MarkupFamily(
        id="chatml",
        title="ChatML, Llama 3 and GPT-2 ends",
        cues=("<|im_", "<|endoftext|>", "<|eot", "<|eom_id|>", "<|end_of_text|>", "_header_id|>"),
        markers=r"<\|im_(?:start|end|sep|middle|user|assistant|system)\|>|<\|endoftext\|>"
        r"|<\|eot(?:_id)?\|>|<\|eom_id\|>|<\|end_of_text\|>|<\|(?:start|end)_header_id\|>",
        is_control=True,
        source="ikawrakow/ik_llama.cpp#958",
    ),
    MarkupFamily(
        id="harmony_channels",
        title="Harmony's channels and messages",
        cues=("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|return|>", "<|eom|>"),
        markers=r"<\|(?:channel|message|start|end|return|eom)\|>",
        is_control=True,
        source="the harmony format",
    ),
    MarkupFamily(
        id="glm_roles",
        title="GLM's roles",
        cues=("<|user|>", "<|assistant|>", "<|observation|>", "<|system|>", "[gMASK]", "<sop>"),
        markers=r"<\|(?:user|assistant|observation|system)\|>|\[gMASK\]|<sop>",
        is_control=True,
        source="GLM's tokenizer configuration",
    ),
    MarkupFamily(
        id="think",
        title="thinking tags that the reasoning parser should have taken",
        cues=("think>", "thinking>", "_THINKING|>", "_RESPONSE|>"),
        markers=r"</?think(?:ing)?>|</?seed:think>|<\|(?:START|END)_(?:THINKING|RESPONSE)\|>",
        is_control=True,
        source="sgl-project/sglang#22837",
    ),
    MarkupFamily(
        id="turn_brackets",
        title="turns of Llama 2, Mistral, Gemma; separators of GigaChat and Inkling",
        cues=("INST]", "_of_turn>", "<|message_sep|>", "<|role_sep|>", "<|end_message|>", "</s>"),
        markers=r"\[/?INST\]|<(?:start|end)_of_turn>|<\|(?:message_sep|role_sep|end_message)\|>"
        r"|</s>(?=\s{0,8}\Z)",
        is_control=True,
        source="the chat templates of these models",
    ),
)
