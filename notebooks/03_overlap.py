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
# # What must languages share?
#
# :::{admonition} In this chapter
# - what is left of alignment when two languages share no character, or no word piece;
# - what becomes of it when the order of words is taken away, step by step;
# - what other topics do, and translations mixed into the sentences.
# :::
#
# **The answer.** In the controlled world the order of their words, more than their letters. Take away every letter that two languages have in common, and
# 70 %<!-- value: left shared letters -->
# (62 %<!-- value: left shared letters low --> to 78 %<!-- value: left shared letters high -->) of their alignment above chance is left. Permute the words of their sentences as well, and
# 24 %<!-- value: left word order -->
# (19 %<!-- value: left word order low --> to 28 %<!-- value: left word order high -->) of that is left; draw the words by their frequency alone, and
# 9 %<!-- value: left sentences -->
# (6 %<!-- value: left sentences low --> to 11 %<!-- value: left sentences high -->). The averages of real text are close to these:
# 70 %<!-- value: left natural shared letters -->
# (58 %<!-- value: left natural shared letters low --> to 81 %<!-- value: left natural shared letters high -->) without a letter in common,
# 32 %<!-- value: left natural word order -->
# (21 %<!-- value: left natural word order low --> to 44 %<!-- value: left natural word order high -->) of that without order, and
# 3 %<!-- value: left natural sentences -->
# (−1 %<!-- value: left natural sentences low --> to 6 %<!-- value: left natural sentences high -->) without sentences.
#
# **The question.** English and French share an alphabet, names, digits, some words, and the order of most words. Which
# of these does an encoder need to bring them together? If it were the shared pieces, two languages in different
# scripts would stay apart.
#
# **What the papers found.** K et al. replaced English by {term}`Fake-English`, the same text with every character moved to
# a place in Unicode that no language uses, and lost next to nothing: overlap is not what makes the encoder multilingual
# {cite}`k2020crosslingual`. Shuffling the words inside sentences hurt, more and more with their number; and when
# nothing was left of a language but how often its words occur, transfer fell nearly to chance. Conneau, Wu et al. changed the
# domain of one language's text, took all shared pieces away, and added more of them by switching words for their
# translations; on average none of it moved inference by more than two points {cite}`conneau2020emerging`.

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

# %% [markdown]
# ## The runs
#
# Every run is the base run of {doc}`chapter 1 <01_data_size>` with one thing changed in what it reads:
#
# - **Fake-English**: the characters of English moved out of reach. **Separate vocabularies** leave the text as it is, and its cut into pieces: each
#   language has ids of its own for every {term}`token` but the special ones (no {term}`anchor` is left, not even a full stop).
# - **Permuted**: with Fake-English, a quarter, half or all of the pairs of words of every sentence swapped, in both
#   languages. **Unigrams only**: the other language's words drawn anew by their frequency.
# - **Same domain, other domain**: English documents on one half of the world's topics, the other language's on the
#   same half or on the other. On real text: the other language's everyday sentences (Tatoeba) beside English ones, or beside English news.
# - **Code-switched**: in every sentence three in ten of the words that the dictionary has are replaced by a translation, which
#   changes about one word in nine (Conneau, Wu et al. change at most 15 %), in Chinese of real text far fewer ({ref}`the log <negative-switched>`). The dictionary is the one that retrieval asks about, so here its
#   answers are in the text.

# %% tags=["remove-input"]
from xling_utils import charts, claims
from xling_utils.chapters import opened, overlap

charts.enable()
chapter = opened("03_overlap", scale, languages, seeds, live, data, engine, scheduler, jobs, sentences=sentences)
charts.of_earlier_recipe(chapter.of_earlier_recipe)

# %% [markdown]
# ## Without overlap

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: English is written in characters that no other language has. How much of its alignment above chance is left? And if its words are permuted as well?
# Without a common character 70 %<!-- value: left shared letters --> is left; with the words permuted as well
# 24 %<!-- value: left word order --> of that.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-overlap", "caption": "The languages need not share a single character, though words are found better if they do, and far better with translations mixed into the sentences.\n\nEnglish with another language. Choose the measure below the chart. Circles are seeds of this machine, diamonds means of the recorded seeds with 95 % intervals; squares and triangles, which inference and names have, are the papers' means over their languages (E, table 1, Spanish, Hindi and Russian; C, table 1, French, Russian and Chinese: compare each with its own default).\n\nSeeds take partners in turn; the circles have the first language alone: compare them with one another."}}
overlap.pieces(chapter)

