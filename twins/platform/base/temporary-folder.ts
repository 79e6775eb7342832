/**
 * Folders for what a process keeps while it runs. One that a killed process has left is removed by the next that makes one in the
 * same place.
 *
 * Each has a socket in it that its process listens on. The kernel closes that with the process, however it ends, so a refused
 * connection says that nobody is there: also of a process in another container, of which the process id would say nothing. A socket
 * of another machine cannot be asked, so the name of a folder says which kernel it belongs to, and no other kernel's is touched.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import path from "node:path";

/** Name of the socket. */
const ALIVE = "alive";
const BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id";

/** Where this process has looked for folders of others already. */
const searched = new Set<string>();

export interface TemporaryFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

/**
 * Makes a folder. The first time, those of the same prefix whose process has ended are removed.
 * @param parent is made if it is not there @param prefix of the folder's name, such as `offhook-store-`
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

/** A name that the running kernel has, and no other: it changes with each start of the machine. */
async function kernelName(): Promise<string> {
  const boot = await readFile(BOOT_ID_FILE, "utf8").catch(() => "");
  return createHash("sha256")
    .update(boot.trim() || hostname())
    .digest("hex")
    .slice(0, 8);
}

/** @returns `undefined` where no socket can be made, as below a very long path: the folder is then nobody else's to remove */
async function listen(file: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    // Whoever runs until there is nothing left to do does not run on for this.
    server.listen(file, () => resolve(server)).unref();
  });
}

async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const folder = path.join(parent, name);
      if (!(await isAbandoned(path.join(folder, ALIVE)))) return;
      // One of another user stays, for that user's next process.
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }),
  );
}

/** Whether the process that listened there has ended. A folder without its socket is just being made. */
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
