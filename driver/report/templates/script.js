"use strict";
// The page is complete without this: it adds sorting, filtering, and values under the pointer.
(function () {
  const data = JSON.parse(document.getElementById("coll-data").textContent);
  document.documentElement.classList.add("has-script");

  function valueOf(row, column) {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  }

  function sortBy(table, header) {
    const isDown = header.getAttribute("aria-sort") !== "descending" && header.classList.contains("number") ||
      header.getAttribute("aria-sort") === "ascending";
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort(function (a, b) {
      const x = valueOf(a, header.cellIndex), y = valueOf(b, header.cellIndex);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return isDown ? -order : order;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable"))
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", function () { sortBy(table, header); });
    }

  for (const label of document.querySelectorAll(".filter")) {
    const rows = label.nextElementSibling.querySelectorAll("tbody tr");
    label.querySelector("input").addEventListener("input", function (event) {
      const words = event.target.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.includes(word); });
      }
    });
  }

  function formatTime(ns) {
    for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
      if (ns >= size) return (ns / size).toPrecision(3) + " " + unit;
    return Math.round(ns) + " ns";
  }

  function describe(source, series, point) {
    const steps = point[0] === point[1] ? "step " + point[0] : "steps " + point[0] + "–" + point[1];
    if (point[2] === null) return steps + ": not finite";
    return steps + ": " + (source === "step_ns" ? formatTime(point[2]) : point[2].toPrecision(6));
  }

  // Follows the pointer over a chart.
  function addReadout(chart) {
    const source = chart.dataset.source, plot = chart.querySelector(".plot");
    const series = source.split(".").reduce(function (value, key) { return value[key]; }, data);
    if (!series || series.points.length === 0) return;
    const cursor = document.createElement("i"), readout = document.createElement("span");
    cursor.className = "cursor";
    readout.className = "readout";
    plot.addEventListener("pointermove", function (event) {
      const box = plot.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
      const stairs = source === "step_ns" || series.count === 1;
      const step = stairs ? 0.5 + share * series.count : 1 + share * (series.count - 1);
      const point = series.points.find(function (p) { return step <= p[1] + 0.5; }) || series.points[series.points.length - 1];
      readout.textContent = describe(source, series, point);
      cursor.style.left = 100 * share + "%";
      readout.style.left = share < 0.5 ? "calc(" + 100 * share + "% + 8px)" : "";
      readout.style.right = share < 0.5 ? "" : "calc(" + 100 * (1 - share) + "% + 8px)";
      plot.append(cursor, readout);
    });
    plot.addEventListener("pointerleave", function () { cursor.remove(); readout.remove(); });
  }
  document.querySelectorAll(".chart").forEach(addReadout);
})();
