/**
 * Versions, in SQL as a text that sorts like versions: a character before each number gives its count of digits, a `~`
 * after a release sorts it behind its pre-releases (`-rc1`), and an invalid version comes last.
 */
import { type Sql, sql } from "@offhook/log-store/sql";

const VALID = "^([0-9]+(?:[.][0-9]+)*)((?:[-+].*)?)$";
const INVALID_MARK = "~~";

export function versionFromTextSql(text: Sql): Sql {
  const main = sql`regexp_extract(${text}, ${VALID}, 1)`;
  const suffix = sql`regexp_extract(${text}, ${VALID}, 2)`;
  const keyed = sql`array_to_string(list_transform(string_split(${main}, '.'), lambda p: chr(CAST(35 + least(length(ltrim(p, '0')), 80) AS INTEGER)) || p), '.')`;
  return sql`CASE WHEN regexp_matches(${text}, ${VALID}) THEN ${keyed} || CASE WHEN starts_with(${suffix}, '-') THEN ${suffix} ELSE '~' || ${suffix} END ELSE ${INVALID_MARK} || ${text} END`;
}

export function versionToTextSql(version: Sql): Sql {
  const bare = sql`regexp_replace(regexp_replace(${version}, '(^|[.])[^0-9.]([0-9])', '\\1\\2', 'g'), '^([0-9.]+)~', '\\1')`;
  return sql`CASE WHEN starts_with(${version}, ${INVALID_MARK}) THEN substring(${version}, 3) ELSE ${bare} END`;
}

/** Restores the version from its text in SQL. */
export function formatVersion(version: string): string {
  if (version.startsWith(INVALID_MARK)) return version.slice(2);
  return version.replace(/(^|\.)[^0-9.]([0-9])/g, "$1$2").replace(/^([0-9.]+)~/, "$1");
}
