"""The real data directory, where there is one: XLING_TEST_DATA, or ../shared/data beside the repository."""

from collections import defaultdict

import pytest

from tests.given import DATA, ROOT, real
from xling_utils.charts.shapes import LANGUAGE_NAMES
from xling_utils.core.specs import LANGUAGES
from xling_utils.corpora import directory
from xling_utils.corpora.checks import check, summary

pytestmark = real("text")


def test_every_language_has_text_and_a_dictionary():
    assert directory.languages(DATA) == LANGUAGES
    for language in LANGUAGES[1:]:
        assert len(directory.dictionary(DATA, language)) > 2500


@pytest.mark.parametrize("language", ["th", "zh", "hi", "ur", "sw"])
def test_samples_hold_no_test_sentence_and_nothing_held_out(language):
    train = directory.sample(DATA, language, 3000, seed=0)
    held = directory.sample(DATA, language, 300, seed=0, held_out=True)
    assert len(train) == 3000
    assert not directory.protected_sentences(DATA, language) & {*train["text"][:], *held["text"][:]}
    documents = (set(rows["text"][:]) for rows in (train, held))
    assert len(set.intersection(*documents)) < 0.1 * len(held)  # short lines repeat across documents


@pytest.mark.parametrize("language", ["th", "zh", "ar", "vi", "tr"])
def test_dictionary_words_stand_in_the_text_as_their_units(language):
    units = " ".join(directory.sample(DATA, language, 20000, seed=0)["text"][:]).split()
    places = defaultdict(list)
    for place, unit in enumerate(units):
        places[unit].append(place)

    def stands(word):
        """Where its rarest unit stands: to look for a word through all of the text takes long."""
        parts = word.split()
        before, rarest = min(enumerate(parts), key=lambda part: len(places.get(part[1], ())))
        begins = (place - before for place in places.get(rarest, ()) if place >= before)
        return any(units[begin : begin + len(parts)] == parts for begin in begins)

    words = [target for _, target in directory.dictionary(DATA, language)]
    assert sum(map(stands, words)) > 0.3 * len(words)


def test_the_fingerprint_is_quick_and_stable():
    assert directory.fingerprint(DATA, LANGUAGES) == directory.fingerprint(DATA, reversed(LANGUAGES))


def test_the_directory_is_whole():
    findings = [*check(DATA)]
    assert [finding.message for finding in findings if finding.level == "broken"] == []
    rows = summary(findings)
    assert [row["language"] for row in rows] == list(LANGUAGES)
    assert all(row["sentences"] > 40_000 for row in rows)
    page = (ROOT / "book/data.md").read_text(encoding="utf-8")
    for row in rows:
        stated = f"| {LANGUAGE_NAMES[row['language']]} | {row['megabytes']:.1f} | {row['sentences']:,} |"
        assert stated in page, f"the page of data does not say {stated}"
