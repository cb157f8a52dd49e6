// The data, and building elements from text. Nothing in this script turns text into markup.
var data = JSON.parse(document.getElementById("data").textContent);
var engines = data.engines;
var outcomes = {};
data.outcomes.forEach(function (outcome) { outcomes[outcome.name] = outcome; });
var rules = data.rules;
var byId = new Map(rules.map(function (rule, index) { return [rule.id, index]; }));

// Cells and cases come as short lists; see data.py
function fill(pattern, rule, name) {
  // a function as the second argument, since in a text "$&" has a meaning
  return pattern.replace(/\{case\}|\{rule\}/g, function (found) { return found === "{rule}" ? rule : rule + "/" + name; });
}

function unpack(rule) {
  rule.cells = rule.cells.map(function (packed, at) {
    var cell = Object.assign({ state: data.outcomes[packed[0]].name, cases: null }, packed[2]);
    if (!packed[1] || !packed[1].length) { return cell; }
    cell.cases = packed[1].map(function (item) {
      var made = Object.assign({ name: rule.names[item[0]], outcome: data.outcomes[item[1]].name, seconds: item[2] }, item[3]);
      if (!made.replay) { made.replay = fill(engines[at].replay, rule.id, made.name); }
      return made;
    });
    return cell;
  });
}
rules.forEach(unpack);

function find(id) { return document.getElementById(id); }

// el("p", "class names", child, ...): a child is text, an element, or nothing
function el(tag, className) {
  var made = document.createElement(tag);
  if (className) { made.className = className; }
  for (var i = 2; i < arguments.length; i++) {
    if (arguments[i] !== null && arguments[i] !== undefined && arguments[i] !== "") { made.append(arguments[i]); }
  }
  return made;
}

// A part of the table. The roles are said out loud because the layout is a grid, and some browsers then forget them
function part(role, tag, className) {
  var made = el.apply(null, Array.prototype.slice.call(arguments, 1));
  made.setAttribute("role", role);
  return made;
}

// Text with `code` between single backticks, as the inventory writes it; other backticks are only backticks
function prose(tag, className, text) {
  var made = el(tag, className);
  text.split(/(?<!`)`([^`]+)`(?!`)/).forEach(function (part, index) {
    if (part) { made.append(index % 2 ? el("code", "", part) : part); }
  });
  return made;
}

function count(number) { return number.toLocaleString("en"); }

function plural(number, noun) { return count(number) + " " + noun + (number === 1 ? "" : "s"); }

function shownSeconds(seconds) {
  if (seconds < 0.0001) { return (seconds * 1e6).toFixed(0) + " µs"; }
  return seconds < 1 ? (seconds * 1000).toFixed(1) + " ms" : seconds.toFixed(1) + " s";
}

function smallState(state) {
  var made = el("span", "state small t-" + state, el("span", "visually-hidden", outcomes[state].label));
  made.title = outcomes[state].label;
  return made;
}

function stateElement(state, known) {
  return el("span", "state t-" + state + (known ? " known" : ""), outcomes[state].label);
}
