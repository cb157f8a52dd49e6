// Moving by keyboard: j and k walk the rules that are shown, n and p the failures that nothing explains.
function current() {
  var toggle = document.activeElement && document.activeElement.closest(".rule-row, .detail-row");
  if (toggle && toggle.classList.contains("detail-row")) { toggle = toggle.previousElementSibling; }
  return toggle ? rows.indexOf(toggle) : -1;
}

function move(step, wanted) {
  var from = current();
  if (from < 0 && opened >= 0) { from = opened; }
  for (var index = from < 0 && step < 0 ? rows.length - 1 : from + step; index >= 0 && index < rows.length; index += step) {
    if (isShown(index) && (!wanted || wanted(rules[index]))) {
      rows[index].querySelector(".rule-toggle").focus({ preventScroll: true });
      rows[index].scrollIntoView({ block: "nearest" });
      return;
    }
  }
}

function unexplained(rule) {
  return rule.cells.some(function (cell) { return cell.news; });
}

function flip(name) {
  var box = find(name);
  if (box) { box.click(); }
}

var KEYS = {
  "/": function () { find("search").focus(); find("search").select(); },
  "j": function () { move(1); },
  "k": function () { move(-1); },
  "n": function () { move(1, unexplained); },
  "p": function () { move(-1, unexplained); },
  "d": function () { flip("differ"); },
  "s": function () { flip("surprises"); },
  "x": function () { clearFilters(); },
  "t": function () { switchTheme(); },
  "?": function () { find("help").showModal(); }
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find("help").open) { return; }
  var typing = event.target.matches("input[type=search], select, textarea");
  if (event.key === "Escape") {
    if (typing) { event.target.blur(); }
    else if (opened >= 0) { toggleRule(opened); }
    return;
  }
  if (typing) {
    if (event.key === "ArrowDown" && event.target.type === "search") { event.preventDefault(); event.target.blur(); move(1); }
    return;
  }
  if (document.activeElement.matches(".rule-toggle") && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
    return;
  }
  if (Object.hasOwn(KEYS, event.key)) { event.preventDefault(); KEYS[event.key](); }
}
