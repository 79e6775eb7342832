import { controlOperations } from "@offhook/platform/control/serve";
import type { PlatformRefusal } from "@offhook/platform/http/operation";
import { compileTwin } from "@offhook/platform/sandboxes/sandbox";
import { loadTwins, packagedTwin } from "@offhook/platform/twin/twin-entry";
import { describe, expect, test } from "vitest";
import { registry } from "../../twins/registry.ts";

const definitions = await loadTwins(registry);

const refusals: PlatformRefusal[] = [
  { kind: "unknown-path", method: "GET", path: "/nothing", allowed: [] },
  { kind: "unknown-path", method: "PUT", path: "/nothing", allowed: ["GET"] },
  { kind: "malformed-request", message: "the path holds a dot segment" },
  { kind: "body-too-large", limitBytes: 1024 },
  { kind: "internal", message: "the twin failed" },
];

test("twins have names of their own, and the engine is among them", () => {
  const names = registry.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("engine");
});

test("a twin is listed under the name of its definition", () => {
  expect(registry.map(({ name }) => name)).toEqual(definitions.map(({ name }) => name));
});

test("no two twins have the same cloud host, and each is a name in lower case or a pattern of such", () => {
  const hosts = definitions.flatMap(({ cloudHosts = [] }) => cloudHosts);
  expect(new Set(hosts).size).toBe(hosts.length);
  for (const host of hosts) expect(host).toMatch(/^(\*\.)?([a-z0-9-]+\.)+[a-z]+$/);
});

test("a service whose package is not here says which one to restore or install", async () => {
  const absent = packagedTwin("till", async () => import(`@offhook/${["till"]}`));
  await expect(absent.load()).rejects.toThrow(
    "the service till needs the package @offhook/till, which is not here: restore twins/till and run npm install, or run npm install @offhook/till",
  );
});

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  "%s",
  (_name, definition) => {
    const declared = [...definition.operations, ...(definition.sockets ?? [])];
    const own = definition.controlOperations ?? [];

    test("declares no operation twice, and says of each in a sentence what it does", () => {
      expect(() => compileTwin(definition, controlOperations)).not.toThrow();
      // The addresses of one vendor operation share its id, so that a fault hits it at all of them.
      const places = declared.map(({ id, path, ...rest }) =>
        [id, "method" in rest ? rest.method : "socket", path].join(" "),
      );
      expect(new Set(places).size).toBe(places.length);
      for (const { summary } of [...declared, ...own]) expect(summary).toMatch(/^[A-Z].*\.$/);
    });

    test("words every refusal of the platform, each with its own status", () => {
      for (const refusal of refusals) {
        const { status } = definition.refusal(refusal);
        if (refusal.kind === "unknown-path") expect([404, 405]).toContain(status);
        if (refusal.kind === "malformed-request") expect(status).toBe(400);
        if (refusal.kind === "body-too-large") expect(status).toBe(413);
        if (refusal.kind === "internal") expect(status).toBe(500);
      }
    });

    test("words a refused origin as a 403 of its own", () => {
      const { status, body } = definition.refusal(
        { kind: "forbidden", message: "the reason" },
        { query: new URLSearchParams(), headers: {}, body: Buffer.alloc(0) },
      );
      expect(status).toBe(403);
      expect(typeof body === "string" ? body : JSON.stringify(body)).toContain("the reason");
    });

    test("names secret paths that it serves", () => {
      const paths = declared.map(({ path }) => path);
      for (const path of definition.secretPathParams ?? []) expect(paths).toContain(path);
    });
  },
);
