/** The command line of `npm run dataset`. */
import { parseArgs } from "node:util";
import { UsageError } from "@offhook/platform/server/command-line";
import { z } from "zod";
import { locateTwins } from "../shared/locator.ts";

const DEFAULT_SERVICE = "elasticsearch";

export const USAGE = `npm run dataset -- upload FILE   give a service the log events of a file
npm run dataset -- show          what its dataset holds
npm run dataset -- delete        delete it, and reset its sandboxes

  FILE                CSV or NDJSON, gzip or not; - is standard input
  --replace           replace an existing dataset; a file that is refused leaves it unchanged
  --format F          csv or ndjson; default: what the file's name says, else its first character
  --service NAME      default: ${DEFAULT_SERVICE}
  --environment NAME  default: dev
  --twins URL         default: the twins that run here, TWINS_URL
  --key KEY           key of their control plane; default: theirs, SANDBOX_API_KEY
  --json              print one object, and nothing else, on standard output
  --help

Exit status: 0 when done, 1 when the twins refused it, 2 when no request could be made.`;

const options = {
  format: { type: "string" },
  replace: { type: "boolean" },
  service: { type: "string" },
  environment: { type: "string" },
  twins: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const valuesSchema = z.object({
  format: z.enum(["csv", "ndjson"], "must be csv or ndjson").optional(),
  replace: z.boolean().default(false),
  service: z.string().min(1).default(DEFAULT_SERVICE),
  environment: z.string().min(1).default("dev"),
  twins: z.url({ protocol: /^https?$/, error: "must be an http:// address" }).optional(),
  key: z.string().min(1).optional(),
  json: z.boolean().default(false),
  help: z.boolean().default(false),
});

export interface DatasetOptions {
  command: Command;
  /** Address of the dataset. */
  url: URL;
  key: string;
  json: boolean;
}

export type Command =
  | { kind: "upload"; file: string; format: string | undefined; existing: "keep" | "replace" }
  | { kind: "show" }
  | { kind: "delete" };

/** @returns `undefined` for --help. @throws UsageError */
export function readOptions(
  args: string[],
  env: Record<string, string | undefined>,
): DatasetOptions | undefined {
  const { values, positionals } = parse(args);
  const read = valuesSchema.safeParse(values);
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`);
    throw new UsageError(`${problems.join("\n")}\n\n${USAGE}`);
  }
  const { help, json, service, environment, format, replace } = read.data;
  if (help) return undefined;
  const command = commandOf(positionals, { format, existing: replace ? "replace" : "keep" });
  const { base, key } = twinsOf(read.data.twins ?? env.TWINS_URL, read.data.key ?? env.SANDBOX_API_KEY);
  const names = [environment, service].map(encodeURIComponent);
  return { command, url: new URL(`${base}/environments/${names[0]}/datasets/${names[1]}`), key, json };
}

function commandOf(
  positionals: readonly string[],
  how: Pick<Command & { kind: "upload" }, "format" | "existing">,
): Command {
  const [name, file, ...others] = positionals;
  if (others.length > 0) throw new UsageError(`one file at a time\n\n${USAGE}`);
  switch (name) {
    case "upload":
      if (file === undefined) throw new UsageError(`upload needs a file\n\n${USAGE}`);
      return { kind: "upload", file, ...how };
    case "show":
    case "delete":
      if (file !== undefined) throw new UsageError(`${name} takes no file\n\n${USAGE}`);
      if (how.existing === "replace") throw new UsageError(`--replace goes with upload\n\n${USAGE}`);
      return { kind: name };
    default:
      throw new UsageError(`say upload, show or delete\n\n${USAGE}`);
  }
}

function twinsOf(url: string | undefined, key: string | undefined): { base: string; key: string } {
  const running = locateTwins();
  const base = url ?? running?.base_url;
  if (base === undefined) {
    throw new UsageError(
      "no twins run here: start them with npm run dev, or name them with --twins and --key",
    );
  }
  const known = key ?? (base === running?.base_url ? running.api_key : undefined);
  if (known === undefined)
    throw new UsageError(`the key of the twins at ${base} is needed: --key, or SANDBOX_API_KEY`);
  return { base: base.replace(/(?<!\/)\/+$/, ""), key: known };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}
