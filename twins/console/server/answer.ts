/** Answers a request for the page: a file of it, or the document, whose address the page reads itself. */
import type { VendorResponse } from "@offhook/platform/http/operation";
import type { ConsoleRequest } from "@offhook/platform/server/console";
import type { Asset, Assets } from "./assets.ts";

/** Below `/console`. */
const ASSETS = "/assets/";

export function answerPage(request: ConsoleRequest, assets: Assets): VendorResponse {
  if (!request.path.startsWith(ASSETS)) return documentResponse(request, assets);
  const asset = assets.files.get(request.path.slice(ASSETS.length));
  if (asset) return assetResponse(asset, String(request.headers["accept-encoding"] ?? ""));
  return { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "no such file\n" };
}

/** Files have a hash in their names, so a browser never asks for one twice. */
function assetResponse(asset: Asset, accepted: string): VendorResponse {
  const encoding = (["br", "gzip"] as const).find((each) => acceptsEncoding(accepted, each));
  return {
    status: 200,
    headers: {
      "content-type": asset.type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      ...(encoding ? { "content-encoding": encoding } : {}),
    },
    body: encoding ? asset.encoded[encoding] : asset.body,
  };
}

function acceptsEncoding(accepted: string, encoding: string): boolean {
  return accepted.split(",").some((each) => {
    const [name = "", weight = ""] = each.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !/^q=0(\.0*)?$/.test(weight);
  });
}

function documentResponse(
  { connectSources }: ConsoleRequest,
  { script, style, worklet }: Assets,
): VendorResponse {
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policy(connectSources),
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "microphone=(self)",
    },
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="worklet" content="/console${ASSETS}${worklet}">
<title>offhook console</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/console${ASSETS}${style}">
<script type="module" src="/console${ASSETS}${script}"></script>
<body><div id="app"><noscript>The console needs JavaScript.</noscript></div></body>
</html>
`,
  };
}

/** A receiver off its hook. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='none' stroke='%230f766e' stroke-width='2.6' stroke-linecap='round' d='M3 10c0-7 10-7 10 0M3 10v2.5M13 10v2.5'/%3E%3C/svg%3E";

/** Everything comes from here; only the agents that the page may call are elsewhere. */
function policy(connectSources: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "media-src 'self' blob:",
    `connect-src ${["'self'", ...connectSources].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
