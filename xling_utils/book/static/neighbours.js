// Answers the form of chapter 1 in the page, as xling_utils/chapters/data_size/explorer.py answers it in a notebook.
(() => {
  const { Mistake, answer, element, filled } = bookForms;
  const rows = new Map(); // English word -> its row, read when a reader first asks

  answer("neighbours", async () => {}, ({ word, layer }, { language, sources, targets, gold, layers, texts }) => {
    if (!rows.size) sources.forEach((source, row) => rows.set(source, row));
    const count = (number) => number.toLocaleString("en");
    const row = rows.get(word.value.trim().toLowerCase());
    if (row === undefined) {
      const typed = [...word.value].slice(0, 80).join("");
      throw new Mistake(filled(texts.unknown, { word: typed, words: count(sources.length) }));
    }
    const { order, similarity, places } = layers[layer.value];
    const cell = (tag, content) => element(tag, {}, ...(content === "" ? [] : [content]));
    const head = ["", "nearest", "cosine", "translation"].map((title) => cell("th", title));
    const lines = order[row].map((target, at) => {
      const neighbour = element("span", { lang: language }, targets[target]);
      const cells = [at + 1, neighbour, similarity[row][at], gold[row].includes(target) ? "✓" : ""];
      return element("tr", {}, ...cells.map((content) => cell("td", content)));
    });
    const translation = gold[row].map((target) => targets[target]).join(", ");
    const told = filled(texts.told, { translation, place: count(places[row]), words: count(targets.length) });
    const said = element("p", {}, "Translation: ", element("span", { lang: language }, told));
    const table = element("table", {}, element("tbody", {}, element("tr", {}, ...head), ...lines));
    return { shown: element("div", { class: "neighbours" }, table, said), words: `Translation: ${told}` };
  });
})();
