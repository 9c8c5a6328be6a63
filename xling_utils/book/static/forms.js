// What the forms of pages have in common (xling_utils/chapters/shared/in_page.py): a change is answered below the form,
// and said aloud once the answer stands.
(() => {
  const QUIET = 700; // milliseconds after a change, in which nothing is said aloud
  const here = document.currentScript.src;

  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  // What a reader is told instead of an answer, as one line.
  class Mistake extends Error {}

  // A script beside this one, loaded when somebody first asks: a page on disk may fetch nothing.
  const asked = {};
  const script = (name) =>
    (asked[name] ??= new Promise((resolve, reject) => {
      const made = element("script", { src: new URL(name, here) });
      made.onload = resolve;
      made.onerror = () => reject(new Mistake(`${made.src} did not load.`));
      document.head.append(made);
    }));

  // `answered(controls, data, found)` gives what is `shown` in place of the answer before, and in `words`, or throws a
  // Mistake; `needed()` is a promise of what is found.
  const answer = (kind, needed, answered) => {
    for (const widget of document.querySelectorAll(`.in-page.${kind}`)) {
      const form = widget.querySelector("form");
      const place = widget.querySelector(".answer");
      const told = widget.querySelector(".told");
      const data = JSON.parse(widget.querySelector(":scope > script").textContent);
      let changes = 0;
      let quiet;

      const show = (shown, words) => {
        place.lastElementChild.replaceWith(shown); // a style may stand before it
        clearTimeout(quiet);
        quiet = setTimeout(() => { told.textContent = words; }, QUIET);
      };
      const update = async () => {
        const change = ++changes;
        try {
          const found = await needed();
          if (change !== changes) return; // the reader went on while it was loaded
          const { shown, words } = answered(form.elements, data, found);
          show(shown, words);
        } catch (error) {
          if (!(error instanceof Mistake)) throw error;
          const line = widget.querySelector("template").content.firstElementChild.cloneNode();
          line.removeAttribute("role"); // an alert would be said at every key
          line.textContent = error.message;
          show(line, error.message);
        }
      };

      form.addEventListener("input", ({ target }) => {
        if (target.type === "range") target.nextElementSibling.textContent = target.value;
        update();
      });
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("focusin", () => needed().catch(() => {}), { once: true });
      form.hidden = false;
    }
  };

  // As Python's str.format fills it.
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const named = (select) => select.selectedOptions[0].textContent;

  window.bookForms = { Mistake, answer, element, filled, named, script };
})();
