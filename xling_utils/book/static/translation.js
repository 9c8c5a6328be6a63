// Answers the form of chapter 6 in the page, as xling_utils/chapters/mds/widget.py answers it in a notebook.
(() => {
  const SIDES = ["source", "target", "both", "neither"];
  const { Mistake, answer, element, named } = bookForms;

  // What stands in the form's way, as one line.
  const mistake = (encoder, ids, { source, target, names }, lines) => {
    if (source === target) return lines.twice.replace("{language}", names.source);
    if (!ids.length) return lines.empty;
    if (ids.length > encoder.most) return lines.long.replace("{tokens}", encoder.most);
    if (ids.every((id) => id === encoder.unknown)) return lines.unknown;
  };

  // Each token above what is predicted for it, coloured by language, and how many are of which; also in words.
  const moved = (encoder, ids, { source, target, layer, weight, names }, direction) => {
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

  answer("translation", bookEncoder.load, (controls, known, encoder) => {
    const { sentence, source, target, layer, weight } = controls;
    if (sentence.lang !== source.value) {
      // Unless the reader has written a sentence of their own.
      if (sentence.value === known.examples[sentence.lang] && known.examples[source.value])
        sentence.value = known.examples[source.value];
      sentence.lang = source.value;
    }
    const names = { source: named(source), target: named(target), both: "both", neither: "neither" };
    const chosen = { source: source.value, target: target.value, layer: +layer.value, weight: +weight.value, names };
    const ids = encoder.read(sentence.value);
    const line = mistake(encoder, ids, chosen, known.mistakes);
    if (line) throw new Mistake(line);
    return moved(encoder, ids, chosen, known.rightToLeft.includes(source.value) ? "rtl" : "ltr");
  });
})();
