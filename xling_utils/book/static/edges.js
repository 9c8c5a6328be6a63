// Tables and code that go on beyond the right edge of their box fade there, until they were scrolled to their end.
(() => {
  const BOXES = ".pst-scrollable-table-container, .cell_output .text_html, div.highlight pre";
  const mark = (box) => box.classList.toggle("goes-on", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  const watch = new ResizeObserver((changes) => changes.forEach(({ target }) => mark(target)));
  for (const box of document.querySelectorAll(BOXES)) {
    box.addEventListener("scroll", () => mark(box), { passive: true });
    watch.observe(box);
  }
})();
// Paper is light: on it the charts and formulas of a dark page would be nearly white.
(() => {
  const page = document.documentElement.dataset;
  let before;
  addEventListener("beforeprint", () => {
    before = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (before) page.theme = before;
  });
})();
