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
# # Where does scatter come from?
#
# :::{admonition} In this chapter
# - what two runs of one specification differ by: their text, their first weights, or the order of what they read;
# - how much of that a study sees that keeps one of the three the same.
# :::
#
# **The answer.** Five texts, five sets of first weights and five orders are too few to say which of the three it is. The largest share, as estimated, none of them explains alone: it belongs to how this text, these weights and this order meet.
#
# **The question.** Two runs of one specification never come out alike. Three things are drawn by chance for a run: the *text* that is read
# (and with it the contexts in which words are measured), the *first weights*, and the *order* in which batches come and places are masked. In
# all other chapters one seed draws all three, so that a bar of an interval shows the scatter of everything. Which of them makes it?
#
# **What others found.** The five papers have one run of nearly everything. For English alone, twenty-five BERTs that differ in first weights and order
# showed that a conclusion from one run may not hold for the next {cite}`sellam2022multiberts`; sets of ten language models mostly agreed, but for a few runs
# {cite}`vanderwal2025polypythias`. Where text is expensive, it is most often the same for all runs.

# %% tags=["parameters", "hide-input"]
scale = "controlled"  # smoke, controlled, natural or paper
languages = [
    "fr",
    "es",
    "de",
    "el",
    "bg",
    "ru",
    "tr",
    "ar",
    "vi",
    "th",
    "zh",
    "hi",
    "sw",
    "ur",
]  # the first beside English
seeds = 1  # how many of each: the square of it is trained where all are live
live = "headline"  # all: trained on this machine; headline or none: what is recorded is shown
data = None  # directory of real text, for the scales natural and smoke
engine = "local"  # local or dask
scheduler = None  # address of a Dask scheduler
jobs = None  # runs at a time; None: one a core
sentences = None  # of text a language; None: as many as the scale reads

# %% [markdown]
# ## The runs
#
# Five texts, five sets of first weights, five orders, in a *Latin square*: every text is read from every set of weights once, and every order
# comes once with each text and once with each set of weights. So 25 runs tell three sources apart, where all combinations would be 125. It is done for the
# base run of {doc}`chapter 1 <01_data_size>` and with {term}`Fake-English` in place of English ({doc}`chapter 3 <03_overlap>`), with the same seeds, so that their
# difference, an effect such as the other chapters measure, has its scatter too.

# %% tags=["remove-input"]
from xling_utils import charts
from xling_utils.chapters import opened, scatter

charts.enable()
chapter = opened("09_scatter", scale, languages, seeds, live, data, engine, scheduler, jobs, sentences=sentences)
charts.of_earlier_recipe(chapter.of_earlier_recipe)

# %% [markdown]
# ## Every run, three ways
#
# The same runs stand below one another in three ways, sorted by what they share. Where a source matters, its bars, the means of its five runs, lie far
# apart, and the marks of a line close together.

# %% [markdown] tags=["of-the-record"]
# :::{dropdown} Before you look: the same encoder is trained again and again. What makes its runs differ most: another text, other first weights, or another order?
# No single one of them is shown to. As estimated, the text has the largest part of the base run's variance, the order the smallest, and what none explains alone more than either; five of each are too
# few to rank them.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-scatter", "caption": "No text, first weights or order makes its runs clearly alike.\n\nEnglish with the base language, centred retrieval among the dictionary's words. A line has the runs that share the seed it names; the bar is their mean. Choose the condition, or the difference, below the chart."}}
scatter.figure(chapter)

# %% [markdown]
# ## How much comes from which
#
# *Components of variance*: how much the means of a source's levels differ, less what they would differ by through the rest of the scatter alone. What is left, *rest*, is what no
# single source explains: this text with these weights in this order. With five levels a share is rough; p says how often a source without any part in it would look at least like this.

# %% tags=["hide-input"]
charts.show(scatter.sources(chapter))

# %% [markdown] tags=["of-the-record"]
# No single source is shown to make the scatter: the largest share, as estimated, belongs to none of the three alone, but to how this text, these weights and this order meet. Of the three
# the text has the largest part in the base run, and the order the smallest, yet of none could five levels rule out that it has no part at all. Whoever keeps
# a lucky set of weights, or a lucky order, may keep little of the luck: with the next text most may be drawn anew.

# %% [markdown]
# ## What few seeds see
#
# Three runs, as many as a careful study has. If text, weights and order are drawn anew for each, what the three differ by tells how far their mean is
# from the truth. If one of them is the same in all three, the mean is off by what that one thing does, and no interval shows it. *Shown* is the standard error
# that an author would print, *true* the one of the mean:

# %% tags=["hide-input"]
charts.show(scatter.what_few_seeds_see(chapter))

# %% [markdown]
# ## Limits
#
# - One language pair, one size, one measure. What a seed of the text does hangs on how much text there is.
# - The text's seed also draws the contexts in which words are measured, so its share holds some of the measure's own noise.
# - A Latin square takes the three to add up. Where they do not, it shows as *rest*.
#
# What it means for other chapters: their seeds draw all three anew, so their intervals are of the kind *all drawn anew*. Conditions are compared within a seed; the difference above shows what that is worth,
# and in the second exercise no gain is seen.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The runs behind this page", "code_prompt_hide": "The runs behind this page"}
charts.show(chapter.record())

# %% [markdown] tags=["of-the-record"]
# ## Exercises
#
# Each takes seconds, in a notebook of this chapter whose cells have run. Solve it before you open the solution.
#
# **1.** Take three of the recorded runs at random, again and again. How far from the mean of all are theirs?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[
#     (rows["condition"] == "base run")
#     & (rows["metric"] == "mrr_centred")
#     & (rows["layer"] == 1)
# ]
# runs = rows["value"].reset_index(drop=True)
# means = [runs.sample(3, random_state=draw).mean() for draw in range(1_000)]
# errors = (runs.mean() - means).tolist()
# print(f"mean {runs.mean():.3f}, errors of 1,000 studies:")
# print(f"{min(errors):.3f} to {max(errors):.3f}")
# ```
#
# How large would an effect have to be, for a study of three runs to find it on the right side every time?
# :::
#
# **2.** The base run and Fake-English are read with the same seeds. What is gained by comparing them seed by seed?
#
# :::{dropdown} A solution
# ```python
# rows = chapter.recorded
# rows = rows[(rows["metric"] == "mrr_centred") & (rows["layer"] == 1)]
# runs = rows.pivot_table(
#     index=["text", "seed", "order"], columns="condition", values="value"
# )
# difference = runs["base run"] - runs["Fake-English"]
# apart = runs.var().sum() ** 0.5
# print(f"same seeds: {difference.std():.3f}, seeds of their own: {apart:.3f}")
# ```
#
# Standard deviations of the difference of two runs. The less the one is than the other, the more do the two have in common.
# :::

# %% [markdown]
# **Further reading.** {cite:t}`sellam2022multiberts` and {cite:t}`vanderwal2025polypythias`, on how much one run of a language model says.
