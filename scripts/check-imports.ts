/**
 * `npm run check-imports`: who may import whom, and that no imports go in a circle. It imports no package of the
 * project, so that a fork can take any of them away.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Circle, refusedCircles } from "./check-imports/circles.ts";
import { readProject } from "./check-imports/imports.ts";
import { refusalOf, unusedExports } from "./check-imports/rules.ts";

const PROJECT = fileURLToPath(new URL("..", import.meta.url));
const usage = `usage: npm run check-imports -- [FOLDER] [--unused-exports]
  FOLDER            the project to check (default: this one)
  --unused-exports  also names what packages export and nothing imports
  --help            this`;

const CIRCLE_ADVICE = {
  "across folders":
    "No circles: move what both need into a file that imports neither. Only files of one folder may call one another.",
  "closed by a type":
    "No circles: a type that both need belongs into a file of its own, or into the one that imports less.",
} satisfies Record<Circle["kind"], string>;

function main(): number {
  const { values, positionals } = parseArgs({
    options: {
      "unused-exports": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const beganAt = performance.now();
  const project = readProject(positionals[0] ?? PROJECT);
  const { files, imports, workspaces } = project;
  const problems = [
    ...imports.flatMap((it) => {
      const rule = refusalOf(it, workspaces);
      return rule ? [`${it.from}:${it.line} imports ${it.specifier}\n  ${rule.says} [${rule.name}]`] : [];
    }),
    ...refusedCircles(imports).map(
      ({ kind, files: members, way }) =>
        `A circle of ${members.length} files, ${kind}:\n    ${way.join("\n  → ")}\n  ${CIRCLE_ADVICE[kind]} [circle]`,
    ),
    ...(values["unused-exports"] ? unusedExports(project) : []).map(
      (specifier) =>
        `${specifier} is exported and nothing imports it\n  Take it out of \`exports\` in the package.json of its package. [unused exports]`,
    ),
  ];
  for (const problem of problems) console.error(`${problem}\n`);
  const tookMs = Math.round(performance.now() - beganAt);
  const outcome = problems.length === 0 ? "No problems." : `${problems.length} problems.`;
  console.log(`Checked ${imports.length} imports of ${files.length} files in ${tookMs} ms. ${outcome}`);
  return problems.length === 0 ? 0 : 1;
}

process.exitCode = main();
