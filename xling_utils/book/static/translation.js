// Answers the form of chapter 6 in the page, as xling_utils/chapters/mds/widget.py answers it in a notebook.
// The encoder is loaded when a reader first comes to the form.
(() => {
  const SIDES = ["source", "target", "both", "neither"];
  const QUIET = 700; // milliseconds after a change, in which nothing is said aloud

  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  // What stands in the form's way, as one line.
  const mistake = (encoder, ids, { source, target, names }, lines) => {
    if (source === target) return lines.twice.replace("{language}", names.source);
    if (!ids.length) return lines.empty;
    if (ids.length > encoder.most) return lines.long.replace("{tokens}", encoder.most);
    if (ids.every((id) => id === encoder.unknown)) return lines.unknown;
  };

  // Each token above what is predicted for it, coloured by language, and how many are of which; also in words.
  const answered = (encoder, ids, { source, target, layer, weight, names }, direction) => {
    const said = encoder.moved(ids, source, target, layer, weight);
    const side = (id) => {
      const other = encoder.tokens[target].has(id);
      return encoder.tokens[source].has(id) ? (other ? "both" : "source") : other ? "target" : "neither";
    };
    const chip = (id) => {
      const of = side(id);
      const title = `${encoder.pieces[id]}: ${names[of]}`;
      const shown = element("b", { class: of, dir: "auto", title }, encoder.readable(id));
      if (of === "source") shown.lang = source;
      if (of === "target") shown.lang = target;
      return shown;
    };
    const pairs = ids.map((id, place) => {
      const becomes = element("i", { "aria-label": "becomes" }, "↓");
      return element("span", { class: "pair", role: "listitem" }, chip(id), becomes, chip(said[place]));
    });
    const counts = SIDES.map((of) => `${names[of]}: ${said.filter((id) => side(id) === of).length}`);
    const key = counts.map((count, at) => element("b", { class: SIDES[at] }, count));
    const shown = element(
      "div",
      { class: "xling-tokens" },
      element("div", { class: "pairs", role: "list", dir: direction }, ...pairs),
      element("div", { class: "key" }, "Predicted tokens by language: ", ...key),
    );
    return { shown, words: `${said.map((id) => encoder.readable(id)).join(" ")}. ${counts.join(", ")}.` };
  };

  const start = (widget) => {
    const form = widget.querySelector("form");
    const answer = widget.querySelector(".answer");
    const told = widget.querySelector(".told");
    const { examples, mistakes, rightToLeft } = JSON.parse(widget.querySelector("script").textContent);
    const { sentence, source, target, layer, weight } = form.elements;
    let changes = 0;
    let before = source.value;
    let quiet;

    const show = (shown, words) => {
      answer.lastElementChild.replaceWith(shown); // what is first is the style of both
      clearTimeout(quiet);
      quiet = setTimeout(() => { told.textContent = words; }, QUIET);
    };
    const wrong = (line) => {
      const shown = widget.querySelector("template").content.firstElementChild.cloneNode();
      shown.textContent = line;
      show(shown, "");
    };

    const update = async () => {
      const change = ++changes;
      let encoder;
      try {
        encoder = await bookEncoder.load();
      } catch (error) {
        return wrong(error.message);
      }
      if (change !== changes) return; // the reader went on while it was loaded
      const named = (select) => select.selectedOptions[0].textContent;
      const names = { source: named(source), target: named(target), both: "both", neither: "neither" };
      const chosen = { source: source.value, target: target.value, layer: +layer.value, weight: +weight.value, names };
      const ids = encoder.read(sentence.value);
      const line = mistake(encoder, ids, chosen, mistakes);
      if (line) return wrong(line);
      const { shown, words } = answered(encoder, ids, chosen, rightToLeft.includes(source.value) ? "rtl" : "ltr");
      show(shown, words);
    };

    form.addEventListener("input", ({ target: changed }) => {
      if (changed === source) {
        // Unless the reader has written a sentence of their own.
        if (sentence.value === examples[before] && examples[source.value]) sentence.value = examples[source.value];
        before = sentence.lang = source.value;
      }
      if (changed.type === "range") changed.nextElementSibling.textContent = changed.value;
      update();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("focusin", () => bookEncoder.load().catch(() => {}), { once: true });
    form.hidden = false;
  };

  document.querySelectorAll(".translation").forEach(start);
})();
