// Markdown to a list of tokens: one text for each message; the page ends this worker if it takes long.
import { Lexer } from "../vendor/marked.js";

const KEPT = ["type", "text", "depth", "ordered", "start", "href", "task", "checked", "raw"];
const DEEPEST = 24;

/** A token as plain data: nothing but what the renderer knows. */
function plain(token, depth = 0) {
  const made = {};
  for (const name of KEPT) if (token[name] !== undefined && typeof token[name] !== "object") made[name] = token[name];
  if (depth >= DEEPEST) return { type: "text", text: token.raw ?? token.text ?? "" };
  if (Array.isArray(token.tokens)) made.tokens = token.tokens.map((one) => plain(one, depth + 1));
  if (Array.isArray(token.items)) made.items = token.items.map((one) => plain(one, depth + 1));
  if (token.type === "table") {
    made.header = token.header.map((cell) => plain(cell, depth + 1));
    made.rows = token.rows.map((row) => row.map((cell) => plain(cell, depth + 1)));
  }
  return made;
}

self.onmessage = ({ data }) => {
  try {
    const tokens = new Lexer({ gfm: true, pedantic: false, silent: true }).lex(data.text);
    self.postMessage({ id: data.id, tokens: tokens.map((one) => plain(one)) });
  } catch {
    self.postMessage({ id: data.id }); // too odd to be read
  }
};

self.postMessage({ isReady: true });
