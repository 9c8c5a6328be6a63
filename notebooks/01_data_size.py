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
# # Does alignment take text, or training?
#
# :::{admonition} In this chapter
# - how many translations an encoder, word2vec and GloVe find, after little text and after much;
# - when in its training an encoder brings two languages together, and which words it finds best;
# - what an encoder finds that has learned nothing, and what is left if a dictionary's translations are dealt out at random.
# :::
#
# **The answer.** In the controlled world it takes training more than text: a tenth of the text, read for as long, leaves 68 %<!-- value: left 9/10 of the text -->
# (62 %<!-- value: left 9/10 of the text low --> to 75 %<!-- value: left 9/10 of the text high -->) of the alignment above chance, the languages' means taken out; with a tenth of the training as well it leaves 6 %<!-- value: left 9/10 of the training -->
# (4 %<!-- value: left 9/10 of the training low --> to 7 %<!-- value: left 9/10 of the training high -->). Left alone long enough, our small encoder finds French translations at
# 13.0<!-- value: base run above chance --> times chance, the means taken out. On real text both count: over six languages a tenth of the text, read for as long,
# leaves 54 %<!-- value: left natural 9/10 of the text --> (51 %<!-- value: left natural 9/10 of the text low --> to 57 %<!-- value: left natural 9/10 of the text high -->), with a tenth of the training as well
# 13 %<!-- value: left natural 9/10 of the training --> (10 %<!-- value: left natural 9/10 of the training low --> to 16 %<!-- value: left natural 9/10 of the training high -->).
#
# **The question.** An {term}`encoder` reads English and French, never a translation, never a dictionary. After a while
# the English word *dog* and the French word *chien* have similar vectors. Does that need a lot of text? And does
# it need a *contextual* encoder at all, or do word2vec and GloVe ({term}`static vectors`), trained on the same text, align as well?
#
# **What the papers found.** Liu et al. trained GloVe, word2vec and BERT on 200,000 and on 1,000,000 sentences a
# language {cite}`liu2020study,liu2020what`. With little data, BERT was the *worst* of the three at retrieving
# translations. With much data it won by a wide margin, on all fourteen languages paired with English. They print
# this as bar charts without numbers (A, figures 1 and 3; B, figure 1), so below we compare orderings. They also
# report that words of open classes align better than function words (B, table 1, with numbers). Conneau, Wu et
# al. add that transfer falls with the distance between languages {cite}`conneau2020emerging`.

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
# The base pair is English with French, or the first language of the list in the cell above. For each seed it is trained at two data sizes with each
# model: GloVe, word2vec, {term}`BERT`, and an {term}`untrained encoder`, as a control. All read the same {term}`word pieces <word piece>`
# of the same text and have the same width. BERT at the small size comes twice: once with **as many updates** as
# at the large size (so it reads its few sentences many times over), once with **as many passes** (so it gets
# fewer updates). The papers do not say which they mean, and it turns out to matter.
#
# What this machine has not trained yet, it trains now; what it has, it reads from its store.

# %% tags=["remove-input"]
from xling_utils import charts, claims
from xling_utils.chapters import data_size, opened

charts.enable()
chapter = opened("01_data_size", scale, languages, seeds, live, data, engine, scheduler, jobs, sentences=sentences)
charts.of_earlier_recipe(chapter.of_earlier_recipe)

# %% tags=["hide-input"]
charts.show(data_size.runs(chapter))

# %% [markdown]
# ## Retrieval at two data sizes
#
# Take every English word of the dictionary, rank all French words of the dictionary by cosine, and look where the
# translation stands. The mean of 1/rank is the {ref}`mean reciprocal rank <mean-reciprocal-rank>`: 1 if every
# translation comes first, and the dashed line if the order is random. Both sizes are asked about the same words,
# those the *small* corpus holds at least five times; pairs of identical strings are left out.

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: with little text, who finds more translations: word2vec, or an encoder that may read the same few sentences over and over?
# The encoder. A tenth of the text leaves it 68 %<!-- value: left 9/10 of the text --> of what it has above chance, the languages' means taken out (the figure leaves them in). word2vec is left
# next to nothing there, and GloVe a little. It is the
# reading over and over that does it: with as few *passes* as over much text, next to nothing is left to the encoder, too.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-data-size", "caption": "Little text leaves BERT most of its alignment if it may read it often; with much text word2vec and GloVe overtake it in French, whose letters English shares.\n\nMean reciprocal rank at the middle layer, plain cosine. Diamonds are means of the recorded seeds, bars their 95 % intervals (Student); circles are the seeds trained on this machine. Click the legend to isolate a model."}}
data_size.headline(chapter)

