/** Errors about index names that do not exist or are not allowed. */
import { VendorError } from "../vendor/error.ts";

export function noSuchIndex(name: string): VendorError {
  return new VendorError(404, {
    type: "index_not_found_exception",
    reason: `no such index [${name}]`,
    "resource.type": "index_or_alias",
    "resource.id": name,
    index_uuid: "_na_",
    index: name,
  });
}

/** @throws VendorError for a name that no index may have. Source: MetadataCreateIndexService of 8.15 */
export function checkIndexName(name: string): void {
  const rule = brokenNameRule(name);
  if (rule !== undefined) throw invalidIndexName(name, rule);
}

export function invalidIndexName(name: string, rule: string): VendorError {
  return new VendorError(400, {
    type: "invalid_index_name_exception",
    reason: `Invalid index name [${name}], ${rule}`,
    index_uuid: "_na_",
    index: name,
  });
}

const MAX_NAME_BYTES = 255;

/** The naming rule that a name breaks; `undefined` when it breaks none. */
export function brokenNameRule(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (/[\\/*?"<>| ,]/.test(name)) {
    return `must not contain the following characters ['\\','/','*','?','"','<','>','|',' ',',']`;
  }
  if (name.includes("#")) return "must not contain '#'";
  if (name.includes(":")) return "must not contain ':'";
  if (/^[_+-]/.test(name)) return "must not start with '_', '-', or '+'";
  const bytes = Buffer.byteLength(name);
  if (bytes > MAX_NAME_BYTES) return `index name is too long, (${bytes} > ${MAX_NAME_BYTES})`;
  if (name === "." || name === "..") return "must not be '.' or '..'";
  return name === name.toLowerCase() ? undefined : "must be lowercase";
}
