// The view of time: the longest spans of a run by process and thread, and its counters below.
const timelines = new Map();
const sight = {run: null, from: 0, to: 1, chosen: null};
const GUTTER = 150, ROW = 18, LANE_GAP = 16, COUNTER = 54, BUSY = 20, MOST_ROWS = 12;

const nameTone = (name) => { let hash = 7; for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 100003; return `var(--n${hash % 10})`; };

function showTimeline() {
  const runs = traced(), card = byId("timeline-card"), facts = byId("timeline-facts");
  const name = choices(byId("timeline-run"), runs.map((run) => run.name)), run = runs.find((one) => one.name === name);
  if (!run) { card.hidden = true; facts.textContent = "No run has a trace of the profiler."; return; }
  const value = about(timelines, "timeline", run, showTimeline);
  card.hidden = !value || Boolean(value.error);
  if (!value || value.error) { facts.textContent = value ? `This trace cannot be shown: ${value.error}` : "Reading the trace …"; return; }
  if (sight.run === name && sight.value === value && sight.picture && sight.picture.isConnected) return;
  if (sight.run !== name || sight.value !== value) {
    const whole = sight.run !== name || sight.from <= 0 && sight.to >= sight.value.length;
    if (sight.run !== name) sight.chosen = null;
    Object.assign(sight, {run: name, value, rows: stack(value)});
    if (whole) Object.assign(sight, {from: 0, to: value.length || 1});
  }
  facts.replaceChildren(el("b", {}, plural(value.spans, "span")), " in ", el("b", {}, duration(value.length)), value.shown < value.spans ? ` · the ${whole.format(value.shown)} longest are drawn, and above them how busy each thread was` : "",
    value.start ? ` · from ${new Date(value.start * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC` : "", value.unread ? ` · ${bytes(value.size - value.unread)} of ${bytes(value.size)} read so far` : "");
  drawTimeline();
}

/** Spans of a lane that overlap go below each other. */
function stack(value) {
  return value.lanes.map((lane) => {
    const ends = [];
    const spans = lane.spans.map(([start, length, name, category]) => {
      let row = ends.findIndex((end) => end <= start + 1e-9);
      if (row < 0) row = ends.length < MOST_ROWS ? ends.length : MOST_ROWS - 1;
      ends[row] = start + length;
      return {start, length, name: value.names[name], category: value.categories[category], row};
    });
    return {label: lane.label, detail: lane.detail, busy: lane.busy, spans, depth: ends.length};
  });
}

function drawTimeline() {
  const card = byId("timeline-card"), value = sight.value;
  if (!value || !card.isConnected) return;
  if (!sight.picture) {
    sight.detail = el("p", {class: "span-detail", role: "status"});
    sight.picture = svg("svg", {class: "plot", tabindex: 0, role: "img"});
    sight.picture.addEventListener("keydown", timelineKey);
    sight.picture.addEventListener("pointerover", (event) => { if (event.target.span) detail(event.target.span); });
    draggable(sight.picture, 20, () => sight.height, (from, to) => zoomTo(sight.fromX(from), sight.fromX(to)));
  }
  if (sight.picture.parentNode !== card) card.replaceChildren(sight.detail, sight.picture);
  const width = Math.max(card.clientWidth - 28, 200), gutter = Math.min(GUTTER, width / 4), room = width - gutter - 8;
  const {from, to} = sight, scale = room / (to - from);
  const toX = (ms) => gutter + (ms - from) * scale;
  sight.fromX = (pixel) => from + (pixel - gutter) / scale;
  const wanted = byId("span-filter").value.trim().toLowerCase();
  const back = svg("g", {"aria-hidden": "true"}), front = svg("g", {});
  let y = 26;
  for (const lane of sight.rows) {
    front.append(clipped(lane.label, 0, y + 12, gutter - 12, "lane-name"), clipped(lane.detail, 0, y + 25, gutter - 12, ""));
    if (value.shown < value.spans) {
      front.append(busyArea(lane.busy, y, toX, gutter, width - 8));
      y += BUSY + 4;
    }
    for (const span of lane.spans) {
      if (span.start > to || span.start + span.length < from) continue;
      const x = Math.max(toX(span.start), gutter), right = Math.min(toX(span.start + span.length), width - 8), size = Math.max(right - x, 0.8);
      const dim = wanted && !span.name.toLowerCase().includes(wanted);
      const box = svg("rect", {class: `span${size < 3 ? " thin" : ""}${dim ? " dim" : ""}${span === sight.chosen ? " chosen" : ""}`, x, y: y + span.row * ROW, width: size, height: ROW - 2, rx: Math.min(2, size / 3), style: `fill: ${nameTone(span.name)}`});
      box.span = span;
      front.append(box);
      if (size > 26 && !dim) front.append(clipped(span.name, x + 4, y + span.row * ROW + 11.5, size - 7, "span-label", 6.4));
    }
    y += Math.max(lane.depth * ROW, value.shown < value.spans ? 14 : 30) + LANE_GAP;
    back.append(svg("line", {class: "grid", x1: 0, x2: width, y1: y - LANE_GAP / 2, y2: y - LANE_GAP / 2}));
  }
  for (const counter of value.counters) { drawCounter(front, counter, y, toX, gutter, width); y += COUNTER + LANE_GAP; }
  sight.height = y;
  for (const ms of ticks(from, to, Math.max(2, Math.floor(room / 110)))) {
    back.append(svg("line", {class: "grid", x1: toX(ms), x2: toX(ms), y1: 20, y2: y}), svg("text", {x: toX(ms), y: 13, "text-anchor": toX(ms) > width - 40 ? "end" : "middle"}, duration(ms)));
  }
  sight.picture.setAttribute("viewBox", `0 0 ${width} ${y}`);
  sight.picture.style.height = `${y}px`;
  sight.picture.setAttribute("aria-label", `Timeline from ${duration(from)} to ${duration(to)}: ${plural(sight.rows.length, "lane")}, ${plural(value.shown, "span")}. The table of operators has the sums.`);
  sight.picture.replaceChildren(back, front);
  if (!sight.chosen) sight.detail.textContent = value.shown ? "Point at a span to see what it is." : "This trace has no spans yet.";
}

