"""The biaffine parser: trees that are the best ones, scores by the definition of CoNLL 2018, and learning."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from xling_utils.core.specs import EncoderSpec
from xling_utils.corpora.treebanks import RELATIONS
from xling_utils.measures.transfer.inputs import batches
from xling_utils.measures.transfer.parsing import (
    OUTSIDE,
    Parser,
    attachment_scores,
    parse,
    parsed,
    share,
    spanning_tree,
)
from xling_utils.measures.transfer.readers import EncoderReader
from xling_utils.measures.transfer.tuning import Recipe, fine_tune
from xling_utils.models.encoder import Encoders
from xling_utils.models.tokenization import PAD, SPECIAL, Coder

WORDS = [f"{kind}{i}" for kind in "vnd" for i in range(6)]
CPU = torch.device("cpu")


@pytest.fixture
def reader() -> EncoderReader:
    pieces = [*SPECIAL, *WORDS]
    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(1)
    spec = EncoderSpec(layers=1, width=16, heads=2, intermediate=32, positions=12)
    return EncoderReader(Encoders(spec, len(pieces), ("en",)), {"en": Coder(tokenizer)})


def sentences(count: int) -> tuple[list[list[str]], list[list[int]], list[list[str]]]:
    """One verb with nouns round it, each with a determiner before it."""
    rng = random.Random(0)
    rows = []
    for _ in range(count):
        before, after = rng.randint(0, 1), rng.randint(0, 2)
        words, heads, names = [], [], []
        verb = 2 * before + 1
        for name in ["nsubj"] * before + ["root"] + ["obj"] * after:
            if name == "root":
                words, heads, names = [*words, f"v{rng.randrange(6)}"], [*heads, 0], [*names, name]
            else:
                words += [f"d{rng.randrange(6)}", f"n{rng.randrange(6)}"]
                heads, names = [*heads, len(heads) + 2, verb], [*names, "det", name]
        rows.append((words, heads, names))
    words, heads, names = zip(*rows, strict=True)
    return list(words), list(heads), list(names)


# Trees


def is_tree(heads: tuple[int, ...]) -> bool:
    def rooted(word: int) -> bool:
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        return word == 0

    return heads.count(0) == 1 and all(rooted(word) for word in range(1, len(heads) + 1))


def total(scores: np.ndarray, heads) -> float:
    return float(sum(scores[word, head] for word, head in enumerate(heads)))


def test_a_cycle_of_best_heads_is_broken_where_it_costs_least():
    #           root  1     2     3
    scores = np.array([[1.0, -np.inf, 9.0, 0.0], [5.0, 8.0, -np.inf, 0.0], [0.0, 3.0, 2.0, -np.inf]])
    assert scores.argmax(axis=1).tolist() == [2, 1, 1]
    assert spanning_tree(scores) == [2, 0, 1]


def test_of_two_words_that_want_the_root_one_gets_it():
    scores = np.array([[9.0, -np.inf, 1.0], [8.0, 3.0, -np.inf]])
    assert scores.argmax(axis=1).tolist() == [0, 0]
    assert spanning_tree(scores) == [0, 1], "9 + 3 is more than 8 + 1"
    assert spanning_tree(np.array([[4.0, -np.inf]])) == [0]


@pytest.mark.parametrize("spread", [1.0, 1e4])
def test_a_tree_is_the_best_of_all_with_one_root(spread):
    rng = np.random.default_rng(0)
    for _ in range(100):
        size = int(rng.integers(1, 6))
        scores = spread * rng.normal(size=(size, size + 1))
        scores[np.arange(size), np.arange(1, size + 1)] = -np.inf
        best = max(filter(is_tree, itertools.product(range(size + 1), repeat=size)), key=lambda h: total(scores, h))
        assert spanning_tree(scores) == list(best)


def test_a_tree_of_many_words_is_that_of_networkx():
    import networkx

    rng = np.random.default_rng(0)
    for _ in range(5):
        scores = rng.normal(size=(40, 41))
        scores[np.arange(40), np.arange(1, 41)] = -np.inf
        found = spanning_tree(scores)
        assert is_tree(found)
        graph = networkx.DiGraph()
        graph.add_weighted_edges_from(
            (head, word + 1, weight - 1e3 * (head == 0))
            for (word, head), weight in np.ndenumerate(scores)
            if np.isfinite(weight)
        )
        best = networkx.maximum_spanning_arborescence(graph).edges
        assert {(head, word) for word, head in enumerate(found, 1)} == {*best}


# Scores


def test_attachment_is_counted_as_in_conll_2018():
    # "He sees the dog ." : one wrong head, one wrong relation; a subtype is no mistake, and punctuation counts
    gold = [[2, 0, 4, 2, 2]], [["nsubj:outer", "root", "det", "obj", "punct"]]
    heads, names = [[2, 0, 4, 2, 4]], [["nsubj", "root", "amod", "obj:agent", "punct"]]
    assert attachment_scores(*gold, heads, names).tolist() == [[4, 3, 5]]
    assert attachment_scores(*gold, *gold).tolist() == [[5, 5, 5]]


def test_a_right_relation_at_a_wrong_head_counts_for_nothing():
    assert attachment_scores([[0, 1]], [["root", "obj"]], [[2, 0]], [["root", "obj"]]).tolist() == [[0, 0, 2]]


def test_words_without_a_prediction_are_wrong():
    assert attachment_scores([[0, 1, 1]], [["root", "obj", "punct"]], [[0]], [["root"]]).tolist() == [[1, 1, 3]]


def test_shares_are_over_words_and_intervals_over_sentences():
    counts = np.array([[1, 0, 2], [3, 3, 3], [0, 0, 5]] * 20)
    found = share(counts, 0)
    assert found.value == pytest.approx(4 / 10) and found.n == 200
    assert found.low < found.value < found.high < 0.6
    assert share(counts, 1).value == pytest.approx(3 / 10)
    exact = share(np.array([[1, 1, 2]] * 9), 0)
    assert exact.low == exact.value == exact.high == 0.5


# The parser


def test_trees_are_read_back_from_the_labels_of_their_words(reader):
    words, heads, names = sentences(20)
    for item, head, name in zip(parsed(reader, words, heads, names, "en"), heads, names, strict=True):
        found = [divmod(label, len(RELATIONS)) for label in item.labels]
        assert [head for head, _ in found] == head and [RELATIONS[i] for _, i in found] == name


def test_a_word_longer_than_an_input_is_a_wrong_word_and_no_crash(reader):
    long = " ".join(WORDS[:12])  # twelve pieces of one word, the model takes twelve with [CLS] and [SEP]
    inputs = parsed(reader, [[long], ["v0", "n0"]], [[0], [0, 1]], [["root"], ["root", "obj"]], "en")
    assert [len(item.places) for item in inputs] == [0, 2]
    heads, names = parse(Parser(reader), inputs, "en")
    assert (heads[0], names[0]) == ([], []) and len(heads[1]) == 2
    assert attachment_scores([[0]], [["root"]], heads[:1], names[:1]).tolist() == [[0, 0, 1]]


def test_nothing_is_learned_from_a_head_that_was_cut_off(reader):
    words, heads, names = [["n1"] * 20], [[20, 1, *[2] * 17, 0]], [["obj"] * 19 + ["root"]]
    (item,) = parsed(reader, words, heads, names, "en")
    assert len(item.places) == len(item.labels) == reader.limit - 2
    assert item.labels[0] == OUTSIDE and OUTSIDE not in item.labels[1:]
    (batch,) = batches([item], 1, PAD, CPU)
    assert torch.isfinite(Parser(reader).loss("en", batch))
    found, _ = parse(Parser(reader), [item], "en")
    assert len(found[0]) == reader.limit - 2


def test_scores_do_not_depend_on_what_is_padded_beside_and_no_word_heads_itself(reader):
    torch.manual_seed(0)
    model = Parser(reader).eval()
    torch.nn.init.normal_(model.arc)
    torch.nn.init.normal_(model.relation)
    inputs = parsed(reader, [["v1", "n1"], ["v1", "d1", "n1", "d2", "n2"]], [[0, 1], [0, 3, 1, 5, 1]],
                    [["root", "obj"], ["root", "det", "obj", "det", "obj"]], "en")  # fmt: skip
    (alone,), (beside,) = batches(inputs[:1], 2, PAD, CPU), batches(inputs, 2, PAD, CPU)
    with torch.no_grad():
        one, two = model("en", alone), model("en", beside)
    torch.testing.assert_close(two[0][0, :2, :3], one[0][0], rtol=0, atol=1e-5)
    torch.testing.assert_close(two[1][0, :2, :3], one[1][0], rtol=0, atol=1e-5)
    finite = torch.isfinite(two[0])
    assert not finite[0, :, 3:].any() and not finite[:, range(5), range(1, 6)].any() and finite[1].sum() == 25


def test_sentences_are_parsed_after_fine_tuning_and_the_root_relation_is_at_the_root(reader):
    words, heads, names = sentences(260)
    torch.manual_seed(0)
    model = Parser(reader)
    train, test = (
        parsed(reader, words[part], heads[part], names[part], "en") for part in (slice(200), slice(200, None))
    )

    def counts() -> np.ndarray:
        return attachment_scores(heads[200:], names[200:], *parse(model, test, "en"))

    fine_tune(model, train, lambda: float(counts()[:, 1].sum()), Recipe(None, 10, 8, 1e-2, None), seed=0)
    assert share(counts(), 1).value > 0.9
    for head, name in zip(*parse(model, test, "en"), strict=True):
        assert is_tree(tuple(head)) and [h == 0 for h in head] == [n == "root" for n in name]
