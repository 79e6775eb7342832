/**
 * The script of the scripted brain, the `brain:` of a scenario: rules in order, of which the first that matches what was
 * heard answers. Validated where it enters (the `scripts` table, a script file).
 */
import { z } from "zod";
import { parseTemplate, TemplateError } from "./template.ts";
import { matchesWords, namesWords, patternProblem } from "./word-match.ts";

const pattern = z
  .string()
  .max(500)
  .superRefine((text, context) => {
    const problem = patternProblem(text);
    if (problem) context.addIssue({ code: "custom", message: problem });
  });

const toolCall = z.strictObject({
  tool: z.string().min(1).max(64),
  arguments: z.record(z.string(), z.unknown()).default({}),
});

const rule = z
  .strictObject({
    /** Words to hear, `*` for any; a list matches when one of its patterns does. */
    heard: z.union([pattern, z.array(pattern).min(1).max(50)]),
    /** Tools to call before speaking, all in one message. */
    call: z.array(toolCall).min(1).max(8).optional(),
    /** Text to speak; `{{tool.path}}` is filled from that tool's JSON result. */
    say: z.string().max(2000).optional(),
    /** Text to speak instead when a result is `{"error": …}` or missing. */
    say_on_error: z.string().max(2000).optional(),
    end_call: z.boolean().default(false),
    /** The rule applies once per call. */
    once: z.boolean().default(false),
  })
  .superRefine((value, context) => {
    if (value.say === undefined && value.call === undefined && !value.end_call) {
      context.addIssue({
        code: "custom",
        message: "does nothing; a rule has say, call or end_call: true",
      });
    }
    if (value.say_on_error !== undefined && value.call === undefined) {
      context.addIssue({
        code: "custom",
        path: ["say_on_error"],
        message: "is never said: the rule calls no tool; move it to a rule with call, or use say",
      });
    }
  });

/** Rules in the order of evaluation. */
export const scriptRules = z
  .array(rule)
  .min(1)
  .max(500)
  .superRefine((rules, context) => {
    const tools = new Set(rules.flatMap((one) => one.call?.map((call) => call.tool) ?? []));
    rules.forEach((one, index) => {
      for (const member of ["say", "say_on_error"] as const) {
        const problem = templateProblem(one[member], tools);
        if (problem) context.addIssue({ code: "custom", path: [index, member], message: problem });
      }
    });
  });

export type ScriptRule = z.output<typeof rule>;

function templateProblem(text: string | undefined, tools: ReadonlySet<string>): string | undefined {
  if (text === undefined) return undefined;
  try {
    for (const part of parseTemplate(text)) {
      if (part.kind !== "place" || tools.has(part.path[0] ?? "")) continue;
      const known = tools.size > 0 ? `the script calls ${[...tools].join(", ")}` : "the script calls no tool";
      return `"{{${part.source}}}" names no tool that is called: ${known}`;
    }
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** The first usable rule that matches what was heard, and its position. */
export function findRule(
  rules: readonly ScriptRule[],
  heard: string,
  usable: (position: number) => boolean,
): { rule: ScriptRule; position: number } | undefined {
  const position = rules.findIndex((one, index) => usable(index) && matchesRule(one, heard));
  const found = rules[position];
  return found ? { rule: found, position } : undefined;
}

/** The patterns of all rules that name words; `*` alone stands for anything else. */
export function namedPatterns(rules: readonly ScriptRule[]): string[] {
  return rules.flatMap(patternsOf).filter(namesWords);
}

/** Whether what was heard is answered by a rule that names words of it, not by one for anything else. */
export function namesWhatIsHeard(rules: readonly ScriptRule[], heard: string): boolean {
  const found = findRule(rules, heard, () => true);
  if (found === undefined) return false;
  return patternsOf(found.rule).some((words) => namesWords(words) && matchesWords(words, heard));
}

function matchesRule(one: ScriptRule, heard: string): boolean {
  return patternsOf(one).some((words) => matchesWords(words, heard));
}

function patternsOf({ heard }: ScriptRule): readonly string[] {
  return typeof heard === "string" ? [heard] : heard;
}
