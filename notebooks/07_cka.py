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
# # Do encoders that never met have the same shape?
#
# :::{admonition} In this chapter
# - how alike the spaces of two encoders are that share nothing, beside the two languages of one encoder and beside no learning at all;
# - whether a rotation brings sentences and words of the one onto those of the other;
# - what a task that was learned on one is worth on the other, after that rotation.
# :::
#
# **The answer.** In the controlled world two encoders that never met are as alike as the two languages of one, or more: on average over layers CKA of translations is .58<!-- value: CKA of two monolingual -->
# (.58<!-- value: CKA of two monolingual low --> to .59<!-- value: CKA of two monolingual high -->) for two encoders that share nothing, .54<!-- value: CKA of one bilingual -->
# (.53<!-- value: CKA of one bilingual low --> to .55<!-- value: CKA of one bilingual high -->) for the two languages of one, and .42<!-- value: CKA of one untrained --> where one of two has learned nothing. Two that
# have both learned nothing are about as alike, most likely by the length of sentences; what was learned shows when a rotation brings the first two together, and a task learned on the one then works on the other. On real text the two languages of one are a little more alike,
# .54<!-- value: CKA of one bilingual on real text -->, than those of two, .51<!-- value: CKA of two monolingual on real text -->, as in the paper; where one has learned nothing it is .37<!-- value: CKA of one untrained on real text -->. There a rotation
# finds 6.7 %<!-- value: sentences of separate encoders on real text --> of the sentences, and carries a little of what was learned.
#
# **The question.** The chapters before this one look inside a single encoder that reads all languages at once. But what if one
# encoder reads only English and another only French, and neither knows that the other exists? If languages are alike
# in what they speak of, two such encoders might arrange their sentences in the same way, and then sharing parameters
# would have little left to do.
#
# **What the papers found.** Conneau, Wu et al. trained monolingual encoders and found their spaces to be nearly the same up
# to a rotation: a rotation ({term}`Procrustes`) fitted on translations brings words and sentences of one language onto those of the other, and
# {term}`CKA`, a measure of shape that no rotation changes, is only a little lower for two monolingual encoders than for a
# bilingual one, and far above that of an untrained encoder. Layer by layer, CKA and retrieval go together, with a
# correlation above .9 {cite}`conneau2020emerging`.

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
# ## The encoders
#
# Ways to have English and another language read, all with encoders of the same size:
#
# - **one bilingual** encoder, the base run of {doc}`chapter 1 <01_data_size>`;
# - **two monolingual** ones with nothing in common but what a seed gives, their first weights: not even a vocabulary, each trained for as many steps
#   as the bilingual one;
# - **one untrained**: English read by the monolingual encoder, the other language by one with its first weights. This is the
#   papers' floor; two untrained ones are more alike ({ref}`the log <negative-length>`);
# - **word2vec, one a language**: static vectors, for words;
# - **English twice**: the same sentences read by two encoders of English that differ in their first weights and in the order of
#   what they read. More alike than this, two encoders of two languages cannot be expected to be.

# %% tags=["remove-input"]
from xling_utils import charts, claims
from xling_utils.chapters import cka, opened

charts.enable()
chapter = opened(
    "07_cka", scale, languages, seeds, live, data, engine, scheduler, jobs, model, aligned, sentences=sentences
)
charts.of_earlier_recipe(chapter.of_earlier_recipe)

# %% [markdown]
# ## The same shape?
#
# A sentence is the mean of its tokens at a layer. CKA asks of a few thousand translations whether sentences that are near each other
# for one encoder are near each other for the other ({ref}`linear CKA <linear-cka>`): 1 for spaces that a rotation
# brings onto each other, 0, when debiased, for spaces that have nothing to do with each other.

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: which are more alike: English and another language in one encoder, or the same in a pair of encoders that share no vocabulary and never meet?
# Those of two, a little, on average over layers and four languages; with French and with German it cannot be told. CKA is .54<!-- value: CKA of one bilingual --> in one encoder and .58<!-- value: CKA of two monolingual --> in two.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-cka", "caption": "Two encoders that never met are, on average over four languages, more alike than the two languages of one bilingual encoder; with French, and with German, the two cannot be told apart.\n\nCKA of translations, layer by layer, by who reads them. Means over the recorded seeds (on a page of your own, over its own); point at a field for its interval. Choose form and language below the chart."}}
cka.heat_map(chapter.both)

