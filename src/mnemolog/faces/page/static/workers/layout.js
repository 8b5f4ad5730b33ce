// Where the nodes of the graph lie: forces, away from the page so that it never waits for them.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../vendor/d3-force.js";

const STEPS = 260;
const TELL = 120;

/** @type {any} */
let running = null;

self.onmessage = ({ data }) => {
  running?.stop();
  const { count, edges, center, isStill } = data;
  // The first places are always the same, so that the same graph looks the same.
  const nodes = Array.from({ length: count }, (_, at) => ({ x: Math.sqrt(at + 1) * 24 * Math.cos(at * 2.4), y: Math.sqrt(at + 1) * 24 * Math.sin(at * 2.4), ...(at === center ? { x: 0, y: 0, fx: 0, fy: 0 } : {}) }));
  const simulation = forceSimulation(nodes).stop()
    .force("link", forceLink(edges.map(([source, target]) => ({ source, target }))).distance(count > 300 ? 40 : 90))
    .force("charge", forceManyBody().strength(count > 300 ? -60 : -320).distanceMax(600))
    .force("x", forceX().strength(0.05)).force("y", forceY().strength(0.07)).force("collide", forceCollide(count > 300 ? 8 : 26));
  running = simulation;
  let told = performance.now();
  const tell = (isDone) => {
    const places = new Float32Array(count * 2);
    nodes.forEach((node, at) => { places[at * 2] = node.x; places[at * 2 + 1] = node.y; });
    self.postMessage({ places, isDone }, { transfer: [places.buffer] });
  };
  const work = (left) => {
    if (running !== simulation) return;
    const until = performance.now() + 40;
    while (left > 0 && performance.now() < until) { simulation.tick(); left -= 1; }
    if (left <= 0) return tell(true);
    if (!isStill && performance.now() - told > TELL) { told = performance.now(); tell(false); }
    setTimeout(() => work(left), 0);
  };
  work(count > 1000 ? 120 : STEPS);
};
