// What is filtered and which rule is open: kept in the address, so that every view has a link of its own.
var FLAGS = ["differ", "surprises"];

function emptyState() { return { q: "", area: "", on: "", level: [], outcome: [], differ: false, surprises: false, rule: "" }; }

function readState(hash) {
  var state = emptyState();
  hash.replace(/^#/, "").split("&").forEach(function (part) {
    var at = part.indexOf("=");
    if (at < 0) { return; }
    var key = part.slice(0, at);
    var value;
    try { value = decodeURIComponent(part.slice(at + 1)); } catch (error) { return; }
    if (!Object.hasOwn(state, key)) { return; }
    if (Array.isArray(state[key])) { state[key] = value.split(",").filter(Boolean); }
    else if (FLAGS.includes(key)) { state[key] = value === "1"; }
    else { state[key] = value; }
  });
  return state;
}

function writeState(state) {
  var parts = [];
  Object.keys(state).forEach(function (key) {
    var value = state[key];
    if (value === true) { value = "1"; }
    else if (Array.isArray(value)) { value = value.join(","); }
    if (value) { parts.push(key + "=" + encodeURIComponent(value).replace(/%2C/g, ",")); }
  });
  return "#" + parts.join("&");
}

function hasFilters(state) { return writeState(Object.assign({}, state, { rule: "" })) !== "#"; }

// A link to a rule keeps nothing of the filters: it must show the rule wherever it stands
function ruleLink(id) { return "#rule=" + encodeURIComponent(id); }

function haystack(rule) {
  var parts = [rule.id, rule.area, rule.statement, rule.source, rule.notes].concat(rule.api || [], rule.needs || [], rule.mutants || []);
  rule.cells.forEach(function (cell) {
    (cell.cases || []).forEach(function (item) {
      parts.push(item.name, item.message);
      if (item.failure) { parts.push(item.failure.kind, item.failure.doing, item.failure.expected, item.failure.got); }
    });
  });
  return parts.filter(Boolean).join("\n").toLowerCase();
}

function matcher(state) {
  var terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  var on = engines.findIndex(function (engine) { return engine.label === state.on; });
  return function (rule) {
    if (state.area && rule.area !== state.area) { return false; }
    if (state.level.length && !state.level.includes(rule.level)) { return false; }
    if (state.differ && !rule.differs) { return false; }
    var cells = on < 0 ? rule.cells : [rule.cells[on]];
    if (state.surprises && !cells.some(function (cell) { return cell.surprise; })) { return false; }
    if (state.outcome.length && !cells.some(function (cell) { return state.outcome.includes(cell.state); })) { return false; }
    if (!terms.length) { return true; }
    if (!rule.haystack) { rule.haystack = haystack(rule); }
    return terms.every(function (term) { return rule.haystack.includes(term); });
  };
}
