/**
 * The one static server: `cargo xtask serve`, the golden table, the benchmark and the browser tests all use it.
 *
 * It does what any plain web host does and no more, so that a page which works here works there. It must never send a
 * header or rewrite an address that such a host would not.
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const portAttempts = 50;

/** @type {Record<string, string>} */
const mediaTypes = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/** The folder that Trunk builds into. */
export const dist = fileURLToPath(new URL("../dist/", import.meta.url));

/**
 * Serves `root` on the loopback address. A port of 0 takes any free one; any other port that is taken gives way to the
 * next.
 * @param {{root?: string, port?: number}} [options]
 * @returns {Promise<{url: string, port: number, close: () => Promise<void>}>}
 */
export async function serve({ root = dist, port = 0 } = {}) {
  const server = createServer((request, response) => {
    answer(root, request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  const taken = await listen(server, port);
  return {
    url: `http://127.0.0.1:${taken}/`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {import("node:http").Server} server
 * @param {number} wanted
 * @returns {Promise<number>} the port taken
 */
async function listen(server, wanted) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(wanted === 0 ? 0 : wanted + attempt, "127.0.0.1", () => {
          server.off("error", reject);
          const address = server.address();
          resolve(typeof address === "object" && address !== null ? address.port : wanted);
        });
      });
    } catch (error) {
      const isTaken = /** @type {NodeJS.ErrnoException} */ (error).code === "EADDRINUSE";
      if (!isTaken || wanted === 0 || attempt === portAttempts || wanted + attempt === 65535) throw error;
    }
  }
}

/**
 * @param {string} root
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function answer(root, request, response) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { Allow: "GET, HEAD" }).end();
    return;
  }
  const path = pathWithin(root, request.url ?? "/");
  const file = path === null ? null : await fileAt(path);
  if (file === null) {
    response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" }).end("Not found\n");
    return;
  }
  response.writeHead(200, {
    "Content-Type": mediaTypes[extname(file.path)] ?? "application/octet-stream",
    "Content-Length": file.bytes,
    // What is being worked on must never be shown as it was.
    "Cache-Control": "no-cache",
  });
  if (request.method === "HEAD") response.end();
  else createReadStream(file.path).pipe(response);
}

/**
 * @param {string} root
 * @param {string} target
 * @returns {string | null} null for what cannot be read as an address, or lies outside `root`
 */
function pathWithin(root, target) {
  try {
    const path = normalize(join(root, decodeURIComponent(new URL(target, "http://localhost").pathname)));
    return path === normalize(root) || path.startsWith(normalize(root + sep)) ? path : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} path
 * @returns {Promise<{path: string, bytes: number} | null>}
 */
async function fileAt(path) {
  for (const candidate of [path, join(path, "index.html")]) {
    const found = await stat(candidate).catch(() => null);
    if (found?.isFile()) return { path: candidate, bytes: found.size };
  }
  return null;
}

/** As a program: `node web/server.mjs PORT`. It ends when its standard input does, so it never outlives its parent. */
async function main() {
  const wanted = Number(process.argv[2] ?? "8080");
  const { url, port } = await serve({ port: wanted });
  if (port !== wanted && wanted !== 0) console.log(`port ${wanted} is taken, so this is the next free one`);
  console.log(`serving ${url}`);
  process.stdin.resume().on("end", () => process.exit(0));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
