// The encoder that comes with the book, computed in the page: BERT with its masked head (models/encoder.py).
//
// States are Float32Arrays, one row of numbers a place; layer 0 is the embedding output. Weights come in a script that
// is loaded when somebody first asks, since a page on disk may fetch nothing.
(() => {
  const bytes = (text) => {
    const characters = atob(text);
    const found = new Uint8Array(characters.length);
    for (let at = 0; at < found.length; at++) found[at] = characters.charCodeAt(at);
    return found.buffer;
  };

  const half = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    return sign * (exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14);
  };

  // The tensors of a safetensors file, in single precision: a header of JSON, then the numbers.
  const tensors = (file) => {
    const length = Number(new DataView(file).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
    delete header.__metadata__;
    const halves = Float32Array.from({ length: 1 << 16 }, (_, bits) => half(bits));
    const found = {};
    for (const [name, { dtype, data_offsets: offsets }] of Object.entries(header)) {
      const own = file.slice(...offsets.map((offset) => 8 + length + offset));
      found[name] =
        dtype === "F16" ? Float32Array.from(new Uint16Array(own), (bits) => halves[bits]) : new Float32Array(own);
    }
    return found;
  };

  // Abramowitz and Stegun (1964), 7.1.26: right to 1.5e-7.
  const erf = (x) => {
    const t = 1 / (1 + 0.3275911 * Math.abs(x));
    const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    return Math.sign(x) * (1 - series * Math.exp(-x * x));
  };
  const gelu = (x) => (x / 2) * (1 + erf(x * Math.SQRT1_2));

  // Four places and two rows at a time: what is read serves several products. Places interleaved, short ones zero.
  const linear = (states, weight, bias) => {
    const rows = bias.length;
    const width = weight.length / rows;
    const places = states.length / width;
    const out = new Float32Array(places * rows);
    const four = new Float64Array(4 * width);
    for (let place = 0; place < places; place += 4) {
      for (let at = 0; at < 4; at++)
        for (let k = 0; k < width; k++) four[4 * k + at] = place + at < places ? states[(place + at) * width + k] : 0;
      const there = Math.min(4, places - place);
      for (let row = 0; row < rows; row += 2) {
        const next = Math.min(row + 1, rows - 1);
        let a = bias[row], b = a, c = a, d = a;
        let e = bias[next], f = e, g = e, h = e;
        for (let k = 0, one = row * width, two = next * width, x = 0; k < width; k++, one++, two++, x += 4) {
          const v = weight[one], w = weight[two];
          const p = four[x], q = four[x + 1], r = four[x + 2], s = four[x + 3];
          a += v * p; b += v * q; c += v * r; d += v * s;
          e += w * p; f += w * q; g += w * r; h += w * s;
        }
        let to = place * rows;
        out[to + row] = a; out[to + next] = e;
        if (there > 1) { to += rows; out[to + row] = b; out[to + next] = f; }
        if (there > 2) { to += rows; out[to + row] = c; out[to + next] = g; }
        if (there > 3) { to += rows; out[to + row] = d; out[to + next] = h; }
      }
    }
    return out;
  };
  // In place: every place to mean 0 and variance 1, then scaled and shifted.
  const normalise = (states, scale, shift, epsilon) => {
    const width = scale.length;
    for (let from = 0; from < states.length; from += width) {
      const own = states.subarray(from, from + width);
      const mean = own.reduce((sum, x) => sum + x, 0) / width;
      const variance = own.reduce((sum, x) => sum + (x - mean) ** 2, 0) / width;
      const by = 1 / Math.sqrt(variance + epsilon);
      for (let k = 0; k < width; k++) own[k] = (own[k] - mean) * by * scale[k] + shift[k];
    }
    return states;
  };

  // How long what `basis` does not see of each state is, no shorter than it is in spite of rounding.
  const unseen = (states, seen, places) => {
    const squares = (of, place) => {
      const width = of.length / places;
      let found = 0;
      for (let at = place * width; at < (place + 1) * width; at++) found += of[at] * of[at];
      return found;
    };
    return Float64Array.from({ length: places }, (_, place) => {
      const whole = squares(states, place);
      return Math.sqrt(Math.max(0, whole - squares(seen, place)) + 1e-6 * whole);
    });
  };

  const sum = (states, others) => states.map((x, at) => x + others[at]);

  // Every place looks at all places: scaled dot products (Vaswani et al. 2017, eq. 1), head by head.
  const attended = (query, key, value, width, heads) => {
    const places = query.length / width;
    const own = width / heads;
    const out = new Float32Array(query.length);
    const weights = new Float64Array(places);
    for (let head = 0; head < width; head += own)
      for (let place = 0; place < places; place++) {
        const from = place * width + head;
        for (let other = 0; other < places; other++) {
          let product = 0;
          for (let k = 0; k < own; k++) product += query[from + k] * key[other * width + head + k];
          weights[other] = product / Math.sqrt(own);
        }
        const highest = Math.max(...weights);
        let total = 0;
        for (let other = 0; other < places; other++) total += weights[other] = Math.exp(weights[other] - highest);
        for (let k = 0; k < own; k++) {
          let mixed = 0;
          for (let other = 0; other < places; other++) mixed += weights[other] * value[other * width + head + k];
          out[from + k] = mixed / total;
        }
      }
    return out;
  };

  class Encoder {
    // What encoder_script.py writes: {config, form, vocabulary, special, ..., languages, means, tokens, basis, weights}.
    constructor(data) {
      this.config = data.config;
      this.form = data.form;
      this.marks = data.marks;
      this.pieces = data.vocabulary;
      this.special = new Set(data.special);
      this.unknown = data.unknown;
      this.tokens = Object.fromEntries(Object.entries(data.tokens).map(([language, ids]) => [language, new Set(ids)]));
      this.means = tensors(bytes(data.means));
      const { continues, longest, unknown } = data;
      this.vocabulary = { ids: new Map(data.vocabulary.map((piece, id) => [piece, id])), continues, longest, unknown };
      this.ends = [data.first, data.last];
      this.weights = tensors(bytes(data.weights));
      this.basis = tensors(bytes(data.basis)).basis;
      this.seen = this.#seen(this.#words);
      this.unseen = unseen(this.#words, this.seen, this.pieces.length);
    }

    get layers() {
      return this.config.num_hidden_layers;
    }

    // Tokens of a text that it takes.
    get most() {
      return this.config.max_position_embeddings - this.ends.length;
    }

    // The ids of a text, without those that stand before and behind it.
    read(text) {
      return wordPieces.read(wordPieces.normalised(text, this.form, this.marks), this.vocabulary);
    }

    // A piece as a reader writes it: `-ing` for one that continues a word.
    readable(id) {
      const piece = this.pieces[id];
      const { continues } = this.vocabulary;
      return piece.startsWith(continues) && !this.special.has(piece) ? `-${piece.slice(continues.length)}` : piece;
    }

    // Layer 0 of `ids`, those before and behind them added.
    embedded(ids) {
      const width = this.config.hidden_size;
      const [words, positions, segments] = ["word", "position", "token_type"].map(
        (name) => this.weights[`bert.embeddings.${name}_embeddings.weight`],
      );
      const [first, last] = this.ends;
      const whole = [first, ...ids, last];
      const states = new Float32Array(whole.length * width);
      whole.forEach((id, place) => {
        for (let k = 0; k < width; k++)
          states[place * width + k] = words[id * width + k] + (positions[place * width + k] + segments[k]);
      });
      return this.#normalised(states, "bert.embeddings.LayerNorm");
    }

    // The next layer's states: what block `number` (from 0) makes of `states`.
    block(states, number) {
      const at = `bert.encoder.layer.${number}`;
      const [query, key, value] = ["query", "key", "value"].map((name) =>
        this.#linear(states, `${at}.attention.self.${name}`),
      );
      const mixed = attended(query, key, value, this.config.hidden_size, this.config.num_attention_heads);
      const seen = this.#linear(mixed, `${at}.attention.output.dense`);
      const middle = this.#normalised(sum(states, seen), `${at}.attention.output.LayerNorm`);
      const up = this.#linear(middle, `${at}.intermediate.dense`).map(gelu);
      return this.#normalised(sum(middle, this.#linear(up, `${at}.output.dense`)), `${at}.output.LayerNorm`);
    }

    // The scores of all tokens at every place of the last layer; the decoder is the embedding of words again.
    logits(states) {
      return linear(this.#transformed(states), this.#words, this.#bias);
    }

    // The token of the highest score at each place, without most of the products: a score is what `basis` sees of it and
    // at most the product of what it does not see of the two.
    likeliest(states) {
      const [words, bias, width] = [this.#words, this.#bias, this.config.hidden_size];
      const transformed = this.#transformed(states);
      const [places, size] = [transformed.length / width, bias.length];
      const seen = this.#seen(transformed);
      const scores = linear(seen, this.seen, bias);
      const lengths = this.unseen;
      return Array.from(unseen(transformed, seen, places), (left, place) => {
        const own = transformed.subarray(place * width, (place + 1) * width);
        const score = (id) => {
          let product = bias[id];
          for (let k = 0, at = id * width; k < width; k++, at++) product += own[k] * words[at];
          return product;
        };
        const from = place * size;
        let best = 0;
        for (let id = 1; id < size; id++) if (scores[from + id] > scores[from + best]) best = id;
        let highest = score(best);
        for (let id = 0; id < size; id++) {
          if (scores[from + id] + left * lengths[id] < highest) continue;
          const found = score(id);
          if (found > highest) [best, highest] = [id, found];
        }
        return best;
      });
    }

    // The id that is predicted at each place of `ids`, nothing masked, with `weight` times the mean of `target` less
    // that of `source` added at `layer`.
    moved(ids, source, target, layer, weight) {
      const width = this.config.hidden_size;
      let states = this.embedded(ids);
      for (let number = 0; number < layer; number++) states = this.block(states, number);
      const [from, to] = [source, target].map((of) => this.means[of].subarray(layer * width, (layer + 1) * width));
      states = states.map((x, at) => x + weight * (to[at % width] - from[at % width]));
      for (let number = layer; number < this.layers; number++) states = this.block(states, number);
      return this.likeliest(states.subarray(width, -width));
    }

    get #words() {
      return this.weights["bert.embeddings.word_embeddings.weight"];
    }

    get #bias() {
      return this.weights["cls.predictions.bias"];
    }

    // What the decoder multiplies.
    #transformed(states) {
      const head = "cls.predictions.transform";
      return this.#normalised(this.#linear(states, `${head}.dense`).map(gelu), `${head}.LayerNorm`);
    }

    #seen(states) {
      return linear(states, this.basis, new Float32Array(this.basis.length / this.config.hidden_size));
    }

    #linear(states, name) {
      return linear(states, this.weights[`${name}.weight`], this.weights[`${name}.bias`]);
    }

    #normalised(states, name) {
      const [scale, shift] = ["weight", "bias"].map((part) => this.weights[`${name}.${part}`]);
      return normalise(states, scale, shift, this.config.layer_norm_eps);
    }
  }

  // The encoder, once its script has come; asked for again, the same.
  let asked;
  const load = () =>
    (asked ??= bookForms.script("encoder-data.js").then(() => {
      const encoder = new Encoder(window.encoderData);
      delete window.encoderData; // its texts are as large as what was made of them
      return encoder;
    }));

  window.bookEncoder = { load };
})();
