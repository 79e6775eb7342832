/**
 * The country of an address, by a table that comes with the twin: `ipv4-countries.txt`, which says what it is made of. It knows
 * countries alone, and no IPv6 addresses.
 */
import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";

/** Names that are usual in databases of locations where CLDR's are longer. */
const SHORT_NAMED: ReadonlySet<string> = new Set(["HK", "MO", "PS"]);
const MAX_LANGUAGES = 50;

interface CountryTable {
  /** ISO 3166-1 alpha-2; the first is the empty text of no country. */
  codes: string[];
  /** Position of its code for the addresses of each first two numbers. */
  places: Uint8Array;
}

let table: CountryTable | undefined;

/**
 * The name of an address's country; NULL where the table has none: private addresses, IPv6, what is no address. Of a network, `a.b.c.d/n`,
 * that of its address. Both VARCHAR.
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

const languages = new Map<string, (code: string) => string | undefined>();

/** @throws RangeError for what names no language */
export function namesIn(language: string): (code: string) => string | undefined {
  const known = languages.get(language);
  if (known !== undefined) return known;
  const long = new Intl.DisplayNames([language, "en"], { type: "region" });
  const short = new Intl.DisplayNames([language, "en"], { type: "region", style: "short" });
  const names = (code: string) => (SHORT_NAMED.has(code) ? short : long).of(code);
  if (languages.size >= MAX_LANGUAGES) languages.clear();
  languages.set(language, names);
  return names;
}
