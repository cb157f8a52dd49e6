// The view of scalars: a chart per tag, in groups by what stands before the first slash.
const charts = new Map(), groups = new Map();
const options = {axis: "step", log: false, smooth: 0};
const POINTS = 800;

const inSight = new IntersectionObserver((entries) => entries.forEach((entry) => {
  const chart = charts.get(entry.target.dataset.tag);
  if (chart) { chart.near = entry.isIntersecting; if (chart.near) load(chart); }
}), {rootMargin: "300px"});
const resized = new ResizeObserver((entries) => entries.forEach((entry) => {
  const chart = charts.get(entry.target.dataset.tag);
  if (chart && chart.near && Math.abs((chart.drawn || 0) - entry.contentRect.width) > 1) { chart.drawn = entry.contentRect.width; chart.draw(); }
}));

const groupOf = (tag) => (tag.includes("/") ? tag.slice(0, tag.indexOf("/")) : "");

function showScalars() {
  if (!state.overview) return;
  const wanted = byId("tag-filter").value.trim().toLowerCase();
  const tags = [...new Set(shownRuns().flatMap((run) => run.tags.map(([tag]) => tag)))].filter((tag) => tag.toLowerCase().includes(wanted)).sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
  const place = byId("groups"), byGroup = new Map();
  tags.forEach((tag) => byGroup.set(groupOf(tag), [...(byGroup.get(groupOf(tag)) || []), tag]));
  for (const [tag, chart] of charts) if (!tags.includes(tag)) { inSight.unobserve(chart.card); resized.unobserve(chart.card); chart.card.remove(); charts.delete(tag); }
  for (const [name, group] of groups) if (!byGroup.has(name)) { group.remove(); groups.delete(name); }
  const sections = [...byGroup.keys()].map((name) => {
    if (!groups.has(name)) groups.set(name, el("section", {class: "group"}, el("h2", {}), el("div", {class: "charts"})));
    const group = groups.get(name), heading = group.firstChild, members = byGroup.get(name);
    const label = `${name || "Scalars"} ${members.length}`;
    if (heading.textContent !== label) heading.replaceChildren(name || "Scalars", " ", el("span", {class: "count"}, String(members.length)));
    arrange(group.lastChild, members.map((tag) => chartOf(tag).card));
    return group;
  });
  if (!sections.length) sections.push(el("p", {class: "nothing"}, wanted ? "No tag has this in its name." : shownRuns().length ? "The chosen runs have no scalars." : "Choose a run on the left."));
  arrange(place, sections);
  spread();
  for (const chart of charts.values()) if (chart.near) load(chart);
}

/** Small groups stand beside each other: each is as many columns wide as it has charts. */
function spread() {
  const place = byId("groups"), columns = Math.max(1, Math.floor((place.clientWidth + 14) / 314));
  place.style.setProperty("--columns", columns);
  for (const group of groups.values()) {
    const cards = [...group.lastChild.children];
    group.style.setProperty("--span", cards.some((card) => card.classList.contains("wide")) ? columns : Math.min(columns, cards.length));
  }
}

/** Have these children in this order, touching only what is out of place. */
function arrange(parent, children) {
  while (parent.childNodes.length > 0 && !children.includes(parent.firstChild)) parent.firstChild.remove();
  children.forEach((child, i) => { if (parent.childNodes[i] !== child) parent.insertBefore(child, parent.childNodes[i] || null); });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}

function chartOf(tag) {
  if (!charts.has(tag)) {
    const chart = new Chart(tag);
    chart.options = options;
    chart.card.dataset.tag = tag;
    charts.set(tag, chart);
    inSight.observe(chart.card);
    resized.observe(chart.card);
  }
  return charts.get(tag);
}

/** Ask for what is new in a chart, and draw it. */
function load(chart) {
  for (const run of shownRuns()) {
    const found = run.tags.find(([tag]) => tag === chart.tag);
    const version = found && `${found[1]} ${run.version}`;
    const known = chart.series.get(run.name);
    if (!found || (known && known.version === version)) continue;
    enqueue(`scalars ${JSON.stringify([run.name, chart.tag])}`, async () => {
      const points = await ask("scalars", {run: run.name, tag: chart.tag, points: POINTS, within: 2});
      chart.series.set(run.name, {points, version});
      changed(chart);
    });
  }
  changed(chart);
}

/** Draw if there is something else to be seen than before. */
function changed(chart) {
  const key = JSON.stringify(shownRuns().map((run) => [run.name, (chart.series.get(run.name) || {}).version]));
  if (chart.drawnFrom === key) return;
  chart.drawnFrom = key;
  soon(chart);
}

/** Draw once in this frame, however many series came. */
function soon(chart) {
  if (chart.due) return;
  chart.due = true;
  requestAnimationFrame(() => { chart.due = false; if (chart.card.isConnected) chart.draw(); });
}

function startScalars() {
  new ResizeObserver(spread).observe(byId("groups"));
  const again = () => { for (const chart of charts.values()) if (chart.near) soon(chart); };
  byId("tag-filter").addEventListener("input", showScalars);
  document.querySelectorAll("input[name=axis]").forEach((input) => input.addEventListener("change", () => {
    options.axis = input.value;
    charts.forEach((chart) => { chart.zoom = null; chart.cursor = null; });
    again();
  }));
  byId("log").addEventListener("change", (event) => { options.log = event.target.checked; again(); });
  byId("smooth").addEventListener("input", (event) => {
    options.smooth = Number(event.target.value);
    byId("smooth-value").textContent = event.target.value;
    again();
  });
}
