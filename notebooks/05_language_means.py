# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: asked,mystnb,tags,-all
#     formats: ipynb,py:percent
#     notebook_metadata_filter: jupytext,kernelspec,-jupytext.text_representation
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How much of a language is one vector?
#
# :::{admonition} In this chapter
# - how much of an encoder's states tells the language, at every layer;
# - what is left of it when each language's mean is taken away;
# - whether translations are then found more often, and mined.
# :::
#
# **The answer.** In the controlled world, two thirds up, a probe tells the language of a token in 87 %<!-- value: told by a probe --> (84 %<!-- value: told by a probe low --> to 89 %<!-- value: told by a probe high -->) of all cases; with the mean of
# every language taken away, in 12 %<!-- value: told without the mean -->. And once the means are gone, translations are found more often, on real text, too.
#
# **The question.** A multilingual encoder must know which language it reads: asked for the word behind a mask, it offers words of that
# language. So its {term}`states <state>` hold the language beside the meaning. Where, and in what form? And if one could take the language out, would
# translations lie nearer to each other?
#
# **What the papers found.** Liu et al. propose the simplest answer there is: the language is the {term}`mean <language mean>` of its states
# {cite}`liu2020study`. Take the mean away ({term}`zero-mean`), or put another language's in its place ({term}`mean difference shift`, MDS), and the
# language is gone, or another. Sentence retrieval with multilingual BERT gains by the shift in most languages, and loses by zero-mean
# {cite}`liu2020language`.

# %% tags=["parameters", "hide-input"]
scale = "controlled"  # smoke, controlled, natural or paper
languages = ["fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh", "hi", "sw", "ur"]
seeds = 1  # how many, from the first reported one on
live = "headline"  # headline, all or none: what is trained on this machine
data = None  # directory of real text, for the scales natural and smoke
engine = "local"  # local or dask
scheduler = None  # address of a Dask scheduler
jobs = None  # runs at a time; None: one a core
sentences = None  # of text a language; None: as many as the scale reads
model = None  # a language model of your own, instead: a folder, or a name on the Hub
aligned = None  # translations of your own in data: parallel/NAME/<language>.txt

# %% [markdown] tags=["of-the-record"]
# ## One encoder of fifteen languages
#
# This chapter and the next look into one encoder of English and fourteen other languages, all of which it met equally often. Beside it stands
# the same encoder *untrained*, with its first weights: what it shows needs no learning.

# %% [markdown]
# A language's mean is taken at every layer over the tokens of a thousand sentences or more; everything below is measured
# on other sentences.

# %% tags=["remove-input"]
from xling_utils import charts, claims
from xling_utils.chapters import language_means, opened

charts.enable()
chapter = opened(
    "05_language_means",
    scale,
    languages,
    seeds,
    live,
    data,
    engine,
    scheduler,
    jobs,
    model,
    aligned,
    sentences=sentences,
)
charts.of_earlier_recipe(chapter.of_earlier_recipe)

# %% [markdown]
# ## How much language is in a layer?
#
# Two ways to ask. A *linear probe* is trained to tell the language from the state of a single token, and tested on tokens of other sentences. And
# of the *variance* of all tokens, a share lies between the languages' means and the rest within the languages
# ({ref}`how both are measured <language-identity>`). The sentences say the same in all languages, so that nothing but the language can tell them apart.

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: a linear probe is shown the state of one token. How often does it tell which of fifteen languages the token is from? And after every language's mean was taken away?
# In 87 %<!-- value: told by a probe --> of all cases, two thirds up; without the means in 12 %<!-- value: told without the mean -->.
# A guess is right in one case of fifteen.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-identity", "caption": "Without its mean a linear probe tells a language far less well.\n\nA linear probe's accuracy in telling the language of a token, and the share of variance between languages, at each layer. With the states as they are, and without the language's mean. Choose the measure below the chart; the legend picks a line."}}
language_means.identity(chapter.both)

# %% [markdown] tags=["of-the-record"]
# The probe finds the language at every layer. Taking the means away leaves next to no variance between the languages, by construction, and by
# construction next to nothing for a linear probe, too: it sees nothing but differences of means. What it still tells may come from the means having been taken of
# other text.

# %% [markdown]
# ## The words that languages share
#
# What a token is alone can give its language away. Of the tokens that a language's text holds, some are in English text, too:

