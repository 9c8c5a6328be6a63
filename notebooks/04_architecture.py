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
# # Which parts of the encoder must languages share?
#
# :::{admonition} In this chapter
# - whether depth, the number of heads or the number of parameters matters for alignment;
# - what the objective, the separator and the kind of token change;
# - which parts of the encoder two languages must share.
# :::
#
# **The answer.** For words, in the controlled world, nearly all of them: where a language has its embeddings and most of its blocks for itself,
# 2 %<!-- value: left shared parameters -->
# (0 %<!-- value: left shared parameters low --> to 4 %<!-- value: left shared parameters high -->) of the alignment above chance is left, and the first block apart costs most of it. With blocks alone apart inference and names lose less; with the embeddings as well names lose everything, and inference falls below an untrained encoder's. Depth, heads, objective and separators move it far less,
# and depth not as the papers saw it. On real text 2 %<!-- value: left natural shared parameters -->
# (−2 %<!-- value: left natural shared parameters low --> to 5 %<!-- value: left natural shared parameters high -->) is left by the same
# separation; that fewer of a language's words are found when it has blocks of its own is decided there, too.
#
# **The question.** How much of the encoder can be taken away, or kept apart for each language, before its two languages
# come apart too? Is it the depth, the number of attention heads, or the number of parameters? The objective, or the
# tokens it reads? Or that the languages have to share them?
#
# **What the papers found.** K et al. varied one thing at a time and kept the number of parameters where they could:
# {term}`depth <layer>` matters most; a single attention head does nearly as well as twelve; few parameters hurt little as long as the
# encoder is deep. Next sentence prediction hurts, a separator (a {term}`special token`) for each language makes no difference, and characters or
# whole words do worse than word pieces {cite}`k2020crosslingual`. Conneau, Wu et al. gave each language its own
# embeddings, its own bottom blocks, or both: the more is separate, the less is transferred, and that, not overlap,
# is what decides {cite}`conneau2020emerging`.

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
# The base run of {doc}`chapter 1 <01_data_size>` is one level of every factor. Depth varies with the number of parameters fixed:
# the width is solved for it, as the papers do. "Bottom third" and "bottom two thirds" stand for the first three and
# the first six of the papers' eight blocks.

# %% tags=["remove-input"]
from xling_utils import charts, claims
from xling_utils.chapters import architecture, opened

charts.enable()
chapter = opened("04_architecture", scale, languages, seeds, live, data, engine, scheduler, jobs, sentences=sentences)
charts.of_earlier_recipe(chapter.of_earlier_recipe)


# %% [markdown]
# A figure is drawn where at least two levels were run: the recorded seeds, and whatever `live` asks of this machine
# (`xling run 04_architecture -p live all` runs every level).
#
# ## Depth, heads, parameters

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: one, two, three or six layers with the same number of parameters in all: which encoder finds most translations?
# Three, as far as twenty seeds can tell, or two. One layer finds 21 %<!-- value: one layer loses --> less above chance; the 10 %<!-- value: two layers lose --> that two lose cannot be told from none. Six, each of which is then narrow,
# lose 14 %<!-- value: six layers lose -->, read behind the first block as all others.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-depth", "caption": "At the same number of parameters one layer aligns words less than three.\n\nEnglish with another language. Choose the measure below the chart. Circles are seeds of this machine, diamonds means of the recorded seeds with 95 % intervals; squares, which inference and names have, are E's table 4 (Fake-English to Russian, other depths than ours).\n\nSeeds take partners in turn; the circles have the first language alone: compare them with one another."}}
architecture.factor(chapter, "depth")

