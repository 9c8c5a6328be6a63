"""What tidy rows call things: the tasks, and the methods and parts of some.

Chapters and figures take the names from here, so that a chapter that only draws loads nothing that measures.
"""

from __future__ import annotations

WORDS = "word retrieval"
"""The task of chapter 1."""

LEARNED = INFERENCE, ENTITIES = "NLI", "NER"
"""Learned in English, tested in another language."""
RANDOM_LABELS = "NLI, random labels"
"""The name of this task among measures; its rows are of the task NLI."""

ON = ", on "
"""Between a task's name and that of the aligned text of one's own that it is measured on."""
LANGUAGE_MEANS, TOKEN_TRANSLATION = "language means", "token translation"
METHODS = "original", "zero-mean", "mean difference shift"
"""What was done with the languages' means."""
ALL = "all"
"""Source and target of what is measured over all languages at once."""

SHIFTED = SHIFTED_INFERENCE, POS, PARSING = "NLI with shift", "POS", "parsing"
"""Learned in English, tested with states moved by the difference of the languages' means."""
WHOLE, UPPER, MOVED = "all layers", "upper half", "upper half with shift"
"""The methods of the first: what is fine-tuned, and whether the states are then moved."""

SIMILARITY, WORD_ALIGNMENT, CONTEXTUAL = "similarity", "word alignment", "contextual alignment"
"""Of a run with another one."""

REPORT_CARD = "report card"
"""Of any language model, on few sentences."""

DOUBLES = "finding the double"
"""The task's name, of both its parts."""
TRANSLATION, RETRIEVAL = "word translation", "sentence retrieval"
"""Its parts, the tasks of its rows."""