function clipped(text, x, y, width, kind, each = 6.3) {
  const fits = Math.floor(width / each);
  return svg("text", {class: kind || null, x, y}, text.length <= fits ? text : fits > 2 ? text.slice(0, fits - 1) + "…" : "", svg("title", {}, text));
}

/** How busy a lane was, where not all of its spans are there to be drawn. */
function busyArea({start, width: each, parts}, y, toX, left, right) {
  let line = "", from = left;
  parts.forEach((part, i) => {
    const a = toX(start + i * each), b = toX(start + (i + 1) * each);
    if (b < left || a > right) return;
    const x = Math.max(a, left), top = (y + BUSY - part * BUSY).toFixed(1);
    if (!line) from = x;
    line += `${line ? "L" : "M"}${x.toFixed(1)} ${top}H${Math.min(b, right).toFixed(1)}`;
  });
  const shape = svg("g", {}, svg("title", {}, "part of the time that this lane was busy"));
  if (line) shape.append(svg("path", {class: "busy", d: `${line}V${y + BUSY}H${from.toFixed(1)}Z`}));
  shape.append(svg("line", {class: "base", x1: left, x2: right, y1: y + BUSY, y2: y + BUSY}));
  return shape;
}

function drawCounter(group, counter, y, toX, gutter, width) {
  const span = counter.max - Math.min(counter.min, 0) || 1, low = Math.min(counter.min, 0), bottom = y + COUNTER - 14;
  const toY = (value) => bottom - (value - low) / span * (COUNTER - 22);
  const visible = counter.points.filter(([ms], i) => (i + 1 >= counter.points.length || counter.points[i + 1][0] >= sight.from) && ms <= sight.to);
  let line = "", last = null;
  for (const [ms, value] of visible) {
    const x = Math.min(Math.max(toX(ms), gutter), width - 8).toFixed(1);
    line += last === null ? `M${x} ${toY(value).toFixed(1)}` : `H${x}V${toY(value).toFixed(1)}`;
    last = value;
  }
  if (last === null) line = "";
  else line += `H${width - 8}`;
  group.append(clipped(counter.name, 0, y + 12, gutter - 12, "lane-name"), svg("text", {x: 0, y: y + 26}, `${short(counter.min)} to ${short(counter.max)}`));
  if (line) group.append(svg("path", {class: "area", d: `${line}V${bottom}H${line.slice(1).split(" ")[0]}Z`}), svg("path", {class: "edge", d: line}));
}

function detail(span) {
  sight.detail.replaceChildren(el("b", {}, span.name), ` · ${span.category} · `, duration(span.length), ` · from ${duration(span.start)} on`);
}

function zoomTo(from, to) {
  if (!sight.value) return;
  const length = sight.value.length || 1, least = Math.max(length * 1e-6, 1e-4);
  const size = Math.min(Math.max(to - from, least), length);
  const start = size === length ? 0 : Math.max(0, Math.min((from + to - size) / 2, length - size));
  Object.assign(sight, {from: start, to: start + size});
  drawTimeline();
}
function zoomBy(factor) {
  const middle = (sight.from + sight.to) / 2, half = (sight.to - sight.from) / 2 * factor;
  zoomTo(middle - half, middle + half);
}

function timelineKey(event) {
  const size = sight.to - sight.from;
  const actions = {
    ArrowLeft: () => zoomTo(sight.from - size / 5, sight.to - size / 5), ArrowRight: () => zoomTo(sight.from + size / 5, sight.to + size / 5),
    "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), "0": () => zoomTo(0, sight.value.length), ArrowDown: () => step(1), ArrowUp: () => step(-1),
  };
  if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  actions[event.key]();
}

/** Go to the next or the previous span in order of time. */
function step(direction) {
  const spans = sight.rows.flatMap((lane) => lane.spans).sort((a, b) => a.start - b.start);
  if (!spans.length) return;
  const now = spans.indexOf(sight.chosen), first = spans.findIndex((span) => span.start >= sight.from);
  const span = spans[now < 0 ? Math.max(first, 0) : Math.max(0, Math.min(spans.length - 1, now + direction))];
  sight.chosen = span;
  const size = sight.to - sight.from;
  if (span.start < sight.from || span.start > sight.to) zoomTo(span.start - size / 2, span.start + size / 2);
  else drawTimeline();
  detail(span);
}

function startTimeline() {
  byId("timeline-run").addEventListener("change", () => { remember(); showTimeline(); });
  byId("span-filter").addEventListener("input", drawTimeline);
  byId("zoom-in").addEventListener("click", () => zoomBy(0.5));
  byId("zoom-out").addEventListener("click", () => zoomBy(2));
  byId("zoom-all").addEventListener("click", () => zoomTo(0, Infinity));
  new ResizeObserver(() => { if (state.view === "timeline" && sight.value) drawTimeline(); }).observe(byId("timeline"));
}
