// The widget manager asks MathJax 2's queue to typeset labels; the book carries MathJax 3, which has none.
// MathJax replaces window.MathJax while it loads, so the queue is added once everything has loaded: this
// file comes before embed.js, and listeners run in the order they were added.
window.addEventListener("load", () => {
  if (!window.MathJax) return;
  window.MathJax.Hub = {
    Queue([, , element]) {
      window.MathJax.typesetPromise?.([element]);
    },
  };
});
