"""The encoding of bytes that name none.

Every encoding in use reads the bytes as some text, and the likeliest text wins: the one that costs the fewest
bits in a language of its encoding,

    bits = Σ -log2 P(character) + what writers avoid: a capital after a small letter, two scripts in one word

P is by a character's rank in its language. Readings of the same bytes compare by their sums, however many
characters they have. Texts cost up to 6 bits per byte, in UTF-16 a little less; what costs more is no text.
"""

import codecs
import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

Costs = dict[str, float]
"""The bits of a language's characters."""

SAMPLE_BYTES = 1 << 14
"""Bytes that are weighed, at most."""

_COMMON = Path(__file__).with_name("shipped") / "characters.txt"  # shipped/README.md says where it is from

# By languages written in the same encodings: the letters of each, from the most frequent on.
_ALPHABETS = {
    "western": (
        "etaoinshrdlcumwfgypbvkjxqzéïè",  # English
        "esaitnrulodcpmévqfbghjàxèêyzçûkùâwîôœïë",  # French
        "eaosrnidlctumpbgvyqóíhfzájéñxúwkü",  # Spanish
        "aeosrindmtucplvgqbfhãzçáéjxóêíâõúàwkyô",  # Portuguese
        "enisratdhulcgmobwfkzvüpäßjöyxqé",  # German
        "eaionlrtscdupmvghfbzàqèùòìéjkxyw",  # Italian
        "enatirodslghvkmubpwjzcfxyëqéï",  # Dutch
        "eantrsildomkgväfhupåöbcjyxwzéq",  # Swedish
        "erntidasolgkmvfubphøyjåæczwxqé",  # Danish, Norwegian
        "aitneslokuämvrjhyöpdgbfåcxqwz",  # Finnish
        "arnieðstulgmkfvháoíjdþöbpúéyóæýxzqcw",  # Icelandic
    ),
    "central": (
        "aieozncrswyłdkmtpulęjgbąhżśóćńfźvxq",  # Polish
        "eoantilskrdvmupázjyíhcěébřýžčgšůúfťďňóxwq",  # Czech
        "aoeinstrvlkdmcupázhybíjčýžéšúfgťľxňďóôäŕĺwq",  # Slovak
        "eatlnskrioázémgybvdhjpuföcőóíűüúxqw",  # Hungarian
        "eaitrnulocsdpmăfşvîţgbâzhjxkqyw",  # Romanian
        "aioenjsrtukdlvmpgzbščhcžćfđwxyq",  # Croatian, Slovene
    ),
    "turkish": ("aeinrlıkdmtyusoübşzgçhğvcöpfjİâîqwx",),
    "baltic": (
        "aisetrunāoklmpdvījēzgcbšņūļžčķģfhqxyw",  # Latvian
        "iasoretnukmlpvdjgėybšžąųįūčzcęfhqxw",  # Lithuanian
        "aeisltkumondrvhgäpjõübözšžfcyxwq",  # Estonian
    ),
    "cyrillic": (
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",  # Russian
        "оаніиветрслкдумпзяьбчгйхжюцшїєфщґ",  # Ukrainian
        "аоиетнрсвлкдпмъзугбячжшцщхйюфь",  # Bulgarian
        "аоиејнрсутвдклпмзгбчшћцжхђљњфџ",  # Serbian
    ),
    "greek": ("αοιετσνηυρπκμλωςγάίόέδήθχύώφβξζψϊϋΐΰ",),
    "hebrew": ("יהולארתשמבםנעדחכקפסןטגצזךףץ",),
    "arabic": (
        "ايلمونتربةسدعفقكحهجشأصطىإءخضذزغثئؤظآ",
        "اینرمدهوتسبلشکزگفپقخآجحچعصطضظثغئژذءأؤ",  # Persian
    ),
    "thai": ("านรอกเง่มยลวดท้สตะปบคหีัแจิพชขใไ็โผูภุำศซถฟื์ึธษณฉญฎฐฏฑฒฤฬฮฆฌๆฯ",),
}
_PUNCTUATION = "‘’‚“”„–—…«»‹›•·°§¡¿£€©®\xa0"
_WIDE = "，。、：；？！“”‘’（）《》「」『』…—·〈〉【】～\u3000"  # in Chinese, Japanese and Korean

