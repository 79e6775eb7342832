/**
 * Temporary folders that last as long as their process. The next process that makes one in the same place removes those
 * that killed processes have left behind.
 *
 * Each folder holds a Unix socket on which its process listens. The kernel closes the socket however the process ends, so
 * a refused connection means that the process is gone, even one in another container, where a process id means nothing.
 * A socket of another machine cannot be probed, so the folder's name says which kernel it belongs to, and folders of other
 * kernels are left alone.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import path from "node:path";

/** Name of the socket. */
const ALIVE = "alive";
const BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id";

/** Places in which this process has already looked for abandoned folders. */
const searched = new Set<string>();

export interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder with its contents. */
  remove(): Promise<void>;
}

/**
 * Makes a folder. The first call also removes abandoned folders of the same prefix.
 * @param parent created if missing @param prefix of the folder's name, such as `offhook-store-`
 */
export async function makeTemporaryFolder(parent: string, prefix: string): Promise<TemporaryFolder> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const ofKernel = `${prefix}${await kernelName()}-`;
  const place = path.join(parent, ofKernel);
  if (!searched.has(place)) {
    searched.add(place);
    await removeAbandoned(parent, ofKernel);
  }
  const folder = await mkdtemp(place);
  const server = await listen(path.join(folder, ALIVE));
  return {
    path: folder,
    async remove() {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      server?.close();
    },
  };
}

/** A name for the running kernel; it changes with each boot. */
async function kernelName(): Promise<string> {
  const boot = await readFile(BOOT_ID_FILE, "utf8").catch(() => "");
  return createHash("sha256")
    .update(boot.trim() || hostname())
    .digest("hex")
    .slice(0, 8);
}

/** @returns `undefined` where no socket can be made, as below a very long path; other processes then never remove the folder */
async function listen(file: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    // Unreferenced, so that the socket alone does not keep the process running.
    server.listen(file, () => resolve(server)).unref();
  });
}

async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const folder = path.join(parent, name);
      if (!(await isAbandoned(path.join(folder, ALIVE)))) return;
      // Another user's folder cannot be removed; that user's next process removes it.
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }),
  );
}

/** Whether the process that listened there has ended. A folder without a socket is still being made. */
function isAbandoned(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(file);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
