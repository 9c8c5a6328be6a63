// Shows the claims of the ledger that every chosen filter lets through; without scripts all of them stay in sight. The
// claim that an address names is opened, and shown whatever was chosen.
(() => {
  const form = document.querySelector(".ledger-filters");
  if (!form) return;
  const articles = [...document.querySelectorAll(".ledger > article")];
  const apply = () => {
    const chosen = Object.fromEntries(
      [...form.querySelectorAll("select")].map((select) => [select.dataset.filter, select.value]),
    );
    let shown = 0;
    for (const article of articles) {
      const sections = [...article.querySelectorAll("section")];
      for (const section of sections)
        section.hidden = Boolean(
          (chosen.scale && section.dataset.scale !== chosen.scale) ||
            (chosen.verdict && section.dataset.verdict !== chosen.verdict),
        );
      for (const at of article.querySelectorAll(".claim-at"))
        at.hidden = Boolean(chosen.scale && at.dataset.scale !== chosen.scale);
      const fits = ["paper", "chapter"].every((key) => !chosen[key] || article.dataset[key] === chosen[key]);
      article.hidden = !fits || sections.every((section) => section.hidden);
      shown += !article.hidden;
    }
    name();
    form.querySelector("output").textContent = `${shown} of ${articles.length} claims`;
  };
  // A part's name goes with the last of its claims.
  const name = () => {
    for (const part of document.querySelectorAll(".ledger-part")) {
      let claim = part.nextElementSibling;
      while (claim?.hidden) claim = claim.nextElementSibling;
      part.hidden = !claim?.matches("article");
    }
  };
  const open = () => {
    const named = articles.find((article) => `#${article.id}` === location.hash);
    if (!named) return;
    named.querySelector("details").open = true;
    if (!named.hidden) return;
    form.reset();
    apply();
    named.scrollIntoView();
  };
  addEventListener("hashchange", open);
  form.hidden = false;
  form.addEventListener("change", apply);
  apply();
  open();
})();
