"""Language and fingerprints of texts."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.documents import content_hash, distance, language_model, simhash, telltales
from periplus.documents.language import detect

TEXTS = {
    "en": "Ships wait outside the harbour until the tide has covered the bar, and then they enter one by one.",
    "de": "Die Schiffe warten vor dem Hafen, bis die Flut über der Barre steht, und laufen dann nacheinander ein.",
    "fr": "Les navires attendent devant le port que la marée ait couvert la barre, puis ils entrent un par un.",
    "es": "Los barcos esperan fuera del puerto hasta que la marea cubre la barra y luego entran uno por uno.",
    "it": "Le navi aspettano fuori dal porto finché la marea non ha coperto la barra, poi entrano una alla volta.",
    "pt": "Os navios esperam fora do porto até que a maré cubra a barra e depois entram um de cada vez.",
    "nl": "De schepen wachten buiten de haven tot het tij de bank heeft bedekt en varen dan een voor een binnen.",
    "pl": "Statki czekają przed portem, aż przypływ zakryje mieliznę, a potem wchodzą jeden po drugim.",
    "ru": "Суда ждут у входа в гавань, пока прилив не покроет отмель, а затем заходят одно за другим.",
    "ja": "船は潮が砂州を覆うまで港の外で待ち、それから一隻ずつ入ってくる。",
    "ko": "배들은 밀물이 모래톱을 덮을 때까지 항구 밖에서 기다렸다가 하나씩 들어온다.",
    "zh": "船只在港外等待，直到潮水淹没沙洲，然后一艘接一艘地驶入港口。",
    "ar": "تنتظر السفن خارج الميناء حتى يغطي المد الشاطئ الرملي ثم تدخل واحدة تلو الأخرى.",
    "el": "Τα πλοία περιμένουν έξω από το λιμάνι μέχρι η παλίρροια να καλύψει τα ρηχά και μετά μπαίνουν ένα ένα.",
    "he": "הספינות ממתינות מחוץ לנמל עד שהגאות מכסה את השרטון ואז הן נכנסות בזו אחר זו.",
    "tr": "Gemiler, gelgit kumsalı örtene kadar limanın dışında bekler ve sonra birer birer içeri girer.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_languages(language):
    assert detect(TEXTS[language]) == language


@pytest.mark.parametrize("text", ["", "x", "OK", "404", "Home", "12 34 56", "!!! ???", "π", "a b c d"])
def test_short_texts_have_no_language(text):
    assert detect(text) == ""


@settings(deadline=None)  # the second opinion's model is loaded once
@given(st.text())
def test_any_text_has_a_language_or_none(text):
    assert len(detect(text)) <= 3


# Languages that the models do not know well

UNMODELLED = {
    "li": "De sjeep wachte veur de have en neet róntelóm, tót de vloed genóg is, en kump dan oet zee.",
    "an": "Os barcos aguardan difuera d'o puerto dica que a marea puet cubrir a barra, y dimpués dentran de un en un.",
    "ie": "Li naves atende ante li portu e posset intrar solmen quande li marea ha successat, secun li órdine.",
}


@pytest.mark.parametrize("language", UNMODELLED)
def test_languages_with_words_of_their_own(language):
    assert detect(UNMODELLED[language]) == language


@pytest.mark.parametrize("language", ["nl", "es", "fr", "it", "pt", "en"])
def test_one_foreign_word_is_no_language(language):
    for word in ("veur", "d'o", "successat"):
        assert detect(f"{TEXTS[language]} {word}.") == language


def test_a_long_page_that_quotes_another_language_keeps_its_own():
    assert detect(f"{TEXTS['nl']} " * 20 + UNMODELLED["li"] + f" {TEXTS['nl']}" * 5) == "nl"
    assert detect(f"{UNMODELLED['li']} " * 30) == "li"


# The model of the second opinion


def test_a_model_kept_unpacked_answers_as_the_packed_one_and_is_made_again_when_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path))
    packed = language_model.load()
    monkeypatch.setattr(language_model, "_unpacked", lambda: packed)
    mapped = language_model.load()
    assert mapped is not packed
    texts = [*TEXTS.values(), "", "x", "ÄÖÜ", "lorem ipsum dolor sit amet", "\ud800"]
    assert [mapped.rank(text) for text in texts] == [packed.rank(text) for text in texts]

    (damaged,) = tmp_path.rglob("moves.npy")
    damaged.write_bytes(damaged.read_bytes()[:1000])
    assert language_model.load() is packed
    assert language_model.load().rank(TEXTS["pl"]) == packed.rank(TEXTS["pl"])
    assert len(list((tmp_path / "language").iterdir())) == 1


def test_without_a_place_to_keep_it_the_model_is_unpacked(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path / "file" / "below"))
    names = ("nb_ptc", "nb_pc", "nb_classes", "tk_nextmove", "tk_row", "tk_output")
    small = SimpleNamespace(**{name: [0] for name in names})
    monkeypatch.setattr(language_model, "_unpacked", lambda: small)
    assert language_model.load() is small


# Fingerprints


def article(seed, words=400):
    choose = random.Random(seed)
    vocabulary = [f"word{number}" for number in range(500)]
    return [choose.choice(vocabulary) for _ in range(words)]


def test_equal_texts_share_a_fingerprint_whatever_their_case_and_spacing():
    words = article(1)
    assert simhash(" ".join(words)) == simhash("\n ".join(words).upper())


def test_near_duplicates_are_near_and_others_far():
    near = []
    far = []
    for seed in range(20):
        words = article(seed)
        changed = [*words[:200], "inserted", *words[203:]]
        near.append(distance(simhash(" ".join(words)), simhash(" ".join(changed))))
        far.append(distance(simhash(" ".join(words)), simhash(" ".join(article(seed + 1000)))))
    assert max(near) <= 8
    assert min(far) >= 16


def test_order_matters():
    words = article(3)
    assert distance(simhash(" ".join(words)), simhash(" ".join(sorted(words)))) > 16


def test_texts_without_spaces_have_fingerprints_too():
    text = TEXTS["zh"] * 5 + TEXTS["ja"] * 5
    assert distance(simhash(text), simhash(text.replace("港外", "城外", 1))) <= 10
    assert distance(simhash(text), simhash(TEXTS["ko"] * 10)) > 16


@pytest.mark.parametrize("text", ["", " ", "...!", "one", "one two"])
def test_short_texts(text):
    assert (simhash(text) == 0) is not any(char.isalpha() for char in text)


@given(st.text(max_size=300))
def test_fingerprints_are_signed_64_bit(text):
    assert -(2**63) <= simhash(text) < 2**63
    assert simhash(text) == simhash(text)


def test_a_long_text_counts_up_to_its_bound():
    assert simhash("tide " * 300_000)


def test_exact_hash_is_of_the_bytes():
    assert content_hash(b"a") == content_hash(b"a") != content_hash(b"b")


@pytest.mark.parametrize("text", ["Putnici su čekali na obali.", "Bus 001 Device 003: ID 0bda:5621"])
def test_short_texts_on_which_opinions_differ_have_no_language(text):
    assert detect(text) == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("बंदरगाह पश्चिम की ओर खुला है।", "hi"),
        ("বন্দরটি পশ্চিম দিকে খোলা।", "bn"),
        ("બંદર પશ્ચિમ તરફ ખુલ્લું છે.", "gu"),
        ("ਬੰਦਰਗਾਹ ਖੁੱਲ੍ਹੀ ਹੈ।", "pa"),
        ("වරාය විවෘතයි.", "si"),
        ("港は西に開く。", "ja"),
        ("港口向西敞开。", "zh"),
        ("항구는 열려 있다.", "ko"),
        ("ท่าเรือเปิดอยู่", "th"),
        ("Порт открыт к западу.", "ru"),
    ],
)
def test_a_short_sentence_is_known_by_its_script_or_by_two_opinions(text, language):
    assert detect(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Gdje je računalo koje nema zaslon?", "hr"),
        ("Gdje je računar i šta kaže sistem?", "bs"),
        ("Gde je računar i šta kaže sistem?", "sr"),
        ("Kapal bisa masuk karena pelabuhan terbuka.", "id"),
        ("Kapal boleh masuk kerana pelabuhan terbuka.", "ms"),
        ("Skibet blev liggende uden for havnen efter uvejret.", "da"),
        ("Skipet ble liggende utenfor havnen etter uværet.", "no"),
        ("Ќе го отвориме пристаништето поради магла.", "mk"),
        ("Нећемо отворити луку због магле.", "sr"),
    ],
)
def test_neighbours_are_told_by_words_that_only_one_of_them_has(text, language):
    assert detect(text) == language


def test_words_of_both_neighbours_tell_nothing():
    assert telltales.told("računalo sistem", "hr", "bs") == ""
    assert telltales.told("the quick brown fox", "en") == ""


def test_latin_names_do_not_hide_a_script():
    assert detect("ഈ കമ്പ്യൂട്ടർ Linux ഉപയോഗിക്കുന്നു.") == "ml"
    assert detect("The Korean word 항구 means harbour, and so does the Japanese one.") == "en"
