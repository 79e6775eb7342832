/** `/sim/client`: where callbacks go, and whether that place answers. */
import { destinationBody } from "../client/destination.ts";
import { notProbed, probe } from "../client/probe.ts";
import { errorResponse, readBodyAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { ControlTarget } from "./target.ts";

function register(method: "PUT" | "POST"): Operation<ControlTarget> {
  return operation<ControlTarget>({
    id: "client.register",
    method,
    path: "/sim/client",
    surface: "rest",
    summary: "Registers the callback destination, in the place of any other.",
    secretBody: true,
    handle(request, { sandbox, twin }) {
      const body = readBodyAs(request, destinationBody, '{"url": "http://127.0.0.1:8008/hook"}');
      if (!body.ok) return body.response;
      twin.callbacks.register(body.value, sandbox.clock.now());
      return { status: 200, body: twin.callbacks.describe() };
    },
  });
}

export const clientOperations: readonly Operation<ControlTarget>[] = [
  register("PUT"),
  register("POST"),
  operation<ControlTarget>({
    id: "client.get",
    method: "GET",
    path: "/sim/client",
    surface: "rest",
    summary: "The registered callback destination, without its secrets.",
    handle: (_request, { twin }) => {
      const shown = twin.callbacks.describe();
      return shown ? { status: 200, body: shown } : noneRegistered;
    },
  }),
  operation<ControlTarget>({
    id: "client.forget",
    method: "DELETE",
    path: "/sim/client",
    surface: "rest",
    summary: "Forgets the callback destination.",
    handle: (_request, { twin }) => (twin.callbacks.forget() ? { status: 204 } : noneRegistered),
  }),
  operation<ControlTarget>({
    id: "client.probe",
    method: "POST",
    path: "/sim/client/probe",
    surface: "rest",
    summary: "Asks the callback destination for an answer, and says what happened.",
    async handle({ signal }, { twin }) {
      const destination = twin.callbacks.current;
      const shown = twin.callbacks.describe();
      if (!destination || !shown) {
        return { status: 200, body: { url: null, reachable: false, ...notProbed } };
      }
      const result = await probe(destination, signal);
      return {
        status: 200,
        body: { url: shown.url, reachable: result.outcome === "answered", ...result },
      };
    },
  }),
];

const noneRegistered = errorResponse(
  404,
  "no_client",
  "no callback destination is registered; register one with PUT /sim/client",
);