# %% [markdown] tags=["of-the-record"]
# This is not the papers' picture. With little text BERT is far above the static vectors, provided that it gets as many updates as with
# much. Given only as many *passes* (the light blue mark) it finds next to nothing and GloVe passes it: most of what looks like a need for data is, at this
# size, a need for updates. More text still improves its alignment. With much text word2vec and GloVe pass BERT in French. They do best where the languages share an alphabet; names in
# common may be why: over the six languages in English's alphabet word2vec has a mean reciprocal rank of
# .37<!-- value: word2vec where letters are shared --> and BERT .23<!-- value: BERT where letters are shared -->, over the eight in another script .06<!-- value: word2vec where letters are others --> and
# .14<!-- value: BERT where letters are others -->. Over the fourteen BERT is above GloVe and below word2vec, where the
# papers have it overwhelmingly above both.

# %% [markdown]
# The same numbers as a table, for the recorded seeds (on a page of your own, for its own):

# %% tags=["hide-input"]
charts.show(data_size.headline_table(chapter))

# %% [markdown]
# ## Does a task carry over?
#
# Retrieval asks about words. The papers also ask about a task ({term}`zero-shot transfer`): an encoder, or a small network on top of static vectors,
# learns from English examples whether one sentence follows from another, contradicts it, or neither; then it is asked in
# the other language, of which it has never seen an example ({ref}`inference <zero-shot-transfer>`).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-inference", "caption": "In English every model learns the task; little of it arrives in the other language.\n\nAccuracy after learning from English examples only; marks as above, the dashed line is the share of the commonest answer. Pick the language below the chart."}}
data_size.inference(chapter)

# %% [markdown] tags=["of-the-record"]
# In English every model learns the task. Little of it arrives in French, where BERT is 6.3<!-- value: French inference in the controlled world --> points above a guess
# (5.9<!-- value: French inference in the controlled world low --> to 6.6<!-- value: French inference in the controlled world high -->), though the same encoders
# retrieve French words at 13.0<!-- value: base run above chance --> times chance. Of these points pretraining adds 2.6<!-- value: French inference that pretraining adds -->
# (1.9<!-- value: French inference that pretraining adds low --> to 3.2<!-- value: French inference that pretraining adds high -->); the others an untrained encoder is taught, too. That is little, and enough to compare models by:
# on little text, read for as long as much, BERT carries more into French than either static model, on much text more than word2vec, and much text does not add two points, which would matter. Whether the model that
# finds most words transfers best cannot be told: in French word2vec has the higher mean in words, and the lower one in inference. Why it is
# little is not tested. Our guess is the task: contradictions are made with *not* and with opposites, and in encoders of the {ref}`earlier recipe <recipe>` *not* did not align. A word that
# decides a sentence weighs little in an average over words.

# %% [markdown] asked="When does alignment come?"
# ## Alignment comes after a slow start

# %% [markdown] tags=["of-the-record"]
# A run that is stopped early shows little: after its first hundred steps hardly any word finds its translation. Then the two
# languages fall into step, fastest within the first half of the training, and at its end they still do, slowly. The controls stay where they are: an encoder that is never trained, and the trained
# encoder asked about a dictionary whose translations were dealt out at random.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-training-curve", "caption": "Alignment emerges in every seed, after a slow start, and neither control moves.\n\nCentred mean reciprocal rank of the base run at the large data size, at the middle layer first: pick another below the chart. Thin lines are seeds, the bold line their mean; the dashed line is chance."}}
data_size.training_curve(chapter)

# %% tags=["hide-input"]
charts.show(data_size.ends_of_training(chapter))

