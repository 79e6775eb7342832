/** A report as Markdown, JUnit XML, text and JSON. */
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import { toJson } from "../../report/json.ts";
import { toJunit } from "../../report/junit.ts";
import { toMarkdown } from "../../report/markdown.ts";
import { reportOf } from "../../report/report.ts";
import { toText } from "../../report/text.ts";
import { campaignOf, recordsOf } from "./records.ts";

const open = { scenario: "open-incident", variant: "binary" };

/** A campaign with everything: flaky, failing, not judged, not called; and a baseline. */
function everything(failure = "said: expected <one> & `two`") {
  return reportOf(
    campaignOf(),
    [
      ...recordsOf({ ...open, passed: 4, failed: 6, failureOf: () => [failure] }),
      ...recordsOf({ ...open, variant: "json", passed: 9, errors: 1 }),
      ...recordsOf({ scenario: "who-is-on-call", variant: "json", passed: 10 }),
    ],
    { campaign: campaignOf({ id: "c0", name: "main" }), records: recordsOf({ ...open, passed: 10 }) },
  );
}

interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

/** @throws Error when it is not well-formed */
function parse(xml: string): Element {
  const parser = new SaxesParser();
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const path = [root];
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: "" };
    path.at(-1)?.children.push(element);
    path.push(element);
  });
  parser.on("text", (text) => {
    const element = path.at(-1);
    if (element) element.text += text;
  });
  parser.on("closetag", () => void path.pop());
  parser.write(xml).close();
  const [top] = root.children;
  if (!top) throw new Error("the document is empty");
  return top;
}

function find(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...find(child, name)]);
}

describe("JUnit XML", () => {
  /** Of Jenkins' `junit-10.xsd` (xUnit plugin): attributes, and elements within; `!`: must be there. */
  const SCHEMA: Readonly<Record<string, { attributes: string[]; within: string[] }>> = {
    testsuites: { attributes: ["name", "tests", "failures", "errors"], within: ["testsuite"] },
    testsuite: {
      attributes: ["name!", "tests!", "failures!", "errors!", "skipped", "timestamp"],
      within: ["properties", "testcase"],
    },
    properties: { attributes: [], within: ["property"] },
    property: { attributes: ["name!", "value!"], within: [] },
    testcase: { attributes: ["name!", "classname"], within: ["skipped", "failure", "error", "system-out"] },
    skipped: { attributes: ["type", "message"], within: [] },
    failure: { attributes: ["type", "message"], within: [] },
    error: { attributes: ["type", "message"], within: [] },
    "system-out": { attributes: [], within: [] },
  };

  function expectValid({ name, attributes, children }: Element): void {
    const rule = SCHEMA[name];
    if (!rule) throw new Error(`there is no element ${name}`);
    const known = rule.attributes.map((attribute) => attribute.replace("!", ""));
    expect(known).toEqual(expect.arrayContaining(Object.keys(attributes)));
    for (const attribute of rule.attributes) {
      if (attribute.endsWith("!")) expect(attributes).toHaveProperty([attribute.slice(0, -1)]);
    }
    for (const child of children) {
      expect(rule.within).toContain(child.name);
      expectValid(child);
    }
  }

  test("has a suite per variant and a test case per scenario, with words and counts", async () => {
    const root = parse(toJunit(await everything()));
    expectValid(root);
    expect(root.attributes).toEqual({ name: "nightly", tests: "4", failures: "1", errors: "1" });
    const [binary, json] = root.children;
    expect(binary?.attributes).toMatchObject({
      name: "binary",
      tests: "2",
      failures: "1",
      errors: "0",
      skipped: "1",
    });
    expect(json?.attributes).toMatchObject({
      name: "json",
      tests: "2",
      failures: "0",
      errors: "1",
      skipped: "0",
    });
    const [failure] = find(root, "failure");
    expect(failure?.attributes.message).toBe("6 of 10 calls failed (flaky)");
    expect(failure?.text).toBe("6 × said: expected <one> & `two`");
    expect(find(root, "error")[0]?.text).toBe("1 × no agent answered");
    const properties = find(root, "property").map(({ attributes: { name, value } }) => `${name}: ${value}`);
    expect(properties).toContain("flaky.open-incident: 4 of 10 passed");
  });

  test("stays well-formed and valid whatever the failures say", async () => {
    const strange = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc
        .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
        .map((codes) => String.fromCharCode(...codes)),
      fc.constantFrom("]]>", "<![CDATA[", "\u0000\u0007\u001b[31m", "\ud800 alone", "&amp; \"'"),
    );
    await fc.assert(
      fc.asyncProperty(strange, async (failure) => expectValid(parse(toJunit(await everything(failure))))),
    );
  });
});

describe("Markdown", () => {
  test("begins with the verdict, and has what matters before the fold", async () => {
    const text = toMarkdown(await everything());
    const [shown = "", folded = ""] = text.split("<details>");
    expect(shown).toMatch(
      /^### Campaign nightly\n\n\*\*23 of 29 calls passed: 79\.3 % \(61\.6–90\.2\); 1 call/,
    );
    expect(shown).toContain("| open-incident ⚠ flaky | binary | 4 of 10 | 40 % (16.8–68.7) |");
    expect(shown).toContain("fewer, beyond chance (adjusted p = 0.011)");
    expect(shown).toContain("- 6 × `` said: expected <one> & `two` ``");
    expect(folded).toContain("| who-is-on-call | binary | 0 of 0 | — |");
  });

  test("fits a comment however much fails", async () => {
    const scenarios = Array.from({ length: 1000 }, (_, index) => `scenario-${index}`);
    const records = scenarios.flatMap((scenario) =>
      recordsOf({
        scenario,
        variant: "binary",
        passed: 1,
        failed: 1,
        failureOf: () => [`${scenario}x `.repeat(99)],
      }),
    );
    const spec = { scenarios, repeat: 2, variants: [{ name: "binary" }] };
    const campaign = campaignOf({ name: "<b>@all</b> *nightly*", spec });
    const text = toMarkdown(await reportOf(campaign, records, { campaign, records }));
    expect(text.length).toBeLessThan(65_536);
    expect(text).not.toMatch(/<b>|@all|\*nightly/);
  });
});

test("text keeps within the columns of the terminal", async () => {
  for (const columns of [60, 80, 200]) {
    const text = toText(await everything(), columns);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    expect(text.indexOf("flaky")).toBeLessThan(text.indexOf("others"));
  }
});

test("JSON has a version, and its members in snake case", async () => {
  const json = JSON.parse(JSON.stringify(toJson(await everything())));
  expect(json).toMatchObject({
    version: 1,
    campaign: { id: "c1", state: "ended", expected_calls: 40 },
    total: { calls: 30, pass_rate: { value: 23 / 29 }, response: { turns: 58, p50_ms: 800 } },
    flaky: [{ scenario: "open-incident", variant: "binary" }],
    comparison: { baseline: { name: "main" }, cells: [{ baseline_passed: 10, beyond_chance: true }] },
  });
});
