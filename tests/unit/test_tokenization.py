"""Word pieces: fixed special tokens, the same tokenizer in every process, the layout of the stream."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from datasets import Dataset

from tests.given import DATA, ROOT
from xling_utils.core.errors import UserError
from xling_utils.core.specs import TokenizerSpec
from xling_utils.models import tokenization
from xling_utils.models.tokenization import CLS, FIRST, MASK, PAD, SEP, SPECIAL, UNK, Coder

VOCABULARY = "bert-base-multilingual-cased.vocab.txt"


def dataset(*lines: str, documents: list[int] | None = None) -> Dataset:
    return Dataset.from_dict({"text": list(lines), "document": documents or [0] * len(lines)})


def words() -> dict[str, Dataset]:
    """Two alphabets, many words of equal frequency: ties everywhere for the trainer to break."""
    rng = np.random.default_rng(0)
    texts = {}
    for language, letters in (("en", "abcdefghijklmnopqrs"), ("ru", "абвгдежзийклмнопрст")):
        lexicon = ["".join(rng.choice(list(letters), rng.integers(1, 8))) for _ in range(200)]
        texts[language] = dataset(*(" ".join(rng.choice(lexicon, 8)) for _ in range(200)))
    return texts


@pytest.fixture(scope="module")
def tokenizer():
    return tokenization.build(TokenizerSpec("wordpiece", 300), words())


def fingerprint(tokenizer) -> str:
    return hashlib.sha256(tokenizer.to_str().encode()).hexdigest()


def test_special_tokens_hold_the_first_ids(tokenizer):
    assert (PAD, UNK, CLS, SEP, MASK, FIRST) == (0, 1, 2, 3, 4, 5)
    assert [tokenizer.token_to_id(token) for token in SPECIAL] == [0, 1, 2, 3, 4]
    assert sorted(tokenizer.get_vocab().values()) == list(range(300))


def test_pieces_spell_the_words_again(tokenizer):
    for text in words().values():
        for line in text["text"][:20]:
            ids = tokenizer.encode(line, add_special_tokens=False).ids
            assert min(ids) >= FIRST
            assert " ".join(map(tokenizer.id_to_token, ids)).replace(" ##", "") == line


def test_every_process_builds_the_same_tokenizer(tokenizer):
    """A run that goes on after it was killed, and every rank of a distributed one, builds its own."""
    code = "from tests.unit.test_tokenization import *; "
    code += "print(fingerprint(tokenization.build(TokenizerSpec('wordpiece', 300), words())))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert child.stdout.strip() == fingerprint(tokenizer)


def test_a_size_below_the_characters_is_refused_and_the_least_size_named():
    text = {"en": dataset("abc abd bad cab dab")}  # 5 special tokens, a b c d, ##a ##b ##c ##d
    with pytest.raises(UserError, match=r"12 pieces are fewer .* give at least 13$"):
        tokenization.build(TokenizerSpec("wordpiece", 12), text)
    least = tokenization.build(TokenizerSpec("wordpiece", 13), text)
    assert least.encode("dab bad").tokens == ["d", "##a", "##b", "b", "##a", "##d"]


def test_an_unknown_kind_is_refused():
    with pytest.raises(UserError, match="unknown kind 'bpe'; known: wordpiece, characters, words, mbert"):
        tokenization.build(TokenizerSpec("bpe", 100), words())


@pytest.mark.parametrize("size", [0, FIRST - 1, FIRST])
def test_a_vocabulary_without_a_word_is_refused(size):
    with pytest.raises(UserError, match=f"size {size} leaves no word beside 5 special tokens; give more"):
        tokenization.build(TokenizerSpec("words", size), words())


@pytest.mark.parametrize("token", SPECIAL)
def test_a_special_token_in_the_text_is_text(token, tmp_path):
    text = {"en": dataset("ab [MASK] [SEP] ba", "[PAD] [UNK] [CLS] ab ba")}
    tokenizer = tokenization.build(TokenizerSpec("wordpiece", 60), text)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    for one in (tokenizer, tokenization.load(tmp_path / "tokenizer.json")):
        for line in (token, f"ab {token} ba", f"ab{token}"):
            ids = one.encode(line, add_special_tokens=False).ids
            assert min(ids) >= FIRST, one.encode(line, add_special_tokens=False).tokens


def test_unseen_characters_are_unknown(tokenizer):
    assert tokenizer.encode("ξ", add_special_tokens=False).ids == [UNK]


def test_a_saved_tokenizer_loads_back(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    back = tokenization.load(path)
    lines = words()["ru"]["text"][:50]
    assert back.get_vocab() == tokenizer.get_vocab()
    assert [e.ids for e in back.encode_batch(lines)] == [e.ids for e in tokenizer.encode_batch(lines)]


def test_encode_words_gives_the_pieces_of_each(tokenizer):
    some = ["abc", "abc abd", "где"]
    pieces = [tuple(ids) for ids in Coder(tokenizer).encode(some)]
    assert pieces == [tuple(tokenizer.encode(word, add_special_tokens=False).ids) for word in some]
    assert all(isinstance(ids, tuple) and SEP not in ids for ids in pieces)


def test_the_stream_closes_every_sentence_and_knows_starts_documents_and_words(tokenizer):
    lines = ["abc de", "f", "", "ghi jk l"]
    stream = Coder(tokenizer).stream(dataset(*lines, documents=[0, 0, 1, 2]))
    sentences = [tokenizer.encode(line, add_special_tokens=False) for line in lines if line]
    assert stream.ids.tolist() == [i for sentence in sentences for i in (*sentence.ids, SEP)]
    assert stream.ids[stream.starts].tolist() == [sentence.ids[0] for sentence in sentences]
    assert stream.starts[0] == 0 and (stream.ids[stream.starts[1:] - 1] == SEP).all()
    assert stream.documents.tolist() == [0, 0, 2]
    tokens = [token for sentence in sentences for token in (*sentence.tokens, "[SEP]")]
    assert stream.inside.tolist() == [token.startswith("##") for token in tokens]
    assert stream.inside.any() and not stream.inside[stream.starts].any()
    types = [array.dtype for array in (stream.ids, stream.starts, stream.documents, stream.inside)]
    assert types == [np.int32, np.int64, np.int64, np.bool_]


def test_a_stream_longer_than_one_reading_batch(tokenizer):
    stream = Coder(tokenizer).stream(dataset(*["a", "b c"] * 2100))
    a, b, c = (tokenizer.token_to_id(token) for token in "abc")
    assert stream.ids.tolist() == [a, SEP, b, c, SEP] * 2100


def test_a_corpus_without_tokens_is_refused(tokenizer):
    with pytest.raises(UserError, match="no tokens"):
        Coder(tokenizer).stream(dataset("", " "))


def mbert(folder: Path, pieces: list[str]) -> Path:
    (folder / "vocab").mkdir(parents=True, exist_ok=True)
    (folder / "vocab" / VOCABULARY).write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return folder


def test_a_made_multilingual_vocabulary(tmp_path):
    pieces = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<S>", "un", "##do", "ing", "[", "]"]
    tokenizer = tokenization.build(TokenizerSpec("mbert", 0), {}, mbert(tmp_path, pieces))
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    assert vocabulary == [*SPECIAL, "[unused1]", "<S>", "un", "##do", "ing", "[", "]"]
    assert tokenizer.encode("undo ing").tokens == ["un", "##do", "ing"]
    assert tokenizer.encode("[MASK]").tokens == ["[", "[UNK]"]
    assert tokenizer.encode("xyz").ids == [UNK]


def test_a_line_given_twice_in_a_vocabulary_leaves_no_hole_in_the_ids(tmp_path):
    tokenizer = tokenization.build(TokenizerSpec("mbert", 0), {}, mbert(tmp_path, ["a", "b", "a", "c"]))
    assert sorted(tokenizer.get_vocab().values()) == list(range(8))


@pytest.mark.parametrize(("data", "size"), [(None, 0), (Path("/nowhere"), 500)])
def test_the_multilingual_vocabulary_needs_data_and_no_size(data, size):
    with pytest.raises(UserError, match="mbert takes its vocabulary from the data directory, and size 0"):
        tokenization.build(TokenizerSpec("mbert", size), {}, data)


def test_a_missing_multilingual_vocabulary_is_named(tmp_path):
    with pytest.raises(UserError, match=VOCABULARY):
        tokenization.build(TokenizerSpec("mbert", 0), {}, tmp_path)


@pytest.mark.skipif(not (DATA / "vocab" / VOCABULARY).is_file(), reason=f"no {VOCABULARY} under {DATA}")
def test_the_real_multilingual_vocabulary_cuts_words_as_transformers_does():
    from transformers import BertTokenizer

    tokenizer = tokenization.build(TokenizerSpec("mbert", 0), {}, DATA)
    assert tokenizer.get_vocab_size() == 119_547
    assert [tokenizer.token_to_id(token) for token in SPECIAL] == [0, 1, 2, 3, 4]
    pieces = (DATA / "vocab" / VOCABULARY).read_text(encoding="utf-8").split("\n")
    theirs = BertTokenizer(vocab={piece: i for i, piece in enumerate(filter(None, pieces))}, do_lower_case=False)
    for line in ("Crosslingual models surprise", "Многоязычные модели удивляют", "कई भाषाएँ", "語 言 模 型"):
        assert tokenizer.encode(line).tokens == theirs.tokenize(line)


def test_characters_and_words_are_vocabularies_of_their_own_kind():
    text = {"en": dataset("the cat sat", "the cat ran", "a dog")}
    characters = tokenization.build(TokenizerSpec("characters", 0), text)
    tokens = characters.encode("the dog", add_special_tokens=False).tokens
    assert tokens == ["t", "##h", "##e", "d", "##o", "##g"]
    words_only = tokenization.build(TokenizerSpec("words", FIRST + 2), text)
    assert words_only.get_vocab_size() == FIRST + 2
    assert words_only.encode("the cat sat", add_special_tokens=False).ids == [FIRST + 1, FIRST, UNK]


def test_separate_languages_share_special_tokens_only(tokenizer):
    spec = TokenizerSpec("wordpiece", 300, separate=True)
    both = tokenization.coders(tokenizer, spec, ("en", "fr"))
    assert tokenization.vocabulary_size(tokenizer, spec, ("en", "fr")) == FIRST + 2 * 295
    text = dataset("abc def gh", "a \u4e00")
    en, fr = both["en"].stream(text), both["fr"].stream(text)
    special = en.ids < FIRST
    assert np.array_equal(en.ids[special], fr.ids[special]) and UNK in en.ids
    assert np.array_equal(en.ids[~special] + 295, fr.ids[~special])
    assert np.array_equal(en.inside, fr.inside) and en.inside.any()
    assert both["fr"].encode(["abc"]) == [[i + 295 for i in both["en"].encode(["abc"])[0]]]


def test_markers_end_the_sentences_of_each_language(tokenizer):
    spec = TokenizerSpec("wordpiece", 300, markers=True)
    both = tokenization.coders(tokenizer, spec, ("en", "fr"))
    assert tokenization.vocabulary_size(tokenizer, spec, ("en", "fr")) == 302
    text = dataset("abc", "def")
    for language, marker in (("en", 300), ("fr", 301)):
        stream = both[language].stream(text)
        assert stream.ids[stream.starts[1:] - 1].tolist() == [marker] and SEP not in stream.ids


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("markers", [False, True])
def test_each_language_may_have_special_tokens_of_its_own(tokenizer, separate, markers):
    spec, languages = TokenizerSpec("wordpiece", 300, separate, markers, specials=True), ("en", "fr", "de")
    both = tokenization.coders(tokenizer, spec, languages)
    size = tokenization.vocabulary_size(tokenizer, spec, languages)
    text, found = dataset("abc def gh", "a \u4e00"), {}
    for language, coder in both.items():
        stream = coder.stream(text)
        low, high = stream.ordinary
        found[language] = {*range(stream.special, stream.special + FIRST), stream.separator}
        assert {stream.start, stream.mask} == {CLS + coder.special, MASK + coder.special} <= found[language]
        assert set(stream.ids.tolist()) <= {*range(low, high), UNK + stream.special, stream.separator}
        assert stream.ids[stream.starts[1:] - 1].tolist() == [stream.separator]
        assert max(high - 1, *found[language]) < size
        assert not found[language] & set(range(low, high))
    assert found["en"] >= set(range(FIRST)) and both["en"].special == 0
    assert not found["en"] & found["fr"] and not found["fr"] & found["de"]
    assert max(set().union(*found.values())) == size - 1


def test_a_language_has_a_tokenizer_of_its_own_ids(tokenizer):
    spec = TokenizerSpec("wordpiece", 300, separate=True, specials=True)
    coders = tokenization.coders(tokenizer, spec, ("en", "fr"))
    assert coders["en"].own_tokenizer() is tokenizer
    own, lines = coders["fr"].own_tokenizer(), ["abc def [MASK]", "a \u4e00"]
    assert [e.ids for e in own.encode_batch(lines, add_special_tokens=False)] == coders["fr"].encode(lines)
    assert own.encode(lines[0]).tokens == tokenizer.encode(lines[0]).tokens


def test_separators_inside_documents_can_be_left_out(tokenizer):
    stream = Coder(tokenizer).stream(dataset("abc", "de", "fg", "h", documents=[0, 0, 1, 1]))
    ids = tokenization.without_inner_separators(stream)
    words = Coder(tokenizer).encode(["abc", "de", "fg", "h"])
    assert ids.tolist() == [*words[0], *words[1], SEP, *words[2], *words[3], SEP]
