export default class Plot { constructor(options: object, values: unknown[], place: Element); static paths: any; destroy(): void; setSize(size: object): void; }
