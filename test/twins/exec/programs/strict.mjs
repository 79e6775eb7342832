/** Tries to reach what is no twin; prints how that ended as JSON. */
import http from "node:http";
import net from "node:net";
import tls from "node:tls";
import nodeFetch from "node-fetch";
import WebSocket from "ws";

const results = {};
const fails = (emitter) =>
  new Promise((resolve) => {
    emitter.on("error", (error) => resolve([error.code, error.message]));
    emitter.on("connect", () => resolve("connected"));
    emitter.on("response", () => resolve("answered"));
  });

results.fetch = await fetch("https://vendor.example/x").catch(({ cause }) => [cause.code, cause.message]);
results["node-fetch"] = await nodeFetch("http://vendor.example/x").catch(({ code, message }) => [
  code,
  message,
]);
results.http = await fails(http.get("http://vendor.example/x"));
results.ws = await fails(new WebSocket("wss://vendor.example/x"));
results.net = await fails(net.connect({ host: "192.0.2.1", port: 80 }));
results["net, IPv6"] = await fails(net.connect({ host: "2001:db8::1", port: 80 }));
results.tls = await fails(tls.connect(443, "vendor.example"));
results.twin = (await fetch("https://api.vapi.ai/call")).status;
const server = net.createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address();
results.loopback = await fails(net.connect(port, "127.0.0.1"));
results.localhost = await fails(net.connect({ port, host: "localhost", family: 4 }));
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
