// Widgets of a notebook do nothing without its kernel: in a page they are switched off, and say so.
(() => {
  const CONTROLS = ":is(input, select, textarea, button):not([disabled]), .noUi-target:not([disabled])";
  const NOTE = "Switched off: this works in a running notebook. The page shows where it starts.";
  const off = () => {
    for (const view of document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')) {
      const host = view.parentElement;
      for (const control of host.querySelectorAll(CONTROLS)) control.setAttribute("disabled", "");
      for (const handle of host.querySelectorAll(".noUi-handle:not([aria-disabled])")) {
        handle.setAttribute("aria-disabled", "true");
        handle.tabIndex = -1;
      }
      for (const field of host.querySelectorAll("[contenteditable=true]")) field.contentEditable = "false";
      if (host.querySelector(".jupyter-widgets") && !host.querySelector(".switched-off"))
        host.insertAdjacentHTML("beforeend", `<p class="switched-off">${NOTE}</p>`);
    }
  };
  off();
  new MutationObserver(off).observe(document.body, { childList: true, subtree: true });
})();
