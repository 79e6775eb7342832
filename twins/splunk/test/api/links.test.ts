/** Whatever something is called, the links of its entry lead to it. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nameOfSegment, segmentOf } from "../../api/name-segment.ts";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());

const piece = fc.constantFrom(
  ...[
    "/",
    "+",
    "%",
    " ",
    ":",
    "'",
    '"',
    "\\",
    "?",
    "#",
    "&",
    "=",
    ";",
    "%2F",
    "%252f",
    "%25",
    "2F",
    "25",
    "%20",
  ],
  ...["a", "B", "7", "é", "日本", "😀", "-", "_", "..", "~", "|", "<b>", "[", "{", "`", "$", "*", "@", ","],
);
const anyName = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join("").trim())
  // No address can have these as segments.
  .filter((name) => name !== "" && !name.split(/[\\/]/).some((part) => part === ".."));

interface Listed {
  name: string;
  links: { alternate: string; [relation: string]: string };
  content: Record<string, unknown>;
}
const listOf = async (path: string): Promise<Listed[]> =>
  (await splunk.ask("GET", path, { output_mode: "json", count: 0 })).body.entry;

test("a link to a name is read as that name, and so is one that a client has decoded once", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const link = segmentOf(name);
      expect(link).not.toContain("/");
      expect(nameOfSegment(link)).toBe(name);
      // What the Python SDK makes of a link: `quote(unquote(link))`, which leaves slashes alone.
      const again = decodeURIComponent(link).split("/").map(encodeURIComponent).join("/");
      expect(nameOfSegment(again)).toBe(name);
    }),
  );
});

test("a plus in a path is a space, and a slash may be encoded once", () => {
  expect(nameOfSegment("Errors+in+the+last+hour")).toBe("Errors in the last hour");
  expect(nameOfSegment("1%2B1%20%3D+2")).toBe("1+1 = 2");
  expect(nameOfSegment("re%2Falm%3Au%252Fser%3A")).toBe("re/alm:u/ser:");
  expect(segmentOf("re/alm:u/ser:")).toBe("re%252Falm%3Au%252Fser%3A");
});

/** How things are made whose names may be of any characters, or of nearly any. */
const collections: readonly (readonly [path: string, make: (name: string) => Parameters])[] = [
  ["/services/saved/searches", (name) => ({ name, search: "index=main | head 1" })],
  ["/servicesNS/nobody/search/saved/searches", (name) => ({ name, search: "index=main | head 1" })],
  ["/services/storage/passwords", (name) => ({ name, password: "secret", realm: `in ${name}` })],
  ["/services/configs/conf-mine", (name) => ({ name, setting: "1" })],
  ["/services/data/inputs/http", (name) => ({ name })],
  ["/services/messages", (name) => ({ name, value: "told", severity: "info" })],
  ["/services/data/indexes", (name) => ({ name })],
  ["/services/apps/local", (name) => ({ name })],
  ["/services/authorization/roles", (name) => ({ name })],
  ["/services/authentication/users", (name) => ({ name, password: "longEnough1!", roles: "user" })],
  ["/services/data/ui/views", (name) => ({ name, "eai:data": "<dashboard><label>one</label></dashboard>" })],
  [
    "/services/datamodel/model",
    (name) => ({ name, "eai:data": JSON.stringify({ modelName: name, objects: [] }) }),
  ],
  ["/services/search/jobs", (name) => ({ id: name, search: "| makeresults", exec_mode: "blocking" })],
];

test.each(collections)("every link that %s lists can be followed, and removed by", async (path, make) => {
  await splunk.ask("POST", "/services/properties", { __conf: "mine" });
  let made = 0;
  await fc.assert(
    fc.asyncProperty(anyName, async (name) => {
      const before = new Set((await listOf(path)).map(({ links }) => links.alternate));
      const { status, body } = await splunk.ask("POST", path, { output_mode: "json", ...make(name) });
      // What a collection takes no names of it refuses.
      if (status >= 400) {
        expect({ status, body }).toMatchObject({ status: expect.toSatisfy((one) => one < 500) });
        return;
      }
      made++;
      const entry = (await listOf(path)).find(({ links }) => !before.has(links.alternate));
      if (entry === undefined) throw new Error(`${name} is not listed`);
      const { alternate, list, edit, remove = alternate } = entry.links;
      for (const link of [alternate, list, edit]) {
        if (link === undefined) continue;
        const followed = await splunk.ask("GET", link, { output_mode: "json" });
        expect([link, followed.status]).toEqual([link, 200]);
        expect(followed.body.entry[0].name).toBe(entry.name);
      }
      const removed = await splunk.ask("DELETE", remove, { output_mode: "json" });
      expect([remove, removed.status]).toEqual([remove, 200]);
      expect((await splunk.ask("GET", alternate, { output_mode: "json" })).status).toBe(404);
    }),
    { numRuns: 25, examples: [["plain"], ["re/alm:u/ser"], ["1 + 1 = 100%"], ["a%2Fb"]] },
  );
  expect(made).toBeGreaterThan(0);
});

test("the vendor's client of Python asks with a plus for each space", async () => {
  const path = "/services/saved/searches/Errors+in+the+last+hour";
  const { status, body } = await splunk.ask("GET", path, { output_mode: "json" });
  expect([status, body.entry?.[0].name]).toEqual([200, "Errors in the last hour"]);
});
