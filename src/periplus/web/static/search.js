// What scripts add to a page that works without them: completion, keys, and a switch of look without a reload.
// No dependency and no build step. Text goes into the page only as text, never as markup.

import { combobox } from "./combobox.js";

const editable = (element) => element instanceof HTMLElement && element.matches("input, textarea, select, [contenteditable]");

/** Move the focus along the list of results; from elsewhere, to its first one. */
function moveAlong(step) {
  const hits = [...document.querySelectorAll(".hit")];
  if (!hits.length) return false;
  const place = hits.indexOf(document.activeElement);
  const next = place < 0 ? 0 : Math.min(hits.length - 1, Math.max(0, place + step));
  hits[next].focus();
  hits[next].scrollIntoView({ block: "nearest" });
  return true;
}

function focusBox() {
  const box = document.getElementById("q");
  if (!box) return false;
  box.focus();
  box.select();
  return true;
}

function showHelp() {
  document.getElementById("help")?.showModal();
  return true;
}

const KEYS = {
  "/": focusBox,
  "?": showHelp,
  j: () => moveAlong(1),
  k: () => moveAlong(-1),
  ArrowDown: () => document.activeElement?.matches(".hit") && moveAlong(1),
  ArrowUp: () => document.activeElement?.matches(".hit") && moveAlong(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") closeMenus();
  else if (!editable(event.target) && !document.querySelector("dialog[open]") && KEYS[event.key]?.()) event.preventDefault();
});

/** Close the menus of filters, except the one that `inside` belongs to; who was in one stands before it again. */
function closeMenus(inside) {
  for (const menu of document.querySelectorAll(".filter[open]")) {
    if (inside && menu.contains(inside)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}
document.addEventListener("click", (event) => closeMenus(event.target));

document.querySelector(".look")?.addEventListener("submit", (event) => {
  const chosen = event.submitter?.value;
  if (!chosen) return;
  event.preventDefault();
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${chosen}; path=${new URL("..", import.meta.url).pathname}; max-age=31536000; samesite=lax${secure}`;
  document.documentElement.dataset.theme = chosen;
  for (const button of event.target.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === chosen));
  }
});

const box = document.getElementById("q");
if (box) combobox(box, document.getElementById("suggestions"));
