export class Lexer { constructor(options: object); lex(text: string): any[]; }
