(function () {
  "use strict";
  // Runs before the first paint, so that a page that was set to dark does not flash.
  var chosen = null;
  try { chosen = window.localStorage.getItem("mxnet-board-theme"); } catch (error) { /* no storage for this page */ }
  var dark = chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}());
