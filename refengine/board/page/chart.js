// A chart of one tag: a line per run, a crosshair, and a legend with the values under it.
const HEIGHT = 190, WIDE_HEIGHT = 360, LEFT = 52, RIGHT = 10, TOP = 10, BOTTOM = 22;

class Chart {
  constructor(tag) {
    this.tag = tag;
    this.series = new Map();    // run -> {points: [[time, step, value]], count}
    this.zoom = null;           // [low, high] on the horizontal axis
    this.cursor = null;         // index into `stops`
    this.options = {axis: "step", log: false, smooth: 0};
    this.title = el("h3", {}, tag);
    this.reset = el("button", {type: "button", hidden: true, onclick: () => { this.zoom = null; this.draw(); }}, "Whole range");
    this.grow = el("button", {type: "button", "aria-pressed": "false", "aria-label": `Enlarge ${tag}`, onclick: () => this.toggle()}, "Enlarge");
    this.picture = svg("svg", {class: "plot", tabindex: 0, role: "img"});
    this.where = el("div", {class: "where"});
    this.list = el("ul", {});
    this.card = el("figure", {class: "card chart"},
      el("div", {class: "chart-head"}, this.title, el("span", {}, this.reset, this.grow)),
      this.picture, el("figcaption", {class: "legend", "aria-live": "off"}, this.where, this.list));
    this.picture.addEventListener("pointermove", (event) => this.point(event.clientX - this.picture.getBoundingClientRect().left));
    this.picture.addEventListener("pointerleave", () => this.move(null));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("blur", () => { this.list.parentNode.setAttribute("aria-live", "off"); this.move(null); });
    this.picture.addEventListener("dblclick", () => { this.zoom = null; this.draw(); });
    draggable(this.picture, TOP, () => this.height - BOTTOM, (from, to) => this.choose(from, to));
  }

  get height() { return this.card.classList.contains("wide") ? WIDE_HEIGHT : HEIGHT; }

  toggle() {
    const wide = this.card.classList.toggle("wide");
    this.grow.setAttribute("aria-pressed", wide);
    this.grow.textContent = wide ? "Reduce" : "Enlarge";
    spread();
    this.draw();
  }

  /** Values of every run as {run, x, y, smooth}, and the bounds of what is to be seen. */
  prepare() {
    const {axis, log, smooth} = this.options;
    const names = shownRuns().map((run) => run.name).filter((run) => this.series.has(run) && this.series.get(run).points.length);
    this.lines = names.map((run) => {
      const points = this.series.get(run).points;
      const begin = points.reduce((least, point) => Math.min(least, point[0]), Infinity);
      const x = points.map((point) => axis === "time" ? (point[0] - begin) * 1000 : point[1]);
      const y = points.map((point) => Number(point[2]));
      const sorted = axis === "time" ? x.map((_, i) => i).sort((a, b) => x[a] - x[b]) : null;
      const line = {run, x: sorted ? sorted.map((i) => x[i]) : x, y: sorted ? sorted.map((i) => y[i]) : y};
      line.smooth = smooth > 0 ? smoothed(line.y, smooth) : line.y;
      return line;
    });
    const seen = {low: Infinity, high: -Infinity, left: Infinity, right: -Infinity};
    for (const line of this.lines) line.x.forEach((x, i) => {
      if (this.zoom && (x < this.zoom[0] || x > this.zoom[1])) return;
      seen.left = Math.min(seen.left, x);
      seen.right = Math.max(seen.right, x);
      const y = smooth > 0 ? line.smooth[i] : line.y[i];
      if (Number.isFinite(y) && (!log || y > 0)) { seen.low = Math.min(seen.low, y); seen.high = Math.max(seen.high, y); }
    });
    if (this.zoom) [seen.left, seen.right] = this.zoom;
    return seen;
  }

