/** Ranges of a file that an HTTP request asks for. */

/** The part of a file to send; `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Reads a `Range` header (RFC 9110, 14.2). Several ranges, other units and malformed values are ignored, as it allows: the
 * whole file is the answer.
 */
export function parseRange(
  header: string | undefined,
  totalBytes: number,
): ByteRange | "whole" | "unsatisfiable" {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.replaceAll(" ", "") ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (!match || (first === "" && last === "")) return "whole";
  if (first === "") {
    const start = Math.max(0, totalBytes - Number(last));
    return start === totalBytes ? "unsatisfiable" : { start, end: totalBytes };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole";
  if (start >= totalBytes) return "unsatisfiable";
  return { start, end: last === "" ? totalBytes : Math.min(totalBytes, Number(last) + 1) };
}
