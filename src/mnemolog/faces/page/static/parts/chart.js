// A chart over time: uPlot, loaded when it is first needed, and its numbers as a table.
import { html, useEffect, useRef } from "../vendor/preact.js";
import { count, date, month, time, whole } from "../lib/format.js";
import { ORDER } from "./glyph.js";

const COLOURS = ["--accent", "--type-finding", "--type-preference", "--type-note", "--type-event", "--type-conversation"];
const DAY = 86_400;
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4], [1, 4]];

/** @param {{caption: string, unit?: string, t: string[], series: Record<string, number[]>, height?: number, isTime?: boolean, x?: number[], xUnit?: string, isStepped?: boolean, shown?: (value: number) => string}} props */
export function Chart({ caption, unit = "", t, x, series, height = 180, isTime = true, xUnit = "", isStepped = false, shown = count }) {
  const box = useRef();
  const names = Object.keys(series);
  // Where one grows far beyond another, equal steps show the others as nothing.
  const ends = names.map((name) => series[name].at(-1) ?? 0), isSteep = isStepped && Math.max(...ends) > 20 * Math.min(...ends);
  const key = JSON.stringify([t?.at(-1), x?.length, names, ends, t?.length]);
  useEffect(() => {
    let chart = /** @type {any} */ (null), isHere = true;
    const draw = async () => {
      const { default: Plot } = await import("../vendor/uplot.js");
      if (!isHere || !box.current) return;
      chart?.destroy();
      const style = getComputedStyle(document.documentElement);
      const ink = style.getPropertyValue("color") || "#888";
      const line = paint("--line"), axis = { stroke: paint("--ink-2"), grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui" };
      const values = x ?? t.map((one) => Date.parse(one.length === 7 ? `${one}-01` : one.length === 13 ? `${one}:00:00Z` : one) / 1000);
      chart = new Plot({
        width: box.current.clientWidth || 600, height, legend: { show: false }, cursor: { show: false },
        scales: { x: { time: isTime }, y: isSteep ? { distr: 4 } : {} }, axes: [{ ...axis, space: 90, ...(isTime && { values: moments }) }, { ...axis, size: (_, told) => 16 + 8 * Math.max(4, ...(told ?? []).map((one) => one.length)), ...(isSteep && { splits: tens, filter: (_, all) => all }) }],
        series: [{}, ...names.map((name, at) => ({ label: name, stroke: paint(colourOf(name, at)) || ink, width: 2, dash: DASHES[at % DASHES.length], points: { show: values.length < 3 }, ...(isStepped && { paths: Plot.paths.stepped({ align: 1 }) }) }))],
      }, [values, ...names.map((name) => series[name])], box.current);
    };
    draw();
    const watch = new ResizeObserver(() => box.current && chart?.setSize({ width: box.current.clientWidth, height }));
    watch.observe(box.current);
    const stop = onTheme(draw);
    return () => { isHere = false; watch.disconnect(); stop(); chart?.destroy(); };
  }, [key]);
  const rows = (x ?? t).map((at, row) => [isTime ? (x ? at : whole(at)) : `${count(at)} ${xUnit}`, ...names.map((name) => shown(series[name][row]))]);
  return html`<figure class="chart"><figcaption>${caption}${unit && html` <span class="quiet">· ${unit}${isSteep && ", each line ten times the one below"}</span>`}</figcaption>
    <details class="small"><summary>As a table</summary><div class="scroll"><table><thead><tr><th>${isTime ? "when" : xUnit}</th>${names.map((name) => html`<th key=${name} class="num">${name}</th>`)}</tr></thead>
      <tbody>${rows.slice(-200).map((row) => html`<tr key=${row[0]}>${row.map((cell, at) => html`<td key=${at} class=${at ? "num" : ""}>${cell}</td>`)}</tr>`)}</tbody></table></div></details>
    <div ref=${box} aria-hidden="true"></div>
    ${names.length > 1 && html`<ul class="legend" aria-hidden="true">${names.map((name, at) => html`<li key=${name}><svg width="24" height="8"><line x1="0" y1="4" x2="24" y2="4" stroke-width="2" stroke=${`var(${colourOf(name, at)})`} stroke-dasharray=${DASHES[at % DASHES.length].join(" ")} /></svg> ${name}</li>`)}</ul>`}</figure>`;
}

/** Nothing, one, ten, a hundred: the lines of a scale on which each is ten times the one below. */
const tens = (_, axis, least, most) => [0, ...Array.from({ length: 10 }, (_, power) => 10 ** power)].filter((one) => one >= least && one <= most);

/** Times or days below a chart, as they are written elsewhere. */
const moments = (_, stamps, axis, space, step) => stamps.map((at) => (step < DAY ? time : step < 28 * DAY ? date : month)(at * 1000));

/** A line for several types has the colour of the first. */
function colourOf(name, at) {
  const [type] = name.split(", ");
  return ORDER.includes(type) ? `--type-${type}` : COLOURS[at % COLOURS.length];
}

/** Be told of another theme; returns how to stop. @param {() => void} told */
export function onTheme(told) {
  const theme = new MutationObserver(told), scheme = matchMedia("(prefers-color-scheme: dark)");
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  scheme.addEventListener("change", told);
  return () => { theme.disconnect(); scheme.removeEventListener("change", told); };
}

/** What a token looks like now, in the theme that is on. */
export function paint(token) {
  const probe = document.createElement("span");
  probe.style.setProperty("color", `var(${token})`);
  probe.style.setProperty("forced-color-adjust", "none");
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
