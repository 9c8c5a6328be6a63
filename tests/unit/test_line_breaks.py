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


def test_a_word_and_its_number_an_option_and_its_value_a_formula_and_its_comma_stand_on_one_line() -> None:
    pre = '<span class="pre">{}</span>'.format
    command = " ".join(map(pre, ("xling", "run", "-p", "live", "all", "--seeds", "4", "--records-only", "--json")))
    formula = '<span class="math notranslate nohighlight">\\(x\\)</span>'
    code = f'<code class="docutils literal notranslate">{command}</code>'
    page = f"<p>K et al. (E, fig. 2) at layer 1, {formula}, {code}</p>"
    text = line_breaks.allowed(page)
    whole = [
        re.sub("<[^>]*>", "", part)
        for part in re.findall('<span class="whole">((?:<span.*?</span>|[^<])*)</span>', text)
    ]
    assert whole == ["et al.", "fig. 2", "layer 1", "\\(x\\),", "-p live all", "--seeds 4"]
    assert re.sub("<[^>]*>", "", text) == re.sub("<[^>]*>", "", page)
    short = '<code class="docutils literal notranslate">' + " ".join(map(pre, ("git", "show"))) + "</code>"
    assert line_breaks.allowed(short).startswith('<code class="docutils literal notranslate whole">')
    assert "<wbr>" not in line_breaks.allowed(pre("retrieval.md")) and "RESULTS.md" in line_breaks.allowed(
        pre("benchmarks_of_all/RESULTS.md")
    )
