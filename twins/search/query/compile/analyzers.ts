/** The analyzers that a query can name. The fields' own is the standard one. */
import { analyze } from "../../../datasets/analysis.ts";
import { shardError } from "../errors.ts";

type Analyzer = (text: string) => string[];

const standard: Analyzer = (text) => analyze(text).map(({ term }) => term);

const analyzers: Record<string, Analyzer> = {
  standard,
  default: standard,
  keyword: (text) => [text],
  whitespace: (text) => text.split(/\s+/u).filter(Boolean),
  simple: (text) => text.toLowerCase().match(/\p{L}+/gu) ?? [],
};

/** @throws VendorError for an analyzer that there is not */
export function analyzed(text: string, analyzer: string | undefined, clause: string): string[] {
  const named =
    analyzer === undefined ? standard : Object.hasOwn(analyzers, analyzer) ? analyzers[analyzer] : undefined;
  if (!named) throw shardError(`[${clause}] analyzer [${analyzer}] not found`);
  return named(text);
}