# %% [markdown] tags=["of-the-record"]
# Fake-English shares nothing with the other language but the special tokens, and its words are found at 7.0<!-- value: Fake-English above chance --> times
# chance all the same. That is not to say that overlap adds next to nothing, as K et al. found: letters in common are worth
# 30 %<!-- value: lost without a letter in common --> (22 %<!-- value: lost without a letter in common low --> to 38 %<!-- value: lost without a letter in common high -->) of the alignment above chance, and
# {doc}`the ledger </book/ledger>` counts that claim as refuted. It differs by partner: French and German, which have letters in common with English, lose
# most, and Russian, Hindi and Chinese, which have hardly any, least. Of inference and of names these seeds do not show a loss. Switching words for translations, which
# did little for C's encoders on average, makes what retrieval has above chance 2.8<!-- value: what code-switching makes of retrieval --> times as much here; but the words that are asked are among those that were
# switched. Of inference and of names no gain is shown.
#
# Choose *inference* below the chart, and little seems to matter. We think that the task is hard to carry over: with switched words
# retrieval is far better, and inference a few points above a guess as before. The task turns on *not* and on opposites, which a small encoder may learn as English forms. Retrieval
# and named entities carry the argument of this chapter and the next.

# %% [markdown]
# ## Without order
#
# All of these read Fake-English. Permuting changes order alone; unigrams lose the company of words, too. (Here and below, a figure shows what was run:
# the recorded seeds, and whatever `live` asks of this machine.)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-order", "caption": "The order of words matters; with a quarter of all pairs of words swapped words and inference show no more left than with all of them; little aligns by frequency alone.\n\nMarks as above; squares, of the other measures, are the means of E's tables 2 and 3."}}
overlap.order(chapter)

# %% [markdown] tags=["of-the-record"]
# Most of the alignment needs an order of words: with a quarter of all pairs swapped, seven swaps in a sentence of eight words, which leave few words in their place,
# 79 %<!-- value: lost with a quarter permuted --> (74 %<!-- value: lost with a quarter permuted low --> to 83 %<!-- value: lost with a quarter permuted high -->) of what retrieval has above chance is gone, and with all of them
# 76 %<!-- value: lost with all permuted --> (72 %<!-- value: lost with all permuted low --> to 81 %<!-- value: lost with all permuted high -->). K et al. saw inference fall by degrees. Here the first step takes what
# permuting takes, and of words and inference so little is left after it that a further fall cannot be asked; of names, whether more disorder costs more cannot be told. To permute one of the two languages is enough (81 %<!-- value: lost with one language permuted -->). Inference has fewer points to lose than named entities, so which of the two suffers more cannot be asked. Where nothing is left but how often words occur, 91 %<!-- value: lost with unigrams --> is lost, but more than a tenth of inference is kept. Words without an order still teach more than
# their frequencies, since those of a sentence belong together.
#
# Hindi, whose verb comes last, aligns least of the five, and hardly more than with its words permuted. Permuting takes away the order of each language and what two orders have in
# common; these runs cannot tell which of the two counts.

# %% [markdown]
# ## Another domain
#
# Does it take texts that speak of the same things? In one condition both languages do, in the other each is on topics of its own.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-domain", "caption": "English on other topics than the other language costs words a part of their alignment, and inference nothing that matters.\n\nMarks as above; triangles, of the other measures, are C's Wikipedia with Wikipedia against Wikipedia with Common Crawl."}}
overlap.domain(chapter)

# %% [markdown] tags=["of-the-record"]
# Words align less where the languages speak of other things: retrieval loses 36 %<!-- value: lost with other topics --> of what it has above chance
# (31 %<!-- value: lost with other topics low --> to 41 %<!-- value: lost with other topics high -->). Of named entities twenty seeds cannot tell; inference loses nothing that would matter.
# Conneau, Wu et al. found that the domain matters little for the tasks that they tested (C, section 4.1).

# %% [markdown]
# ## In percent
#
# What each condition changes, in percent of what the run that it varies has above chance, paired by seed; a dash where that is not above it:

# %% tags=["hide-input"]
charts.show(overlap.changes(chapter))

