"use strict";

// Without this program everything can be read. It sorts, filters, draws and turns the lights off.
{
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (name, properties, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };

  // The button says what it would change to.
  const scheme = document.getElementById("scheme");
  const isDark = () => getComputedStyle(root).colorScheme === "dark"
    || (root.dataset.scheme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => { scheme.textContent = isDark() ? "Light" : "Dark"; };
  scheme.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    name();
  });
  name();
  scheme.hidden = false;

  // A missing value is never first, whichever way a table is sorted.
  const sort = (table, column, original) => {
    const head = table.tHead.rows[0].cells[column];
    const up = head.getAttribute("aria-sort") !== "ascending";
    const numeric = head.classList.contains("n");
    const keyed = original.map((row) => {
      const text = row.cells[column].textContent.trim();
      const number = Number.parseFloat(text);
      const missing = numeric ? Number.isNaN(number) : text === "";
      return { row, missing, key: numeric ? number : text };
    });
    const compare = numeric ? (a, b) => a - b : (a, b) => a.localeCompare(b, "en", { numeric: true });
    keyed.sort((a, b) => a.missing - b.missing
      || (a.missing ? 0 : compare(a.key, b.key) * (up ? 1 : -1)));
    table.tBodies[0].append(...keyed.map(({ row }) => row));
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    table.dataset.sorted = "";
  };
  for (const table of all("table.sortable")) {
    const original = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sort(table, column, original));
      head.append(button);
    });
  }

  const filter = document.getElementById("filter");
  if (filter) {
    const rows = all(".board tr[data-status]").map((row) => ({
      row,
      attacker: row.querySelector("th").textContent.toLowerCase(),
      system: row.closest(".board").dataset.system,
    }));
    const entries = all(".entry").map((entry) => ({
      entry,
      text: entry.querySelector("summary").textContent.toLowerCase(),
    }));
    const apply = () => {
      const { attacker, system, status } = filter.elements;
      const wanted = attacker.value.trim().toLowerCase();
      const narrowed = wanted !== "" || status.value !== "";
      const filled = new Set();
      let shown = 0;
      for (const one of rows) {
        const fits = one.attacker.includes(wanted)
          && (!system.value || one.system === system.value)
          && (!status.value || one.row.dataset.status === status.value);
        one.row.hidden = !fits;
        shown += fits;
        if (fits) filled.add(one.system);
      }
      for (const board of all(".board")) {
        const name = board.dataset.system;
        board.hidden = narrowed ? !filled.has(name) : system.value !== "" && name !== system.value;
      }
      for (const { entry, text } of entries) entry.hidden = !text.includes(wanted);
      filter.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
    };
    filter.addEventListener("input", apply);
    filter.addEventListener("submit", (event) => event.preventDefault());
    filter.addEventListener("reset", () => setTimeout(apply));
    filter.hidden = false;
  }

  // The list of curves is made when it is first asked for.
  const charts = JSON.parse(document.getElementById("curves-data").textContent);
  const svg = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  all(".chart").forEach((section, number) => {
    const { names, series, panels } = charts[number];
    const pictures = all(".det", section);
    const titles = pictures.map((picture) => picture.getAttribute("aria-label").split(": ", 1)[0]);
    const chosen = new Set(names.slice(0, all(".legend li", section).length).keys());
    const draw = () => {
      const places = [...chosen].sort((a, b) => a - b);
      pictures.forEach((picture, panel) => {
        const { lines, percents } = panels[panel];
        picture.querySelector(".lines").replaceChildren(...places.flatMap((place) =>
          lines[place].map((points) => svg("polyline", { class: series[place], points }))));
        const said = places.map((place) => `${names[place]} ${percents[place]}`).join("; ");
        picture.setAttribute("aria-label", `${titles[panel]}: ${said}`);
      });
      section.querySelector(".legend").replaceChildren(...places.map((place) => {
        const swatch = svg("svg", { viewBox: "0 0 40 10", "aria-hidden": "true" });
        swatch.append(svg("path", { class: series[place], d: "M0 5H40" }));
        return make("li", {}, swatch, " ", make("bdi", { textContent: names[place] }));
      }));
    };
    const choose = section.querySelector(".choose");
    choose.addEventListener("toggle", () => {
      choose.querySelector("fieldset").append(...names.map((text, place) => {
        const box = make("input", { type: "checkbox", checked: chosen.has(place) });
        box.addEventListener("change", () => {
          chosen[box.checked ? "add" : "delete"](place);
          draw();
        });
        return make("label", {}, box, " ", make("bdi", { textContent: text }));
      }));
    }, { once: true });
    choose.hidden = false;
  });
}
