/** Routes that a package adds for the project: whose they are, when they are loaded and closed. */
import { expect, test } from "vitest";
import { keyEntry } from "../http/api-keys.ts";
import type { ProjectRoutesEntry } from "../server/project-routes.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { startEnvironment } from "../testing/twins.ts";

const ENVIRONMENT = "version: 1\nservices:\n  - { name: shop, config: { stock: [bell] } }\n";
const OTHER = "the-key-of-globex";

/** A package with one route, which notes what becomes of it. */
function lamps(): { entry: ProjectRoutesEntry; happened: string[] } {
  const happened: string[] = [];
  const entry: ProjectRoutesEntry = {
    path: "/lamps",
    async load() {
      happened.push("load");
      if (happened.length === 1) throw new Error("not yet");
      return {
        default: {
          open: () => ({
            operations: [
              {
                id: "lamp.show",
                method: "GET",
                path: "/lamps/:name",
                surface: "rest",
                summary: "A lamp.",
                handle: ({ params }, { organisation }) => ({
                  status: 200,
                  body: { ...params, organisation },
                }),
              },
            ],
            close: async () => void happened.push("close"),
          }),
        },
      };
    },
  };
  return { entry, happened };
}

test("are the first organisation's, loaded with the first request that may ask them, closed with the twins", async () => {
  const { entry, happened } = lamps();
  const twins = await startEnvironment(ENVIRONMENT, {
    twins: [createShop()],
    projectRoutes: [entry],
    keys: [keyEntry("acme", "the-key-of-acme"), keyEntry("globex", OTHER)],
  });
  const ask = (path: string, key?: string) =>
    request("GET", `${twins.baseUrl}${path}`, key === undefined ? {} : { headers: { "x-api-key": key } });
  try {
    expect((await ask("/lamps/red")).status).toBe(401);
    expect((await ask("/lamps/red", OTHER)).status).toBe(403);
    expect(happened).toEqual([]);
    // A failed load is said, and tried again.
    expect((await ask("/lamps/red", twins.apiKey)).status).toBe(500);
    expect((await ask("/lamps/red", twins.apiKey)).body).toEqual({ name: "red", organisation: "acme" });
    expect((await ask("/lamps/red", "the-key-of-acme")).status).toBe(200);
    expect((await ask("/lamps", twins.apiKey)).status).toBe(404);
    expect(happened).toEqual(["load", "load"]);
    // What only begins alike is the engine's or nobody's.
    expect((await ask("/lampshades", twins.apiKey)).status).toBe(404);
  } finally {
    await twins.stop();
  }
  expect(happened).toEqual(["load", "load", "close"]);
});

test("take the console's session, which says that they are there", async () => {
  const { entry } = lamps();
  const console = async () => ({ default: { serve: async () => ({ status: 200, body: "page" }) } });
  const twins = await startEnvironment(ENVIRONMENT, {
    twins: [createShop()],
    projectRoutes: [entry],
    console,
  });
  try {
    const body = { api_key: twins.apiKey };
    const signedIn = await request("POST", `${twins.baseUrl}/console/session`, { body });
    const cookies = signedIn.headers.getSetCookie();
    const cookie = cookies.find((each) => each.includes("Path=/lamps;"))?.split(";")[0] ?? "";
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    await request("GET", `${twins.baseUrl}/lamps/red`, { headers });
    expect((await request("GET", `${twins.baseUrl}/lamps/red`, { headers })).status).toBe(200);
    const session = await request("GET", `${twins.baseUrl}/console/session`, { headers });
    expect(session.body).toMatchObject({ project_routes: ["/lamps"] });
  } finally {
    await twins.stop();
  }
});