# %% tags=["hide-input"]
charts.show(language_means.token_sets(chapter.both))

# %% [markdown]
# ## Retrieval without the language
#
# Now translations: for every sentence of a language the nearest one in English is looked up, by the cosine of the means of their tokens. Is it
# the translation? *Original* takes the states as they are, *zero-mean* takes each language's mean from its sentences, and *mean
# difference shift* takes the language's mean from the sentence and adds the English one. The last two differ only in where they put the origin that
# the cosine is measured from.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-means-retrieval", "caption": "Translations are found more often once the language's mean is taken out.\n\nSentence retrieval from each language to English at each layer, by what was done with the languages' means. Precision at 1; bars are 95 % intervals over seeds. Choose the language below the chart; the legend picks a line."}}
language_means.retrieval(chapter.both)

# %% [markdown] tags=["of-the-record"]
# Not all of it is learned: the untrained encoder, too, finds some sentences, perhaps by numerals and names, which are spelt alike in many languages:
# 2.4 %<!-- value: found by the untrained --> two thirds up, where the trained one finds 4.5 %<!-- value: found as they are --> with the means left in and 7.8 %<!-- value: found without the means --> without. The controls below
# the verdicts tell what is learned from what is not.
#
# Zero-mean, by which D saw retrieval lose, is the better of the two here: it finds more than the shift does (7.1 %<!-- value: found with the shift -->).

# %% [markdown]
# D reads multilingual BERT at its eighth layer of twelve; here is the layer as deep as that, in percent, beside theirs. It is
# differences within a row that can be compared.

# %% tags=["hide-input"]
charts.show(language_means.beside_paper(chapter.both, "p_at_1", "D_table_2_tatoeba"), digits=1)

# %% [markdown]
# A and D write of the mean over all *tokens*; D's program takes the mean over *sentences* of the means of their tokens, special tokens included. Does it
# make a difference?

# %% tags=["hide-input"]
charts.show(language_means.units(chapter.both))

# %% [markdown]
# ## Mining
#
# Harder: two texts of which only some sentences have a translation in the other. Every sentence proposes its nearest, and the pairs above a threshold
# count as found; the threshold is chosen on one half of the sentences, and the other half is scored.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-means-mining", "caption": "Mining gains by zero-mean, two thirds up the layers.\n\nF1 of mining translations, at each layer, by what was done with the languages' means. Bars are 95 % intervals over seeds. Choose the language below the chart."}}
language_means.mining(chapter.both)

# %% [markdown] tags=["of-the-record"]
# There, over fourteen languages, F1 is .02<!-- value: mined as they are --> as they are and .03<!-- value: mined without the means --> without the means. Whether the shift helps in the four
# languages that D mines, twenty seeds cannot tell.

# %% [markdown] tags=["of-the-record"]
# ## On real text
#
# The same with an encoder of the same fifteen languages of real text: four layers, and 18 million word pieces read, which takes one core some forty minutes.
# Five seeds are recorded. The sentences are Tatoeba's, up to a thousand a language; the texts to mine are BUCC's, Chinese and English.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-identity-natural", "caption": "On real text, too, a linear probe tells a language far less well without its mean.\n\nA linear probe's accuracy in telling the language of a token, and the share of variance between languages, at each layer; bars are 95 % intervals over seeds. Choose the measure below the chart; the legend picks a line."}}
real = chapter.on_real_text
language_means.identity(real.recorded)

# %% [markdown] tags=["of-the-record"]
# Real languages share more with English than the controlled ones do, names and loans for example:

# %% tags=["hide-input", "of-the-record"]
charts.show(language_means.token_sets(real.recorded))

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-means-retrieval-natural", "caption": "Real sentences are found more often without the means, and still seldom.\n\nSentence retrieval from each language to English at each layer, by what was done with the languages' means. Precision at 1; bars are 95 % intervals over seeds. Choose the language below the chart; the legend picks a line."}}
language_means.retrieval(real.recorded, "Tatoeba retrieval")

# %% [markdown] tags=["of-the-record"]
# Beside the paper's multilingual BERT, in percent, at the layer as deep as its eighth. It has read several thousand times as much text.

# %% tags=["hide-input", "of-the-record"]
charts.show(language_means.beside_paper(real.recorded, "p_at_1", "D_table_2_tatoeba"), digits=1)