# %% [markdown] tags=["of-the-record"]
# Two encoders of English are the most alike, the untrained one on average the least, and in every column similarity falls from layer to layer, as in the paper. Between these the
# paper has the two languages of one encoder slightly above two encoders that share nothing. Here it is the reverse, and the language decides: with French an encoder in common is worth
# .01<!-- value: gained by an encoder in common, French --> (−.01<!-- value: gained by an encoder in common, French low --> to .04<!-- value: gained by an encoder in common, French high -->), with Chinese it costs
# .12<!-- value: lost by an encoder in common, Chinese -->. Why, the runs do not tell.
# Note how high the floor is at the bottom: translations have about as many tokens, which first weights show as well. Two encoders that have *both* learned nothing are about as alike as two that were trained, and on real text more
# ({ref}`the log <negative-length>`): likeness alone does not show that anything was learned.

# %% [markdown]
# ## A rotation
#
# If two spaces have the same shape, one rotation brings one onto the other. It is fitted on translations and tested on others: whose nearest
# neighbour is the sentence's translation?

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-rotation", "caption": "A rotation aligns what two encoders made of their languages, best where they are near the words.\n\nSentence retrieval after a rotation fitted on other sentences, and without one. Precision at 1 among 500 sentences; bars are 95 % intervals over seeds. Choose below the chart; the legend picks a line."}}
cka.retrieval(chapter.both)

# %% [markdown] tags=["of-the-record"]
# Without a rotation, encoders that never met have next to nothing in common: there is no reason why their axes should agree. With one, they find many. Look at the untrained encoder
# too: at the embedding output a rotation finds 38 %<!-- value: rotation of untrained embeddings -->, on average over the four languages. The vectors of one language need not have learned anything for that: sentences may be known by their words.
# Training adds to it. Where neither has learned anything, too, a rotation finds sentences, fewer than between trained ones ({ref}`the log <negative-length>`).

# %% [markdown] tags=["of-the-record"]
# ## Words
#
# The same with words: a word is the mean over its contexts, as in {doc}`chapter 1 <01_data_size>`, a rotation is fitted on one half of the
# dictionary, and the other half is looked up, by {ref}`CSLS <csls>` as in the paper. Beside the encoders stands
# word2vec, trained on each language alone, whose spaces are famous for having the same shape.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-words", "caption": "The words of separate encoders can be aligned too, and those of word2vec nearly all.\n\nPrecision at 1 by CSLS; bars are 95 % intervals over seeds. Choose below the chart what the rotation was fitted on; the legend picks a line."}}
cka.words(chapter.both)

# %% [markdown] tags=["of-the-record"]
# A rotation fitted on some 120 words finds next to nothing where one of the two encoders is untrained. What separate encoders have in
# common is enough to find 35 %<!-- value: words of separate encoders --> of the words of the other half, on average over layers and languages. The spaces of word2vec are nearly copies of each other, and a likely reason is the controlled world: a word keeps the same company in all its languages.

# %% [markdown] tags=["of-the-record"]
# ## What a rotation carries
#
# Is the alignment good for anything? A small head is trained to find English names, or to parse English, on the states of one layer of the English
# encoder, which stay as they are. Then it is given states of the other language, read by the other encoder and rotated. The rotation is fitted on words in their
# contexts: translated sentences are {ref}`aligned word by word <word-aligner>`, as fast_align does in the paper. For comparison: the bilingual encoder as it is,
# the bilingual encoder with a rotation, and a rotation drawn at random.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-contextual", "caption": "What was learned on English states works on those of an encoder that never met them, after one rotation.\n\nNamed entities and parsing on the states of each layer. Bars are 95 % intervals over seeds. Choose the measure below the chart; the legend picks a line."}}
cka.transfer(chapter.both)

# %% [markdown] tags=["of-the-record"]
# On average over layers and languages a random rotation carries next to nothing, the fitted one names with an F1 of .58<!-- value: names carried --> and trees with .73<!-- value: trees carried --> of their heads and
# relations. The paper's bilingual encoder does best as it is, but for parsing of French; here two encoders with a
# rotation find more names, and better trees in French, than one as it is, which has .30<!-- value: names of one bilingual --> and .62<!-- value: trees of one bilingual -->. With a rotation of its own the one
# has .72<!-- value: names of one bilingual, rotated --> and .73<!-- value: trees of one bilingual, rotated -->: even its names gain by it: to read two languages with
# the same weights is not yet to put them in the same place.

# %% [markdown]
# ## Do the two go together?
#
# Over layers, is retrieval best where CKA is highest: after rotation for two encoders, without one for a single encoder? With few layers a
# correlation is a weak witness; below is its mean over seeds, with the lowest and the highest seed. The paper's is of two encoders, and so is the verdict on it.

