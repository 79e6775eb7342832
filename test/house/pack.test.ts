import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packPackages } from "../../scripts/pack/packages.ts";
import { readPackages } from "../../scripts/shared/packages.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
/** What a package has its vendor's client do; it is beside the package's tests, so it goes with the package. */
const PROGRAM = "test/packed.mjs";
/** Plain JavaScript, as somebody writes it who has installed the packages. Its arguments: programs, "--", services. */
const MAIN = `import { writeFileSync } from "node:fs";
import { startTwins } from "@offhook/platform";

const ids = process.argv.slice(2);
const services = ids.splice(ids.indexOf("--")).slice(1);
const programs = Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await import(\`./\${id}.mjs\`)])));
const configured = services.map((name) => ({ name, config: programs[name]?.config ?? {} }));
writeFileSync("environment.yaml", \`version: 1\\nservices:\\n  \${JSON.stringify(configured)}\\n\`);

const definitions = [...services, "engine"].map(async (name) => (await import(\`@offhook/\${name}\`)).default);
const twins = await startTwins({ twins: await Promise.all(definitions), environmentFile: "environment.yaml" });
const variables = Object.assign({}, ...twins.sandboxes[0].twins.map(({ environment }) => environment));
for (const id of ids) {
  await programs[id].default(variables, (name) => import(name));
  console.log(id);
}
await twins.stop();
`;
/** An import of a package as a whole, as the vendors' clients are imported. */
const CLIENT = / from "((?:@[\w-]+\/)?[\w-]+)";/g;
/** Only what an installed program needs: npm's own variables would lead it back to this project. */
const { PATH, HOME } = process.env;

const packages = readPackages(PROJECT);
const programs = packages
  .map(({ id, folder }) => ({ id, file: path.join(PROJECT, folder, PROGRAM) }))
  .filter(({ file }) => existsSync(file));
let folder: string;
/** A project with the packed packages installed. The folder above it has the vendors' clients. */
let project: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "offhook-packed-"));
  project = path.join(folder, "project");
  const tarballs = packPackages(PROJECT, path.join(folder, "tarballs"));
  for (const client of vendorClients()) {
    const link = path.join(folder, "node_modules", client);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(PROJECT, "node_modules", client), link, "junction");
  }
  mkdirSync(project);
  writeFileSync(path.join(project, "package.json"), `{"type": "module"}\n`);
  run("npm", ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: string[]): string {
  return execFileSync(command, args, { cwd: project, encoding: "utf8", env: { PATH, HOME } });
}

function write(file: string, text: string): void {
  writeFileSync(path.join(project, file), text);
}

test("the installed packages start the twins, and the vendors' clients talk to them", () => {
  const ids = programs.map(({ id }) => id);
  for (const { id, file } of programs) copyFileSync(file, path.join(project, `${id}.mjs`));
  write("main.js", MAIN);
  const services = packages.flatMap(({ service }) => service ?? []);
  expect(ids).toEqual(expect.arrayContaining(services));
  expect(
    run(process.execPath, ["main.js", ...ids, "--", ...services])
      .trim()
      .split("\n"),
  ).toEqual(ids);
});

test("the programs of the platform's README work as printed", () => {
  const readme = readFileSync(path.join(PROJECT, "twins/platform/README.md"), "utf8");
  const [start = "", till = ""] = [...readme.matchAll(/```js\n(.*?)```/gs)].map(
    ([, program]) => program ?? "",
  );
  write("till.js", till);
  const own = start.replace(/import elasticsearch .*/, 'import till from "./till.js";');
  write("start.js", own.replace("[engine, elasticsearch]", "[engine, till]"));
  write("environment.yaml", "version: 1\nservices: [{ name: till }]\n");
  expect(run(process.execPath, ["start.js"])).toMatch(/^till .*TILL_URL/m);
});

test("everything that a packed package exports can be imported", () => {
  const names = packages.flatMap(({ name }) =>
    Object.keys(installed(name).exports).map((at) => name + at.slice(1)),
  );
  expect(names.length).toBeGreaterThan(packages.length);
  write("import-all.js", `for (const name of ${JSON.stringify(names)}) await import(name);\n`);
  run(process.execPath, ["import-all.js"]);
});

test("declarations are found", () => {
  write(
    "typed.ts",
    `import engine from "@offhook/engine";
import { startTwins, type RunningTwins } from "@offhook/platform";
export const twins: Promise<RunningTwins> = startTwins({ twins: [engine], environmentFile: "e.yaml" });
// @ts-expect-error the name of a file is a string
startTwins({ twins: [engine], environmentFile: 1 });
`,
  );
  const options = ["--ignoreConfig", "--noEmit", "--module", "nodenext", "--target", "es2023", "--strict"];
  const types = [
    "--skipLibCheck",
    "--types",
    "node",
    "--typeRoots",
    path.join(PROJECT, "node_modules/@types"),
  ];
  const compiler = path.join(PROJECT, "node_modules/typescript/bin/tsc");
  expect(run(process.execPath, [compiler, ...options, ...types, "typed.ts"])).toBe("");
});

test.each(packages)("$name is packed without sources, tests and scripts", ({ name }) => {
  const files = readdirSync(path.join(project, "node_modules", name), { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))).toEqual([]);
  expect(files.filter((file) => /(^|\/)(test|testing|bench|compare|coverage)(\/|$)/.test(file))).toEqual([]);
  expect(files).toContain("LICENSE");
  expect(files).toContain("README.md");
  expect(Object.keys(installed(name))).not.toContain("scripts");
});

test("plain npm pack, which would pack the sources, says what to run instead", () => {
  for (const { folder: source } of packages) {
    const { scripts } = JSON.parse(readFileSync(path.join(PROJECT, source, "package.json"), "utf8"));
    expect(scripts.prepack).toContain("npm run pack");
  }
});

function installed(name: string): { exports: Record<string, unknown> } {
  return JSON.parse(readFileSync(path.join(project, "node_modules", name, "package.json"), "utf8"));
}

/** The packages of vendors that the programs import. */
function vendorClients(): string[] {
  const imported = programs.flatMap(({ file }) => [...readFileSync(file, "utf8").matchAll(CLIENT)]);
  return [...new Set(imported.flatMap(([, name]) => name ?? []))];
}
