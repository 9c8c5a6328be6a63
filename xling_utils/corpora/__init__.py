"""Text, wherever it comes from: the controlled world or a directory; plain, changed, parallel or labelled.

In: a :class:`CorpusSpec`, and the directory of real text. Out: datasets of sentences, dictionaries, labelled
items. The same specification and files give the same text, letter for letter.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.corpora import (
        archive,
        checks,
        controlled,
        directory,
        label_files,
        labelled,
        lines,
        parallel,
        task_files,
        treebanks,
    )
    from xling_utils.corpora.loading import dictionary, fingerprint, load, respelled
    from xling_utils.corpora.text import normalise
    from xling_utils.corpora.transforms import (
        code_switch,
        fake_english,
        permute_words,
        resample_unigrams,
    )
else:
    __getattr__, __all__ = late(__file__)
