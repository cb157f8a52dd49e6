// The frame: the list of runs, tabs, what is wrong with files, and the beginning of it all.
const VIEWS = {scalars: showScalars, operators: showOperators, timeline: showTimeline};
const shownInList = new Map();  // run -> its entry in the list

function showRuns() {
  const runs = listedRuns(), wanted = byId("run-filter").value.trim().toLowerCase(), list = byId("runs");
  byId("run-count").textContent = String(runs.length);
  const entries = runs.filter((run) => run.name.toLowerCase().includes(wanted)).map((run) => {
    if (!shownInList.has(run.name)) {
      const box = el("input", {type: "checkbox", onchange: (event) => { state.hidden[event.target.checked ? "delete" : "add"](run.name); tell(); }});
      shownInList.set(run.name, {box, meta: el("span", {class: "run-meta"}), entry: null});
      const made = shownInList.get(run.name);
      made.entry = el("li", {}, el("label", {}, box, el("span", {class: "run-name"}, run.name === "." ? "this folder" : run.name), made.meta));
    }
    const {box, meta, entry} = shownInList.get(run.name);
    entry.firstChild.style.setProperty("--tone", tone(run.name));
    box.checked = !state.hidden.has(run.name);
    const parts = [run.tags.length ? plural(run.tags.length, "tag") : "", run.traces ? plural(run.traces, "trace") : ""].filter(Boolean);
    meta.textContent = parts.join(" · ") || "nothing yet";
    entry.classList.toggle("bare", !parts.length);
    return entry;
  });
  arrange(list, entries);
}

function showProblems() {
  const box = byId("problems"), problems = state.overview.problems, key = JSON.stringify(problems);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.hidden = !problems.length;
  box.firstChild.textContent = `${plural(problems.length, "remark")} on files`;
  box.lastChild.replaceChildren(...problems.map(({file, message}) => el("li", {}, el("code", {}, file), message)));
}

function show() {
  const {overview, view} = state;
  if (!overview) return;
  if (byId("folder").title !== overview.folder) {
    byId("folder").title = overview.folder;
    for (const id of ["folder", "empty-folder"]) byId(id).textContent = overview.folder;
  }
  showRuns();
  showProblems();
  byId("layout").classList.toggle("plain", view !== "scalars");
  byId("side").hidden = view !== "scalars";
  const bare = !overview.runs.some((run) => run.tags.length || run.traces);
  byId("empty").hidden = !bare;
  for (const name of Object.keys(VIEWS)) {
    byId(name).hidden = bare || name !== view;
    byId(`tab-${name}`).setAttribute("aria-selected", name === view);
    byId(`tab-${name}`).tabIndex = name === view ? 0 : -1;
  }
  if (!bare) VIEWS[view]();
}

/** The address tells the view and the run, so that it can be kept and sent. */
function remember() {
  const words = new URLSearchParams({view: state.view});
  if (state.view === "operators" && byId("operator-run").value) words.set("run", byId("operator-run").value);
  if (state.view === "operators" && byId("operator-other").value) words.set("with", byId("operator-other").value);
  if (state.view === "timeline" && byId("timeline-run").value) words.set("run", byId("timeline-run").value);
  history.replaceState(null, "", `#${words}`);
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (VIEWS[words.get("view")]) state.view = words.get("view");
  const names = traced().map((run) => run.name);
  for (const id of ["operator-run", "timeline-run"]) { choices(byId(id), names); if (names.includes(words.get("run"))) byId(id).value = words.get("run"); }
  if (names.includes(words.get("with"))) { choices(byId("operator-other"), names.filter((name) => name !== words.get("run")), ["", "no other run"]); byId("operator-other").value = words.get("with"); }
}

function start() {
  const root = document.documentElement, theme = byId("theme"), live = byId("live");
  const label = () => { theme.textContent = root.dataset.theme === "dark" ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to ${theme.textContent.toLowerCase()} colours`); };
  theme.addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("mxnet-board-theme", root.dataset.theme); } catch (error) { /* no storage for this page */ }
    label();
  });
  label();
  live.addEventListener("click", () => { state.live = !state.live; live.setAttribute("aria-pressed", state.live); if (state.live) look(); else clearTimeout(timer); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && state.live) look(); });
  byId("run-filter").addEventListener("input", showRuns);
  byId("runs-all").addEventListener("click", () => { state.hidden.clear(); tell(); });
  byId("runs-none").addEventListener("click", () => { state.overview.runs.forEach((run) => state.hidden.add(run.name)); tell(); });
  const names = Object.keys(VIEWS);
  names.forEach((name, i) => {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => { state.view = name; show(); remember(); });
    tab.addEventListener("keydown", (event) => {
      const to = {ArrowRight: (i + 1) % 3, ArrowLeft: (i + 2) % 3, Home: 0, End: 2}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      byId(`tab-${names[to]}`).click();
      byId(`tab-${names[to]}`).focus();
    });
  });
  startScalars();
  startOperators();
  startTimeline();
  look().then(() => { recall(); listeners.push(show); show(); });
}
start();
