// Moving over the map with the keyboard, and keeping the focus when it is drawn anew.
window.geocorgi = {
  focused: null,
  pick(event, emit) {
    const cell = event.target.closest && event.target.closest("[data-cell]");
    if (cell) emit(cell.dataset.cell);
  },
  key(event, emit) {
    const here = event.target.closest && event.target.closest("[data-cell]");
    if (!here) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      emit(here.dataset.cell);
      return;
    }
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    let best = null, least = Infinity;
    for (const cell of here.closest("svg").querySelectorAll("[data-cell]")) {
      const across = cell.dataset.x - here.dataset.x, down = cell.dataset.y - here.dataset.y;
      const along = across * way[0] + down * way[1];
      const aside = Math.abs(across * way[1]) + Math.abs(down * way[0]);
      if (along > 0.5 && aside <= along * 2 && along + 2 * aside < least) {
        least = along + 2 * aside;
        best = cell;
      }
    }
    if (best) geocorgi.focus(best);
  },
  focus(cell) {
    cell.closest("svg").querySelectorAll('[data-cell][tabindex="0"]').forEach((one) => (one.tabIndex = -1));
    cell.tabIndex = 0;
    cell.focus();
  },
  fit() {
    document.querySelectorAll("svg.map").forEach((map) => {
      const width = map.getBoundingClientRect().width, height = map.getBoundingClientRect().height;
      const box = map.viewBox.baseVal;
      if (width && height) map.style.setProperty("--unit", Math.max(box.width / width, box.height / height));
    });
  },
};
document.addEventListener("focusin", (event) => (geocorgi.focused = event.target));
window.addEventListener("resize", geocorgi.fit);
// What is typed here is not for the browser to keep, to have checked elsewhere, or to translate.
document.documentElement.translate = false;
const keepFieldsHere = () => {
  document.querySelectorAll("input:not([autocomplete]), textarea:not([autocomplete])").forEach((field) => {
    field.autocomplete = "off";
    field.spellcheck = false;
  });
};
new MutationObserver(() => {
  geocorgi.fit();
  keepFieldsHere();
  const lost = geocorgi.focused;
  if (!lost || lost.isConnected || document.activeElement !== document.body) return;
  if (lost.dataset.cell) {
    const again = document.querySelector(`svg.map [data-cell="${lost.dataset.cell}"]`);
    if (again) geocorgi.focus(again);
    return;
  }
  // A form that was drawn anew: go on at what is called the same.
  const name = (one) => one.getAttribute("aria-label") || one.textContent;
  const again = [...document.querySelectorAll(lost.tagName)].find(
    (one) => name(one) === name(lost) && one.tabIndex >= 0 && one.checkVisibility(),
  );
  if (again) again.focus({ preventScroll: true });
}).observe(document.documentElement, { childList: true, subtree: true });
