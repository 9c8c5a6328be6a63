# %% [markdown]
# # A sample chapter
#
# Every kind of output that a chapter has. The loss of one token is $-\log p(w \mid c)$.

# %% tags=["parameters"]
rows = 40

# %% tags=["hide-input"]
# ruff: noqa: E402, E501
import altair as alt
import ipywidgets
import pandas as pd

from xling_utils.charts import offline

offline.enable()
table = pd.DataFrame(
    {
        "step": [step for step in range(rows) for _ in "ab"],
        "model": ["encoder", "static vectors"] * rows,
        "value": [value for step in range(rows) for value in (step / rows, 0.4 + 0.1 * step / rows)],
    }
)

# %% mystnb={"figure": {"name": "fig-sample", "caption": "Retrieval over training. The slider hides steps.\n\nFine print: sample numbers, computed [live]{.badge-live}."}}
last = alt.param(name="last", value=rows, bind=alt.binding_range(min=1, max=rows, step=1, name="Last step "))
chosen = alt.selection_point(fields=["model"], bind="legend")
alt.Chart(table, description="Two rising lines: the encoder starts lower and ends higher.").mark_line(
    point=True
).encode(
    x=alt.X("step:Q", title="Training step"),
    y=alt.Y("value:Q", title="Mean reciprocal rank"),
    color=alt.Color("model:N", title="Model"),
    opacity=alt.condition(chosen, alt.value(1), alt.value(0.15)),
    tooltip=["model", "step", "value"],
).add_params(last, chosen).transform_filter("datum.step < last").properties(width=560, height=260)

# %% mystnb={"figure": {"name": "fig-facets", "caption": "The same in two panels, with a title that looks like markup."}}
panel = alt.Chart(table, title="Panels </script>").mark_point().encode(x="step:Q", y="value:Q", column="model:N")
panel.properties(width=300, height=180)

# %%
table.head()

# %%
ipywidgets.IntSlider(value=3, description="layer $l$")

# %% [markdown]
# Words of somebody's data that look like markup: they stay words.

# %% tags=["hide-input"]
hostile = "</SCRIPT ><img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"
words = pd.DataFrame({"word": [hostile, "chat"], "value": [2, 1]})

# %% mystnb={"figure": {"name": "fig-words", "caption": "Two words."}}
bars = alt.Chart(words, title=hostile[:30]).mark_bar()
bars = bars.encode(x="value:Q", y=alt.Y("word:N", axis=alt.Axis(labelLimit=80)), tooltip=["word", "value"])
(bars + alt.Chart(pd.DataFrame({"at": [2]})).mark_rule().encode(x="at:Q")).properties(width=300, description=hostile)

# %%
words.head()

# %%
ipywidgets.Combobox(options=[hostile], value=hostile, description="Word")
