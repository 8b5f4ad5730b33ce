export default class Plot { constructor(options: object, values: unknown[], place: Element); destroy(): void; setSize(size: object): void; }
