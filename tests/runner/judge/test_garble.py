import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judge.garble import garble_signs, has_replacement_characters

ASKED = "What is the weather in Oslo tomorrow?"
SOUP = (
    "onClickkış θης ->rowsUNT {} typename лесо 橋本 =>{} vintersol בابق �� .gridLayoutt ngàyx TIVE"
    " шпа-ref"
)


def signs(text: str, said: str = ASKED) -> tuple[str, ...]:
    return garble_signs(text, conversation_text=lambda: said)


@pytest.mark.parametrize(
    "text",
    [
        "Q" * 160,
        "<｜tool▁calls▁begin｜>" * 12 + "Q" * 150,
        "the the " * 30,
        "I will check the weather. " * 12,
        "It is sunny today.\n" + "and then and then " * 40,
        "天气" * 80,
        "It is " + "!" * 150,
        "\n".join(["- item one"] * 30),
        "x" * 300 + " and the end of it",
        "Fine so far. " + "ab" * 1_500 + " " + "and on it goes with other words " * 3,
    ],
)
def test_a_unit_that_repeats_is_a_loop(text: str) -> None:
    assert "a loop" in signs(text)


@given(st.text("abcdefgh äö", min_size=1, max_size=60).filter(str.strip), st.integers(5, 20))
def test_a_unit_of_any_length_that_ends_the_text_is_a_loop(unit: str, times: int) -> None:
    times = max(times, -(-150 // len(unit)))

    assert "a loop" in signs("Let me look at the weather of Oslo. " + unit * times)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"Wait, let me think again about step {number}. " for number in range(12)),
        "| a | b |\n" + "| - | - |\n" * 30,
        "0, " * 100,
        "-" * 300,
        "=" * 80 + "\nTitle\n" + "=" * 80,
        "".join(f"| {number} | row {number} |\n" for number in range(40)),
        "The weather in Oslo is mild. " * 2,
        "ha" * 20,
    ],
)
def test_tables_rules_and_near_repetitions_are_no_loop(text: str) -> None:
    assert signs(text) == ()


def test_a_loop_that_was_asked_for_is_none() -> None:
    assert signs("hello " * 100, said="Repeat hello one hundred times.") == ()


@pytest.mark.parametrize(
    "text",
    [
        SOUP,
        "Der Wert ist ωσ привет 天气 นี้ das שלום nicht cafétería und мир 好的 ναι so",
        "the weathпогода is sunшалом and warжара todлесо",
    ],
)
def test_words_of_many_scripts_are_token_soup(text: str) -> None:
    assert "token soup" in signs(text)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Wetter?", "Wettervorhersage für Tromsø: 晴れ 🌤, −3 °C"),
        ("Was ist Python?", "Python是一种语言, GPU集群和iPhone用的。"),
        ("What is Δt?", "Δt is 5 µs, α and β are angles, ℏω the energy."),
        (
            "How do you say hello in ten languages?",
            "Russian: привет мир, Greek: γειά σου, Hebrew: שלום, Thai: สวัสดี, Japanese: こんにちは,"
            " Arabic: مرحبا",
        ),
        ("Привет! 天气 γειά שלום", "привет 天气 γειά שלום мир"),
        ("天気は?", "明日のオスロは晴れです。気温は3度。"),
        ("Погода?", "В Осло завтра солнечно, +3 °C, API вернул JSON."),
        ("오슬로 날씨?", "내일 Oslo는 맑습니다. API를 호출했습니다."),
    ],
)
def test_ordinary_text_of_any_language_is_no_soup(said: str, text: str) -> None:
    assert signs(text, said) == ()


@pytest.mark.parametrize(
    "text",
    [
        "crÃ¨me brÃ»lÃ©e fÃ¼r dich",
        "itâ€™s â€œfineâ€\u009d",
        "ðŸŒ¤ sunny ðŸŒ§ rain",
        "TheĠweatherĠinĠOsloĠisĠfine",
        "The<0x0A>weather<0x0A>",
        "ok ��� fine",
    ],
)
def test_undone_encodings_and_byte_tokens_are_a_broken_encoding(text: str) -> None:
    assert "a broken encoding" in signs(text)


@pytest.mark.parametrize("text", ["Ã is a letter", "Größe, façade, naïve", "São Paulo, Åre"])
def test_accents_are_no_broken_encoding(text: str) -> None:
    assert signs(text) == ()


def test_control_characters_are_a_sign_and_colour_codes_are_not() -> None:
    assert signs("a\x00b\x01c\x02") == ("control characters",)
    assert signs("\x1b[31mred\x1b[0m\t\r\n") == ()


def test_what_the_conversation_holds_itself_is_no_sign() -> None:
    assert signs("fÃ¼r fÃ¼r", said="Why does my file say fÃ¼r?") == ()
    assert not has_replacement_characters("a\ufffd", conversation_text=lambda: "a\ufffd")
    assert has_replacement_characters("a\ufffd", conversation_text=lambda: ASKED)


@given(st.text(max_size=300))
def test_any_text_is_looked_at_without_an_error(text: str) -> None:
    signs(text * 3)
