"""Dependency parsing: a deep biaffine head on the first piece of each word, maximum spanning trees, and their scores.

The head is that of Dozat and Manning (2017), as C has it (sec. 3.2). Scores are those of the CoNLL 2018 shared task
(Zeman et al. 2018, sec. 4.1) on gold words: punctuation counts, relations are compared without their subtypes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from xling_utils.corpora.treebanks import RELATIONS, cycle
from xling_utils.measures.metrics.intervals import Interval
from xling_utils.measures.metrics.retrieval import resampled_sums
from xling_utils.measures.transfer.inputs import Batch, Input, batches, tagged
from xling_utils.measures.transfer.readers import Reader
from xling_utils.measures.transfer.scores import Counts
from xling_utils.measures.transfer.tuning import TEST_BATCH, Model

ARC, RELATION, DROPOUT = 500, 100, 0.33
"""Sizes of the two spaces in Dozat and Manning (their Table 1) and their dropout. On an encoder less wide, the
spaces are at most twice and once as wide as it is."""
OUTSIDE = -100
"""The head of a word whose head was cut off: nothing is learned from it."""

Heads = Sequence[Sequence[int]]
Relations = Sequence[Sequence[str]]


class Parser(Model):
    """Scores every word as the head of every other, and every relation between the two; the root's state is that of
    the input's first token."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader
        arc, relation = min(ARC, 2 * reader.width), min(RELATION, reader.width)
        self.arc_word, self.arc_head = _space(reader.width, arc), _space(reader.width, arc)
        self.relation_word, self.relation_head = _space(reader.width, relation), _space(reader.width, relation)
        self.arc = nn.Parameter(torch.zeros(arc + 1, arc))
        self.relation = nn.Parameter(torch.zeros(len(RELATIONS), relation + 1, relation + 1))

    def forward(self, language: str, batch: Batch) -> tuple[Tensor, Tensor]:
        """Scores of heads (sentences, words, words + 1), head 0 the root, and of relations (sentences, words,
        words + 1, relations); padding and a word itself score -inf as heads."""
        states = self.reader.states(language, batch.ids, batch.mask, batch.segments)
        counts = torch.bincount(batch.rows, minlength=len(states))
        longest = int(counts.max())
        column = torch.arange(len(batch.rows), device=states.device) - (counts.cumsum(0) - counts)[batch.rows]
        nodes = states.new_zeros(len(states), longest + 1, self.reader.width)
        nodes[:, 0] = states[:, 0]
        nodes[batch.rows, column + 1] = states[batch.rows, batch.places]
        words = nodes[:, 1:]
        arcs = _with_one(self.arc_word(words)) @ self.arc @ self.arc_head(nodes).transpose(1, 2)
        place = torch.arange(longest + 1, device=states.device)
        padding = place > counts[:, None]
        arcs = arcs.masked_fill(padding[:, None] | (place[None] == place[1:, None]), -torch.inf)
        word, head = _with_one(self.relation_word(words)), _with_one(self.relation_head(nodes))
        return arcs, torch.einsum("bwi,rij,bhj->bwhr", word, self.relation, head)

    def loss(self, language: str, batch: Batch) -> Tensor:
        """The cross entropy of the heads and that of the relations to the gold heads."""
        arcs, relations = self(language, batch)
        counts = torch.bincount(batch.rows, minlength=len(arcs))
        real = torch.arange(arcs.shape[1], device=arcs.device) < counts[:, None]
        learned = batch.labels != OUTSIDE
        head, relation = batch.labels[learned] // len(RELATIONS), batch.labels[learned] % len(RELATIONS)
        chosen = relations[real][learned][torch.arange(len(head), device=head.device), head]
        return F.cross_entropy(arcs[real][learned], head) + F.cross_entropy(chosen, relation)


def _space(width: int, size: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, size), nn.LeakyReLU(0.1), nn.Dropout(DROPOUT))


def _with_one(states: Tensor) -> Tensor:
    return F.pad(states, (0, 1), value=1.0)


def parsed(reader: Reader, words: Relations, heads: Heads, relations: Relations, language: str) -> list[Input]:
    """Sentences with their trees as inputs: a word's label is its head and its relation in one number."""
    labels = [
        [head * len(RELATIONS) + RELATIONS.index(relation) for head, relation in zip(*tree, strict=True)]
        for tree in zip(heads, relations, strict=True)
    ]
    inputs = tagged(reader, words, labels, language)
    for item in inputs:
        last = len(item.places) * len(RELATIONS) + len(RELATIONS) - 1
        item.labels[:] = [label if label <= last else OUTSIDE for label in item.labels]
    return inputs