# %% [markdown]
# ## Every language, every layer
#
# Layer 0 is the embedding of the word itself, layer *l* the output of block *l*. Move the slider.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-layers", "caption": "The languages stand in about the same order at every layer, and no block finds more than a hundredth above the embeddings on average; the last finds less.\n\nMean reciprocal rank of English with each language. BERT at the large data size; bars are means over the recorded seeds (on a page of your own, over its own), whiskers 95 % intervals."}}
data_size.layers(chapter)

# %% [markdown]
# Two models beside each other, and whose values are shown: the mean over seeds, or one seed, whose bars are over the words of the dictionary. Static vectors
# have one layer, which is drawn at 0.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-data-layers", "caption": "A tenth of the text costs BERT alignment at every layer; and any two models beside each other.\n\nWord retrieval of English with the chosen language, at every layer (0 is the embedding output), and chance, dashed. The lists below the chart choose the two, the language and seed, and the measure."}}
data_size.any_two(chapter)

# %% [markdown]
# ## Which words align?
#
# Function words are told less by topics than by their place in the sentence, we think. The papers' BERT aligns open classes (nouns, verbs, adjectives, adverbs) better than closed ones (function words and numerals, *function words* below).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-pos", "caption": "In French function words are found better than open classes, and adjectives worst; in the paper it is the reverse.\n\nMean reciprocal rank by part of speech, beside those of French in B's table 1. The papers' values are from 1,000,000 real sentences and another candidate set: compare the order of the bars, not their height."}}
data_size.parts_of_speech(chapter)

# %% [markdown] tags=["of-the-record"]
# In every language of the controlled world function words are found better than open classes. Over the fourteen they have a mean
# reciprocal rank of .37<!-- value: closed classes -->, and open classes one of .18<!-- value: open classes -->. Of the open classes adjectives, the papers' best, are
# found least on average.

# %% tags=["hide-input", "of-the-record"]
charts.show(data_size.classes_by_language(chapter))

# %% [markdown]
# ## Do distant languages align worse?
#
# The controlled languages say the same things in different orders, so distance can be measured: the share of
# pairs of content words that two languages put in opposite orders. Scripts matter too: names, digits and
# punctuation are shared only where they are written alike. For comparison, zero-shot accuracy on XNLI in the
# papers falls from French (73.6) to Russian (68.7) and Chinese (68.3) (C, table 1, default model).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-distance", "caption": "The farther a language's word order is from that of English, the fewer of its words are found.\n\nMean reciprocal rank, a point a language. BERT, large data size, middle layer; bars are 95 % intervals over seeds."}}
data_size.distances(chapter)

# %% [markdown] tags=["of-the-record"]
# So {doc}`the ledger </book/ledger>` has it, over fourteen languages and twenty seeds.

# %% [markdown] tags=["of-the-record"]
# ## On real text
#
# The controlled world is a model of language, not language. The recorded runs below read real text, again one
# corpus ten times the other (see {doc}`../book/data`), and are tested with the MUSE dictionaries
# {cite}`conneau2018word` (Wiktionary's for Swahili and Urdu).
#
# Look at the untrained encoder before anything else. French, Spanish and German share word pieces with English, and a word's mean vector is the mean of its pieces, so
# *nation* and *national* are neighbours before anything has been learned. It finds little by that (.02<!-- value: untrained where letters are shared -->), and the trained one much more
# (.12<!-- value: trained where letters are shared -->). In Russian, Hindi and Chinese, which share next to no pieces with English, it finds 1.0<!-- value: untrained where letters are others --> times
# what chance does, and the trained one 5.7<!-- value: trained where letters are others --> times: what is aligned there has been learned.
#
# As in the controlled world, and not as in the papers, the encoder is the best of the three with *little* text: read for as long as much text, it lies at 4.9<!-- value: BERT on little real text --> times chance over six
# languages, the static vectors at 1.2<!-- value: static vectors on little real text -->. Even with no more passes over the little text than over the much (1.9<!-- value: as many passes over little real text --> times) it is above both. With much text it stays above
# both over the six: .09<!-- value: BERT on much real text --> against .07<!-- value: word2vec on much real text --> of word2vec and .03<!-- value: GloVe on much real text --> of GloVe. The papers have it above on every pair, and overwhelmingly; here it is so of GloVe alone, and in German and Chinese it cannot be told from
# word2vec. The larger text brings BERT more than GloVe, and word2vec more than BERT. That is by the plain cosine, which the papers take. With the languages'
# means taken out five seeds cannot tell them apart over the six (word2vec .11<!-- value: word2vec on much real text, centred -->, BERT .11<!-- value: BERT on much real text, centred -->): word2vec is above in French and German, BERT in Russian.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-natural", "caption": "Real text: with little text BERT finds more words than static vectors, and with much text, over six languages, it still does.\n\nMean reciprocal rank among the dictionary's targets, plain cosine, pairs of identical strings left out; middle layer. Recorded seeds with 95 % intervals. Pick the language below the chart."}}
real = chapter.on_real_text
data_size.headline(real)

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-natural-static", "caption": "Real text, static vectors, large data size: word2vec finds more translations than GloVe.\n\nMeans over seeds with 95 % intervals. The lighter bars also count pairs of identical strings (names, loans, numbers), which static vectors get for nothing. Dictionaries differ in size, and so does chance: compare models, not languages."}}
data_size.static_vectors(real)

