// The view of operators: a table of the times of one run, also beside those of another.
const traces = new Map();       // run -> {version, value}
let drawnOperators = null;       // what the table was drawn from, so that it is left alone while nothing changes
const sorting = {by: "total", up: false};

const traced = () => (state.overview ? state.overview.runs : []).filter((run) => run.traces > 0);

/** Fill a list to choose from; what was chosen stays chosen. */
function choices(list, names, first) {
  const wanted = [...(first ? [first] : []), ...names.map((name) => [name, name])];
  const before = list.value, same = list.options.length === wanted.length && wanted.every(([value, label], i) => list.options[i].value === value && list.options[i].textContent === label);
  if (!same) {
    list.replaceChildren(...wanted.map(([value, label]) => el("option", {value}, label)));
    if (wanted.some(([value]) => value === before)) list.value = before;
  }
  return list.value;
}

/** The answer to a question about a run, asked again when its traces have changed. */
function about(store, path, run, then) {
  const version = `${run.traces} ${run.trace_version}`;
  const known = store.get(run.name);
  if (!known || known.version !== version || known.value.unread || known.value.error) {
    enqueue(`${path} ${run.name}`, async () => {
      const value = await ask(path, {run: run.name, within: 2}).catch((error) => ({error: error.message}));
      store.set(run.name, {version, value});
      then();
      if (value.unread) setTimeout(then, QUICK);
    });
  }
  return known && known.value;
}

function showOperators() {
  const runs = traced(), names = runs.map((run) => run.name);
  const name = choices(byId("operator-run"), names), otherName = choices(byId("operator-other"), names.filter((one) => one !== name), ["", "no other run"]);
  const facts = byId("operator-facts"), table = byId("operator-table");
  const run = runs.find((one) => one.name === name), other = runs.find((one) => one.name === otherName);
  if (!run) { drawnOperators = null; table.parentNode.hidden = true; byId("operator-counters").replaceChildren(); facts.textContent = "No run has a trace of the profiler."; return; }
  const value = about(traces, "trace", run, showOperators), beside = (other && about(traces, "trace", other, showOperators)) || null;
  const key = [value, beside, name, otherName, byId("operator-category").value, byId("operator-filter").value, sorting.by, sorting.up];
  if (drawnOperators && key.every((part, i) => part === drawnOperators[i])) return;
  drawnOperators = key;
  table.parentNode.hidden = !value || Boolean(value.error);
  byId("operator-counters").replaceChildren();
  if (!value || value.error) { facts.textContent = value ? `This trace cannot be shown: ${value.error}` : "Reading the trace …"; return; }
  const categories = [...new Set(value.operators.map((row) => row.category))];
  const category = chosenCategory(categories);
  const wanted = byId("operator-filter").value.trim().toLowerCase();
  const inCategory = value.operators.filter((row) => !category || row.category === category);
  const all = inCategory.reduce((sum, row) => sum + row.total, 0);
  const there = new Map(beside && beside.operators ? beside.operators.map((row) => [JSON.stringify([row.category, row.name]), row]) : []);
  const rows = inCategory.filter((row) => row.name.toLowerCase().includes(wanted)).map((row) => {
    const match = there.get(JSON.stringify([row.category, row.name]));
    return {...row, share: all ? row.total / all : 0, there: match ? match.mean : null, change: match && match.mean ? row.mean / match.mean - 1 : null};
  });
  facts.replaceChildren(el("b", {}, plural(inCategory.reduce((sum, row) => sum + row.count, 0), "call")), " of ", el("b", {}, plural(inCategory.length, "operator")), " took ", el("b", {}, duration(all)),
    value.unread ? ` · ${bytes(value.size - value.unread)} of ${bytes(value.size)} read so far` : "");
  drawOperators(table, rows, Boolean(other), !category);
  drawCounters(value.counters);
}

