// Joining controls, address and table.
var form = find("filters");

function remember() {
  history.replaceState(null, "", writeState(state) === "#" ? location.pathname + location.search : writeState(state));
}

function showState() {
  find("search").value = state.q;
  find("area").value = state.area;
  find("on").value = state.on;
  FLAGS.forEach(function (name) { if (find(name)) { find(name).checked = state[name]; } });
  form.querySelectorAll("[name=level]").forEach(function (box) { box.checked = state.level.includes(box.value); });
  form.querySelectorAll("[name=outcome]").forEach(function (box) { box.checked = state.outcome.includes(box.value); });
  find("reset").hidden = !hasFilters(state);
}

function checked(name) {
  return Array.from(form.querySelectorAll("[name=" + name + "]:checked"), function (box) { return box.value; });
}

function onControls() {
  state.q = find("search").value.trim();
  state.area = find("area").value;
  state.on = find("on").value;
  state.level = checked("level");
  state.outcome = checked("outcome");
  FLAGS.forEach(function (name) { state[name] = Boolean(find(name) && find(name).checked); });
  find("reset").hidden = !hasFilters(state);
  applyFilters();
  remember();
}

function clearFilters() {
  state = Object.assign(emptyState(), { rule: state.rule });
  showState();
  applyFilters();
  remember();
}

function followAddress(scroll) {
  state = readState(location.hash);
  showState();
  var index = byId.has(state.rule) ? byId.get(state.rule) : -1;
  if (index < 0) { closeRule(); } else { openRule(index); }
  applyFilters();
  if (index >= 0) { bringIntoView(index); }
  else if (scroll && location.hash) { find("rules").scrollIntoView(); }
}

function switchTheme() {
  var theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("gluon-conformance-theme", theme); } catch (error) { /* not kept, then */ }
}

// What stays at the top of the window, for the style: a rule that is scrolled to must not be under it
function measure() {
  var sticky = getComputedStyle(form).position === "sticky";
  var style = document.documentElement.style;
  style.setProperty("--filters-height", (sticky ? form.offsetHeight : 0) + "px");
  style.setProperty("--head-height", (sticky ? table.tHead.offsetHeight : 0) + "px");
}

function start() {
  buildRows();
  bodies.forEach(mark);
  var waiting = 0;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("change", onControls);
  find("search").addEventListener("input", function () { clearTimeout(waiting); waiting = setTimeout(onControls, 80); });
  find("reset").addEventListener("click", clearFilters);
  find("nothing-reset").addEventListener("click", clearFilters);
  table.addEventListener("click", function (event) {
    var row = event.target.closest(".rule-row");
    // a click that ends a selection of text is not meant as a click
    if (row && String(window.getSelection()) === "") { toggleRule(rows.indexOf(row)); }
  });
  find("theme-button").addEventListener("click", switchTheme);
  find("help-button").addEventListener("click", function () { find("help").showModal(); });
  document.querySelector("[data-skip]").addEventListener("click", function (event) { event.preventDefault(); find("search").focus(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function (event) {
    var chosen = null;
    try { chosen = localStorage.getItem("gluon-conformance-theme"); } catch (error) { /* follow the system */ }
    if (!chosen) { document.documentElement.dataset.theme = event.matches ? "dark" : "light"; }
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", function () { followAddress(true); });
  measure();
  new ResizeObserver(measure).observe(form);
  followAddress(true);
}

start();