  draw() {
    const width = Math.max(this.picture.clientWidth || this.picture.parentNode.clientWidth - 28, 120), height = this.height;
    const seen = this.prepare();
    this.reset.hidden = !this.zoom;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.style.height = `${height}px`;
    this.picture.setAttribute("aria-label", this.describe(seen));
    if (!(seen.left <= seen.right)) {
      this.picture.replaceChildren(svg("text", {x: width / 2, y: height / 2, "text-anchor": "middle"}, this.lines.length ? "nothing in this range" : "no points"));
      this.legend();
      return;
    }
    const log = this.options.log;
    let {low, high} = seen;
    if (!(low <= high)) { low = log ? 0.1 : 0; high = 1; }
    if (low === high) { const room = log ? 0 : Math.abs(low) * 0.1 || 1; low = log ? low / 2 : low - room; high = log ? high * 2 : high + room; }
    else if (!log) { const room = (high - low) * 0.06; low -= room; high += room; }
    const scale = log ? Math.log10 : (value) => value;
    const ratio = (width - LEFT - RIGHT) / (seen.right - seen.left || 1), rise = (height - TOP - BOTTOM) / (scale(high) - scale(low));
    this.toX = (x) => LEFT + (x - seen.left) * ratio + (seen.left === seen.right ? (width - LEFT - RIGHT) / 2 : 0);
    this.toY = (y) => height - BOTTOM - (scale(y) - scale(low)) * rise;
    this.fromX = (pixel) => seen.left + (pixel - LEFT) / ratio;
    const clip = `clip${Chart.clips = (Chart.clips || 0) + 1}`;
    const parts = [svg("clipPath", {id: clip}, svg("rect", {x: LEFT - 1, y: TOP - 6, width: width - LEFT - RIGHT + 4, height: height - TOP - BOTTOM + 8})), this.axes(seen, low, high, width, height)];
    const curves = svg("g", {"clip-path": `url(#${clip})`});
    for (const line of this.lines) this.curve(curves, line, log);
    this.cross = svg("g", {});
    this.picture.replaceChildren(...parts, curves, this.cross);
    this.stops = [...new Set(this.lines.flatMap((line) => line.x))].filter((x) => x >= seen.left && x <= seen.right).sort((a, b) => a - b);
    if (this.cursor !== null && this.cursor >= this.stops.length) this.cursor = null;
    this.move(this.cursor);
  }