# %% [markdown] tags=["of-the-record"]
# Depth matters less than what is shared, and not as the papers have it. Of the alignment above chance one layer of the same number of parameters loses
# 21 %<!-- value: one layer loses -->
# (11 %<!-- value: one layer loses low --> to 32 %<!-- value: one layer loses high -->) against three, and six, each of which is then narrow, 14 %<!-- value: six layers lose -->
# (7 %<!-- value: six layers lose low --> to 22 %<!-- value: six layers lose high -->); two layers lose
# 10 %<!-- value: two layers lose -->, which twenty seeds cannot tell from none. (All are read behind their first block. Each at its
# best layer, one is still worse than three, and of six it cannot be told.) E's twelve layers read text in which there is more to learn. Here, where the neighbours of a word
# tell much of it, two looks at them may be enough; one is not. A narrow encoder, which has fewer parameters as well, aligns far less: 16 dimensions in place of 64 cost
# 49 %<!-- value: a narrow encoder loses -->. A single head loses 14 %<!-- value: a single head loses -->.
#
# K et al. ask another question of depth, heads and parameters: how far English and the other language lie apart, the less the better. So does
# {doc}`the ledger </book/ledger>`, and says that over the four depths the gap is not shown to shrink: that of names grows, that of inference cannot be told. Three layers learn more English inference than one, and most of that stays there; six learn less, and have a smaller gap for that reason alone. An encoder that does not learn the task in English has no gap to show. A narrow one is right in
# .40<!-- value: inference in English of a narrow encoder --> of the English pairs, the base run in .73<!-- value: inference in English of the base run -->, and their gaps are
# .03<!-- value: gap of a narrow encoder --> and .33<!-- value: gap of the base run -->. So it is for want of English, and not for what crosses over, that too few parameters do not widen
# the gap here, and that few parameters in all layers leave a smaller one than many in a single layer: the ledger calls both not testable at this size.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-heads", "caption": "A single attention head aligns words a little less than four; of two and eight twenty seeds cannot tell whether they align words better or worse.\n\nMarks as above; squares, of the other measures, are E's table 5, whose base has twelve heads."}}
architecture.factor(chapter, "heads")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-parameters", "caption": "A narrow encoder aligns far less; beyond the base width twenty seeds cannot tell of a gain in alignment.\n\nMarks as above. E's table 6 varies depth and heads at the same time and is shown below as a table."}}
architecture.factor(chapter, "parameters")

# %% [markdown]
# E's own numbers: right answers in XNLI, in Fake-English and in Russian, of encoders of more and more parameters, whose layers and heads vary with them.

# %% tags=["hide-input"]
charts.show(architecture.paper_parameters(), digits=1)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-four", "caption": "With four languages in one encoder a narrow one loses a good part of what lies above chance.\n\nEnglish with three partners; every language gets as many tokens as in the bilingual runs.\n\nSeeds take the partners in turn."}}
architecture.factor(chapter, "four languages")

# %% [markdown]
# ## Objective, separators, tokens
#
# Three choices that concern no block of the encoder. *Next sentence prediction* is BERT's second task: does this sentence follow that one? A *separator*
# may be the same for both languages or tell which of them an input is of. And the *tokens* may be characters, word pieces or whole words; characters
# make an input several times as long, words leave out all that are rare, of which the controlled world has next to none.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-objective", "caption": "To the other language next sentence prediction makes no difference that twenty seeds could tell; in inference a loss of two points is ruled out.\n\nMarks as above; squares, of the other measures, are the means of E's table 8."}}
architecture.factor(chapter, "objective")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-separator", "caption": "A separator for each language makes no difference that twenty seeds could tell; in inference one of two points is ruled out.\n\nMarks as above; squares, of the other measures, are the means of E's table 9."}}
architecture.factor(chapter, "separator")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tokens", "caption": "Whole words align best, and characters worst.\n\nMarks as above; squares, of the other measures, are the means of E's table 10."}}
architecture.factor(chapter, "tokens")

# %% [markdown] tags=["of-the-record"]
# Next sentence prediction, which hurt the encoders of K et al., and separators make no difference to the other language that twenty seeds could tell; a loss of two points of inference is ruled out. Tokens
# do. With characters 78 %<!-- value: characters lose --> of the alignment above chance is lost; with whole words 29 %<!-- value: words gain --> are gained. Names gain by words, too, where the papers' did
# better with pieces. Our languages are uninflected: a word has one form, pieces have none to tell apart, and the vocabulary of words has them all. Scores of inference are not compared: pairs in pieces are cut more often. What characters do to inference and names is not asked here: an input
# is too short for two sentences in characters, and for the end of one with names.

# %% [markdown]
# ## What is kept apart
#
# Each language has its own embeddings (positions and softmax included), its own bottom blocks, or both. What a language
# has for itself stays frozen in fine-tuning, as in the paper: English must not train what other languages do not use.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-separate", "caption": "The more blocks a language has for itself, the fewer of its words are found; with its embeddings apart next to nothing is left, so that blocks have no more to take.\n\nMarks as above; triangles, of the other measures, are C's table 1."}}
architecture.factor(chapter, "separate")

