// A search box for another site: <script src="https://search.example/embed.js" data-site="your.example" async></script>
// It stands where the script stands, asks this server, and opens its result page. No cookies, no tracking, no styles that
// leak: it lives in a shadow tree. Completion works where the server lets this origin read its API (serve.cors).

const script = document.currentScript;
const server = new URL(".", script.src).href.replace(/\/$/, "");
const { site = "", label = "Search", placeholder = "", target = "_self" } = script.dataset;

const STYLE = `
  :host { display: block; max-width: 34rem; font: inherit; color-scheme: light dark; }
  form { position: relative; display: flex; margin: 0; border: 1px solid light-dark(#14303f, #9fb2ba); border-radius: 4px; background: light-dark(#fffdf7, #122631); }
  form:focus-within { outline: 3px solid light-dark(#b8412a, #ff8f70); outline-offset: 1px; }
  input, button { font: inherit; color: light-dark(#14303f, #e6e2d5); background: none; border: 0; }
  input { flex: 1; min-width: 0; padding: .55rem .8rem; outline: none; }
  button { padding: 0 1rem; cursor: pointer; border-inline-start: 1px solid light-dark(#cfc4ab, #2d4652); }
  button:focus-visible { outline: 2px solid light-dark(#b8412a, #ff8f70); outline-offset: -3px; }
`;

const host = document.createElement("div");
host.className = "periplus-search";
const tree = host.attachShadow({ mode: "open" });
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);
tree.adoptedStyleSheets = [sheet];

const make = (name, fields) => Object.assign(document.createElement(name), fields);
const form = make("form", { action: `${server}/search`, method: "get", target });
form.setAttribute("role", "search");
const input = make("input", { name: "q", type: "search", required: true, maxLength: 2000, placeholder, dir: "auto" });
input.setAttribute("aria-label", label);
input.autocomplete = "off";
const list = make("datalist", { id: "suggestions" });
form.append(input, list);
if (site) form.append(make("input", { type: "hidden", name: "site", value: site }));
form.append(make("button", { textContent: label }));
tree.append(form);
script.after(host);

let timer = 0;
let allowed = true; // until the server says that this origin may not read its API
async function complete() {
  const asked = input.value.trim();
  if (!asked || !allowed) return;
  try {
    const answer = await fetch(`${server}/api/v1/suggest?${new URLSearchParams({ q: asked })}`, { credentials: "omit" });
    const { suggestions = [] } = answer.ok ? await answer.json() : {};
    if (input.value.trim() === asked) list.replaceChildren(...suggestions.map(({ text }) => make("option", { value: text })));
  } catch {
    allowed = false;
  }
}
if (script.dataset.complete !== undefined) {
  input.setAttribute("list", "suggestions");
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(complete, 120);
  });
}
