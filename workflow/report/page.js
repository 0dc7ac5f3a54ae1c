"use strict";
// Tables can be sorted by their columns, and the published figures filtered. Without scripts all of it can be read.

const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
const number = (text) => (/^[-+\d.]/.test(text) ? parseFloat(text) : NaN);

function compare(a, b) {
  const [x, y] = [number(a), number(b)];
  if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || a.localeCompare(b);
  return x - y;
}

function sort(table, column, heading) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => compare(value(a, column), value(b, column)));
  body.append(...(down ? rows.reverse() : rows));
}

for (const table of document.querySelectorAll(".sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    // not a button: Chromium leaves those out of the heads that it repeats in print
    const button = document.createElement("span");
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(table, column, heading));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(table, column, heading);
    });
    heading.append(button);
  });
}

// what an address names is shown open: an exhibit and how it was made
const open = () => {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const details of named ? named.querySelectorAll("details") : []) details.open = true;
};
addEventListener("hashchange", open);
open();

const form = document.querySelector(".filters");
if (form) {
  const rows = [...document.querySelectorAll(".filtered tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const fields = ["state", "paper", "cause", "search"];
  const filter = () => {
    const values = Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));
    const words = values.search.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, at) => {
      const fits = ["state", "paper", "cause"].every((name) => !values[name] || row.dataset[name] === values[name]);
      row.hidden = !(fits && words.every((word) => texts[at].includes(word)));
      shown += !row.hidden;
    });
    form.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
    const some = fields.some((name) => values[name]);
    for (const details of document.querySelectorAll("details.folded")) {
      details.hidden = some && !details.querySelector("tbody tr:not([hidden])");
      details.open = some && !details.hidden;
    }
    // the address has the filter, so that it can be kept
    const query = new URLSearchParams(fields.filter((name) => values[name]).map((name) => [name, values[name]]));
    history.replaceState(null, "", (query.size ? `?${query}` : location.pathname) + location.hash);
  };
  new URLSearchParams(location.search).forEach((text, name) => {
    if (fields.includes(name)) form.elements[name].value = text;
  });
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