@torch.no_grad()
def parse(model: Parser, inputs: Sequence[Input], language: str) -> tuple[list[list[int]], list[list[str]]]:
    """The heads and relations of the words that fit into each input: the maximum spanning tree with one root, and at
    each arc its best relation, ``root`` at the root's and nowhere else."""
    model.eval()
    heads: list[list[int]] = [[] for _ in inputs]
    names: list[list[str]] = [[] for _ in inputs]
    device = next(model.parameters()).device
    for batch in batches(inputs, TEST_BATCH, model.reader.padding, device):
        arcs, relations = model(language, batch)
        arcs = arcs.log_softmax(dim=-1).double().cpu().numpy()
        best = (relations[..., 1:].argmax(dim=-1) + 1).cpu().numpy()
        for row, number in enumerate(batch.numbers):
            size = len(inputs[number].places)
            tree = spanning_tree(arcs[row, :size, : size + 1])
            heads[number] = tree
            names[number] = [RELATIONS[best[row, word, head] if head else 0] for word, head in enumerate(tree)]
    return heads, names


def spanning_tree(scores: npt.NDArray[np.float64]) -> list[int]:
    """The heads of the tree with one root whose arcs have the highest sum of ``scores`` (words, words + 1): row i is
    word i + 1, column 0 the root.

    The best heads, word by word, are the answer where they are such a tree. Else it is found by contracting cycles (Chu
    and Liu 1965; Edmonds 1967), with every arc from the root made dearer than all others together, so that one is used,
    the best (Stanojević and Cohen 2021, sec. 3). networkx takes more than ten times as long.
    """
    greedy = scores.argmax(axis=1).tolist()
    if not greedy or _is_tree(greedy):  # no words where the first alone was longer than the model takes
        return greedy
    finite = scores[np.isfinite(scores)]
    dear = np.zeros_like(scores)
    dear[:, 0] = 1 + len(scores) * (finite.max() - finite.min())
    return _arborescence(np.vstack([np.full(scores.shape[1], -np.inf), scores - dear]))[1:]


def _arborescence(scores: npt.NDArray[np.float64]) -> list[int]:
    """The heads of all nodes in the tree from node 0 whose arcs have the highest sum of ``scores`` (nodes, nodes), row
    i those of the heads of node i; node 0 is its own head."""
    heads = scores.argmax(axis=1)
    heads[0] = 0
    turning = cycle(heads[1:].tolist())
    if not turning:
        return heads.tolist()
    inside, outside = np.array(turning), np.delete(np.arange(len(scores)), turning)
    # What the cycle loses where a node outside becomes the head of one of its own, which then leaves its head there.
    entering = scores[inside[:, None], outside] - scores[inside, heads[inside]][:, None]
    leaving = scores[outside[:, None], inside]
    one = len(outside)  # the cycle as a single node
    contracted = np.full((one + 1, one + 1), -np.inf)
    contracted[:one, :one] = scores[outside[:, None], outside]
    contracted[one, :one], contracted[:one, one] = entering.max(axis=0), leaving.max(axis=1)
    found = np.array(_arborescence(contracted))
    of_cycle, of_others = inside[leaving.argmax(axis=1)], np.append(outside, -1)[found[:one]]
    heads[outside] = np.where(found[:one] == one, of_cycle, of_others)
    heads[inside[entering[:, found[one]].argmax()]] = outside[found[one]]
    return heads.tolist()


def _is_tree(heads: Sequence[int]) -> bool:
    """One root, which is above every word."""
    return sum(head == 0 for head in heads) == 1 and not cycle(heads)


def attachment_scores(gold_heads: Heads, gold_relations: Relations, heads: Heads, relations: Relations) -> Counts:
    """Words with the right head, words with the right head and relation, and words, int64 (sentences, 3).

    The sums of the first two columns over that of the last are UAS and LAS by the definition of CoNLL 2018:
    relations without subtype, punctuation included. A word without a predicted head is wrong.
    """
    counts = np.zeros((len(gold_heads), 3), dtype=np.int64)
    for row, gold in enumerate(zip(gold_heads, gold_relations, strict=True)):
        guesses = [*zip(heads[row], relations[row], strict=True)]
        guesses += [(-1, "")] * (len(gold[0]) - len(guesses))
        for (head, relation), (found, name) in zip(zip(*gold, strict=True), guesses, strict=True):
            attached = head == found
            counts[row] += attached, attached and relation.split(":")[0] == name.split(":")[0], 1
    return counts


def share(counts: Counts, column: int, seed: int = 0) -> Interval:
    """The sum of a column of ``counts`` (sentences, columns) over that of the last, with a 95 % percentile bootstrap
    interval over sentences; ``n`` is the sum of the last: the words."""
    right, words = resampled_sums(counts[:, [column, -1]], seed).T
    low, high = np.percentile(right / words, [2.5, 97.5])
    total = counts.sum(axis=0)
    return Interval(float(total[column] / total[-1]), float(low), float(high), int(total[-1]))
