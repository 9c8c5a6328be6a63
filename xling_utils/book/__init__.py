"""The book: chapters executed as notebooks, pages with what is computed in them, and the rendered site.

In: a checkout, and parameters. Out: executed notebooks, ``_build/html``; a small book about any one model.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.book.card_page import as_line
    from xling_utils.book.notebooks import ChapterFailure, chapters, execute
    from xling_utils.book.parameters import checked, languages_of
    from xling_utils.book.playing import play
    from xling_utils.book.probing import folder_of, own_languages, probe, probe_chapters
    from xling_utils.book.recording import record
    from xling_utils.book.rendering import render
else:
    __getattr__, __all__ = late(__file__)
