/** The gateway's answer at `/`: what it is, and where things are. HTML for a browser, JSON for programs. */
import type { IncomingMessage } from "node:http";
import type { VendorResponse } from "../http/operation.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";

const WHAT =
  "offhook twins: stateful stand-ins for the vendors that a voice agent talks to, and the simulation engine.";
const KEY =
  "Control planes, /sandboxes and /environments take the header X-API-Key; npm run twins and npm run dev print the key.";
/** By its path: a browser may have come by another name of this machine than the console's address has. */
const CONSOLE_LINK = `<p>See what happens: <a href="/console">the console</a>.</p>\n`;
const headers = { "cache-control": "no-store", vary: "Accept" };

/**
 * Answers `GET /` and `HEAD /` with the twins of a sandbox.
 * @param consoleUrl absent: there is no console
 */
export function rootResponse(
  req: IncomingMessage,
  sandbox: Sandbox,
  consoleUrl: string | undefined,
): VendorResponse {
  const twins = [...sandbox.twins.values()].map(({ type, url, controlUrl }) => ({
    name: type.definition.name,
    url,
    control_url: controlUrl,
  }));
  if (!prefersHtml(req.headers.accept)) {
    const console = consoleUrl === undefined ? {} : { console: consoleUrl };
    const body = {
      name: "offhook twins",
      description: WHAT,
      sandbox: sandbox.id,
      twins,
      ...console,
      key: KEY,
    };
    return { status: 200, headers, body };
  }
  const rows = twins.map(
    ({ name, url, control_url }) =>
      `<tr><td>${escapeHtml(name)}</td><td><code>${escapeHtml(url)}</code></td><td><code>${escapeHtml(control_url)}/sim/…</code></td></tr>`,
  );
  return {
    status: 200,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
      "x-content-type-options": "nosniff",
    },
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>offhook twins</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse } th, td { text-align: left; padding: .2rem 1rem .2rem 0 }
</style>
<h1>offhook twins</h1>
<p>${WHAT}</p>
<table>
<tr><th>twin of sandbox ${escapeHtml(sandbox.id)}</th><th>for the code under test</th><th>control plane</th></tr>
${rows.join("\n")}
</table>
<p>${KEY} What each twin does is at <code>/sim/manual</code> of its control plane.</p>
${consoleUrl === undefined ? "" : CONSOLE_LINK}<p>Call the agent: <code>npm run dial</code>. Everything else: <code>twins/README.md</code>.</p>
</html>
`,
  };
}

const JSON_TYPE = "application/json";
const HTML_TYPE = "text/html";

/** Whether `Accept` prefers HTML to JSON (RFC 9110, 12.5.1); a client that accepts anything gets JSON. */
export function prefersHtml(accept = ""): boolean {
  const ranges = accept.split(",").map(readRange);
  const quality = (type: string) => {
    const [family] = type.split("/");
    const found = [type, `${family}/*`, "*/*"]
      .map((range) => ranges.find(({ name }) => name === range))
      .find((range) => range !== undefined);
    return found?.quality ?? 0;
  };
  return quality(HTML_TYPE) > quality(JSON_TYPE);
}

function readRange(text: string): { name: string; quality: number } {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  return { name, quality: Number.isFinite(quality) ? quality : 0 };
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}
