// Elements, numbers and axes. Every text becomes a text node: nothing from a file is ever read as HTML.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const whole = new Intl.NumberFormat("en-US");
const plural = (count, one, many) => `${whole.format(count)} ${count === 1 ? one : many || one + "s"}`;

/** A number with four significant digits, as short as it goes. */
function short(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-3 ? value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e") : String(Number(value.toPrecision(4)));
  return text.replace(/-/g, "−");
}

/** How many digits after the point a column of milliseconds needs. */
function digitsFor(values) {
  const least = Math.min(...values.filter((value) => value > 0), 1);
  return least < 0.001 ? 5 : least < 0.01 ? 4 : 3;
}

function milliseconds(value, digits) {
  return value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

/** A span of time in the unit that suits it. */
function duration(ms) {
  if (ms === 0) return "0";
  const size = Math.abs(ms);
  if (size < 1) return `${short(ms * 1000)} µs`;
  if (size < 1000) return `${short(ms)} ms`;
  if (size < 120e3) return `${short(ms / 1000)} s`;
  if (size < 7200e3) return `${short(ms / 60e3)} min`;
  return size < 172800e3 ? `${short(ms / 3600e3)} h` : `${short(ms / 86400e3)} d`;
}

function bytes(count) {
  return count < 2 ** 20 ? `${short(count / 2 ** 10)} KiB` : count < 2 ** 30 ? `${short(count / 2 ** 20)} MiB` : `${short(count / 2 ** 30)} GiB`;
}

/** Round values between two numbers, at most about `count` of them. */
function ticks(low, high, count, base = 10) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9 && found.length < 50; n += 1) found.push(Number((n * step).toPrecision(12)));
  return found;
}

function logTicks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), found = [];
  const step = Math.max(1, Math.ceil((last - first) / 5));
  for (let n = first; n <= last; n += step) found.push(10 ** n);
  return found.length >= 2 ? found : ticks(low, high, 4).filter((value) => value > 0);
}

/** Let a person drag over a picture to choose a stretch of it; `chosen(from, to)` gets positions in pixels. */
function draggable(picture, top, bottom, chosen) {
  let from = null, mark = null;
  const at = (event) => event.clientX - picture.getBoundingClientRect().left;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = at(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (from === null || Math.abs(at(event) - from) < 4) return;
    if (!mark) picture.append(mark = svg("rect", {class: "pick", y: top, height: Math.max(bottom() - top, 0)}));
    mark.setAttribute("x", Math.min(from, at(event)));
    mark.setAttribute("width", Math.abs(at(event) - from));
  });
  const end = (event) => {
    const start = from;
    from = null;
    if (mark) {
      mark.remove();
      mark = null;
      if (event.type === "pointerup") chosen(Math.min(start, at(event)), Math.max(start, at(event)));
    }
  };
  picture.addEventListener("pointerup", end);
  picture.addEventListener("pointercancel", end);
}
