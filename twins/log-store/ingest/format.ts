/** The format of a file: the parameter, the media type and the file name must agree; without any of them the first characters decide. */
import { DatasetRefusal, type DatasetSource } from "@offhook/platform/twin/dataset";

export type DatasetFormat = "csv" | "ndjson";

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const QUOTE = 0x22;

const byMediaType = new Map<string, DatasetFormat>([
  ["text/csv", "csv"],
  ["application/csv", "csv"],
  ["text/tab-separated-values", "csv"],
  ["application/x-ndjson", "ndjson"],
  ["application/ndjson", "ndjson"],
  ["application/jsonl", "ndjson"],
  ["application/x-jsonlines", "ndjson"],
  ["application/jsonlines", "ndjson"],
]);

const byExtension = new Map<string, DatasetFormat>([
  ["csv", "csv"],
  ["tsv", "csv"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
]);

/** The stated format; `undefined` when nothing states one. @throws DatasetRefusal when two statements differ */
export function statedFormat(
  source: Pick<DatasetSource, "format" | "contentType" | "fileName">,
): DatasetFormat | undefined {
  const statements: { who: string; format: DatasetFormat }[] = [];
  if (source.format !== undefined) {
    if (source.format !== "csv" && source.format !== "ndjson") {
      throw new DatasetRefusal(`there is no format "${source.format.slice(0, 100)}"; use csv or ndjson`);
    }
    statements.push({ who: "the parameter format", format: source.format });
  }
  const mediaType = source.contentType?.split(";")[0]?.trim().toLowerCase();
  const ofType = mediaType === undefined ? undefined : byMediaType.get(mediaType);
  if (ofType) statements.push({ who: `the content type ${mediaType}`, format: ofType });
  const ofName = source.fileName === undefined ? undefined : byExtension.get(extensionOf(source.fileName));
  if (ofName) statements.push({ who: "the file name", format: ofName });
  const [first] = statements;
  const other = statements.find(({ format }) => format !== first?.format);
  if (first && other) {
    throw new DatasetRefusal(`${first.who} says ${first.format}, ${other.who} says ${other.format}`);
  }
  return first?.format;
}

/** Guesses a format: JSON starts with a brace, or with a bracket and a character that may follow it in JSON. */
export function likelyFormat(beginning: Uint8Array): DatasetFormat {
  const [first, second = CLOSE_ARRAY] = beginning.filter((byte) => byte > 0x20).subarray(0, 2);
  if (first === OPEN_OBJECT) return "ndjson";
  const isArray = first === OPEN_ARRAY && [OPEN_OBJECT, OPEN_ARRAY, QUOTE, CLOSE_ARRAY].includes(second);
  return isArray ? "ndjson" : "csv";
}

/** The file extension, without a `.gz` after it. */
function extensionOf(fileName: string): string {
  const name = fileName.toLowerCase().replace(/\.gz$/, "");
  return name.slice(name.lastIndexOf(".") + 1);
}