# %% [markdown] tags=["of-the-record"]
# Without the means the probe tells far less here, too, though more is left; and retrieval gains as there when the means are taken out. It does not lose by zero-mean, where the papers saw a loss; zero-mean does better than the shift. But so small an encoder that has read so little finds few sentences: with the means left in 1.8 %<!-- value: found on real text --> of them, where its untrained twin, perhaps by names and numerals, finds
# 1.4 %<!-- value: found by the untrained on real text -->; without the means 2.8 %<!-- value: found on real text without the means -->, where the twin stays at 1.4 %<!-- value: found by the untrained on real text without the means -->.
# Five in six of these are in languages written in English's letters, 5.4 %<!-- value: found on real text in the letters of English --> on average; in the other scripts it finds
# hardly more than its twin, 0.8 %<!-- value: found on real text in another script --> for 0.6 %<!-- value: found by the untrained on real text in another script -->. Encoders of a single pair do find Russian and Hindi words ({doc}`chapter 1 <01_data_size>`); of each language they read more than this one does, which may be one reason. Mining is beyond it: among twenty thousand sentences of BUCC
# it finds none of the pairs, whatever is done with the means.

# %% [markdown]
# ## Verdicts
#
# Is it so? A line for each claim, with its verdict and the effect that it rests on: on the recorded seeds as {doc}`the ledger </book/ledger>` explains, or on
# what was trained on this machine. Values are means with half of their 95 % interval, and how many seeds that is over. Open a line for its tests.

# %% tags=["hide-input"]
charts.of_claims(claims.of_chapter(chapter))

# %% [markdown]
# ## Try it
#
# Tokens of two languages at a layer, as they are and without the languages' means. Choose languages
# and layer.

# %% [markdown] tags=["of-the-record"]
# The encoder is the one of real text, which comes with the book. Shown are a few tokens of sentences that differ between the languages, so that their own means are not quite those taken away: some of the difference stays.

# %% tags=["hide-input"]
language_means.layer_widget(chapter)

# %% [markdown]
# ## Limits
#
# - A linear probe says what can be read off a state by the simplest means, not what the encoder itself reads off. It cannot see in what else than their means
#   languages differ: that it fails without them does not show that nothing else tells the language.
# - The share of variance between languages depends on how much variance the sentences have, so it can be compared between layers and encoders, not between corpora.

# %% [markdown] tags=["of-the-record"]
# ## In short
#
# - Without the means a linear probe tells the language far less well. It must: means are all that it sees.
# - Without the means translations are found more often (7.8 %<!-- value: found without the means --> of them instead of 4.5 %<!-- value: found as they are -->). It is a little better to take the means away than to
#   exchange them, where D found a loss by the one and a gain by the other.
# - Some of what is found needs no training. On real text an encoder of this size finds few sentences, and in another script than English's hardly more than the untrained one.

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** At which layer do the languages lie farthest apart, and does an encoder that has learned nothing keep them apart as well?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[
#     (rows["metric"] == "variance_between") & (rows["method"] == "original")
# ]
# print(rows.pivot_table(index="layer", columns="model", values="value"))
# ```
#
# The share of the variance of tokens' states that lies between the means of languages.
# :::
#
# **2.** Which language lies nearest to which, in the encoder of real text that comes with the book?
#
# :::{dropdown} A solution
# ```python
# import numpy as np
# from xling_utils.measures import bundled
#
# encoder = bundled.load()
# means = np.stack(
#     [encoder.means(language, 0)[2] for language in encoder.languages]
# )
# means -= means.mean(axis=0)
# means /= np.linalg.norm(means, axis=1, keepdims=True)
# likeness = means @ means.T
# np.fill_diagonal(likeness, -1)
# for language, nearest in zip(encoder.languages, likeness.argmax(axis=1)):
#     print(language, "-", encoder.languages[nearest])
# ```
#
# By the cosine of their means at layer 2, the mean of all languages taken out. Is it the script that counts, or the family?
# :::

# %% [markdown]
# **Further reading.** {cite:t}`liu2020language` for both methods, {cite:t}`libovicky2020neutrality` for how neutral multilingual BERT is once its means are taken
# away. On to chapter 6: {doc}`06_mds`

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())
