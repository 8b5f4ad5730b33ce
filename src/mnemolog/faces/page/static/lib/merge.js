// Three texts side by side: where both changed the same lines, a person decides.

/** @typedef {{base: string[], theirs: string[], mine: string[], kind: "same" | "theirs" | "mine" | "agreed" | "both"}} Block */

const MOST = 3000;

/** Pairs of equal lines of two lists, in order: the longest such row. @returns {Map<number, number>} */
function matches(one, other) {
  let from = 0, to1 = one.length, to2 = other.length;
  const found = new Map();
  while (from < to1 && from < to2 && one[from] === other[from]) { found.set(from, from); from += 1; }
  while (to1 > from && to2 > from && one[to1 - 1] === other[to2 - 1]) { to1 -= 1; to2 -= 1; found.set(to1, to2); }
  const high = to1 - from, wide = to2 - from;
  if (!high || !wide || high > MOST || wide > MOST) return found;
  const best = Array.from({ length: high + 1 }, () => new Uint16Array(wide + 1));
  for (let i = high - 1; i >= 0; i -= 1) for (let j = wide - 1; j >= 0; j -= 1) {
    best[i][j] = one[from + i] === other[from + j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  }
  for (let i = 0, j = 0; i < high && j < wide;) {
    if (one[from + i] === other[from + j]) { found.set(from + i, from + j); i += 1; j += 1; }
    else if (best[i + 1][j] >= best[i][j + 1]) i += 1; else j += 1;
  }
  return found;
}

const same = (one, other) => one.length === other.length && one.every((line, at) => line === other[at]);

function kindOf(base, theirs, mine) {
  if (same(theirs, mine)) return same(base, mine) ? "same" : "agreed";
  if (same(base, mine)) return "theirs";
  return same(base, theirs) ? "mine" : "both";
}

/** Blocks in order; joined, each column is its whole text. @param {string} base @param {string} theirs @param {string} mine @returns {Block[]} */
export function blocks(base, theirs, mine) {
  const [b, t, m] = [base, theirs, mine].map((text) => text.split("\n"));
  const inTheirs = matches(b, t), inMine = matches(b, m);
  /** @type {Block[]} */
  const made = [];
  let at = 0, atTheirs = 0, atMine = 0;
  const add = (toBase, toTheirs, toMine) => {
    const block = { base: b.slice(at, toBase), theirs: t.slice(atTheirs, toTheirs), mine: m.slice(atMine, toMine) };
    [at, atTheirs, atMine] = [toBase, toTheirs, toMine];
    if (!block.base.length && !block.theirs.length && !block.mine.length) return;
    const kind = kindOf(block.base, block.theirs, block.mine), last = made.at(-1);
    if (last && last.kind === kind && (kind === "same" || kind === "agreed")) for (const name of ["base", "theirs", "mine"]) last[name].push(...block[name]);
    else made.push({ ...block, kind });
  };
  for (let i = 0; i < b.length; i += 1) {
    const j = inTheirs.get(i), k = inMine.get(i);
    if (j === undefined || k === undefined || j < atTheirs || k < atMine) continue;
    add(i, j, k);
    add(i + 1, j + 1, k + 1);
  }
  add(b.length, t.length, m.length);
  return made;
}

/** What a block gives for a choice: `theirs`, `mine`, `both`. @param {Block} block @param {string} choice */
export function chosen(block, choice) {
  if (choice === "both") return [...block.theirs, ...block.mine];
  return block[choice === "theirs" ? "theirs" : "mine"];
}

/** What one would choose where only one side changed; empty where a person must. @param {Block} block @returns {string} */
export const usual = (block) => (block.kind === "both" ? "" : block.kind === "theirs" ? "theirs" : "mine");
