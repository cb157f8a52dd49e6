// What an opened rule shows.
var VERDICTS = {
  spec: "documented, and true of the releases as said",
  erratum: "the document is wrong here; this is the corrected rule",
  extension: "documented, but no release has it"
};

function fact(list, name, value) {
  if (value) { list.append(el("div", "", el("dt", "", name), el("dd", "", value))); }
}

function chips(items) {
  if (!items) { return null; }
  var made = el("div", "chips");
  items.forEach(function (item) { made.append(el("span", "chip", item)); });
  return made;
}

function ruleFacts(rule) {
  var list = el("dl", "facts-list");
  fact(list, "Level", rule.level + " · " + rule.area);
  fact(list, "Source", rule.source);
  fact(list, "Standing", rule.verdict && (VERDICTS[rule.verdict] ? rule.verdict + ": " + VERDICTS[rule.verdict] : rule.verdict));
  fact(list, "API", chips(rule.api));
  fact(list, "Needs", chips(rule.needs));
  fact(list, "Notes", rule.notes && prose("span", "prose", rule.notes));
  fact(list, "Mutants", chips(rule.mutants));
  return list;
}

function releases(rule) {
  var made = el("div", "releases", el("div", "sub-title", "What each release is known to do"));
  Object.entries(rule.releases || {}).forEach(function (entry) {
    made.append(el("div", "release " + entry[1][0],
      el("b", "", entry[0]), " ", el("span", "status", entry[1][0]),
      entry[1][1] ? prose("p", "prose", entry[1][1]) : null));
  });
  return rule.releases ? made : null;
}

function copyButton(text) {
  var button = el("button", "copy", "Copy");
  button.type = "button";
  button.addEventListener("click", function () {
    copy(text).then(function (done) {
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      button.classList.toggle("done", done);
      setTimeout(function () { button.textContent = "Copy"; button.classList.remove("done"); }, 1600);
    });
  });
  return button;
}

// The clipboard interface is missing on pages that were opened from a disk in some browsers
function copy(text) {
  function byHand() {
    var area = el("textarea", "visually-hidden");
    area.value = text;
    var before = document.activeElement;
    document.body.append(area);
    area.focus();
    area.select();
    var done = false;
    try { done = document.execCommand("copy"); } catch (error) { done = false; }
    area.remove();
    before.focus();
    return done;
  }
  if (!navigator.clipboard) { return Promise.resolve(byHand()); }
  return navigator.clipboard.writeText(text).then(function () { return true; }, byHand);
}

function replay(command) {
  return el("div", "replay", el("code", "", command), copyButton(command));
}

// A case that passed has its command behind a small button
function replayButton(item) {
  var button = el("button", "replay-button", el("span", "visually-hidden", "Copy the command that runs " + item.name + " again"));
  button.type = "button";
  button.title = item.replay;
  button.addEventListener("click", function () {
    copy(item.replay).then(function (done) {
      button.classList.toggle("done", done);
      setTimeout(function () { button.classList.remove("done"); }, 1600);
    });
  });
  return button;
}

function block(list, name, className, text) {
  if (!text) { return; }
  var value = el("dd", className, text);
  // an array of several lines keeps its columns and scrolls; a long sentence wraps
  if (text.includes("\n")) { value.classList.add("lines"); }
  list.append(el("div", "", el("dt", "", name), value));
}

function more(title, text, open) {
  if (!text) { return null; }
  var made = el("details", "more", el("summary", "", title), el("pre", "text-block", text));
  made.open = Boolean(open);
  return made;
}

function failureElement(failure) {
  var list = el("dl", "failure");
  block(list, "Kind", "plain", failure.kind);
  block(list, "Observed", "plain", failure.doing);
  block(list, "Expected", "value expected", failure.expected);
  block(list, "Got", "value got", failure.got);
  block(list, "Tolerance", "plain", failure.tolerance);
  var made = el("div", "", list);
  if (failure.traceback) { made.append(more("Traceback", failure.traceback)); }
  if (failure.output) { made.append(more("Output of the engine", failure.output)); }
  return made;
}

function blockedBy(ids) {
  var made = el("p", "case-message", "Blocked by ");
  ids.forEach(function (id, index) {
    if (index) { made.append(", "); }
    if (byId.has(id)) {
      var link = el("a", "", id);
      link.href = ruleLink(id);
      made.append(link);
    } else { made.append(id); }
  });
  made.append(", which failed. Mend that first.");
  return made;
}

function waiverElement(waiver) {
  var list = el("dl", "failure");
  Object.entries(waiver).forEach(function (entry) { block(list, entry[0], "plain", entry[1]); });
  return list;
}

function caseElement(item) {
  var passed = item.outcome === "pass";
  var made = el("li", "", el("div", "case-line",
    smallState(item.outcome), el("code", "", item.name), el("span", "seconds", shownSeconds(item.seconds)),
    passed && item.replay ? replayButton(item) : null));
  if (item.blocked) { made.append(blockedBy(item.blocked)); }
  else if (item.message && !item.failure) { made.append(el("p", "case-message", item.message)); }
  if (item.waiver) { made.append(waiverElement(item.waiver)); }
  if (item.failure) { made.append(failureElement(item.failure)); }
  if (!passed && item.replay) { made.append(replay(item.replay)); }
  return made;
}

var WITHOUT_CASES = {
  "no-case": "The suite has no case for this rule yet, so nothing is known about this engine here.",
  "not-selected": "This run did not select the rule, or none of its cases."
};

// So many cases that passed are shown; more wait behind a line that counts them
var MANY = 8;

function caseList(items) {
  var list = el("ul", "cases");
  items.forEach(function (item) { list.append(caseElement(item)); });
  return list;
}

function engineResult(rule, index) {
  var cell = rule.cells[index];
  var engine = engines[index];
  var made = el("section", "engine-result", el("h4", "", el("bdi", "", engine.label), stateElement(cell.state, cell.known)));
  if (cell.surprise) {
    made.append(el("p", "note surprise", "Surprise: the inventory says “" + cell.surprise[0] + "”, this run observed “" +
      cell.surprise[1] + "”." + (cell.surprise[2] ? " " + cell.surprise[2] : "")));
  } else if (cell.known) {
    var release = rule.releases && rule.releases[engine.inventory];
    made.append(el("p", "note", "As the inventory of " + engine.inventory + " records" + (release ? ": " + release[0] : "") + "."));
  }
  if (!cell.cases) { made.append(el("p", "note", WITHOUT_CASES[cell.state])); return made; }
  var failing = cell.cases.filter(function (item) { return item.outcome !== "pass"; });
  var passing = cell.cases.filter(function (item) { return item.outcome === "pass"; });
  if (failing.length) { made.append(caseList(failing)); }
  if (passing.length > MANY || (failing.length && passing.length > 2)) {
    made.append(el("details", "more passing", el("summary", "", plural(passing.length, "case") + " passed"), caseList(passing)));
  } else if (passing.length) { made.append(caseList(passing)); }
  return made;
}

function detailElement(rule) {
  var results = el("div", "engine-results");
  engines.forEach(function (engine, index) { results.append(engineResult(rule, index)); });
  var link = el("a", "", "Link to this rule");
  link.href = ruleLink(rule.id);
  return el("div", "detail", el("div", "detail-top", ruleFacts(rule), releases(rule)), results, el("div", "detail-links", link));
}
