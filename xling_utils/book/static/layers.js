// Draws the form of chapters 5 and 7 in the page, as xling_utils/chapters/language_means/widget.py draws it in a
// notebook, from pictures that were computed before (in_page.py, beside it).
(() => {
  const { Mistake, answer, filled, named, script } = bookForms;

  let read;
  const load = () =>
    (read ??= script("layers-data.js").then(() => {
      const { points, ...data } = window.layersData;
      const bytes = Uint8Array.from(atob(points), (character) => character.charCodeAt(0));
      return { ...data, points: new Int16Array(bytes.buffer) };
    }));

  // Points of each language ([x, y]) and the share between languages, of both pictures. Data has every pair once:
  // the other way round it is mirrored, since pictures lie from the first language's mean to the second's.
  const pictured = ({ languages, layers, tokens, cells, points }, first, second, layer) => {
    const order = [first, second].map((language) => languages.indexOf(language));
    const mirrored = order[0] > order[1];
    const [low, high] = mirrored ? [order[1], order[0]] : order;
    const pair = (low * (2 * languages.length - low - 1)) / 2 + high - low - 1;
    const cell = pair * layers + layer;
    const { unit, steps, shares } = cells[cell];
    return shares.map((share, after) => ({
      share,
      points: [0, 1].map((place) => {
        const language = mirrored ? 1 - place : place;
        return Array.from({ length: tokens }, (_, token) => {
          const at = ((cell * 2 + language) * tokens + token) * 2;
          const [x, y] = [0, 1].map((axis) => points[at + axis] * unit + (after ? steps[language][axis] : 0));
          return [mirrored ? -x : x, y];
        });
      }),
    }));
  };

  // The chart beside which `host` stands, of other points; both pictures have the same axes.
  const respecified = (host, pictures, which, names, description) => {
    const spec = JSON.parse(host.querySelector("script").textContent);
    const rows = pictures[which].points.flatMap((found, of) => found.map(([x, y]) => ({ x, y, language: names[of] })));
    const everything = pictures.flatMap(({ points }) => points.flat());
    spec.datasets = { [spec.data.name]: rows };
    for (const [axis, at] of [["x", 0], ["y", 1]]) {
      const values = everything.map((point) => point[at]);
      spec.encoding[axis].scale.domain = [Math.min(...values), Math.max(...values)];
    }
    for (const channel of ["color", "shape"]) spec.encoding[channel].scale.domain = names;
    return { ...spec, description };
  };

  const shown = document.querySelector(".layers .answer > .layers"); // a mistake takes it off the page
  answer("layers", load, (controls, texts, data) => {
    const { first, second, layer } = controls;
    const names = [named(first), named(second)];
    if (first.value === second.value) throw new Mistake(filled(texts.twice, { language: names[0] }));
    const pictures = pictured(data, first.value, second.value, +layer.value);
    const captions = texts.pictures.map((what, which) => {
      const share = `${(100 * pictures[which].share).toFixed(1)}\u00a0%`;
      const said = { names: names.join(" and "), layer: layer.value, share };
      const place = shown.children[which];
      const host = place.querySelector(".vega-chart");
      const description = filled(texts.description, { ...said, what });
      bookCharts.redraw(host, respecified(host, pictures, which, names, description));
      const caption = filled(texts.caption, { ...said, what: what[0].toUpperCase() + what.slice(1) });
      return (place.querySelector("p").textContent = caption);
    });
    return { shown, words: captions.join(" ") };
  });
  window.bookLayers = { load, pictured };
})();
