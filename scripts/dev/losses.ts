/** Describes what a restart of the twins loses, by comparing their state with that at their start. */
import { z } from "zod";

/** The members of `npm run twins -- --json` that are needed here. */
export interface AskedTwins {
  base_url: string;
  api_key: string;
  sandboxes: { id: string; twins: { name: string; control_url: string }[] }[];
}

/** The state of the twins that a restart loses. */
export interface TwinsState {
  /** The twins of the first sandbox, by name. */
  twins: ReadonlyMap<string, { version: number; counts: Record<string, number>; dataset: string | null }>;
  sandboxes: readonly string[];
}

/** Limits the wait of a restart for hanging twins. */
const ANSWER_MS = 2_000;

const rows = z.object({ counts: z.record(z.string(), z.number()), state_version: z.number() });
const dataset = z.object({ file_name: z.string().nullable(), sha256: z.string() });
const sandboxes = z.object({ sandboxes: z.array(z.object({ id: z.string(), environment: z.string() })) });

/** @returns `undefined` when the twins do not answer as expected */
export async function readTwinsState(asked: AskedTwins): Promise<TwinsState | undefined> {
  try {
    const { sandboxes: all } = sandboxes.parse(await get(`${asked.base_url}/sandboxes`, asked));
    const own = asked.sandboxes[0];
    const environment = all.find(({ id }) => id === own?.id)?.environment ?? "";
    const states = await Promise.all(
      (own?.twins ?? []).map(async ({ name, control_url }) => {
        const { counts, state_version } = rows.parse(await get(`${control_url}/sim/data`, asked));
        const url = `${asked.base_url}/environments/${environment}/datasets/${name}`;
        const described = dataset.safeParse(await get(url, asked));
        const file = described.success ? `${described.data.file_name} ${described.data.sha256}` : null;
        return [name, { version: state_version, counts, dataset: file }] as const;
      }),
    );
    return { twins: new Map(states), sandboxes: all.map(({ id }) => id) };
  } catch {
    return undefined;
  }
}

async function get(url: string, { api_key }: AskedTwins): Promise<unknown> {
  const answer = await fetch(url, {
    headers: { "x-api-key": api_key },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  return answer.json();
}

/** Describes in one line what has changed since the start; `undefined` when nothing has. */
export function describeLosses(
  start: TwinsState | undefined,
  now: TwinsState | undefined,
): string | undefined {
  if (start === undefined || now === undefined) {
    return "rows, datasets and sandboxes that came after the start of the twins";
  }
  const losses: string[] = [];
  for (const [name, { version, counts, dataset: file }] of now.twins) {
    const before = start.twins.get(name);
    if (before === undefined) continue;
    if (file !== before.dataset) losses.push(`the dataset of ${name}`);
    else if (version !== before.version) {
      const tables = Object.keys(counts).filter((table) => counts[table] !== before.counts[table]);
      losses.push(`changes in ${name}${tables.length === 0 ? "" : ` (${tables.join(", ")})`}`);
    }
  }
  const ended = now.sandboxes.filter((id) => !start.sandboxes.includes(id));
  if (ended.length > 0) losses.push(`${ended.length === 1 ? "sandbox" : "sandboxes"} ${ended.join(", ")}`);
  return losses.length === 0 ? undefined : losses.join("; ");
}
