/** Tunnels of ngrok, whose package is optional. https://ngrok.github.io/ngrok-javascript/ */
import { withDeadline } from "../deadline.ts";
import { messageOf } from "../log.ts";
import type { OpenTunnel } from "./tunnel.ts";

const PACKAGE = "@ngrok/ngrok";
const OPEN_TIMEOUT_MS = 15_000;

/** The part of the package that is used. */
export interface Ngrok {
  forward(options: { addr: string; authtoken: string }): Promise<{
    url(): string | null;
    close(): Promise<void>;
  }>;
}

/** @throws when the optional package is not installed, saying what to do */
export async function loadNgrok(
  importPackage: (name: string) => Promise<unknown> = importByName,
): Promise<Ngrok> {
  let module: unknown;
  try {
    module = await importPackage(PACKAGE);
  } catch (error) {
    throw new Error(
      `NGROK_AUTHTOKEN is set, but the optional package ${PACKAGE} cannot be loaded (${messageOf(error)}): ` +
        `install it with \`npm install ${PACKAGE}\`, or unset NGROK_AUTHTOKEN to use localtunnel`,
    );
  }
  const exports = hasDefault(module) ? module.default : module;
  if (!isNgrok(exports)) throw new Error(`${PACKAGE} has no forward(); this needs version 1`);
  return exports;
}

/**
 * ngrok's own client reconnects under the same address, so these tunnels do not die.
 * @param localUrl where the tunnel leads to
 */
export function ngrokOpener(ngrok: Ngrok, authtoken: string, localUrl: string): OpenTunnel {
  return async (signal) => {
    const forwarding = ngrok.forward({ addr: new URL(localUrl).host, authtoken });
    try {
      const listener = await withDeadline(signal, OPEN_TIMEOUT_MS, () => forwarding);
      const url = listener.url();
      if (url === null) throw new Error("ngrok opened a tunnel without an address");
      return {
        url: url.replace(/(?<!\/)\/+$/, ""),
        died: new Promise<string>(() => {}),
        close: () => listener.close(),
      };
    } catch (error) {
      // A tunnel that comes too late is closed, too.
      forwarding.then((listener) => listener.close()).catch(() => {});
      throw error;
    }
  };
}

function importByName(name: string): Promise<unknown> {
  return import(name);
}

function hasDefault(module: unknown): module is { default: unknown } {
  return typeof module === "object" && module !== null && "default" in module;
}

function isNgrok(module: unknown): module is Ngrok {
  return (
    typeof module === "object" &&
    module !== null &&
    "forward" in module &&
    typeof module.forward === "function"
  );
}
