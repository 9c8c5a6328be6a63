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

# %% [markdown] asked="What keeps a language and its double apart?"
# # A small peer: positions of its own keep a language apart
#
# :::{admonition} In this chapter
# - whether an encoder finds the double of a language, which differs in nothing but its numbers;
# - which changes to positions, special tokens, masking, size and word order keep it from that.
# :::
#
# **The answer.** In the controlled world an encoder finds English in its own double with a score of .21<!-- value: score of the original -->
# (.19<!-- value: score of the original low --> to .23<!-- value: score of the original high -->). With special tokens of its own the double is still
# found, at .15<!-- value: score with own special tokens -->; with positions of its own hardly any more, at .02<!-- value: score with own positions -->, on real text as well
# (.03<!-- value: score with own positions on real text -->).
#
# **The question.** Two real languages differ in a hundred ways at once. Take two that differ in nothing: English, and a {term}`Fake-English` in
# which every word piece has a second number of its own. Every sentence stands in the text of either. Nothing tells the encoder
# which piece is whose double, but everything else is equal. Will it find out? And which small change to the encoder, or to its training, is
# enough to keep it from finding out?
#
# **What the paper found.** Dufter and Schütze trained small encoders on such a pair {cite}`dufter2020identifying`. Such an encoder finds the double of most
# words and sentences. Give each language positions of its own, and most of that is gone; {term}`special tokens <special token>` of its own, or masked
# places that never show a random word, cost little alone; all three together leave a sixth. A much larger encoder aligns the languages less
# well than a small one. With the words of one language in reversed order next to nothing is found.
#
# None of the five papers of this book asks what keeps a language from its double, and we know of no other study as near to its small encoders. So it is repeated here, with intervals.

# %% tags=["parameters", "hide-input"]
scale = "controlled"  # smoke, controlled, natural or paper
languages = ["fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh", "hi", "sw", "ur"]  # of other chapters
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
# All but the over-parameterised one are encoders of the usual size with one attention head, as theirs, and all have 1,000 word pieces a language, trained as the base run of
# {doc}`chapter 1 <01_data_size>`; on real text for longer, since too little is found there before. A word piece of English and its double share no
# number, so at the start their words have nothing in common.
#
# - **Original**: positions and special tokens are shared. Of the places to guess, one in ten shows a random piece, of either language.
# - **Own positions**: each language has position (and segment) embeddings of its own, which start with their dimensions in another order.
# - **Own special tokens**: each has its own `[CLS]`, `[SEP]`, `[MASK]` and the rest.
# - **No random words**: where a random piece would stand, there is `[MASK]`.
# - **All three** of these at once.
# - **Over-parameterised**: twice as wide, with two heads, four times as many weights in its blocks, and half the learning rate, but for the matrices of its blocks. (The paper's is twelve times as
#   wide.)
# - **Reversed word order**: the sentences of Fake-English, last word first.
# - **Untrained**: the first weights of the original. What it finds is not learned.
# - **Untrained, own positions**: the same for encoders with positions of their own, which need it: the length of a sentence can be read off positions in common, without learning.

# %% tags=["remove-input"]
from xling_utils import charts, claims
from xling_utils.chapters import minimult, opened

charts.enable()
chapter = opened("08_minimult", scale, languages, seeds, live, data, engine, scheduler, jobs, sentences=sentences)
charts.of_earlier_recipe(chapter.of_earlier_recipe)

# %% [markdown]
# ## What is found
#
# Two questions, both asked in both directions. *Word translation*: each word is read alone, between `[CLS]` and `[SEP]`; is its own double the nearest of all
# words of the other language, by cosine? *Sentence retrieval*: the same for held-out sentences, as means of their tokens. The paper's **multilinguality
# score** is the mean of four such shares ({ref}`precision at 1 <csls>`): words and sentences, at the embedding output and two
# thirds up.

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: which of the two keeps a language from its double: positions of its own, or special tokens of its own?
# Positions: they take the score from .21<!-- value: score of the original --> to .02<!-- value: score with own positions -->.
# Special tokens of its own leave .15<!-- value: score with own special tokens -->.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-minimult", "caption": "With positions of its own, or its words reversed, a language is hardly found; special tokens of its own keep it apart far less.\n\nChoose the measure below the chart. Circles are seeds of this machine, diamonds means of the recorded seeds in the controlled world and triangles on real text, with 95 % intervals; squares are the paper's scores (its table 1)."}}
minimult.figure(chapter)