# %% [markdown]
# ## Any two, layer by layer
#
# Choose two conditions, and whose values are shown: the mean over seeds, or one seed, whose bars are over the words of the dictionary.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-overlap-layers", "caption": "Without a letter in common words align less at every layer; and any two conditions beside each other.\n\nWord retrieval of English with the chosen language, at every layer (0 is the embedding output), and chance, dashed. The lists below the chart choose the two, the language and seed, and the measure."}}
overlap.compared(chapter)

# %% [markdown]
# ## Premise in one language, hypothesis in another
#
# K et al. also ask whether the encoder can compare a sentence in one language with a sentence in another (E, table 11).
# Nothing new is trained for it: the encoder fine-tuned on English pairs reads mixed ones.

# %% tags=["hide-input"]
charts.show(overlap.mixed(chapter))

# %% [markdown] tags=["of-the-record"]
# Theirs finds mixed pairs much harder. Ours finds them much harder than English pairs, but on average not harder than pairs that are both in the other language: with the premise in English they
# are easier, and with the hypothesis in English a little harder. In this world the words of a premise alone tell something of the label ({ref}`how its pairs are made <controlled-inference>`), which favours an English premise.

# %% [markdown] tags=["of-the-record"]
# ## On real text
#
# The same on real text, English with French, Russian, Hindi and Chinese in turn, two seeds each (see {doc}`../book/data` for the text, and {doc}`../book/sizes` for the encoders).
# Without a letter in common retrieval loses 30 %<!-- value: lost without a letter in common on real text -->
# (19 %<!-- value: lost without a letter in common on real text low --> to 42 %<!-- value: lost without a letter in common on real text high -->)
# of what it has above chance, in the controlled world 30 %<!-- value: lost without a letter in common -->. With the words permuted as well, 68 %<!-- value: lost with all permuted on real text -->
# (56 %<!-- value: lost with all permuted on real text low --> to 79 %<!-- value: lost with all permuted on real text high -->)
# of the rest is lost, with a quarter of all pairs swapped 70 %<!-- value: lost with a quarter permuted on real text -->, and with one language permuted 75 %<!-- value: lost with one language permuted on real text -->; whether more disorder costs more cannot be asked. Where nothing is left but how often words
# occur, 97 %<!-- value: lost with unigrams on real text -->
# (94 %<!-- value: lost with unigrams on real text low --> to 101 %<!-- value: lost with unigrams on real text high -->) is lost.
#
# The averages agree better than we expected; the languages do not. In the controlled world it is French and German that lose by letters, which they have in common with English. On real text Hindi and Chinese, which have hardly any, lose the
# largest part without them, as the figure shows, and French and Russian less; and Chinese has nearly as much left without order as with it. Two seeds a language cannot say why.
#
# So in both worlds transfer is possible without any overlap, and without order it is better than a guess, in words, inference and names. That order matters is decided on real text for words and names; of inference, which lies a few points above a guess in
# the other language, {doc}`the ledger </book/ledger>` cannot tell, save that permuting one language costs it. Sentences in no order teach more than frequencies for words and inference. Whether order counts for more than letters cannot be told there, nor
# whether letters are worth less than a tenth, as K et al. found: for words it looks like more, for inference like less. In the figure names are found far less well without them in French; in the other three no loss is seen.
#
# Three more things differ from the controlled world. In the figure names are found less well, on average though not in Chinese, from permuted sentences than from words drawn by frequency; there it is the other way round. Switching words for translations makes what retrieval has above chance
# 3.5<!-- value: what code-switching makes of retrieval on real text --> times as much
# (3.0<!-- value: what code-switching makes of retrieval on real text low --> to 3.9<!-- value: what code-switching makes of retrieval on real text high -->; the words that are asked are among those that were switched), and inference gains, too; in the controlled world it does not.
# And of mixed pairs those with the hypothesis in English are the easier ones, as K et al. found; in the controlled world those with the premise in English are. Either may be the tests' doing: alone, the words of a premise tell something of the label there and those of a hypothesis nothing, and on real text it is the other way round ({ref}`the log <negative-without-words>`).
#
# The domain, which did little for Conneau, Wu et al., looks large: with everyday sentences in French or Russian, English news
# instead of English everyday sentences cost 62 %<!-- value: lost with other topics on real text -->
# (41 %<!-- value: lost with other topics on real text low --> to 82 %<!-- value: lost with other topics on real text high -->) of what retrieval has above chance.
# That it costs words is decided by four seeds, at the edge of the correction; of inference and names they tell nothing. Nor is it a subject in common alone. The everyday sentences are Tatoeba's, which people translate into each other's languages: those that are tests here were taken out, but many
# sentences of the two texts say the same, and two halves of a wiki do not.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-overlap-natural", "caption": "On real text, too, words align without a letter in common; without order less of it is left, but for Chinese.\n\nMeans over the recorded seeds of each language, and above them the mean of these with its 95 % interval; centred retrieval among the targets of the MUSE dictionary, XNLI, WikiAnn. Choose the measure below the chart."}}
real = chapter.on_real_text
overlap.on_real_text(real)

