// An editable combobox with list autocomplete, after the WAI-ARIA pattern. Focus stays in the input; arrows move
// aria-activedescendant. Recent queries are kept in this browser only and can be forgotten.

const STORE = "periplus-recent";
const KEPT = 8;
const PAUSE = 70; // milliseconds of quiet before asking

function recent() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(kept) ? kept.filter((item) => typeof item === "string").slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

function remember(query) {
  const text = query.trim();
  if (!text) return;
  try {
    localStorage.setItem(STORE, JSON.stringify([text, ...recent().filter((item) => item !== text)].slice(0, KEPT)));
  } catch {
    // Private windows may refuse to store; then nothing is remembered.
  }
}

function forget() {
  try {
    localStorage.removeItem(STORE);
  } catch {
    // Nothing was stored.
  }
}

/** A suggestion with everything in bold that was not typed; the match may begin at any word. */
function row(text, typed, kind) {
  const item = document.createElement("li");
  item.setAttribute("role", "option");
  item.dataset.text = text;
  item.dir = "auto";
  if (kind) item.classList.add(kind);
  const place = typed ? ` ${text.toLowerCase()}`.indexOf(` ${typed.toLowerCase()}`) : -1;
  if (place < 0) item.textContent = text;
  else item.append(bold(text.slice(0, place)), text.slice(place, place + typed.length), bold(text.slice(place + typed.length)));
  return item;
}

function bold(text) {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}

export function combobox(input, list) {
  let place = -1;
  let typed = input.value;
  let timer = 0;
  let running = null;

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", list.id);

  const askNoMore = () => {
    clearTimeout(timer);
    running?.abort();
  };

  const close = () => {
    askNoMore();
    list.hidden = true;
    place = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  const show = (rows) => {
    list.replaceChildren(...rows);
    rows.forEach((item, number) => {
      item.id = `${list.id}-${number}`;
      item.setAttribute("aria-selected", "false");
    });
    place = -1;
    list.hidden = rows.length === 0;
    input.setAttribute("aria-expanded", String(rows.length > 0));
    input.removeAttribute("aria-activedescendant");
  };

  const showRecent = () => {
    const rows = recent().map((text) => row(text, "", "recent"));
    if (rows.length) rows.push(row(list.dataset.forget, "", "forget"));
    show(rows);
  };

  const ask = async () => {
    running?.abort();
    running = new AbortController();
    const asked = typed.trim();
    if (!asked) return;
    try {
      const answer = await fetch(new URL(`../api/v1/suggest?${new URLSearchParams({ q: asked })}`, import.meta.url), { signal: running.signal });
      if (!answer.ok) return;
      const { suggestions } = await answer.json();
      if (typed.trim() === asked && document.activeElement === input) {
        show(suggestions.map(({ text }) => row(text, asked)));
      }
    } catch {
      // Typing went on, or the server is away: the form still works.
    }
  };

  const select = (number) => {
    askNoMore(); // who moves in this list wants no other
    const rows = [...list.children];
    rows[place]?.setAttribute("aria-selected", "false");
    // One step beyond either end is the input itself, with what was typed.
    place = number >= rows.length ? -1 : number < -1 ? rows.length - 1 : number;
    const chosen = rows[place];
    if (!chosen) {
      input.removeAttribute("aria-activedescendant");
      input.value = typed;
      return;
    }
    chosen.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", chosen.id);
    if (!chosen.classList.contains("forget")) input.value = chosen.dataset.text;
  };

  const take = (item) => {
    if (item.classList.contains("forget")) {
      forget();
      close();
      return;
    }
    input.value = item.dataset.text;
    close();
    input.form.requestSubmit();
  };

  input.addEventListener("input", () => {
    typed = input.value;
    clearTimeout(timer);
    if (typed.trim()) timer = setTimeout(ask, PAUSE);
    else showRecent();
  });

  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!list.hidden) select(place + (event.key === "ArrowDown" ? 1 : -1));
      else if (typed.trim()) ask();
      else showRecent();
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      input.value = typed;
      close();
    } else if (event.key === "Enter" && place >= 0) {
      event.preventDefault();
      take(list.children[place]);
    }
  });

  // mousedown, so that the input keeps the focus.
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const item = event.target.closest("li");
    if (item) take(item);
  });
  input.addEventListener("blur", close);
  input.form.addEventListener("submit", () => remember(input.value));
}
