/** Countries of IPv4 addresses, by the bundled table `ipv4-countries.txt`, whose header names its sources. */
import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { memoize } from "@offhook/platform/base/memoize";

/** Countries whose short CLDR names are the ones that location databases use. */
const shortNamed: ReadonlySet<string> = new Set(["HK", "MO", "PS"]);
const MAX_LANGUAGES = 50;

interface CountryTable {
  /** ISO 3166-1 alpha-2. The first is empty: no country. */
  codes: string[];
  /** Index into `codes` for each first two bytes of an address. */
  places: Uint8Array;
}

let table: CountryTable | undefined;

/**
 * The name of an address's country. NULL if the table has none: private and IPv6 addresses, texts that are no address. A network,
 * `a.b.c.d/n`, has the country of its address. VARCHAR.
 */
export const countryOfAddress = defineRowFunction("spl.iplocation", (address, language) => {
  const code = address === null ? "" : countryCode(address);
  return code === "" ? null : (namesIn(language ?? "en")(code) ?? code);
});

function countryCode(address: string): string {
  const [plain = ""] = address.trim().split("/");
  if (!isIPv4(plain)) return "";
  table ??= readTable();
  const [first = 0, second = 0] = plain.split(".").map(Number);
  return table.codes[table.places[first * 256 + second] ?? 0] ?? "";
}

function readTable(): CountryTable {
  const text = readFileSync(new URL("ipv4-countries.txt", import.meta.url), "utf8");
  const codes = [""];
  const known = new Map([["", 0]]);
  const places = new Uint8Array(65_536);
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [start = "", code = ""] = line.split(" ");
    const [first = 0, second = 0] = start.split(".").map(Number);
    const place = known.get(code) ?? codes.push(code) - 1;
    known.set(code, place);
    places.fill(place, first * 256 + second);
  }
  return { codes, places };
}

/** Names of countries in a language. @throws RangeError for an unknown language */
export const namesIn = memoize((language): ((code: string) => string | undefined) => {
  const long = new Intl.DisplayNames([language, "en"], { type: "region" });
  const short = new Intl.DisplayNames([language, "en"], { type: "region", style: "short" });
  return (code) => (shortNamed.has(code) ? short : long).of(code);
}, MAX_LANGUAGES);
