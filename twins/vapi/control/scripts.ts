/** `/sim/scripts`: whose rules answer, what they name, and which samples they answer. */
import { readManifest } from "@offhook/audio/sample-library";
import { pageParameters } from "@offhook/platform/control/paging";
import { errorResponse, fieldProblems, readQueryAs } from "@offhook/platform/http/errors";
import { type Operation, operation } from "@offhook/platform/http/operation";
import { parse } from "yaml";
import { z } from "zod";
import { namedPatterns, namesWhatIsHeard, type ScriptRule } from "../providers/script.ts";
import { scriptContent } from "../providers/script-file.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";

const pageQuery = z.strictObject(pageParameters);
const MAX_FILE_BYTES = 256 * 1024;
const MAX_NAME = 200;

export const scriptOperations: Operation<VoiceRuntimeTwin>[] = [
  operation<VoiceRuntimeTwin>({
    id: "scripts.read",
    method: "GET",
    path: "/sim/scripts",
    surface: "rest",
    summary:
      "The scripts, * first: the words that the rules of each name (heard), and the samples that such a rule answers; a rule for anything else (a lone *) names nothing.",
    handle(request, twin) {
      const query = readQueryAs(request, pageQuery);
      if (!query.ok) return query.response;
      const { limit, offset } = query.value;
      twin.refreshScript();
      const found = twin.world.table("scripts").all();
      const sorted = found.toSorted((a, b) => rankOf(a) - rankOf(b));
      const samples = spokenSamples(twin);
      const scripts = sorted
        .slice(offset, offset + limit)
        .map(({ simulation_id, rules }) => showScript(simulation_id, rules, samples));
      return { status: 200, body: { scripts, total: found.length, limit, offset } };
    },
  }),
  operation<VoiceRuntimeTwin>({
    id: "scripts.put",
    method: "PUT",
    path: "/sim/scripts/:simulationId",
    surface: "rest",
    summary:
      "Makes the brain: of a scenario file, which is the body, the script of a simulation, in place of the one it had.",
    maxBodyBytes: MAX_FILE_BYTES,
    handle({ params: { simulationId = "" }, body }, twin) {
      if (simulationId.length > MAX_NAME) {
        return errorResponse(422, "invalid", `a simulation's id has at most ${MAX_NAME} characters`);
      }
      const file = readYaml(body);
      if (!file.ok) return errorResponse(422, "invalid", `the body is no YAML file: ${file.reason}`);
      const read = scriptContent.safeParse(file.value);
      if (!read.success) {
        const message = "the body is no scenario file whose brain: can be used; see problems";
        return errorResponse(422, "invalid", message, fieldProblems(read.error));
      }
      const rules = read.data.brain;
      const table = twin.world.table("scripts");
      const isKnown = table.update(simulationId, { rules }) !== undefined;
      if (!isKnown) table.insert({ simulation_id: simulationId, rules });
      return {
        status: isKnown ? 200 : 201,
        body: showScript(simulationId, rules, spokenSamples(twin)),
      };
    },
  }),
];

/** The script of calls without their own comes first. */
function rankOf({ simulation_id }: { simulation_id: string }): number {
  return simulation_id === "*" ? 0 : 1;
}

interface SpokenSample {
  name: string;
  text: string;
}

function spokenSamples({ samples: { path } }: VoiceRuntimeTwin): SpokenSample[] {
  return path === undefined ? [] : readManifest(path).samples.filter(({ kind }) => kind === "speech");
}

function showScript(
  simulation_id: string,
  rules: readonly ScriptRule[],
  samples: readonly SpokenSample[],
): { simulation_id: string; heard: string[]; samples: string[] } {
  const answered = samples.filter(({ text }) => namesWhatIsHeard(rules, text));
  return { simulation_id, heard: namedPatterns(rules), samples: answered.map(({ name }) => name) };
}

type Yaml = { ok: true; value: unknown } | { ok: false; reason: string };

function readYaml(body: Buffer): Yaml {
  try {
    return { ok: true, value: parse(body.toString("utf8")) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