function chosenCategory(categories) {
  const list = byId("operator-category"), before = list.options.length;
  choices(list, categories, ["", "all"]);
  if (!before && categories.includes("operator")) list.value = "operator";
  return list.value;
}

function drawOperators(table, rows, compared, mixed) {
  const columns = [["name", "Operator", "text"], ...(mixed ? [["category", "Category", "text"]] : []), ["count", "Calls"], ["total", "Total ms"], ["share", "Share"], ["mean", "Mean ms"], ["min", "Min ms"], ["max", "Max ms"],
    ...(compared ? [["there", "Mean ms, other run"], ["change", "Change"]] : [])];
  const {by, up} = columns.some(([key]) => key === sorting.by) ? sorting : {by: "total", up: false};
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : (a === null ? -Infinity : a) - (b === null ? -Infinity : b));
  rows.sort((a, b) => (up ? 1 : -1) * (compare(a[by], b[by]) || 0));
  const head = el("tr", {}, ...columns.map(([key, label, kind]) => el("th", {scope: "col", class: kind || null, "aria-sort": key === by ? (up ? "ascending" : "descending") : null},
    el("button", {type: "button", "data-column": key, onclick: () => sortBy(key)}, label))));
  const cell = {
    name: (row) => el("td", {class: "text name"}, row.name), category: (row) => el("td", {class: "text soft"}, row.category), count: (row) => el("td", {}, whole.format(row.count)),
    share: (row) => el("td", {}, el("span", {class: "share"}, el("i", {style: `--part: ${(100 * row.share).toFixed(1)}%`}), el("span", {}, `${(100 * row.share).toFixed(1)} %`))),
    there: (row) => el("td", {}, row.there === null ? "–" : milliseconds(row.there, digits.there)), change: (row) => el("td", {class: change(row.change)}, row.change === null ? "–" : percent(row.change)),
  };
  const digits = Object.fromEntries(["total", "mean", "min", "max", "there"].map((key) => [key, digitsFor(rows.map((row) => row[key] || 0))]));
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.column : null;
  table.replaceChildren(el("caption", {class: "hidden"}, "Time per operator"), el("thead", {}, head),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...columns.map(([key]) => (cell[key] ? cell[key](row) : el("td", {}, milliseconds(row[key], digits[key]))))))));
  if (!rows.length) table.lastChild.append(el("tr", {}, el("td", {class: "text soft", colspan: columns.length}, "No operator here.")));
  if (focused) { const again = table.querySelector(`[data-column="${focused}"]`); if (again) again.focus(); }
}

const change = (ratio) => (ratio === null || Math.abs(ratio) < 0.05 ? "soft" : ratio < 0 ? "faster" : "slower");
const percent = (ratio) => (ratio >= 1 ? `× ${short(1 + ratio)}` : `${ratio < 0 ? "−" : "+"}${Math.abs(100 * ratio).toFixed(1)} %`);

function sortBy(key) {
  sorting.up = sorting.by === key ? !sorting.up : key === "name" || key === "category";
  sorting.by = key;
  showOperators();
}

function drawCounters(counters) {
  if (!counters.length) return;
  const head = ["Counter", "Category", "Values", "Least", "Greatest", "Last"];
  byId("operator-counters").replaceChildren(el("h3", {class: "sub"}, "Counters"), el("div", {class: "card table-card"}, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((label, i) => el("th", {scope: "col", class: i < 2 ? "text" : null}, el("span", {}, label))))),
    el("tbody", {}, ...counters.map((row) => el("tr", {}, el("td", {class: "text name"}, row.name), el("td", {class: "text soft"}, row.category),
      el("td", {}, whole.format(row.count)), ...[row.min, row.max, row.last].map((value) => el("td", {}, whole.format(value)))))))));
}

function startOperators() {
  for (const id of ["operator-run", "operator-other", "operator-category"]) byId(id).addEventListener("change", () => { remember(); showOperators(); });
  byId("operator-filter").addEventListener("input", showOperators);
}
