import { describe, expect, test } from "vitest";
import { createHostNames } from "../../sandboxes/host-names.ts";

const target = (twin: string) => ({ sandbox: "dev", twin });

describe("host names", () => {
  const names = createHostNames();
  names.add("api.vendor.test", target("api"));
  names.add("*.vendor.test", target("cloud"));
  names.add("*.eu.vendor.test", target("europe"));
  names.add("search.internal", target("search"));

  test.each([
    ["an exact name wins over a pattern", "api.vendor.test", "api"],
    ["a pattern takes any name below it", "acme.vendor.test", "cloud"],
    ["at any depth", "a.b.c.vendor.test", "cloud"],
    ["the longer pattern wins", "acme.eu.vendor.test", "europe"],
    ["a name with one label under a longer pattern's own", "eu.vendor.test", "cloud"],
    ["an exact name", "search.internal", "search"],
  ])("%s", (_rule, host, twin) => {
    expect(names.find(host)).toEqual(target(twin));
  });

  test.each(["vendor.test", "notvendor.test", "vendor.test.evil.example", "a.search.internal", "", "."])(
    "%j is nobody's",
    (host) => {
      expect(names.find(host)).toBeUndefined();
    },
  );

  test("a later equal name takes the place of the earlier", () => {
    const own = createHostNames();
    own.add("api.vendor.test", target("cloud"));
    own.add("api.vendor.test", target("mine"));
    expect(own.find("api.vendor.test")).toEqual(target("mine"));
    expect(own.all()).toEqual([{ pattern: "api.vendor.test", target: target("mine") }]);
  });
});