# %% [markdown] tags=["of-the-record"]
# The first of three blocks for itself costs a language 63 %<!-- value: the bottom third apart loses --> of its alignment above chance, two of them 87 %<!-- value: blocks apart lose -->.
# And the embedding layer? Separate *vocabularies* took every shared token but the special ones away in {doc}`chapter 3 <03_overlap>` and left most of the alignment;
# separate embedding *layers* cost 98 %<!-- value: embeddings apart lose --> (94 %<!-- value: embeddings apart lose low --> to 101 %<!-- value: embeddings apart lose high -->). What the second take away and the first do not is
# the special tokens, the positions and the softmax. What is left of words and names is less than {doc}`the ledger </book/ledger>` takes to matter, so that a block apart as well costs no more: that anchors and a shared softmax are not necessary, as Conneau, Wu et al. say, does not hold here, where the embedding layers are apart with them.
#
# So for words and inference blocks in common are worth more than word pieces in common, or a topic; for names more than word pieces. With embeddings and two blocks apart next to no alignment of words is left, and no names; of inference a little, more than
# what {doc}`the ledger </book/ledger>` allows for none, and less than an untrained encoder has.

# %% [markdown]
# ## In percent
#
# What each level changes, in percent of what the base run has above chance, paired by seed; a dash where that is not above it:

# %% tags=["hide-input"]
charts.show(architecture.changes(chapter))

# %% [markdown]
# ## Any two, layer by layer
#
# Choose two levels of any factor, and whose values are shown: the mean over seeds, or one seed, whose bars are over the words of the dictionary.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-architecture-layers", "caption": "One layer aligns less than three at the embeddings already; and any two levels beside each other.\n\nWord retrieval of English with the chosen language, at every layer (0 is the embedding output), and chance, dashed. The lists below the chart choose the two, the language and seed, and the measure."}}
architecture.compared(chapter)

# %% [markdown] tags=["of-the-record"]
# ## On real text
#
# The same on real text, English with French, Russian, Hindi and Chinese in turn, two seeds each (see {doc}`../book/data` for the text, and {doc}`../book/sizes` for the encoders).
# What is kept apart stands out again. The first of three blocks for itself costs a language 27 %<!-- value: the bottom third apart loses on real text -->
# (20 %<!-- value: the bottom third apart loses on real text low --> to 34 %<!-- value: the bottom third apart loses on real text high -->) of its alignment above chance, less than
# in the controlled world (63 %<!-- value: the bottom third apart loses -->), and two of them 66 %<!-- value: blocks apart lose on real text -->
# (60 %<!-- value: blocks apart lose on real text low --> to 71 %<!-- value: blocks apart lose on real text high -->); that each of them costs words something is decided, and of names that the second does. With its embeddings and two
# blocks for itself 2 %<!-- value: left natural shared parameters -->
# (−2 %<!-- value: left natural shared parameters low --> to 5 %<!-- value: left natural shared parameters high -->) is left for words; {doc}`the ledger </book/ledger>`, which asks
# for inference and names as well, says so of words, and cannot tell of the other two. Embeddings of its own alone cost a language 93 %<!-- value: embeddings apart lose on real text -->
# (82 %<!-- value: embeddings apart lose on real text low --> to 104 %<!-- value: embeddings apart lose on real text high -->), and names with them, and more than vocabularies of its own: both are decided. Whether anything is left of words or names is not.
#
# Depth and heads move words less, as in the controlled world: a single layer loses 14 %<!-- value: one layer loses on real text -->
# (5 %<!-- value: one layer loses on real text low --> to 23 %<!-- value: one layer loses on real text high -->); whether six lose (9 %<!-- value: six layers lose on real text -->), two (−3 %<!-- value: two layers lose on real text -->, a gain) or a
# single head (4 %<!-- value: a single head loses on real text -->) cannot be told. A narrow encoder, as in the controlled world, loses much, 45 %<!-- value: a narrow encoder loses on real text -->
# (33 %<!-- value: a narrow encoder loses on real text low --> to 58 %<!-- value: a narrow encoder loses on real text high -->), and is worse in English, too.
# Characters also lose much, 50 %<!-- value: characters lose on real text -->
# (43 %<!-- value: characters lose on real text low --> to 57 %<!-- value: characters lose on real text high -->) on average: nearly all in Russian, Hindi and Chinese, nothing that shows in French. Whole words gain
# 25 %<!-- value: words gain on real text -->
# (22 %<!-- value: words gain on real text low --> to 28 %<!-- value: words gain on real text high -->) and find more names, though three of these languages are inflected; that words cost inference two points is ruled out (claim E-36, which is asked on real text alone).
#
# That next sentence prediction hurts the other language more than English is refuted for names; for inference that cannot be told, nor whether it hurts the other language at all, whether a separator for each language makes a difference, or what depth and heads do to the gap between
# the languages.

# %% tags=["hide-input", "of-the-record"] mystnb={"figure": {"name": "fig-architecture-natural", "caption": "On real text, too, the more blocks a language has for itself, the fewer of its words are found.\n\nMeans over the recorded seeds of each language, and above them the mean of these with its 95 % interval; centred retrieval among the targets of the MUSE dictionary, XNLI, WikiAnn. Choose the measure below the chart."}}
real = chapter.on_real_text
architecture.on_real_text(real)

