/** Cryptographic functions. */
import { createHash } from "node:crypto";
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { nothing } from "../value.ts";
import { type Entry, family, mapText } from "./tools.ts";

const sha512 = defineRowFunction("spl.sha512", (text) =>
  text === null ? null : createHash("sha512").update(text).digest("hex"),
);

function digest(name: string, summary: string, body: (text: Sql) => Sql): Entry {
  return {
    name,
    syntax: `${name}(text)`,
    summary,
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing], use) => mapText(value, use, body),
  };
}

export const cryptographicFunctions = family("cryptographic", [
  digest("md5", "The MD5 hash, in hexadecimal digits.", (text) => sql`md5(${text})`),
  digest("sha1", "The SHA-1 hash, in hexadecimal digits.", (text) => sql`sha1(${text})`),
  digest("sha256", "The SHA-256 hash, in hexadecimal digits.", (text) => sql`sha256(${text})`),
  digest("sha512", "The SHA-512 hash, in hexadecimal digits.", (text) => sha512(text)),
]);
