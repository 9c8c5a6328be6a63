// Text as the encoder reads it: normalised as xling_utils/corpora/text.py does it, and cut into word pieces.
(() => {
  // What Python takes for white space, format characters aside; marks that are units of their own; Thai clusters.
  const WHITE = /[\s\x1c-\x1f\x85]+/;
  const DROPPED = /(?![\x09-\x0d\x1c-\x1f\x85])[\p{Cc}\p{Cf}\p{Co}]|[\ufffd\u{e0000}-\u{10ffff}]/gu;
  const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}";
  const THAI = "[เ-ไ]?[ก-ฮ][\\u0e31\\u0e34-\\u0e3a\\u0e47-\\u0e4e]*[\\u0e30\\u0e32\\u0e33\\u0e45]*";
  const UNIT = new RegExp(`([\\p{P}$+<=>^\`|~${HAN}]|${THAI})`, "u");

  const LONG = 1000; // characters; sorting the marks of one letter takes time by the square of their number

  // `marks` are all that are sorted.
  const normalised = (line, form, marks) => {
    let text = line.replace(DROPPED, "");
    if ([...text].length > LONG) text = text.replace(new RegExp(`([${marks}]{30})[${marks}]+`, "gu"), "$1");
    text = text.normalize("NFC");
    if (form === "lower") text = text.toLowerCase().replace(/i\u0307+/g, "i").normalize("NFC");
    return text.split(UNIT).join(" ").split(WHITE).filter(Boolean).join(" ");
  };

  // The longest piece that a word begins with, then the longest that goes on, and so to its end; a word without such
  // pieces is one unknown token.
  const pieces = (word, { ids, continues, longest, unknown }) => {
    const letters = [...word];
    const found = [];
    if (letters.length > longest) return [unknown];
    for (let start = 0, end; start < letters.length; start = end) {
      let id;
      for (end = letters.length; end > start; end--) {
        id = ids.get((start ? continues : "") + letters.slice(start, end).join(""));
        if (id !== undefined) break;
      }
      if (id === undefined) return [unknown];
      found.push(id);
    }
    return found;
  };

  // `text` is normalised, so its words stand between single spaces.
  const read = (text, vocabulary) => (text ? text.split(" ").flatMap((word) => pieces(word, vocabulary)) : []);

  window.wordPieces = { normalised, read };
})();
