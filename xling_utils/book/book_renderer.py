"""How myst-nb writes a notebook into the book's pages (its plug-in point ``myst_nb.renderers``)."""

from __future__ import annotations

from myst_nb.core.render import NbElementRenderer


class BookRenderer(NbElementRenderer):
    """myst-nb's own, but for JSON in a page: no word that a widget holds can end the element that it is written in.
    (myst-nb itself looks for ``</script>`` alone, in small letters and without a space.)"""

    def add_js_file(self, key: str, uri: str | None, kwargs: dict[str, str]) -> None:
        if kwargs.get("type", "").endswith("json"):
            kwargs = {**kwargs, "body": kwargs["body"].replace("<", "\\u003c")}
        super().add_js_file(key, uri, kwargs)
