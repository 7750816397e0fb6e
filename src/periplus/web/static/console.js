// Keeps the live part of a panel fresh: asks for the same page again and takes its live part over.
// Without scripts the page is as old as its last load.

const live = () => document.querySelector("[data-live]");

async function refresh() {
  const part = live();
  if (!part || document.hidden || part.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
  if (fresh) live()?.replaceWith(document.adoptNode(fresh));
}

async function keepFresh() {
  const seconds = Number(live()?.dataset.live);
  if (!seconds) return;
  try {
    await refresh();
  } catch {
    // The server is away for a moment: the next round asks again.
  }
  setTimeout(keepFresh, seconds * 1000);
}

const first = Number(live()?.dataset.live);
if (first) setTimeout(keepFresh, first * 1000);
