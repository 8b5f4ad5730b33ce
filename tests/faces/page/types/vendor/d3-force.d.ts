type Force = any;
export const forceCollide: Force, forceLink: Force, forceManyBody: Force, forceSimulation: Force, forceX: Force, forceY: Force;
