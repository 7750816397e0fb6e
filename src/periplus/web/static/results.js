// What scripts add to a list of results.

// "Load more here": the next page of results put below this one, with the address of the page that is being read.
// Without scripts the numbered pages do the same.

const list = document.querySelector(".results");
const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

/** Keep the address in step: that of the page whose first result was passed last. */
const marks = new Map();
const watcher = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting, boundingClientRect } of seen) {
    const { own, before } = marks.get(target);
    if (isIntersecting) history.replaceState(null, "", own);
    else if (boundingClientRect.top > innerHeight) history.replaceState(null, "", before);
  }
});

function button(nav) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "more quiet";
  made.textContent = nav.dataset.more;
  made.addEventListener("click", () => load(nav, made));
  return made;
}

async function load(nav, pressed) {
  const next = nav.querySelector('[rel="next"]');
  if (!next || pressed.disabled) return;
  const before = location.href;
  pressed.disabled = true;
  pressed.textContent = nav.dataset.loading;
  try {
    const answer = await fetch(next.href);
    if (!answer.ok) throw new Error(answer.statusText);
    const page = await parse(answer);
    const items = [...page.querySelectorAll(".results > .result")].map((item) => document.adoptNode(item));
    list.append(...items);
    if (items.length) {
      marks.set(items[0], { own: next.href, before });
      watcher.observe(items[0]);
      if (!endless) items[0].querySelector(".hit")?.focus();
    }
    history.replaceState(null, "", next.href);
    const fresh = page.querySelector(".pages");
    nav.replaceWith(...(fresh ? [document.adoptNode(fresh)] : []));
    offer();
  } catch {
    next.click(); // The plain way still works.
  }
}

// Who prefers it has the next page loaded when the end of this one comes near: at most ten, then the button again.

const endless = document.cookie.split("; ").includes("scroll=endless");
let loaded = 0;
const near = new IntersectionObserver(
  (seen) => {
    const end = seen.find(({ isIntersecting }) => isIntersecting)?.target;
    if (end && loaded++ < 10) load(end.closest(".pages"), end);
  },
  { rootMargin: "600px" },
);

function offer() {
  const nav = document.querySelector(".pages");
  if (!list || !nav?.querySelector('[rel="next"]')) return;
  const made = button(nav);
  nav.prepend(made);
  if (endless) near.observe(made);
}

offer();

// Where the operator counts how often results are opened: the query goes along, nothing else.

if (list?.dataset.clicks) {
  list.addEventListener("click", ({ target }) => {
    if (!target.closest(".hit")) return;
    navigator.sendBeacon(list.dataset.clicks, new URLSearchParams({ q: document.getElementById("q")?.value ?? "" }));
  });
}

// A picture that cannot be had leaves no hole.

const isGone = (image) => image.matches?.(".thumb, .picture img") && image.remove();
document.addEventListener("error", ({ target }) => isGone(target), true);
for (const image of document.images) if (image.complete && !image.naturalWidth && image.currentSrc) isGone(image);

// Panels beside the list that outside services had not given in time follow it.

const awaited = document.querySelector("[data-panels]");
if (awaited) {
  const place = awaited.closest(".side");
  fetch(awaited.dataset.panels)
    .then(async (answer) => {
      if (!answer.ok) return; // the link stays
      const shown = [...(await parse(answer)).querySelectorAll(".panel")].map((panel) => document.adoptNode(panel));
      place.replaceChildren(...shown);
      if (!shown.length) place.remove();
    })
    .catch(() => {});
}

// What costs more than the list itself is asked for when somebody looks: the parts of scores, the counts of filters.
// The link in a closed menu leads to the same page with them, and that page is taken from there.

const pages = new Map();

async function asked(link) {
  const wanted = new URL(link.href);
  wanted.hash = "";
  wanted.searchParams.delete("why"); // one page serves all its results
  const address = wanted.href;
  if (!pages.has(address)) pages.set(address, fetch(address).then(async (answer) => (answer.ok ? parse(answer) : null)));
  return pages.get(address);
}

/** Put a copy of `fresh` in the place of `old`. Who stands in it with the keyboard stands at the same link afterwards. */
function takeOver(old, fresh) {
  if (!fresh) return;
  const standing = old.contains(document.activeElement) ? document.activeElement : null;
  const taken = document.importNode(fresh, true);
  old.replaceWith(taken);
  if (!standing) return;
  const links = [...taken.querySelectorAll("a")];
  const same = links.find(({ href }) => href === standing.href) ?? links.at(-1);
  (same ?? taken.closest("details").querySelector("summary")).focus();
}

document.addEventListener(
  "toggle",
  async ({ target }) => {
    const link = target.open && target.querySelector("a.ask");
    if (!link) return;
    try {
      const page = await asked(link);
      if (!link.isConnected) return; // another menu that waited for the same page has put it here
      if (target.matches(".why")) takeOver(target.querySelector(".score"), page?.getElementById(target.querySelector(".score").id));
      else {
        for (const menu of document.querySelectorAll(".filters .filter")) {
          takeOver(menu.querySelector("ul"), page?.querySelector(`.filters [data-name="${menu.dataset.name}"] ul`));
        }
      }
    } catch {
      // The server is away for a moment: the link stays.
    }
  },
  true,
);
