"""How much of inference can be told in every language by a rule that knows no word, learned in English alone?

    python benchmarks/without_words.py [--data DIR]

Each rule is a logistic regression on what it sees of English pairs, asked of the tests in English and in others: of the
controlled world, and of real text where ``--data`` names a directory. Pairs are those that encoders are tuned and asked
on. *Lengths* are numbers of words; *counts* how many words the premise alone has, the hypothesis alone, and both: which
they are it does not see. What sees words of one sentence alone can be asked in English only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from _machine import machine
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from xling_utils.core.scales import scale
from xling_utils.measures.transfer.zero_shot import RECIPES, Source

LANGUAGES = ("en", "fr", "es", "de", "ru", "hi", "zh")
FEW = 600
"""Pairs, if it has to be quick."""
MOST = 40
"""Words; longer sentences count as of so many."""
Words = Sequence[str]
Sees = Callable[[Words, Words], Mapping[str, int]]


def main() -> None:
    """Prints a markdown table: a row for each rule, with its accuracy in each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="directory of real text")
    parser.add_argument("--quick", action="store_true", help="few pairs of the controlled world")
    args = parser.parse_args()
    head = ("pairs", "the rule sees", *LANGUAGES)
    print(f"{machine()}.\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for world, size in (("controlled", "controlled"), *[("real", "natural")] * bool(args.data)):
        recipe, source = RECIPES[size, "NLI"], Source(scale(size).source, args.data)
        if args.quick:
            recipe = replace(recipe, items=FEW, held_out=FEW)
        taught = _pairs(source, "en", "train", recipe.items)
        asked = {language: _pairs(source, language, "test", recipe.held_out) for language in LANGUAGES}
        for rules, of in ((WITHOUT_WORDS, LANGUAGES), (OF_WORDS, LANGUAGES[:1])):
            for name, sees in rules.items():
                right = _accuracy(sees, taught, {language: asked[language] for language in of})
                cells = (f"{right[language]:.3f}" if language in right else "" for language in LANGUAGES)
                print(f"| {world} | {name} | {' | '.join(cells)} |", flush=True)


def lengths(premise: Words, hypothesis: Words) -> dict[str, int]:
    """How many words each has, and how many more the premise has."""
    one, other = min(len(premise), MOST), min(len(hypothesis), MOST)
    return {f"premise {one}": 1, f"hypothesis {other}": 1, f"apart {one - other}": 1}


def counts(premise: Words, hypothesis: Words) -> dict[str, int]:
    """How many words stand in one alone, and in both."""
    one, other = {*premise}, {*hypothesis}
    alone, only, both = (min(len(words), MOST) for words in (one - other, other - one, one & other))
    return {f"premise alone {alone}": 1, f"hypothesis alone {only}": 1, f"{alone} and {only}": 1, f"both {both}": 1}


WITHOUT_WORDS: dict[str, Sees] = {"lengths": lengths, "counts": counts}
OF_WORDS: dict[str, Sees] = {
    "the words of the premise": lambda premise, _: dict.fromkeys(premise, 1),
    "the words of the hypothesis": lambda _, hypothesis: dict.fromkeys(hypothesis, 1),
}


def _pairs(source: Source, language: str, split: str, count: int | None) -> list[tuple[Words, Words, str]]:
    columns = source.columns("NLI", language, split, count)
    return [(premise.split(), hypothesis.split(), label) for premise, hypothesis, label in zip(*columns, strict=True)]


def _accuracy(
    sees: Sees, taught: Sequence[tuple[Words, Words, str]], asked: Mapping[str, Sequence[tuple[Words, Words, str]]]
) -> dict[str, float]:
    rule = make_pipeline(DictVectorizer(), LogisticRegression(C=0.1, max_iter=500))
    rule.fit([sees(p, h) for p, h, _ in taught], [label for *_, label in taught])
    return {
        language: float(rule.score([sees(p, h) for p, h, _ in pairs], [label for *_, label in pairs]))
        for language, pairs in asked.items()
    }


if __name__ == "__main__":
    main()
