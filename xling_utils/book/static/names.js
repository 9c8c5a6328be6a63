// Names for readers who hear the page or see it on a phone, where theme, tables and controls give none or a wrong one.
(() => {
  const name = () => {
    // The theme's own names leave out what is to be read there: "Search" where it says "Search Ctrl + K".
    for (const element of document.querySelectorAll(".search-button-field, details > summary"))
      element.removeAttribute("aria-label");
    for (const title of document.querySelectorAll(".theme-switch-button svg > title")) {
      title.parentElement.setAttribute("aria-hidden", "true");
      title.remove();
    }
    for (const entry of document.querySelectorAll(".citation-list > [role='doc-biblioentry']"))
      entry.setAttribute("role", "listitem");
    for (const marks of document.querySelectorAll(".vega-chart [role='graphics-symbol']:not([aria-label])"))
      marks.setAttribute("aria-label", marks.getAttribute("aria-roledescription"));
    for (const handle of document.querySelectorAll(".noUi-handle:not([aria-label])")) {
      const label = handle.closest(".jupyter-widgets:has(.widget-label)")?.querySelector(".widget-label");
      if (label) handle.setAttribute("aria-label", label.textContent.trim());
    }
  };
  // A narrow page shows a row as lines below each other, each with the name of its column.
  for (const table of document.querySelectorAll("table.stacked")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.cells].slice(1).forEach((cell, after) => (cell.dataset.of = heads[after + 1]));
  }
  name();
  // Icons and controls are drawn after the page was read, and charts drawn anew, without the names, when their width changes.
  const watched = { childList: true, subtree: true, attributes: true, attributeFilter: ["role", "aria-label"] };
  new MutationObserver(name).observe(document.body, watched);
})();