# %% [markdown] tags=["of-the-record"]
# Which words? As in the controlled world, and not as in the paper, function words come first. An untrained encoder finds no more of them than chance does (.01<!-- value: function words of real text, untrained -->), perhaps as French and English spell them differently, and few of the others (.02<!-- value: open classes of real text, untrained -->);
# the trained one finds them at .36<!-- value: function words of real text -->, and open classes at .10<!-- value: open classes of real text -->. (B, table 1: .459 for closed
# classes and .511 for open ones.) Whether adjectives, the paper's best, are the best of the open classes over six languages cannot be told. Parts of speech are here those that an English treebank gives a word most often.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-pos-natural", "caption": "In real French, too, function words are found better than open classes, and an untrained encoder finds hardly any of either.\n\nMean reciprocal rank by part of speech, large data size, middle layer; recorded seeds with 95 % intervals."}}
data_size.parts_of_speech(real)

# %% [markdown] tags=["of-the-record"]
# In each of the six languages function words are found better than open classes: on average with a mean reciprocal rank of .20<!-- value: closed classes on real text -->, and open classes with one of .07<!-- value: open classes on real text -->.

# %% tags=["hide-input", "of-the-record"]
charts.show(data_size.classes_by_language(real))

# %% [markdown] tags=["of-the-record"]
# As in the controlled world, every trained model learns some of inference on real text (XNLI, learned from fifteen thousand English pairs) in English, and
# little arrives in French, at either size. BERT is 2.3<!-- value: French inference above a guess --> points above a guess there
# (0.7<!-- value: French inference above a guess low --> to 3.9<!-- value: French inference above a guess high -->), over six languages 2.9<!-- value: inference in six languages -->. An encoder that was never trained, and is taught the task as
# it is, has 0.9<!-- value: inference of an untrained encoder -->, so what pretraining adds is 2.0<!-- value: inference that pretraining adds -->
# (1.3<!-- value: inference that pretraining adds low --> to 2.6<!-- value: inference that pretraining adds high -->): not much, but there. Whether BERT transfers better than static vectors, which were asked in French alone, five seeds cannot tell, and the larger text does not add two points, which would matter.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-inference-natural", "caption": "Real text: little of what is learned in English arrives in the other language, whatever the model and the size.\n\nAccuracy after learning from English examples only; recorded seeds with 95 % intervals, the dashed line is a guess. Pick the language below the chart; English is that of the encoders that read French."}}
data_size.inference(real)

# %% [markdown]
# ## Verdicts
#
# Is it so? A line for each claim, with its verdict and the effect that it rests on: on the recorded seeds as {doc}`the ledger </book/ledger>` explains, or on
# what was trained on this machine. Values are means with half of their 95 % interval, and how many seeds that is over. Open a line for its tests.

# %% tags=["hide-input"]
charts.of_claims(claims.of_chapter(chapter, languages=("fr", "ru")))

