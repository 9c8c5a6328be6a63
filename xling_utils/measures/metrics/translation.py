"""How far a text has changed its language, token by token, and how near it came to a translation (A, sec. 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from xling_utils.core.errors import UserError


def convert_rate(
    tokens: Sequence[str], source_vocabulary: Collection[str], target_vocabulary: Collection[str]
) -> float:
    """Share of ``tokens`` that are of the target language alone, of those that are not of both (A, sec. 4.2).

    A token of neither vocabulary counts as not converted. NaN if every token is of both. Raises :class:`UserError` if
    a vocabulary is empty.
    """
    source, target = frozenset(source_vocabulary), frozenset(target_vocabulary)
    if not source or not target:
        raise UserError("convert rate: a language has no token of its own; give text of both languages")
    telling = [token for token in tokens if token not in source or token not in target]
    if not telling:
        return float("nan")
    return sum(token in target for token in telling) / len(telling)


def third_rate(
    tokens: Sequence[str],
    source_vocabulary: Collection[str],
    target_vocabulary: Collection[str],
    others: Iterable[Collection[str]],
) -> float:
    """Share of ``tokens`` that another language's vocabulary holds, and neither the source's nor the target's (D,
    sec. 3.3: whether a model ever answers in a third language). NaN if there is no token."""
    if not tokens:
        return float("nan")
    third = frozenset().union(*others) - frozenset(source_vocabulary) - frozenset(target_vocabulary)
    return sum(token in third for token in tokens) / len(tokens)


def bleu1(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU of single words, 0 to 100, by ``sacrebleu`` with its brevity penalty; words are what spaces
    separate. Raises :class:`UserError` if there are not as many references as hypotheses, or none."""
    from sacrebleu.metrics import BLEU

    if len(hypotheses) != len(references) or not hypotheses:
        raise UserError(f"BLEU: {len(hypotheses)} hypotheses, {len(references)} references")
    metric = BLEU(max_ngram_order=1, tokenize="none", force=True)
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score)
