"""Every encoding in a table: found where its bytes can tell, mended by its name where they can't."""

import pytest

from rnnviz.errors import DecodingError
from tests.support.decoded import decode
from tests.support.texts import TEXTS

# text, the encoding its bytes are in, what it is found to be: a superset is as good.
GUESSED = [
    ("english", "cp1252", "cp1252"),
    ("german", "cp1252", "cp1252"),
    ("german", "latin-1", "cp1252"),
    ("french", "cp1252", "cp1252"),
    ("french", "latin-1", "cp1252"),
    ("spanish", "latin-1", "cp1252"),
    ("polish", "cp1250", "cp1250"),
    ("polish", "iso8859-2", "iso8859_2"),
    ("czech", "cp1250", "cp1250"),
    ("czech", "iso8859-2", "iso8859_2"),
    ("hungarian", "cp1250", "cp1250"),
    ("hungarian", "iso8859-2", "cp1250"),
    ("romanian", "cp1250", "cp1250"),
    ("russian", "cp1251", "cp1251"),
    ("russian", "koi8-r", "koi8_r"),
    ("russian", "cp866", "cp866"),
    ("bulgarian", "cp1251", "cp1251"),
    ("greek", "cp1253", "cp1253"),
    ("greek", "iso8859-7", "cp1253"),
    ("turkish", "cp1254", "cp1254"),
    ("turkish", "iso8859-9", "cp1254"),
    ("hebrew", "cp1255", "cp1255"),
    ("hebrew", "iso8859-8", "cp1255"),
    ("arabic", "cp1256", "cp1256"),
    ("lithuanian", "cp1257", "cp1257"),
    ("thai", "cp874", "cp874"),
    ("simplified", "gb18030", "gb18030"),
    ("simplified", "gbk", "gb18030"),
    ("simplified", "gb2312", "gb18030"),
    ("traditional", "gb18030", "gb18030"),
    ("traditional", "big5", "big5"),
    ("traditional", "cp950", "big5"),
    ("japanese", "shift_jis", "cp932"),
    ("japanese", "cp932", "cp932"),
    ("japanese", "euc_jp", "euc_jp"),
    ("korean", "euc_kr", "cp949"),
    ("korean", "cp949", "cp949"),
]

# What the bytes alone don't tell, on a text of this length or any: the encoding must be named.
NAMED = [
    ("german", "cp850"),
    ("german", "mac_roman"),
    ("russian", "iso8859-5"),
    ("russian", "mac_cyrillic"),
    ("arabic", "iso8859-6"),
    ("simplified", "hz"),
    ("japanese", "iso2022_jp"),
    ("korean", "johab"),
    ("korean", "iso2022_kr"),
]
REFUSED = {"iso8859-5", "iso8859-6", "johab"}  # nothing else fits them either


@pytest.mark.parametrize(("text", "codec", "encoding"), GUESSED, ids=lambda value: str(value))
def test_an_encoding_is_found_by_its_bytes(text: str, codec: str, encoding: str) -> None:
    for times in (1, 5, 60):
        result = decode((TEXTS[text] * times).encode(codec))
        assert (result.text, result.encoding, result.certainty) == (TEXTS[text] * times, encoding, "guessed")


# Every script whose UTF-16 has no byte beyond 0x7F, and what is short.
NARROW = {
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों में जन्मजात स्वतन्त्रता प्राप्त है।\n",
    "hindi in printable bytes": "नमन रमन नमन रमन\n",
    "punjabi": "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ ਤੇ ਹੱਕਾਂ ਵਿੱਚ ਬਰਾਬਰ ਹੈ।\n",
    "malayalam": "മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടെ ജനിച്ചിട്ടുള്ളവരാണ്.\n",
    "a greeting": "你好\n",
    "two lines": "道可道，非常道\n名可名，非常名\n",
    "one word": "word",
    "numbers": "1\n2\n3\n",
    "letters": "a\nb",
    "rows": "a\tb\r\nc\td\r\n",
}


@pytest.mark.parametrize("text", [*TEXTS.values(), *NARROW.values()], ids=[*TEXTS, *NARROW])
def test_wide_unicode_needs_no_mark(text: str) -> None:
    for width in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        result = decode(text.encode(width))
        assert (result.text, result.encoding, result.certainty) == (text, width, "guessed")


STRAY = {
    "between words": (b"abc\0def\n", 3),
    "in a line": (b"one line, and one stray byte\0 in it\n", 28),
    "at the end": (b"a text that was padded to a multiple of four bytes\n\0", 51),
    "after a long text": (b"It was a quiet evening. " * 9000 + b"\0\n", 216_000),
    "padded with many": (b"a record of fixed length, and then nothing at all" + b"\0" * 300, 49),
    "rows": (b"a,b\r\n1,\0\r\n3,4\r\n", 7),
    "few of many": (b"\0".join([b"a field", b"another", b"third\n"] * 50), 7),
    "a log that was cut off": (b"a log file\n" * 30_000 + bytes(40) + b"\ncut off", 330_000),
    "in Russian": ("Все счастливые\0 семьи\0\n".encode(), 27),
    "after every two letters": (b"ab\0cd\0ef\0gh\0", 2),
    "in every field": (b"\0".join([b"name", b"John Smith", b"London", b"1984"] * 9), 4),
}


