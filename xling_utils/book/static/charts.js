// Draws every chart of the page from the specification written beside it.
//
// Axes, titles and rules are drawn in `currentColor`, so a chart follows the page from light to dark by CSS
// alone and keeps its selections and slider positions.
(() => {
  const INK = "currentColor";
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

  const isNarrow = (width) => width < 520;
  const config = (width) => {
    const text = { labelColor: INK, titleColor: INK, labelFont: FONT, titleFont: FONT };
    const narrow = isNarrow(width);
    return {
      background: "transparent",
      padding: { left: 5, top: 5, bottom: 5, right: 12 }, // half of the last label of an axis
      font: FONT,
      axis: {
        ...text,
        labelFontSize: 12,
        titleFontSize: 12,
        titleFontWeight: 600,
        domainColor: INK,
        domainOpacity: 0.45,
        tickColor: INK,
        tickOpacity: 0.45,
        gridColor: INK,
        gridOpacity: 0.12,
        labelSeparation: 6,
        labelFlush: false,
      },
      legend: {
        ...text,
        labelFontSize: 12,
        titleFontSize: 12,
        titleFontWeight: 600,
        labelLimit: narrow ? width * 0.8 : 320,
        symbolBaseFillColor: INK, // of a legend of shapes alone
        symbolBaseStrokeColor: INK,
        ...(narrow ? { orient: "bottom", direction: "vertical", layout: { top: { direction: "vertical" } } } : {}),
      },
      header: { ...text, labelFontSize: 12, titleFontSize: 12 },
      title: {
        color: INK,
        subtitleColor: INK,
        font: FONT,
        subtitleFont: FONT,
        fontSize: 14,
        fontWeight: 600,
        anchor: "start",
        limit: width,
      },
      text: { color: INK },
      rule: { color: INK },
      errorbar: { rule: { color: INK } },
      view: { stroke: null },
      mark: { color: "#4f8fc7" }, // reads on white and on the dark page
    };
  };

  // A single plot is as wide as its column, whatever is chosen below it; composed charts keep their size, and scroll
  // where that is more.
  const hasFacet = (encoding = {}) => ["row", "column", "facet"].some((key) => key in encoding);
  const isSingle = (spec) => ("mark" in spec || "layer" in spec) && !hasFacet(spec.encoding);
  const fitted = (spec, width) => ({ ...spec, width, autosize: { type: "fit-x", contains: "padding", resize: true } });

  // Legends in columns keep as many as have room for their longest entry.
  const LETTER = 6.8;
  const SYMBOL = 34;
  const withLegendsFitted = ({ datasets, ...spec }, width) => ({
    datasets,
    ...JSON.parse(JSON.stringify(spec), (_, value) => {
      if (!value?.legend?.columns || !value.scale?.domain) return value;
      const longest = Math.max(...value.scale.domain.map((name) => String(name).length));
      const room = Math.max(1, Math.floor(width / (longest * LETTER + SYMBOL)));
      return { ...value, legend: { ...value.legend, columns: Math.min(value.legend.columns, room) } };
    }),
  });

  // What a width changes beside the width itself.
  const shape = (spec, width) => JSON.stringify([isNarrow(width), withLegendsFitted({ ...spec, datasets: {} }, width)]);

  // Tables are written by column, different values once where that is shorter (`chart_html`).
  const byRow = ({ count, columns }) => {
    const at = Object.entries(columns).map(([name, values]) =>
      Array.isArray(values) ? [name, (row) => values[row]] : [name, (row) => values.of[values.at[row]]],
    );
    return Array.from({ length: count }, (_, row) => Object.fromEntries(at.map(([name, value]) => [name, value(row)])));
  };
  const specification = (host) => {
    const spec = JSON.parse(host.querySelector("script").textContent);
    for (const [name, table] of Object.entries(spec.datasets ?? {}))
      if (!Array.isArray(table)) spec.datasets[name] = byRow(table);
    return spec;
  };

  const save = (name, url) => {
    const link = document.createElement("a");
    link.download = name;
    link.href = url;
    link.click();
  };

  const toCsv = (rows) => {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = rows.map((row) => columns.map((column) => cell(row[column])).join(","));
    return [columns.join(","), ...lines].join("\r\n") + "\r\n";
  };

  const tools = (host, spec, view) => {
    const name = host.closest("figure")?.id || "chart";
    const shown = () => controls(spec).map((control) => String(view.signal(control)).replace(/[^\p{L}\p{N}.]+/gu, "-"));
    const bar = document.createElement("div");
    bar.className = "chart-tools";
    const button = (label, title, action) => {
      const element = document.createElement("button");
      element.type = "button";
      element.textContent = label;
      element.title = title;
      element.addEventListener("click", action);
      bar.append(element);
    };
    for (const kind of ["png", "svg"])
      button(kind.toUpperCase(), `Save this chart as ${kind.toUpperCase()}`, async () =>
        save(`${[name, ...shown()].join("-")}.${kind}`, await view.toImageURL(kind, 2)),
      );
    // The largest table, and values beside it such as chance; not what only places a line or a heading.
    const all = Object.values(spec.datasets ?? {}).filter((rows) => Array.isArray(rows) && rows.length);
    const most = Math.max(...all.map((rows) => rows.length));
    const tables = all.filter((rows) => rows.length === most || "value" in rows[0]);
    if (tables.length)
      button("CSV", "Save the data of this chart as CSV", () =>
        tables.forEach((rows, index) => {
          const url = URL.createObjectURL(new Blob([toCsv(rows)], { type: "text/csv" }));
          save(tables.length > 1 ? `${name}-${index + 1}.csv` : `${name}.csv`, url);
          setTimeout(() => URL.revokeObjectURL(url), 60000);
        }),
      );
    host.after(bar);
  };

  const controls = (spec) => (spec.params ?? []).filter(({ bind }) => bind?.input).map(({ name }) => name);

  // What a reader has chosen: the controls below a chart, and the entries of its legend.
  const choices = (spec, view) => {
    const names = controls(spec);
    return view.getState({
      signals: (name) => names.includes(name),
      data: (name) => name.endsWith("_store"),
      recurse: false,
    });
  };

  // What a click in a legend picks, Enter and the space bar pick, too. By one that is picked all are there again.
  const pickInLegend = (host, spec, view) => {
    const svg = host.querySelector("svg");
    for (const { name, bind, select } of spec.params ?? []) {
      if (bind !== "legend") continue;
      const labels = [...svg.querySelectorAll(select.fields.map((field) => `.${field}_legend_labels text`).join())];
      if (!labels.length) continue;
      const show = () => {
        const picked = view.data(`${name}_store`).flatMap(({ values }) => values);
        labels.forEach((label) => label.setAttribute("aria-pressed", picked.includes(label.__data__.datum.value)));
      };
      for (const label of labels) {
        label.tabIndex = 0;
        label.setAttribute("role", "button");
        label.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault(); // the space bar would scroll
          label.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: event.shiftKey }));
        });
        label.addEventListener("click", (event) => {
          if (label.ariaPressed !== "true" || event.shiftKey) return;
          event.stopPropagation();
          svg.dispatchEvent(new MouseEvent("click", { bubbles: true })); // beside all entries
        });
      }
      // Vega calls a legend a picture, in which nothing could be pressed, whenever it draws it.
      const legend = labels[0].closest(".role-legend");
      const group = () => legend.getAttribute("role") === "group" || legend.setAttribute("role", "group");
      new MutationObserver(group).observe(legend, { attributeFilter: ["role"] });
      group();
      view.addDataListener(`${name}_store`, show);
      show();
    }
  };

  // What a mark says, without what it has no number for.
  const told = (value, text) => {
    const rows = Object.entries(value).filter(([, each]) => !["null", "NaN", "undefined"].includes(String(each)));
    return `<table>${rows.map(([name, each]) => `<tr><td class="key">${text(name)}</td><td class="value">${text(each)}</td></tr>`).join("")}</table>`;
  };

  // Vega waits for a pointer that moves, which a tap does not.
  const tellOnTap = ({ target, pointerType, clientX, clientY }) => {
    if (pointerType !== "touch") return;
    target.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX, clientY }));
  };

  // Vega itself would measure when the window is resized, while the columns of the page still move.
  const fits = new WeakMap();
  const refit = (host, spec, view, drawn) => {
    fits.get(host)?.disconnect();
    const watch = new ResizeObserver(() => {
      const width = host.clientWidth;
      if (width === 0) return;
      if (shape(spec, width) === shape(spec, drawn)) return view.width(width).runAsync();
      watch.disconnect();
      again(host, choices(spec, view));
    });
    watch.observe(host);
    fits.set(host, watch);
  };

  const draw = async (host, chosen) => {
    const width = host.clientWidth;
    const whole = specification(host);
    const spec = withLegendsFitted(whole, width);
    const canvas = host.querySelector(".vega-canvas");
    // Expressions are interpreted (`ast`): the policy of the page lets nothing compile text to code.
    const drawn = await vegaEmbed(canvas, isSingle(spec) ? fitted(spec, width) : spec, {
      renderer: "svg",
      actions: false,
      ast: true,
      tooltip: { formatTooltip: told },
      config: config(width),
    });
    // A browser that comes back to the page would put in what was chosen, and the chart would show something else.
    canvas.querySelectorAll(".vega-bind :is(select, input)").forEach((control) => (control.autocomplete = "off"));
    canvas.querySelector("svg").addEventListener("click", tellOnTap);
    if (chosen) await drawn.view.setState(chosen).runAsync();
    if (isSingle(spec)) refit(host, whole, drawn.view, width);
    pickInLegend(host, spec, drawn.view);
    tools(host, spec, drawn.view);
    host.dataset.state = "drawn";
  };

  const waiting = new WeakMap();
  const start = (host, chosen) => {
    waiting.get(host)?.disconnect();
    if (host.clientWidth > 0) return draw(host, chosen);
    // In a closed fold or a hidden tab there is no width to fit yet.
    const watch = new ResizeObserver(() => {
      if (host.clientWidth === 0) return;
      watch.disconnect();
      draw(host, chosen);
    });
    watch.observe(host);
    waiting.set(host, watch);
  };

  // Of several that are asked for while one is drawn, the last is drawn.
  const draws = new WeakMap();
  const again = (host, chosen) => {
    const before = draws.get(host) ?? { drawn: Promise.resolve() };
    if (before.waits) return;
    before.waits = true;
    before.drawn = before.drawn.then(() => {
      before.waits = false;
      if (host.nextElementSibling?.matches(".chart-tools")) host.nextElementSibling.remove();
      return start(host, chosen);
    });
    draws.set(host, before);
  };

  // Another specification in place of the one that stands beside the chart.
  const redraw = (host, spec) => {
    host.querySelector("script").textContent = JSON.stringify(spec);
    host.setAttribute("aria-label", spec.description);
    again(host);
  };

  // What is in sight is drawn at once, the rest when the browser has nothing else to do.
  const idle = window.requestIdleCallback ?? setTimeout;
  const all = [...document.querySelectorAll(".vega-chart")];
  const inSight = (host) => host.getBoundingClientRect().top < innerHeight;
  const below = all.filter((host) => !inSight(host));
  const next = () => below.length && idle(() => Promise.resolve(start(below.shift())).finally(next));
  Promise.all(all.filter(inSight).map((host) => start(host))).finally(next);
  window.bookCharts = { redraw };
})();