  axes(seen, low, high, width, height) {
    const group = svg("g", {"aria-hidden": "true"});
    const label = this.options.axis === "time" ? duration : (value) => (Math.abs(value) < 1e6 ? whole.format(value) : short(value));
    for (const y of this.options.log ? logTicks(low, high) : ticks(low, high, 4)) {
      group.append(svg("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: this.toY(y), y2: this.toY(y)}),
        svg("text", {x: LEFT - 7, y: this.toY(y) + 3.5, "text-anchor": "end"}, short(y)));
    }
    group.append(svg("line", {class: "base", x1: LEFT, x2: width - RIGHT, y1: height - BOTTOM, y2: height - BOTTOM}));
    let across = ticks(seen.left, seen.right, Math.max(2, Math.floor((width - LEFT) / 56)));
    if (this.options.axis === "step") across = across.filter(Number.isInteger);
    for (const x of across) {
      const at = this.toX(x);
      group.append(svg("line", {class: "base", x1: at, x2: at, y1: height - BOTTOM, y2: height - BOTTOM + 4}),
        svg("text", {x: at, y: height - 5, "text-anchor": at > width - 36 ? "end" : at < LEFT + 14 ? "start" : "middle"}, label(x)));
    }
    return group;
  }

  curve(group, line, log) {
    const style = `--tone: ${tone(line.run)}`;
    const ok = (y) => Number.isFinite(y) && (!log || y > 0);
    const path = (values) => {
      let text = "", pen = false;
      values.forEach((y, i) => {
        text += ok(y) ? `${pen ? "L" : "M"}${this.toX(line.x[i]).toFixed(1)} ${this.toY(y).toFixed(1)}` : "";
        pen = ok(y);
      });
      return text;
    };
    if (this.options.smooth > 0) group.append(svg("path", {class: "curve raw", style, d: path(line.y)}));
    group.append(svg("path", {class: "curve", style, d: path(line.smooth), "stroke-dasharray": dash(line.run) || null}));
    line.smooth.forEach((y, i) => {
      const alone = ok(y) && !ok(line.smooth[i - 1]) && !ok(line.smooth[i + 1]);
      if (alone) group.append(svg("circle", {class: "dot", style, cx: this.toX(line.x[i]), cy: this.toY(y), r: 3.5}));
      if (!Number.isFinite(line.y[i])) {
        const at = this.toX(line.x[i]);
        group.append(svg("path", {class: "odd", style, d: `M${at - 3} ${TOP - 3}l6 6m0 -6l-6 6`}));
      }
    });
  }

  describe() {
    const odd = this.lines.reduce((sum, line) => sum + line.y.filter((y) => !Number.isFinite(y)).length, 0);
    const last = this.lines.slice(0, 8).map((line) => `${line.run} ends at ${short(line.y[line.y.length - 1])}`);
    return `${this.tag}, ${plural(this.lines.length, "run")}. ${last.join(", ")}.${odd ? ` ${plural(odd, "value")} not finite.` : ""} Arrow keys read values.`;
  }

  point(pixel) {
    if (!this.stops || !this.stops.length || !this.fromX) return;
    this.move(nearest(this.stops, this.fromX(pixel)));
  }

  choose(from, to) {
    if (!this.fromX) return;
    const range = [this.fromX(from), this.fromX(to)];
    if (this.options.axis === "step" && range[1] - range[0] < 2) return;
    this.zoom = range;
    this.draw();
  }

  key(event) {
    const last = this.stops ? this.stops.length - 1 : -1;
    if (last < 0) return;
    const now = this.cursor === null ? null : this.cursor, far = Math.max(1, Math.round(last / 10));
    const to = {ArrowLeft: now === null ? last : now - 1, ArrowRight: now === null ? 0 : now + 1, PageUp: (now || 0) - far, PageDown: (now || 0) + far, Home: 0, End: last}[event.key];
    if (event.key === "Escape") { this.zoom = null; this.draw(); this.move(null); }
    if (to === undefined) return;
    event.preventDefault();
    this.list.parentNode.setAttribute("aria-live", "polite");
    this.move(Math.max(0, Math.min(last, to)));
  }

  /** Show the values at one of the stops, or the last ones. */
  move(index) {
    this.cursor = index;
    if (!this.cross) { this.legend(); return; }
    if (index === null || !this.stops.length) { this.cross.replaceChildren(); this.legend(); return; }
    const x = this.stops[index], at = this.toX(x);
    this.cross.replaceChildren(svg("line", {class: "cross", x1: at, x2: at, y1: TOP, y2: this.height - BOTTOM}));
    for (const line of this.lines) {
      const i = nearest(line.x, x);
      const y = line.smooth[i];
      if (Number.isFinite(y) && (!this.options.log || y > 0) && Math.abs(this.toX(line.x[i]) - at) < 12) {
        this.cross.append(svg("circle", {class: "dot", style: `--tone: ${tone(line.run)}`, cx: this.toX(line.x[i]), cy: this.toY(y), r: 4}));
      }
    }
    this.legend(x);
  }

  legend(x) {
    const time = this.options.axis === "time";
    const count = this.lines.reduce((sum, line) => sum + line.y.filter((y) => !Number.isFinite(y)).length, 0);
    this.where.replaceChildren(el("span", {}, x === undefined ? "Last value" : time ? `After ${duration(x)}` : `At step ${whole.format(x)}`),
      count ? el("span", {}, `× ${plural(count, "value")} not finite`) : "");
    this.list.replaceChildren(...this.lines.map((line) => {
      const i = x === undefined ? line.y.length - 1 : nearest(line.x, x);
      return el("li", {style: `--tone: ${tone(line.run)}`}, svg("svg", {viewBox: "0 0 22 8", "aria-hidden": "true"}, svg("line", {x1: 0, x2: 22, y1: 4, y2: 4, "stroke-dasharray": dash(line.run) || null})),
        el("span", {class: "run", title: line.run}, line.run), el("b", {title: String(line.y[i])}, short(line.y[i])));
    }));
  }
}

/** The index of the value in a sorted list that is closest to x. */
function nearest(sorted, x) {
  let low = 0, high = sorted.length - 1;
  while (high - low > 1) { const middle = (low + high) >> 1; if (sorted[middle] <= x) low = middle; else high = middle; }
  return Math.abs(sorted[high] - x) < Math.abs(sorted[low] - x) ? high : low;
}

/** An exponential moving average without the bias of its beginning; what is not finite stays as it is. */
function smoothed(values, weight) {
  let sum = 0, total = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    sum = sum * weight + (1 - weight) * value;
    total = total * weight + (1 - weight);
    return sum / total;
  });
}
