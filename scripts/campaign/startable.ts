/** What would keep every call of a campaign from being judged is refused before a call is queued. */
import type { SandboxAddress } from "@offhook/caller/sandbox-client";
import type { Scenario } from "@offhook/caller/scenario-file";
import type { CampaignFile } from "@offhook/campaign/campaign-file";
import { CampaignError } from "@offhook/campaign/store";
import { readFault } from "@offhook/platform/faults/schema";
import { loadTwin } from "@offhook/platform/twin/twin-entry";
import { registry } from "../../twins/registry.ts";

type Faults = Readonly<Record<string, readonly unknown[]>>;
type Wanted = Pick<CampaignFile, "variants" | "agents">;
type WantedScenario = Pick<Scenario, "name" | "file" | "text" | "faults">;

/**
 * @param twins those behind agents that the workers do not start; `elsewhere`: the workers name their own
 * @throws CampaignError with a line per problem: whose it is, what is wrong and what would be right
 */
export async function requireStartable(
  campaign: Wanted,
  scenarios: readonly WantedScenario[],
  twins: SandboxAddress | "elsewhere" | undefined,
): Promise<void> {
  const problems = [
    ...namesakes(scenarios),
    ...(await faultProblems(campaign, scenarios)),
    ...(twins === undefined ? faultsWithoutTwins(campaign, scenarios) : []),
  ];
  if (problems.length > 0) throw new CampaignError(problems.join("\n"));
}

/** Calls are told apart by the names of their scenarios. */
function namesakes(scenarios: readonly WantedScenario[]): string[] {
  const first = new Map<string, WantedScenario>();
  return scenarios.flatMap((scenario) => {
    const other = first.get(scenario.name) ?? scenario;
    first.set(scenario.name, other);
    if (other.text === scenario.text) return [];
    return [`${scenario.file}: ${other.file} is named ${scenario.name} too: rename one of them`];
  });
}

/** What the twins would refuse, by their own schemas. */
async function faultProblems({ variants }: Wanted, scenarios: readonly WantedScenario[]): Promise<string[]> {
  const owners: [string, Faults][] = [
    ...variants.map(({ name, faults = {} }): [string, Faults] => [`variant ${name}`, faults]),
    ...scenarios.map(({ file, faults }): [string, Faults] => [file, faults]),
  ];
  const problems = owners.flatMap(([owner, faults]) =>
    Object.entries(faults).map(async ([service, wanted]) =>
      (await problemsOfTwin(service, wanted)).map((problem) => `${owner}: faults.${service}${problem}`),
    ),
  );
  return (await Promise.all(problems)).flat();
}

async function problemsOfTwin(service: string, wanted: readonly unknown[]): Promise<string[]> {
  const twin = await loadTwin(registry, service);
  if (twin === undefined) {
    return [`: there is no such twin; there are ${registry.map(({ name }) => name).join(", ")}`];
  }
  return wanted.flatMap((fault, index) => {
    const reading = readFault(fault, twin);
    if (reading.ok) return [];
    return reading.problems.map(({ field, rule }) => `[${index}]${field && `.${field}`}: ${rule}`);
  });
}

function faultsWithoutTwins({ variants, agents }: Wanted, scenarios: readonly WantedScenario[]): string[] {
  const inScenario = scenarios.find(({ faults }) => hasFaults(faults));
  return variants
    .filter(({ agent }) => agent !== undefined || agents.length > 0)
    .filter(({ faults }) => hasFaults(faults) || inScenario !== undefined)
    .map(({ name, faults }) => {
      const whose = hasFaults(faults) ? "its faults" : `the faults of ${inScenario?.file}`;
      return `variant ${name}: ${whose} need the twins behind the agent it calls: name them with --twins`;
    });
}

function hasFaults(faults: Faults = {}): boolean {
  return Object.values(faults).some((wanted) => wanted.length > 0);
}