# %% tags=["hide-input"]
charts.show(cka.correlation(chapter.both))

# %% [markdown] tags=["of-the-record"]
# ## On real text
#
# English with French, and with Chinese, five seeds each. Sentences for CKA and for fitting rotations are XNLI's, those to be found are Tatoeba's.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-cka-natural", "caption": "On real text the two languages of one encoder are a little more alike than those of two that never met, and both more than where one of two has learned nothing.\n\nCKA of translations of real sentences, layer by layer, by who reads them; point at a field for its interval over seeds. Choose form and language below the chart."}}
real = chapter.on_real_text
cka.heat_map(real.recorded)

# %% [markdown] tags=["of-the-record"]
# So the order of the four is the paper's here: an encoder in common is worth .03<!-- value: gained by an encoder in common on real text --> of CKA (.02<!-- value: gained by an encoder in common on real text low --> to .04<!-- value: gained by an encoder in common on real text high -->), on average over layers and
# the two languages, where in the controlled world it takes away. In the paper it adds less to the likeness of English and Chinese than of English and French. Here it looks the other way round,
# .04<!-- value: gained by an encoder in common on real text, Chinese --> (.02<!-- value: gained by an encoder in common on real text, Chinese low --> to .07<!-- value: gained by an encoder in common on real text, Chinese high -->) for Chinese and
# .02<!-- value: gained by an encoder in common, French on real text --> (−.01<!-- value: gained by an encoder in common, French on real text low --> to .04<!-- value: gained by an encoder in common, French on real text high -->) for French, though five seeds cannot tell. Of encoders that never met those of French and English are more alike than those of Chinese and
# English, as there.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-rotation-natural", "caption": "Without a rotation hardly any real sentence is found across encoders; with one some are, more at the lower layers than at the upper.\n\nRetrieval of Tatoeba's sentences after a rotation fitted on XNLI's, and without one. Precision at 1 among 1,000 sentences; bars are 95 % intervals over seeds. Choose below the chart; the legend picks a line."}}
cka.retrieval(real.recorded)

# %% [markdown] tags=["of-the-record"]
# Between encoders that never met 0.2 %<!-- value: sentences of separate encoders on real text, unrotated --> of the sentences are found as the spaces come, and 6.7 %<!-- value: sentences of separate encoders on real text --> after a rotation: 9.3 %<!-- value: sentences of separate encoders on real text, French --> of the French,
# 4.1 %<!-- value: sentences of separate encoders on real text, Chinese --> of the Chinese. Where one of the two has learned nothing it is 1.9 %<!-- value: sentences of the untrained on real text -->.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-words-natural", "caption": "A rotation finds few real words between separate encoders, and more between the spaces of word2vec.\n\nWords of the MUSE dictionary, precision at 1 by CSLS; bars are 95 % intervals over seeds. Choose below the chart; the legend picks a line."}}
cka.words(real.recorded)

# %% [markdown] tags=["of-the-record"]
# Separate encoders find 5 %<!-- value: words of separate encoders on real text --> of the words, word2vec 11 %<!-- value: words of word2vec on real text -->, on average over the two languages. That averages of contextual vectors
# align less well than static ones is what the paper has, too.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-contextual-natural", "caption": "On real text a rotation carries some names and trees between encoders that never met. One encoder that reads both finds more names, and parses French less well until it is rotated, too.\n\nNamed entities of WikiAnn and parsing of treebanks on the states of each layer; bars are 95 % intervals over seeds. Choose the measure below the chart; the legend picks a line."}}
cka.transfer(real.recorded)

# %% [markdown] tags=["of-the-record"]
# Between real encoders that never met a rotation carries names with an F1 of .10<!-- value: names carried on real text --> and trees with a LAS of .15<!-- value: trees carried on real text -->, where random rotations
# carry next to none. One encoder that reads both does better at names, as in the paper and not as in the controlled world: .17<!-- value: names of one bilingual on real text -->. Its lead is that of French, .30<!-- value: names of one bilingual on real text, French --> against
# .17<!-- value: names carried on real text, French -->; in Chinese it has .04<!-- value: names of one bilingual on real text, Chinese --> against .04<!-- value: names carried on real text, Chinese -->. French spells most names as English does, and an encoder with one vocabulary may know them by that. Trees it has fewer, in both worlds:
# .06<!-- value: trees of one bilingual on real text -->. A rotation on top brings them to .16<!-- value: trees of one bilingual, rotated on real text -->, about what two encoders carry, and the names to no more than .16<!-- value: names of one bilingual, rotated on real text -->. That a rotation
# on top helps parsing and not names is what Conneau, Wu et al. found (C, note 2).