# %% [markdown]
# ## Verdicts
#
# Is it so? A line for each claim, with its verdict and the effect that it rests on: on the recorded seeds as {doc}`the ledger </book/ledger>` explains, or on
# what was trained on this machine. Values are means with half of their 95 % interval, and how many seeds that is over. Open a line for its tests.

# %% tags=["hide-input"]
charts.of_claims(claims.of_chapter(chapter, languages=chapter.on_real_text.targets))

# %% [markdown]
# ## At the papers' sizes
#
# Nothing of this size is trained here, but it is counted: `xling plan 04_architecture --scale paper` lists each run of
# E's tables 4 to 7 with its parameters, and they are the papers' to the printed digit (three runs are less than 0.01 %
# off, because twelve heads divide no width that would do).
#
# ## Limits
#
# - Three layers are not twelve. With so few, "bottom third" is one block, and an encoder of one layer is a third of
#   the base, not a twelfth.
# - Languages with embeddings of their own begin with nothing in common, positions included, as the papers' do. Encoders that began with the same positions kept much more ({ref}`the log <negative-positions>`).
# - Whether next sentence prediction was learned is not measured. Its second segment begins at a fixed place, mostly within a sentence on real text, and words are looked up in inputs of one segment ({ref}`the log <negative-next>`).
# - A word in characters takes many tokens, so that its vector is a mean over fewer contexts, which may cost characters some of their retrieval ({ref}`the log <negative-contexts>`). Encoders of whole words read more text in as many tokens, and on real text words that they do not know.
# - What a language has of its own stays as it is while a task is learned, as in C. So the task is learned less well in English, too, and what inference and names lose with parts apart is not all lost in crossing over.
# - E's encoders read Fake-English here, but for its table 7; ours, as C's, read English, and pairs spelt alike are left out
#   of the dictionary.

# %% [markdown] tags=["of-the-record"]
# - In the other languages inference stays on average within ten points of a guess at nearly every level ({doc}`chapter 3 <03_overlap>` has a guess why), so it can tell them apart less
#   well than retrieval and named entities do; and a rule that counts words and knows none is right more often in other languages than these encoders ({ref}`the log <negative-without-words>`).

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())

# %% [markdown] tags=["of-the-record"]
# ## In short
#
# - In the controlled world what counts is what the languages have to share: with embeddings and most blocks for itself next to none of a language's words and no names are found, and less inference than an untrained encoder has.
# - Depth, heads and objective matter far less for words there. A narrow encoder aligns far less, and words do better than characters.
# - For words real text looks much the same where most is kept apart: 2 %<!-- value: left natural shared parameters --> is left with embeddings and most blocks apart; the first block alone costs less there. That blocks apart cost words, and that words and pieces align better than characters, is
#   decided on real text, too.
# - In the controlled world one seed could have told another story of depth, heads, objective and separators; of what is kept apart none would for words; for names some would. Of differences as small as those of heads twenty still cannot tell all.

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** Which change moves alignment most, and in which direction?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[(rows["metric"] == "mrr_centred") & rows["step"].isna()]
# best = rows.groupby(["factor", "level", "seed", "target"])["value"].max()
# means = best.groupby(["factor", "level"]).mean()
# print((means - means["base", "base"]).sort_values())
# ```
#
# Each run counts with its best layer, and all languages count alike; the runs of four languages have three partners a seed, all others one. How far seeds scatter is not in it. Add `.std()` over seeds, and see which of the differences you would
# still believe.
# :::
#
# **2.** K et al. look at the gap between English and the other language in inference. Which levels have a small gap, and which of these have learned the task at all?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[(rows["task"] == "NLI") & (rows["metric"] == "accuracy")]
# found = rows.assign(
#     side=rows["target"].where(rows["target"] == "en", "other")
# )
# table = found.pivot_table(
#     index=["factor", "level"], columns="side", values="value"
# )
# print(table.assign(gap=table["en"] - table["other"]).sort_values("gap"))
# ```
#
# A guess is right in one case of three.
# :::

# %% [markdown]
# **Further reading.** {cite:t}`conneau2020emerging`, section 4, for parameters kept apart; {cite:t}`k2020crosslingual` for everything that is varied at a fixed
# number of parameters; {cite:t}`dufter2020identifying`, and {doc}`chapter 8 <08_minimult>`, for the smallest set-up in which to ask. On to chapter 5: {doc}`05_language_means`
