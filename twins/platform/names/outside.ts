/** Connections to hosts that are not twins: directly, or through the environment's proxy. */
import http from "node:http";
import https from "node:https";
import net from "node:net";
import type { Duplex } from "node:stream";

/** Opens connections to hosts that are not twins. */
export interface Outside {
  /** @throws Error naming the host and the reason */
  connect(host: string, port: number): Promise<Duplex>;
}

const CONNECT_MS = 15_000;

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case, as curl does.
 * @throws Error naming a variable that is not the address of an HTTP proxy.
 */
export function readOutside(env: NodeJS.ProcessEnv): Outside {
  const byPort = new Map([
    [443, readProxy(env, "https_proxy")],
    [80, readProxy(env, "http_proxy")],
  ]);
  const exceptions = readNoProxy(env);
  return {
    connect(host, port) {
      const proxy = exceptions.some((entry) => covers(entry, host)) ? undefined : byPort.get(port);
      return proxy ? connectThrough(proxy, host, port) : connectDirectly(host, port);
    },
  };
}

/** The entries of `NO_PROXY`: host names, suffixes, or `*`. */
export function readNoProxy(env: NodeJS.ProcessEnv): string[] {
  const text = env.no_proxy ?? env.NO_PROXY ?? "";
  return text.split(/[\s,]+/).filter((entry) => entry !== "");
}

/** Whether an entry of `NO_PROXY` covers a host: `example.com`, `.example.com` and `*.example.com` all include subdomains. */
export function covers(entry: string, host: string): boolean {
  if (entry === "*") return true;
  const name = suffixOf(entry);
  return host === name || host.endsWith(`.${name}`);
}

/** The domain of an entry of `NO_PROXY`. */
export function suffixOf(entry: string): string {
  return entry.toLowerCase().replace(/^\*?\./, "");
}

function readProxy(env: NodeJS.ProcessEnv, name: string): URL | undefined {
  const names = [name, name.toUpperCase(), "all_proxy", "ALL_PROXY"];
  const found = names.find((variable) => (env[variable] ?? "") !== "");
  if (found === undefined) return undefined;
  const value = env[found] ?? "";
  const text = value.includes("://") ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new Error(
    `${found} is no address of an HTTP proxy (http://host:port), and exec reaches other hosts through no other kind; unset it for this command: env -u ${found} npm run twins -- exec …`,
  );
}

function connectDirectly(host: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, noDelay: true });
    const fail = (reason: string) => {
      socket.destroy();
      reject(new Error(`${host}:${port} cannot be reached: ${reason}`));
    };
    const timer = setTimeout(() => fail(`no answer in ${CONNECT_MS / 1000} s`), CONNECT_MS);
    socket.once("error", (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      resolve(socket);
    });
  });
}

function connectThrough(proxy: URL, host: string, port: number): Promise<Duplex> {
  const target = net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  const { username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === "https:" ? https : http).request({
      method: "CONNECT",
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port,
      path: target,
      headers: { host: target, ...(username === "" ? {} : { "proxy-authorization": authorization }) },
      agent: false,
      timeout: CONNECT_MS,
    });
    const fail = (reason: string) => {
      request.destroy();
      reject(new Error(`${target} cannot be reached through the proxy ${proxy.host}: ${reason}`));
    };
    request.once("timeout", () => fail(`no answer in ${CONNECT_MS / 1000} s`));
    request.once("error", (error) => fail(error.message));
    request.once("response", ({ statusCode }) => fail(`it answered ${statusCode}`));
    request.once("connect", (response, socket, head) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(`it answered ${response.statusCode}`);
        return;
      }
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.end();
  });
}