# By encoding, the languages written in it, and the bits that its rarity today costs.
_UNICODE = {"utf-8": 4.0, "utf-16-le": 4.0, "utf-16-be": 6.0, "utf-32-le": 8.0, "utf-32-be": 8.0}
_ENCODINGS = {
    "cp1252": ("western", 0.0),
    "gb18030": ("simplified traditional", 0.0),
    "big5": ("traditional", 1.0),
    "cp932": ("japanese", 0.0),
    "euc_jp": ("japanese", 1.0),
    "cp949": ("korean", 0.0),
    "cp1251": ("cyrillic", 0.0),
    "koi8_r": ("cyrillic", 2.0),
    "cp1250": ("central", 3.0),
    "cp1253": ("greek", 3.0),
    "cp1254": ("turkish", 4.0),
    "cp1255": ("hebrew", 2.0),
    "cp1256": ("arabic", 1.0),
    "cp1257": ("baltic", 5.0),
    "cp874": ("thai", 3.0),
    "iso8859_2": ("central", 5.0),
    "iso8859_7": ("greek", 5.0),
    "cp866": ("cyrillic", 4.0),
    "cp437": ("western", 8.0),
    "mac_roman": ("western", 8.0),
    "latin_1": ("western", 9.0),
}
# The two-byte codes of a language: the bytes that begin its usual characters, and those of its rare ones.
_CODES = {
    "simplified": ("gb2312", range(0xB0, 0xD8), range(0xD8, 0xF8)),
    "traditional": ("big5", range(0xA4, 0xC7), range(0xC9, 0xFA)),
    "japanese": ("euc_jp", range(0xB0, 0xD0), range(0xD0, 0xF5)),
    "korean": ("euc_kr", range(0xB0, 0xC9), range(0xCA, 0xFE)),
}


@cache
def _languages() -> dict[str, list[Costs]]:
    """The languages by their names in `_ENCODINGS`; under "all", all of them and the letters of others."""
    small = dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 6.5)  # in scripts that are not Latin
    costs_by_name = {
        name: [small | _ranked(alphabet) for alphabet in alphabets] for name, alphabets in _ALPHABETS.items()
    }
    common = dict(line.split(": ") for line in _COMMON.read_text("utf-8").splitlines())
    for name, (codec, usual, rare) in _CODES.items():
        # Three layers, the later ones over the earlier: rare ideographs, usual ones, and those whose rank is
        # known. The bits fall with the logarithm of the rank; a wrong encoding mostly lands on rare ones.
        costs = dict.fromkeys(_written(codec, rare), 17.0) | dict.fromkeys(_written(codec, usual), 14.0)
        costs |= {c: 5.5 + math.log2(1 + rank / 6) for rank, c in enumerate(common[name])}
        costs_by_name[name] = [small | costs | dict.fromkeys(_WIDE, 5.5)]
    costs_by_name["japanese"][0] |= _ranked(common["kana"])
    letters = [chr(c) for c in range(0x250, 0x3000) if unicodedata.category(chr(c))[0] in "LM"]
    costs_by_name["all"] = [language for alphabets in costs_by_name.values() for language in alphabets] + [
        dict.fromkeys(letters, 7.0)
    ]
    return costs_by_name


def _ranked(letters: str) -> Costs:
    """Letters whose frequencies fall evenly, to the last one's, which is 2⁸ times as rare as the first."""
    step = 8 / len(letters)
    first = -math.log2(0.85 * (1 - 2**-step))  # together 85 of 100 characters
    return {letter: first + step * rank for rank, letter in enumerate(letters)}


def _written(codec: str, leads: range) -> Iterator[str]:
    """The characters of two-byte codes with these first bytes."""
    codes = (bytes((a, b)).decode(codec, "ignore") for a in leads for b in range(0x40, 0xFF))
    return (c for c in codes if len(c) == 1 and not c.isascii())  # a second byte alone is ASCII


@cache
def _usual(character: str) -> float:
    """The bits of a character that a language doesn't list."""
    if (listed := _LISTED.get(character)) is not None:
        return listed
    category = unicodedata.category(character)
    if character.isascii():
        return {"Ll": 4.5, "Cc": 20.0}.get(category, 7.0)
    if category == "Lo" or 0x2500 <= ord(character) < 0x25A0:  # a rare ideograph, or a part of a frame
        return 19.0
    return {"L": 13.0, "M": 13.0, "C": 22.0}.get(category[0], 14.0)


_LISTED = {" ": 2.5, "\t": 5.0, "\n": 5.0, "\r": 5.0, "\ufffd": 20.0, **dict.fromkeys(_PUNCTUATION, 8.0)}

Kind = tuple[str, str]
"""A character's script, if it is a letter, a mark on one, or wide; and its category."""