# %% [markdown]
# ## Verdicts
#
# Is it so? A line for each claim, with its verdict and the effect that it rests on: on the recorded seeds as {doc}`the ledger </book/ledger>` explains, or on
# what was trained on this machine. Values are means with half of their 95 % interval, and how many seeds that is over. Open a line for its tests.

# %% tags=["hide-input"]
charts.of_claims(claims.of_chapter(chapter, languages=chapter.on_real_text.targets))

# %% [markdown]
# ## Limits
#
# - All conditions are asked for the same words, in contexts whose order nobody has changed, and transfer is tested on such
#   sentences, too; but for the two domains, each of which is asked for words of its own English. On real text that is more words in the other domain, each found among
#   more: a part of what is lost there may be that.
# - With Fake-English more pairs for inference are cut at their end ({ref}`the log <negative-cut>`), so that a part of what little is lost there may be that.
# - The two domains are halves of one world and share their function words and three quarters of everything else;
#   real encyclopaedias and real conversations are further apart. On real text English news also have longer sentences than
#   everyday English, and tasks are learned in English: the domain of the source language changes, not that of the target.
# - A vocabulary of fixed size that has to hold two alphabets cuts words finer, so *Fake-English* changes more than letters; separate vocabularies do not, and
#   cost retrieval less in the controlled world ({ref}`the log <negative-segmentation>`). There random words, which stand for one hidden token in ten, are of the language itself; in the base run they may be of the other.

# %% [markdown] tags=["of-the-record"]
# - On average over the languages inference stays within ten points of chance in every condition, so it can tell them apart less well than retrieval and
#   named entities do.
# - In both worlds a rule that counts words and knows none is right more often in other languages than these encoders ({ref}`the log <negative-without-words>`):
#   what inference has above a guess shows that something of the task crosses over, and not that meanings do.

# %% [markdown] tags=["of-the-record"]
# ## In short
#
# - In the controlled world two languages align without a letter, a name or a full stop in common, though less than with them. Without an order of words little is left.
# - There a quarter of the pairs swapped takes as much from words and inference as all of them swapped do, and whether more would be lost cannot be asked; it is enough to permute one language. How often words occur gives words little by itself,
#   though some inference.
# - Other topics cost words 36 %<!-- value: lost with other topics --> of their alignment there, and do not make it impossible.
# - On real text the averages are close to that: 70 %<!-- value: left natural shared letters --> is left without a letter in common, and 32 %<!-- value: left natural word order --> of it without order.
# - Translations mixed into the sentences help to find these very words. Inference gains by them on real text alone; of names no gain is shown.

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** Sort all conditions by how many times chance they find. Where is the largest step?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[
#     (rows["task"] == "word retrieval")
#     & (rows["layer"] == 1)
#     & rows["step"].isna()
# ]
# means = rows.pivot_table(
#     index="condition", columns="metric", values="value"
# )
# print((means["mrr_centred"] / means["chance"]).sort_values(ascending=False))
# ```
#
# A permuted condition is in Fake-English, too: its neighbour is that one, not the base run.
# :::
#
# **2.** Write the sentences of these conditions yourself.
#
# :::{dropdown} A solution
# ```python
# import numpy as np
# from xling_utils import corpora
#
# sentence = "the old fisherman sells fish in the harbour ."
# print(corpora.fake_english(sentence))
# for share in (0.25, 0.5, 1.0):
#     print(
#         " ".join(
#             corpora.permute_words(
#                 sentence.split(), share, np.random.default_rng(1)
#             )
#         )
#     )
# ```
#
# Count how many words still follow the one that they followed before.
# :::

# %% [markdown]
# **Further reading.** {cite:t}`k2020crosslingual`, section 3.1, for overlap and order; {cite:t}`conneau2020emerging`, section 4, for domains and anchors;
# {cite:t}`dufter2020identifying` for the same question put to a language and its double. On to chapter 4: {doc}`04_architecture`

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())