# %% [markdown] tags=["of-the-record"]
# Between encoders that never met CKA and retrieval go together over layers here, too; whether above .9, as in the paper, five seeds cannot tell. Within one encoder, without a rotation, they do not seem to:

# %% tags=["hide-input", "of-the-record"]
charts.show(cka.correlation(real.recorded))

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
# Tokens of two languages in one encoder: once each language's mean is taken away, do the clouds have the same shape? Choose languages and layer.

# %% tags=["hide-input"]
cka.layer_widget(chapter, "ru", "zh")

# %% [markdown] tags=["of-the-record"]
# ## Limits
#
# - The controlled languages speak of one world in the same proportions: their texts have the same shape by construction, and
#   encoders that learn it may agree more than on real text. Real texts differ in what they speak of, too.
# - Chinese text is in simplified characters, and a part of its tests and of its dictionary in traditional ones ({ref}`the log <negative-script>`).
# - The two encoders of a pair begin from the same first weights, which those of the paper do not ({ref}`what hangs on it <negative-same-weights>`).
# - For *English twice* the paper compares sentences with their paraphrases (translated to French and back); here both
#   encoders read the same sentences, so the value is an upper bound.
# - The paper puts four Transformer layers above the frozen ones; here it is one, on real text two, as the encoders are small.
# - CKA of means over tokens reads how long sentences are, which translations have in common: two encoders that have learned nothing are about as alike as two that were trained, on real text more, and fall over layers as these do. How much of each value is length was not recorded
#   ({ref}`the log <negative-length>`). A rotation tells trained encoders from untrained ones, though in the controlled world it finds a good part of the sentences between two untrained ones, too.
# - For what was learned on top, the floor is a random rotation; between encoders that have learned nothing a fitted one carries more than that, in the controlled world a good part of what is carried here.
# - On real text many tokens stand further back than training inputs were long, at positions that were never trained. Likeness hardly hangs on it; parsing may.
# - A rotation is one about the two means, which move with it. What they alone would carry is not measured.
# - A monolingual encoder takes as many steps as the bilingual one, so it reads twice as much of its language. What two of them gain may be that.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())

# %% [markdown] tags=["of-the-record"]
# ## In short
#
# - Two encoders that never met are, on average over languages, more alike than the two languages of one in the controlled world, and a little less on real text, as in the paper.
# - In both a rotation brings their sentences together, and another one their words: on real text a few of them.
# - In the controlled world an encoder in common adds less to the likeness of English with Chinese than with French: with Chinese it takes away. On real text five seeds cannot tell.
# - In both what was learned on the states of one works on those of the other, after a rotation fitted on aligned words; on real text a little of it does. Names are found better by one encoder that reads both on real text, by two and a rotation in the controlled world.
# - Encoders are somewhat alike when one of two has learned nothing, and about as alike as trained ones when neither has. What was learned shows in how much more a rotation finds than without learning.

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** On which layer are two encoders of two languages most alike, and how much of that is there before any learning?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[(rows["metric"] == "cka_debiased") & (rows["target"] != "en")]
# print(rows.pivot_table(index="layer", columns="encoders", values="value"))
# ```
#
# *One untrained* is the papers' floor. What both know of a sentence is how long it is, and which words it has.
# :::
#
# **2.** What does CKA not see? Rotate a space, stretch it, and compare it with one that has nothing to do with it.
#
# :::{dropdown} A solution
# ```python
# import numpy as np
# from xling_utils.measures import linear_cka
#
# rng = np.random.default_rng(0)
# x, other = rng.normal(size=(2, 500, 64))
# rotation, _ = np.linalg.qr(rng.normal(size=(64, 64)))
# print(linear_cka(x, x @ rotation), linear_cka(x, 3 * x + 1))
# print(linear_cka(x, other), linear_cka(x, other, debiased=True))
# ```
#
# The last two are of the same spaces. With as few as 500 examples of 64 dimensions unrelated spaces seem to be somewhat alike, unless the estimate is without bias.
# :::

# %% [markdown]
# **Further reading.** {cite:t}`kornblith2019similarity` for CKA, {cite:t}`song2012feature` for its debiased form, {cite:t}`zhang2019girls` for what
# makes rotations fit. Then {doc}`the ledger </book/ledger>`, for every claim of all chapters.
