/**
 * Where things stand on the stage: the ring, the clients' column, links with a lane for each direction, walls, timer
 * arcs, and packets under way. Pure numbers: must never know the DOM or the store.
 */

/**
 * @typedef {{ x: number, y: number }} Point
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {Point} center of the ring
 * @property {number} radius of a replica's disc
 * @property {Point[]} replicas
 * @property {Point[]} clients
 * @property {number} clientSize half the height of a client's box
 */

/** Distance of a direction's lane from the middle of its link. */
const LANE = 5;

/**
 * @param {number} width
 * @param {number} height
 * @param {number} replicaCount
 * @param {number} clientCount
 * @param {{ left: number, right: number, top: number, bottom: number }} margin kept free for what lies above the stage
 * @returns {Layout}
 */
export function layoutOf(width, height, replicaCount, clientCount, margin) {
  const left = margin.left;
  const right = Math.max(left + 200, width - margin.right);
  const top = margin.top;
  const bottom = Math.max(top + 160, height - margin.bottom);
  const isSmall = right - left < 480;
  const column = isSmall ? 44 : 76;
  const crowd = replicaCount > 6 ? (isSmall ? 0.62 : 0.72) : replicaCount > 4 ? 0.84 : 1;
  const room = Math.min(right - left - column, (bottom - top) * 1.15);
  const radius = Math.max(17, Math.min(46, (room / (isSmall ? 8.6 : 10)) * crowd));
  const label = 30;
  const ringLeft = left + column + radius + 26;
  const ringRight = right - radius - 26;
  const height2 = (bottom - top - 2 * radius - label - 16) / 2;
  const radiusY = Math.max(46, height2);
  const radiusX = Math.max(46, Math.min((ringRight - ringLeft) / 2, radiusY * 1.5));
  const center = { x: (ringLeft + ringRight) / 2, y: top + radius + 8 + radiusY };
  const replicas = ringOf(center, replicaCount === 1 ? 0 : radiusX, replicaCount === 1 ? 0 : radiusY, replicaCount);
  if (replicaCount === 3) settleTriangle(replicas, center, radiusY);
  const clientSize = Math.max(12, Math.min(20, (bottom - top) / (clientCount * 2.6)));
  const clientX = Math.max(left + column / 2, center.x - radiusX - radius - (isSmall ? 42 : 190));
  const clients = columnOf(clientX, center.y, Math.min(2 * Math.min(center.y - top, bottom - center.y) - 2 * clientSize - 8, (clientCount - 1) * clientSize * 3.4), clientCount);
  return { width, height, center, radius, replicas, clients, clientSize };
}

/**
 * A triangle's centre of mass is not the middle of its box: move it down so that it fills the height.
 * @param {Point[]} replicas
 * @param {Point} center
 * @param {number} radiusY
 */
function settleTriangle(replicas, center, radiusY) {
  for (const [index, point] of replicas.entries()) {
    point.y = index === 0 ? center.y - radiusY : center.y + radiusY;
  }
}

/**
 * @param {Point} center
 * @param {number} radiusX
 * @param {number} radiusY
 * @param {number} count
 * @returns {Point[]} places clockwise from the top; the next primary is the next place
 */
export function ringOf(center, radiusX, radiusY, count) {
  return Array.from({ length: count }, (_, index) => {
    const angle = (index / count) * 2 * Math.PI;
    return { x: center.x + radiusX * Math.sin(angle), y: center.y - radiusY * Math.cos(angle) };
  });
}

/**
 * @param {number} x
 * @param {number} middle
 * @param {number} height
 * @param {number} count
 * @returns {Point[]}
 */
function columnOf(x, middle, height, count) {
  return Array.from({ length: count }, (_, index) => ({
    x,
    y: count === 1 ? middle : middle - height / 2 + (height * index) / (count - 1),
  }));
}

/**
 * @param {Layout} layout
 * @param {string} name `0` or `c0`
 * @returns {Point}
 */
export function placeOf(layout, name) {
  const point = name.startsWith("c") ? layout.clients[Number(name.slice(1))] : layout.replicas[Number(name)];
  return point ?? layout.center;
}

/**
 * @param {number} index a process's dense number: replicas from 0, clients from 9
 * @returns {string} `0` or `c0`
 */
export function nameOf(index) {
  return index < 9 ? String(index) : `c${index - 9}`;
}

/**
 * One direction of a link, moved to its own side so that two directions never lie on each other, cut at the rims.
 * @param {Layout} layout
 * @param {string} from
 * @param {string} to
 * @returns {{ a: Point, b: Point }}
 */