# %% [markdown]
# ## Limits
#
# - The encoders here have under a million parameters (with Chinese a little more) and read about one million tokens (4.6 million of real text); the papers' BERT has
#   over a hundred million and read far more. Where the ordering differs from theirs, size and budget are the
#   first suspects, and the two small-data conditions show how much the budget alone can do. Of real text they do not read each sentence often ({doc}`../book/sizes`).
# - The papers train one model on fifteen languages; here every model sees two.
# - Chinese text is in simplified characters, and a part of its tests and of its dictionary in traditional ones ({ref}`the log <negative-script>`); some of the Chinese words that are asked for never stand in its text, for which static vectors have a vector and BERT has none ({ref}`the log <negative-zh-words>`).
# - Controlled sentences are uninflected. Morphology, which splits words into pieces that languages may share,
#   plays no part in them; on real text it does.

# %% [markdown] tags=["of-the-record"]
# - Inference in the controlled world turns on negation and antonyms, and words like *not* did not align in encoders of the earlier recipe; this may be why little
#   of the task carries over: see the accuracy above beside the retrieval before it.
# - In both worlds a rule that counts words and knows none is right more often in other languages than these encoders ({ref}`the log <negative-without-words>`):
#   what inference has above a guess shows that something of the task crosses over, and not that meanings do.
# - Static vectors pass over little text as often as over much, the encoder far more often: with as many updates they find more in it, on two development seeds ({ref}`the log <negative-passes>`).
# - After little text a word's vector is also averaged over less of it, which costs some retrieval by itself ({ref}`the log <negative-contexts>`).
# - On real text six languages are too few to say of a seventh how its word order counts ({ref}`the log <negative-six-languages>`).

# %% [markdown]
# ## Explore
#
# The words of the base language that lie nearest to an English word, in the encoder that this machine trained: centred vectors, by their cosine. Choose
# any word of the dictionary, and a layer; 0 is the embedding output.

# %% tags=["hide-input"]
data_size.explorer_widget(data_size.explored(chapter))

# %% [markdown]
# ## Reproduce
#
# The rows behind every figure are in `book/records`, with the specification, commit, processor and time of each
# run. `xling run 01_data_size -p live all` trains everything of this page; add `--scale natural --data DIR` for
# real text. A run that this machine has trained and that is also recorded must give the recorded values:

# %% tags=["hide-input"]
charts.show(data_size.compared(chapter), digits=6)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())

# %% [markdown] tags=["of-the-record"]
# ## In short
#
# - Most of what looked like a need for text is, in the controlled world, a need for training: on little text an encoder aligns if it may read it often enough.
# - Alignment comes after a slow start in which little shows. A run that is stopped there says little about it.
# - Static vectors, which read little text no more often than much, find little by it; with much, in the controlled world, they do best where the languages share an alphabet.
# - In the controlled world function words are found better than open classes, in every language; in the papers it is the reverse.
# - On real text both text and training count, over six languages the encoder is above static vectors at either size by the plain cosine, and function words come first as well.
# - The untrained encoder is the control to look at first: what it finds by spelling has not been learned.

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** At which layer are translations found best, by the plain cosine and with the languages' means taken out?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# base = rows[
#     (rows["model"] == "BERT")
#     & rows["step"].isna()
#     & rows["part_of_speech"].isna()
# ]
# base = base[
#     base["metric"].isin(["mrr", "mrr_centred"])
#     & (base["sentences"] == base["sentences"].max())
# ]
# print(base.pivot_table(index="layer", columns="metric", values="value"))
# ```
#
# Layer 0 is the embedding output. The difference of the two columns is what the languages' means hide.
# :::
#
# **2.** An interval of one run is over the words of the dictionary. Is it as wide as what seeds differ by?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# base = rows[
#     (rows["model"] == "BERT")
#     & (rows["metric"] == "mrr_centred")
#     & (rows["layer"] == 1)
#     & rows["step"].isna()
# ]
# base = base[base["sentences"] == base["sentences"].max()]
# print("one run, over words:", (base["high"] - base["low"]).mean())
# print("over seeds:", (4 * base.groupby("target")["value"].std()).mean())
# ```
#
# Two standard deviations to either side hold about as much as a 95 % interval. A new seed draws text and weights anew, which no interval over words can know of.
# :::

# %% [markdown]
# **Further reading.** The dictionaries and the way to ask them are those of {cite:t}`conneau2018word`, the static vectors those of
# {cite:t}`mikolov2013distributed` and {cite:t}`pennington2014glove`; BERT is that of {cite:t}`devlin2019bert`. On to chapter 2: {doc}`02_window_size`
