// Only the lexer: tokens come out, never HTML.
export { Lexer } from "marked";