@cache
def _kind(character: str) -> Kind:
    category, point = unicodedata.category(character), ord(character)
    if 0x3000 <= point < 0x3040 or 0xFF00 <= point < 0xFF20:
        return "Han", category
    if category[0] not in "LM" or 0x300 <= point < 0x370:
        return "", "Ps" if character in "¿¡" else category
    if point < 0x3000:
        return "Latin" if point < 0x250 else str(point >> 8), category
    return "Latin" if point > 0xFF00 else "Hangul" if 0xAC00 <= point < 0xD7B0 else "Han", category


def _avoided(before: Kind, after: Kind) -> float:
    """The bits of two characters side by side as writers seldom put them."""
    (script, category), (next_script, next_category) = before, after
    if next_category in ("Mn", "Mc") and not script and category != "Mn":
        return 8.0  # a mark on nothing
    if script == next_script:
        # A capital costs 3 bits more than a small letter; in a word of capitals only the first does.
        return {("Ll", "Lu"): 8.0, ("Lu", "Lu"): -2.5}.get((category, next_category), 0.0)
    if script and next_script:
        return 3.0
    signs = {"Sc", "Sm", "So", "Sk", "No"}  # inside a word, as a wrong encoding has them
    inside = next_category in {*signs, "Ps", "Pi"} if category in _CASES else category in signs
    return 4.0 if inside and {category, next_category} & _CASES else 0.0


_CASES = {"Ll", "Lu"}


def _foreign(before: Kind, after: Kind) -> float:
    """The bits of two letters of two scripts, with other characters between or without."""
    if before[0] == after[0]:
        return 0.0
    return 3.0 if {"Han", "Hangul"} & {before[0], after[0]} else 5.0


def bits(text: str, languages: list[Costs], model_characters: Collection[str] = ()) -> float:
    """The cost of a text in the likeliest of these languages; `model_characters` cost less."""
    counts, kinds = Counter(text), [_kind(c) for c in text]
    # The same for all languages, so computed once: pairs are counted, as a text has few different ones.
    shared = sum(n * _avoided(*pair) for pair, n in Counter(pairwise(kinds)).items())
    letters = pairwise(kind for kind in kinds if kind[0])
    shared += sum(n * _foreign(*pair) for pair, n in Counter(letters).items())
    # ASCII is in every encoding alike, and tells nothing about which it is.
    shared -= sum(3.0 * n for c, n in counts.items() if c in model_characters and not c.isascii())

    def cost(character: str, costs: Costs) -> float:
        if (listed := costs.get(character)) is not None:
            return listed
        small = character.lower()
        return costs[small] + 3.0 if small in costs else _usual(character)

    return shared + min(sum(n * cost(c, costs) for c, n in counts.items()) for costs in languages)


def guesses(sample: bytes, model_characters: Collection[str] = ()) -> list[str]:
    """The encodings that read `sample` as a text, the likeliest first; "utf-8" is one for damaged UTF-8.

    model_characters  those of the model that is to read the text: where much is possible, they are likelier
    """
    costs, model_characters = {}, frozenset(model_characters)
    for encoding, (languages, rarity) in _candidates().items():
        decoder = codecs.getincrementaldecoder(encoding)("replace" if encoding == "utf-8" else "strict")
        try:
            text = decoder.decode(sample)
        except UnicodeDecodeError:
            continue
        # Damaged UTF-8 is offered too, so that the error says where the damage is. Bytes of a Latin page are
        # mostly no UTF-8: half of what is beyond ASCII must be.
        if encoding == "utf-8":  # more than bytes that are UTF-8 by chance
            absent = 2 * text.count("\ufffd") > sum(not c.isascii() for c in text)
        else:
            absent = "\0" in text  # zeros are no letters, whatever their width
        if absent:
            continue
        pending = len(decoder.getstate()[0])
        # The sample ends inside a character: its bytes cost 8 bits each, as noise does, and one more for the
        # cut.
        cut = 8.0 * (pending + bool(pending))
        cost = rarity + cut + bits(text, languages, model_characters)
        # More bits per byte than the limit is no text in any language; 16 bits more are for short samples.
        # UTF-16 and UTF-32 spend more bytes on a character, and so fewer bits on a byte.
        if cost < (6 if encoding.startswith(("utf-16", "utf-32")) else 7) * len(sample) + 16:
            costs[encoding] = cost
    return sorted(costs, key=costs.__getitem__)


@cache
def _candidates() -> dict[str, tuple[list[Costs], float]]:
    """By encoding, the languages written in it, and the bits that its rarity costs."""
    languages_by_name = _languages()
    return {e: (languages_by_name["all"], rarity) for e, rarity in _UNICODE.items()} | {
        e: ([language for name in names.split() for language in languages_by_name[name]], rarity)
        for e, (names, rarity) in _ENCODINGS.items()
    }