# %% [markdown] tags=["of-the-record"]
# Compare the order of the conditions, not the values: the paper's encoders have four times as many blocks and read the same verses a hundred times.
# Special tokens of its own cost more than a tenth of the words; of sentences twenty seeds cannot tell. Whether missing random words cost anything (.20<!-- value: score without random words -->)
# twenty seeds cannot tell, nor whether the larger encoder is worse (.18<!-- value: score of the larger encoder -->), though it looks like it. Ours is less large than theirs: with more
# weights than the text can fill, each language may find room of its own; these encoders may have little to spare. Positions of its own cost nearly everything, and the other two changes take some of the little that is left, of words as of sentences;
# with a reversed order .02<!-- value: score with words reversed --> is left, too.

# %% [markdown]
# The same by layer, with what is found at all layers when the doubles are dealt out anew, and with chance (means over seeds):

# %% tags=["hide-input"]
charts.show(minimult.layers(chapter))

# %% [markdown] tags=["of-the-record"]
# ## On real text
#
# Real text is here one book, an English Bible in the public domain; the paper's is a Bible too, though another translation, which may not be passed on.
# On two development seeds an encoder found less there when trained for as many steps as others of real text; here it takes twice as many. Five seeds
# are recorded. Of positions they tell the same as the controlled world. With positions of its own the score is .03<!-- value: score with own positions on real text -->, nearly all of it
# of one seed, and five seeds cannot tell it from what such encoders find untrained, next to nothing. Whether a reversed order leaves less than a tenth cannot be told. Seeds differ widely: the original's mean of .34<!-- value: score of the original on real text --> may be anything from .24<!-- value: score of the original on real text low --> to .45<!-- value: score of the original on real text high -->, so
# that five of them cannot tell what special tokens of its own cost. The score without random words is above the original's, .46<!-- value: score without random words on real text -->; that to miss them costs little (claim M-03) holds, at the edge of the correction. The larger encoder's mean is higher than the original's (.50<!-- value: score of the larger encoder on real text -->), and five seeds cannot tell it from the original's.

# %% tags=["hide-input", "of-the-record"]
real = chapter.on_real_text
charts.show(minimult.layers(real))

# %% [markdown]
# ## Verdicts
#
# Is the order of the conditions the paper's? A line for each claim, with its verdict and the effect that it rests on: on the recorded seeds as {doc}`the ledger </book/ledger>` explains, or on
# what was trained on this machine. Values are means with half of their 95 % interval, and how many seeds that is over. Open a line for its tests.

# %% tags=["hide-input"]
charts.of_claims(claims.of_chapter(chapter))

# %% [markdown]
# ## Limits
#
# - Both languages read the same sentences. No two real languages do, and the chapters before this one do without.
# - Positions start here as sinusoids; with positions of their own, the second language's are the same sinusoids with their dimensions
#   in another order. In the paper they start at random.
# - The paper's sentences to be found are of another translation than its text, ours are held-out sentences of the same text, and fewer. In the controlled world every sixth, a short one, stands in it all the same ({ref}`the log <negative-cut>`).
# - The paper's words are all pieces of the vocabulary, parts of words among them; ours are the words of the text that stand in it
#   five times or more.
# - The encoder called over-parameterised is small beside the paper's, and was trained for as long as the others.
# - An input holds 24 pieces. Sentences of the controlled world fit; of a long verse an encoder reads the beginning, and of a reversed
#   one what was its end. When such a verse is to be found, some of its places are new to the encoder.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())

# %% [markdown] tags=["of-the-record"]
# ## In short
#
# - English and its double find each other with no word piece in common: an equal structure, and positions and special tokens in common, are enough.
# - In the controlled world positions of its own, or a reversed order of words, keep a language apart; special tokens of its own cost it a part.
# - In the controlled world a larger encoder may align them less, as in the paper; on real text its mean is higher. In neither world can the seeds tell.

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** The score is a mean of four shares: words and sentences, at the embedding output and two thirds up. Which of them suffers most from positions of its own?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[(rows["metric"] == "p_at_1") & rows["layer"].isin([0, 2])]
# print(
#     rows.pivot_table(
#         index="condition", columns=["task", "layer"], values="value"
#     )
# )
# ```
#
# Compare the lines *original* and *own positions*.
# :::
#
# **2.** Does what an untrained encoder finds exceed chance?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[
#     (rows["condition"] == "untrained")
#     & rows["metric"].isin(["p_at_1", "p_at_1_shuffled", "chance"])
# ]
# print(
#     rows.pivot_table(
#         index=["task", "layer"], columns="metric", values="value"
#     )
# )
# ```
#
# At the start no word piece shares a number with its double.
# :::

# %% [markdown]
# **Further reading.** {cite:t}`dufter2020identifying`, whose study this is; {cite:t}`k2020crosslingual` for Fake-English in the papers of this book.
