"""Names of a program are broken between their words, and short ones not at all."""

from __future__ import annotations

import re

import pytest

from xling_utils.book import line_breaks


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("--records-only", '<span class="pre short">--records-only</span>'),
        ("&lt;key&gt;/&lt;step&gt;", '<span class="pre short">&lt;key&gt;/&lt;step&gt;</span>'),
        ("test_a_run_ends_in_the_same_bits", "test_<wbr>a_<wbr>run_<wbr>ends_<wbr>in_<wbr>the_<wbr>same_<wbr>bits"),
        ("text/&lt;language&gt;/&quot;a.b&quot;", "text/<wbr>&lt;language&gt;/<wbr>&quot;a.<wbr>b&quot;"),
        ("bert-base-multilingual-cased", "bert-base-multilingual-cased"),
    ],
)
def test_places_are_between_words(word: str, written: str) -> None:
    text = line_breaks.allowed(f'<p>_a.b/c_ <code><span class="pre">{word}</span></code></p>')
    assert written in text and text.startswith("<p>_a.b/c_ ")
    assert re.sub("<[^>]*>", "", text) == f"_a.b/c_ {word}", "what is read and copied stays the same"


def test_numbers_of_claims_dates_and_percentages_are_kept_whole_in_running_text_alone() -> None:
    page = '<p title="C-17">C-17, 2026-11-23: 7.5 %</p><pre>C-17</pre><script>"31 %"</script>ABC-17, 1-2'
    text = line_breaks.allowed(page)
    assert re.findall('<span class="whole">([^<]*)</span>', text) == ["C-17", "2026-11-23", "7.5 %"]
    assert re.sub("</?span[^>]*>", "", text) == page
