// A session at a glance, by time; a click or a day leads there.
import { html, useRef } from "../vendor/preact.js";
import { day } from "../lib/format.js";
import { ORDER } from "./glyph.js";

const WIDE = 40;

/** The days of a session, each with the place where it begins. @param {any[]} buckets @returns {{label: string, place: number}[]} */
export function daysOf(buckets) {
  const days = [];
  for (const one of buckets) if (days.at(-1)?.label !== day(one.at)) days.push({ label: day(one.at), place: one.from_seq });
  return days;
}

export function Minimap({ buckets, from, to, jump }) {
  const box = useRef();
  if (buckets.length < 2) return null;
  const most = Math.max(...buckets.map(total), 1);
  const paths = ORDER.map((type) => [type, bars(buckets, type, most)]).filter(([, path]) => path);
  const first = at(buckets, from), last = at(buckets, to) + 1;
  const click = (event) => {
    const edge = box.current.getBoundingClientRect();
    const share = Math.max(0, Math.min(0.9999, (event.clientY - edge.top) / edge.height));
    jump(buckets[Math.floor(share * buckets.length)].from_seq);
  };
  return html`<svg ref=${box} class="minimap" viewBox=${`0 0 ${WIDE} ${buckets.length}`} preserveAspectRatio="none" aria-hidden="true" onClick=${click}>
    <rect class="seen" x="0" y=${first} width=${WIDE} height=${Math.max(last - first, buckets.length / 100)} />
    ${paths.map(([type, path]) => html`<path key=${type} data-type=${type} d=${path} />`)}</svg>`;
}

const total = (one) => Object.values(one.by_type).reduce((all, many) => all + many, 0);
const at = (buckets, place) => Math.max(0, buckets.findLastIndex((one) => one.from_seq <= place));

function bars(buckets, type, most) {
  let path = "";
  buckets.forEach((one, row) => {
    const many = one.by_type[type];
    if (!many) return;
    const before = ORDER.slice(0, ORDER.indexOf(type)).reduce((all, name) => all + (one.by_type[name] ?? 0), 0);
    path += `M${((before / most) * WIDE).toFixed(1)} ${row}h${Math.max((many / most) * WIDE, 1.5).toFixed(1)}v.8h-${Math.max((many / most) * WIDE, 1.5).toFixed(1)}z`;
  });
  return path;
}