export function laneOf(layout, from, to) {
  const start = placeOf(layout, from);
  const end = placeOf(layout, to);
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const unit = { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
  const rim = (/** @type {string} */ name) => (name.startsWith("c") ? layout.clientSize + 8 : layout.radius + 9);
  const side = { x: -unit.y * LANE, y: unit.x * LANE };
  const head = rim(from);
  const tail = rim(to);
  return {
    a: { x: start.x + unit.x * head + side.x, y: start.y + unit.y * head + side.y },
    b: { x: end.x - unit.x * tail + side.x, y: end.y - unit.y * tail + side.y },
  };
}

/**
 * @param {Point} a
 * @param {Point} b
 * @param {number} part 0 to 1
 * @returns {Point}
 */
export function between(a, b, part) {
  return { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part };
}

/** Where a clog, a wall or a filter sits on a lane. */
export const OBSTACLE = 0.5;

/**
 * How far a packet has come. Virtual time alone decides: it leaves at `sent` and arrives at `due`.
 * @param {number} sent
 * @param {number} due
 * @param {number} now in ticks, with a fraction
 * @returns {number} 0 to 1
 */
export function progressOf(sent, due, now) {
  if (due <= sent) return 1;
  return Math.min(1, Math.max(0, (now - sent) / (due - sent)));
}

/**
 * A packet that may not pass stands before the obstacle, in a queue.
 * @param {number} progress
 * @param {boolean} isStopped
 * @param {number} place in the queue, 0 is the first
 * @returns {number}
 */
export function behindObstacle(progress, isStopped, place) {
  return isStopped ? Math.min(progress, Math.max(0.06, OBSTACLE - 0.07 - place * 0.045)) : progress;
}

/**
 * @param {Point} center
 * @param {number} radius
 * @param {number} part of the full circle, 0 to 1
 * @returns {string} an SVG path, clockwise from the top
 */
export function arcPath(center, radius, part) {
  const full = Math.min(0.9999, Math.max(0, part));
  const angle = full * 2 * Math.PI;
  const x = center.x + radius * Math.sin(angle);
  const y = center.y - radius * Math.cos(angle);
  return `M${round(center.x)} ${round(center.y - radius)}A${round(radius)} ${round(radius)} 0 ${full > 0.5 ? 1 : 0} 1 ${round(x)} ${round(y)}`;
}

/**
 * Groups of replicas that no frame crosses, either way.
 * @param {number} count
 * @param {(from: number, to: number) => boolean} isCut
 * @returns {number[][]} one group if there is no wall
 */
export function islandsOf(count, isCut) {
  /** @type {number[]} */
  const group = Array.from({ length: count }, (_, index) => index);
  for (let a = 0; a < count; a += 1) {
    for (let b = a + 1; b < count; b += 1) {
      if (isCut(a, b) && isCut(b, a)) continue;
      const [keep, drop] = [group[a] ?? a, group[b] ?? b];
      for (let index = 0; index < count; index += 1) if (group[index] === drop) group[index] = keep;
    }
  }
  const names = [...new Set(group)];
  return names.map((name) => group.flatMap((value, index) => (value === name ? [index] : [])));
}

/**
 * The wall that parts a stretch of neighbours on the ring from the rest.
 * @param {Layout} layout
 * @param {number[]} island
 * @returns {string | null} an SVG path, or nothing where the island is not one stretch
 */
export function wallPath(layout, island) {
  const count = layout.replicas.length;
  const isInside = (/** @type {number} */ index) => island.includes(((index % count) + count) % count);
  const starts = island.filter((index) => !isInside(index - 1));
  const first = starts[0];
  if (starts.length !== 1 || first === undefined || island.length === count) return null;
  const last = first + island.length - 1;
  const edge = (/** @type {number} */ a, /** @type {number} */ b) => {
    const middle = between(at(layout, a), at(layout, b), 0.5);
    return awayFrom(middle, layout.center, layout.radius * 1.1 + (count === 3 ? 16 : 30));
  };
  const from = edge(first - 1, first);
  const to = edge(last, last + 1);
  const island2 = middleOf(island.map((index) => at(layout, index)));
  const rest = layout.replicas.flatMap((point, index) => (isInside(index) ? [] : [point]));
  const bend = between(island2, middleOf(rest), island.length === 1 ? 0.62 : 0.5);
  return `M${round(from.x)} ${round(from.y)}Q${round(bend.x)} ${round(bend.y)} ${round(to.x)} ${round(to.y)}`;
}

/**
 * Which replicas lie on the left of a drawn line, if it crosses the ring.
 * @param {Layout} layout
 * @param {Point} a
 * @param {Point} b
 * @returns {number[]}
 */
export function leftOf(layout, a, b) {
  return layout.replicas.flatMap((point, index) =>
    (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x) < 0 ? [index] : [],
  );
}

/**
 * @param {Layout} layout
 * @param {number} index may run past either end
 * @returns {Point}
 */
function at(layout, index) {
  const count = layout.replicas.length;
  return layout.replicas[((index % count) + count) % count] ?? layout.center;
}

/**
 * @param {Point[]} points
 * @returns {Point}
 */
function middleOf(points) {
  const sum = points.reduce((total, point) => ({ x: total.x + point.x, y: total.y + point.y }), { x: 0, y: 0 });
  return { x: sum.x / Math.max(1, points.length), y: sum.y / Math.max(1, points.length) };
}

/**
 * @param {Point} point
 * @param {Point} center
 * @param {number} distance
 * @returns {Point} pushed outwards
 */
function awayFrom(point, center, distance) {
  const length = Math.hypot(point.x - center.x, point.y - center.y) || 1;
  return {
    x: point.x + ((point.x - center.x) / length) * distance,
    y: point.y + ((point.y - center.y) / length) * distance,
  };
}

/**
 * @param {number} value
 * @returns {number} a tenth of a pixel is enough for SVG
 */
export function round(value) {
  return Math.round(value * 10) / 10;
}
