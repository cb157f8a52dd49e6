// What the server knows, asked for again every few seconds, and which runs are shown.
const PERIOD = 3000, QUICK = 400;
const COLOURS = 8, DASHES = ["", "7 4", "2 4", "9 3 2 3"];

const state = {overview: null, view: "scalars", hidden: new Set(), live: true};
const listeners = [];
const order = new Map();        // run -> its number, which gives its colour; kept for as long as the page is open

const filled = (run) => run.tags.length > 0 || run.traces > 0;
const number = (run) => { if (!order.has(run)) order.set(run, order.size); return order.get(run); };
const tone = (run) => !order.has(run) ? "var(--control)" : `var(--s${number(run) % COLOURS})`;
const dash = (run) => DASHES[Math.floor(number(run) / COLOURS) % DASHES.length];
const shownRuns = () => (state.overview ? state.overview.runs : []).filter((run) => !state.hidden.has(run.name));
/** All runs but empty folders that only hold the folders of others. */
const listedRuns = () => state.overview.runs.filter((run) => filled(run) || !state.overview.runs.some((other) => other.name.startsWith(run.name + "/")));
const tell = () => listeners.forEach((listener) => listener());

async function ask(path, parameters) {
  const query = parameters ? "?" + new URLSearchParams(parameters) : "";
  const answer = await fetch(`/api/${path}${query}`, {cache: "no-store"});
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error || `error ${answer.status}`);
  return value;
}

/** At most six questions at a time; the same question is asked once. */
const queue = {waiting: [], running: 0, known: new Set()};
function enqueue(key, work) {
  if (queue.known.has(key)) return;
  queue.known.add(key);
  queue.waiting.push({key, work});
  advance();
}
function advance() {
  while (queue.running < 6 && queue.waiting.length) {
    const {key, work} = queue.waiting.shift();
    queue.running += 1;
    work().catch(() => {}).finally(() => { queue.running -= 1; queue.known.delete(key); advance(); });
  }
}

let timer = null;
async function look() {
  clearTimeout(timer);
  timer = null;
  const status = byId("status");
  let pause = PERIOD;
  try {
    state.overview = await ask("overview");
    state.overview.runs.filter(filled).forEach((run) => number(run.name));
    status.textContent = `Updated ${new Date().toLocaleTimeString("en-GB")}`;
    status.classList.remove("lost");
    if (state.overview.runs.some((run) => run.unread && run.tags.length)) pause = QUICK;
    tell();
  } catch (error) {
    status.textContent = "The server does not answer";
    status.classList.add("lost");
  }
  if (state.live && !document.hidden && timer === null) timer = setTimeout(look, pause);
}
