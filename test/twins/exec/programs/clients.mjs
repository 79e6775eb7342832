/** A program as people write them: it knows the vendor's own addresses and nothing of twins. Prints what it got as JSON. */
import { execFile } from "node:child_process";
import dns from "node:dns";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { VapiClient } from "@vapi-ai/server-sdk";
import nodeFetch from "node-fetch";
import WebSocket from "ws";

const headers = { authorization: `Bearer ${process.env.VAPI_API_KEY}`, "user-agent": "clients" };
const results = {};

function get(module, url, options = {}) {
  return new Promise((resolve, reject) => {
    const request = module.get(url, { headers, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
  });
}

async function refusedUpgrade(url) {
  const socket = new WebSocket(url);
  const [, response] = await once(socket, "unexpected-response");
  return { status: response.statusCode, server: response.socket.remoteAddress };
}

for (const url of [
  "https://api.vapi.ai/call",
  "http://api.vapi.ai/call",
  "https://eu.cloud.vapi.ai:8443/call",
]) {
  const response = await fetch(url, { headers });
  results[`fetch ${url}`] = [response.status, await response.json()];
  results[`node-fetch ${url}`] = (await nodeFetch(url, { headers })).status;
}
results.http = await get(http, "http://api.vapi.ai/call");
results.https = await get(https, "https://api.vapi.ai/call");
results["https without keep-alive"] = await get(https, "https://API.vapi.ai./call", { agent: false });

const client = new VapiClient({ token: process.env.VAPI_API_KEY ?? "" });
const call = await client.calls.create({
  assistant: { firstMessage: "Hello." },
  transport: {
    provider: "vapi.websocket",
    audioFormat: { format: "pcm_s16le", container: "raw", sampleRate: 24_000 },
  },
});
results.sdk = [call.status, (await client.calls.get({ id: call.id })).id === call.id];
const transport = new URL(call.transport.websocketCallUrl).pathname;
// The twin writes its own address into the call; under the vendor's name the same path has to lead there.
const path = transport.replace("/s/dev/vapi", "");
for (const scheme of ["ws", "wss"]) {
  results[scheme] = await refusedUpgrade(`${scheme}://api.vapi.ai/no-such-call/transport`);
}
const socket = new WebSocket(`wss://api.vapi.ai${path}`);
await once(socket, "open");
results["wss call"] = "open";
socket.terminate();

const secure = tls.connect({ host: "api.vapi.ai", port: 443 });
await once(secure, "secureConnect");
results["tls without a server name"] = secure.getPeerCertificate().subjectaltname;
secure.destroy();
const plain = net.connect(80, "api.vapi.ai");
await once(plain, "connect");
results["net.connect(port, host)"] = plain.remoteAddress;
plain.destroy();
const wrapped = tls.connect({
  socket: net.connect({ host: "api.vapi.ai", port: 443 }),
  servername: "api.vapi.ai",
});
await once(wrapped, "secureConnect");
results["tls over a bare socket"] = wrapped.authorized;
wrapped.destroy();
const named = tls.connect({ host: "192.0.2.1", port: 443, servername: "api.vapi.ai" });
await once(named, "secureConnect");
results["an address looked up elsewhere, with a server name"] = named.remoteAddress;
named.destroy();

results["dns.lookup"] = await promisify(dns.lookup)("api.vapi.ai");
results["dns.lookup all"] = await promisify(dns.lookup)("api.vapi.ai", { all: true });
results["dns.promises.lookup"] = await lookup("api.vapi.ai");
results["dns.resolve4"] = await dns.promises.resolve4("eu.vapi.ai");

results.localhost = await new Promise((resolve) => {
  const server = http
    .createServer((_request, response) => response.end("mine"))
    .listen(0, async () => {
      const answer = await fetch(`http://localhost:${server.address().port}`);
      resolve(await answer.text());
      server.close();
    });
});

const ask = `fetch("https://api.vapi.ai/call", { headers: ${JSON.stringify(headers)} }).then(({ status }) => `;
const { stdout } = await promisify(execFile)(process.execPath, ["-e", `${ask}console.log(status))`]);
results["a program of this program"] = stdout.trim();
const worker = new Worker(`${ask}require("node:worker_threads").parentPort.postMessage(status))`, {
  eval: true,
});
[results["a worker"]] = await once(worker, "message");

process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
