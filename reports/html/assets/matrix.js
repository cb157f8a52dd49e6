// The table: every row is made once, filters only hide and show.
var table = find("matrix");
var rows = [];
var bodies = new Map();
var state = emptyState();
var opened = -1;
var COLUMNS = 2 + engines.length;

function cellElement(rule, index) {
  var cell = rule.cells[index];
  var made = part("cell", "td", "engine-cell", stateElement(cell.state, cell.known));
  made.dataset.engine = engines[index].label;
  if (cell.surprise) { made.append(" ", el("span", "flag surprise", "surprise")); }
  else if (cell.known) { made.append(" ", el("span", "flag", "known")); }
  return made;
}

function rowElement(rule, index) {
  var toggle = el("button", "rule-toggle", rule.id, " ", el("span", "level " + rule.level, rule.level));
  toggle.type = "button";
  toggle.setAttribute("aria-expanded", "false");
  toggle.dataset.index = index;
  var head = part("rowheader", "th", "", toggle);
  head.scope = "row";
  var row = part("row", "tr", "rule-row", head, part("cell", "td", "statement-cell", prose("span", "statement", rule.statement)));
  engines.forEach(function (engine, at) { row.append(cellElement(rule, at)); });
  return row;
}

function areaBody(area) {
  var title = part("rowheader", "th", "", area, el("span", "faint area-count"));
  title.scope = "rowgroup";
  title.colSpan = 2;
  var head = part("row", "tr", "area-row", title);
  engines.forEach(function () { head.append(part("cell", "td")); });
  var body = part("rowgroup", "tbody", "", head);
  return { body: body, head: head, shown: 0 };
}

function buildRows() {
  data.areas.forEach(function (area) { bodies.set(area, areaBody(area)); });
  rules.forEach(function (rule, index) {
    var row = rowElement(rule, index);
    rows.push(row);
    bodies.get(rule.area).body.append(row);
  });
  bodies.forEach(function (group) { table.append(group.body); });
}

function mark(group, area) {
  var totals = engines.map(function () { return [0, 0]; });
  var all = 0;
  rules.forEach(function (rule) {
    if (rule.area !== area) { return; }
    all += 1;
    rule.cells.forEach(function (cell, at) {
      var kind = outcomes[cell.state].group;
      if (kind === "passed") { totals[at][0] += 1; }
      if (kind !== "unsupported" && kind !== "open") { totals[at][1] += 1; }
    });
  });
  totals.forEach(function (pair, at) {
    var cell = group.head.children[1 + at];
    cell.replaceChildren(el("span", "faint", pair[1] ? count(pair[0]) + " / " + count(pair[1]) : "–"));
    cell.title = engines[at].label + ": " + pair[0] + " of " + plural(pair[1], "judged rule") + " pass, of " + all + " in all";
  });
}

function isShown(index) { return !rows[index].hidden; }

function applyFilters() {
  var matches = matcher(state);
  var shown = 0;
  bodies.forEach(function (group) { group.shown = 0; });
  rules.forEach(function (rule, index) {
    // an opened rule stays in sight whatever the filters say: somebody asked for it
    var show = matches(rule);
    if (show) { shown += 1; }
    if (show || index === opened) { bodies.get(rule.area).shown += 1; }
    rows[index].hidden = !(show || index === opened);
  });
  bodies.forEach(function (group, area) {
    group.body.hidden = group.shown === 0;
    // what an area that was never in sight is taken to be high, for the scroll bar
    group.body.style.containIntrinsicBlockSize = "auto " + (35 + 46 * group.shown) + "px";
    group.head.querySelector(".area-count").textContent = plural(group.shown, "rule");
  });
  find("shown").textContent = shown === rules.length ? "all " + plural(shown, "rule") : count(shown) + " of " + plural(rules.length, "rule");
  find("nothing").hidden = shown > 0 || opened >= 0;
  table.hidden = shown === 0 && opened < 0;
  highlight();
}

// Search terms are highlighted without touching the elements, where the browser can do that
function highlight() {
  if (!window.CSS || !CSS.highlights) { return; }
  CSS.highlights.delete("found");
  var terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (!terms.length) { return; }
  var ranges = [];
  for (var index = 0; index < rows.length && ranges.length < 800; index++) {
    if (rows[index].hidden) { continue; }
    var walker = document.createTreeWalker(rows[index], NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) { rangesIn(walker.currentNode, terms, ranges); }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

function rangesIn(node, terms, ranges) {
  var text = node.data.toLowerCase();
  if (text.length !== node.data.length) { return; }
  terms.forEach(function (term) {
    for (var at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
      var range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + term.length);
      ranges.push(range);
    }
  });
}

function closeRule() {
  if (opened < 0) { return; }
  var row = rows[opened];
  row.classList.remove("open");
  row.nextElementSibling.remove();
  var toggle = row.querySelector(".rule-toggle");
  toggle.setAttribute("aria-expanded", "false");
  toggle.removeAttribute("aria-controls");
  opened = -1;
}

function openRule(index) {
  if (opened === index) { return; }
  closeRule();
  opened = index;
  var row = rows[index];
  var cell = part("cell", "td", "", detailElement(rules[index]));
  cell.colSpan = COLUMNS;
  var detail = part("row", "tr", "detail-row", cell);
  detail.id = "detail";
  row.after(detail);
  row.classList.add("open");
  var toggle = row.querySelector(".rule-toggle");
  toggle.setAttribute("aria-expanded", "true");
  toggle.setAttribute("aria-controls", "detail");
}

function toggleRule(index) {
  state.rule = opened === index ? "" : rules[index].id;
  if (state.rule) { openRule(index); } else { closeRule(); }
  applyFilters();
  remember();
}

function bringIntoView(index) {
  var toggle = rows[index].querySelector(".rule-toggle");
  toggle.focus({ preventScroll: true });
  rows[index].scrollIntoView({ block: "start" });
}