@pytest.mark.parametrize("place", STRAY)
def test_a_text_with_stray_nul_bytes_is_not_taken_for_wide_unicode(place: str) -> None:
    data, position = STRAY[place]
    message = (
        rf"is a text except for NUL characters.*: byte {position:,} is NUL \(0x00\); remove them, or name"
    )
    with pytest.raises(DecodingError, match=message):
        decode(data)
    assert decode(data, encoding="utf-8").text == data.decode()  # its reader may insist


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-16-le", "utf-16-be", "gb18030", "big5", "cp932", "euc_jp", "cp949"]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_cut_inside_its_last_character_is_called_so(codec: str, mark: str) -> None:
    text = TEXTS[
        "japanese" if codec in ("cp932", "euc_jp") else "korean" if codec == "cp949" else "traditional"
    ]
    if mark and not codec.startswith("utf"):
        return
    for times in (1, 40):
        whole = (mark + text * (times - 1) + text.rstrip(".\n")).encode(codec)
        with pytest.raises(
            DecodingError, match=rf"was cut off inside its last character.* in {codec}; fetch it"
        ):
            decode(whole[:-1])


QUOTATIONS = ["“Yes” " * n + "“Yes" for n in range(6)]


@pytest.mark.parametrize("last", "’“”é–中，😀я")
@pytest.mark.parametrize(
    "text",
    [*QUOTATIONS, "", "1 ", "He", "It was late, and he said ", "naïve caf", "А", "行者笑道"],
)
def test_a_broken_last_character_alone_is_a_cut(text: str, last: str) -> None:
    for cut in range(1, len(last.encode())):
        data = (text + last).encode()[:-cut]
        if data == "Heä".encode("cp1252"):  # a letter that words of other encodings end in
            assert decode(data).text == "Heä"
            continue
        with pytest.raises(DecodingError, match="was cut off inside its last character"):
            decode(data)


def test_a_byte_in_ascii_is_no_damaged_utf8() -> None:
    text = "A long text of plain English letters, and one more word: déjà.\n"
    for times in (1, 400):
        assert decode(("plain text\n" * times + text).encode("cp1252")).encoding == "cp1252"


# Short texts in the encodings that they are stored in: what is common is likelier than what is rare.
SHORT = [
    ("行者笑道：“师父莫怕！”", "gb18030"),
    ("你好", "gb18030"),
    ("今天天气", "gb18030"),
    ("你好😀\n我很好😀\n", "gb18030"),
    ("電腦", "big5"),
    ("東京都", "cp932"),
    ("ありがとう", "euc_jp"),
    ("한국어", "cp949"),
    ("Да", "cp1251"),
    ("Привет, как дела?", "koi8_r"),
    ("Ελλάδα", "cp1253"),
    ("שלום", "cp1255"),
    ("It’s late.", "cp1252"),
    ("Größe", "cp1252"),
    ("café", "cp1252"),
    ("perché", "cp1252"),
    ("¿Qué?", "cp1252"),
    ("行者笑道", "utf-16-le"),
]


@pytest.mark.parametrize(("text", "codec"), SHORT)
def test_a_short_text_is_read_as_what_is_common(text: str, codec: str) -> None:
    result = decode(text.encode(codec))
    assert (result.text, result.certainty) == (text, "guessed")


def test_model_characters_make_encoding_likelier() -> None:
    data = "缪".encode("gb18030") * 2
    assert decode(data).text != "缪缪"
    assert decode(data, model_characters="缪").text == "缪缪"


@pytest.mark.parametrize("text", [*TEXTS.values(), "plain ASCII", ""], ids=[*TEXTS, "ascii", "empty"])
def test_utf8_is_verified_and_mark_declares(text: str) -> None:
    marked = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
    for start, codec, certainty in (
        ("", "utf-8", "verified"),
        *(("\ufeff", codec, "declared") for codec in marked),
    ):
        result = decode((start + text).encode(codec))
        assert (result.text, result.encoding, result.certainty) == (text, codec, certainty)


@pytest.mark.parametrize(("text", "codec"), [*NAMED, *((text, codec) for text, codec, _ in GUESSED)])
def test_a_name_overrides_every_guess(text: str, codec: str) -> None:
    data = TEXTS[text].encode(codec)
    result = decode(data, encoding=codec)
    assert (result.text, result.certainty) == (TEXTS[text], "declared")


@pytest.mark.parametrize(("text", "codec"), NAMED)
def test_a_wrong_guess_is_called_a_guess_or_refused(text: str, codec: str) -> None:
    data = TEXTS[text].encode(codec)
    if codec in REFUSED:
        with pytest.raises(DecodingError, match="say which encoding it is in"):
            decode(data)
        return
    # Seven-bit encodings look like ASCII: the bytes are UTF-8, and the text on the page shows what is wrong.
    assert decode(data).certainty == ("verified" if data.isascii() else "guessed")
