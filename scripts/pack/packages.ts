/**
 * Packs the packages of `twins/`. In the working tree their `exports` point at sources, so each is put together in a
 * temporary folder: programs that run from the working tree meanwhile notice nothing.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { readPackages } from "../shared/packages.ts";

/** Compiled files, in the packed package. */
const COMPILED = "dist";

/** A file that a module finds beside itself: an asset, or the first module of a worker. */
const BESIDE_MODULE = /new URL\("([^"]+)", import\.meta\.url\)/g;

const manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  exports: z.record(z.string(), z.string()),
});
const packed = z.array(z.object({ filename: z.string() }));

/**
 * @param target the folder that the tarballs are written to; it is created if it is missing
 * @returns the tarballs
 * @throws Error when the compiler or npm fails, or when a package exports or reads a file that is not there
 */
export function packPackages(root: string, target: string): string[] {
  const staging = mkdtempSync(path.join(tmpdir(), "offhook-pack-"));
  try {
    const compiled = path.join(staging, "compiled");
    compile(root, compiled);
    const folders = readPackages(root).map(({ id, folder, packProgram }) => {
      const stage = path.join(staging, id);
      stagePackage(root, path.join(root, folder), path.join(compiled, id), stage);
      if (packProgram !== undefined) run(root, packProgram, path.join(stage, COMPILED));
      return stage;
    });
    mkdirSync(target, { recursive: true });
    const args = ["pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", target, ...folders];
    const answer = execFileSync("npm", args, { cwd: staging, encoding: "utf8" });
    return packed.parse(JSON.parse(answer)).map(({ filename }) => path.join(target, filename));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** All packages at once, since each is also a source of the packages above it. Tests and benches are left out. */
function compile(root: string, target: string): void {
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", path.join(root, "scripts/pack"), "--outDir", target], {
    stdio: "inherit",
  });
}

function run(root: string, program: string, folder: string): void {
  const start = path.join(root, "scripts/shared/start.cjs");
  execFileSync(process.execPath, [start, program, folder], { cwd: root, stdio: "inherit" });
}

function stagePackage(root: string, source: string, compiled: string, stage: string): void {
  const dist = path.join(stage, COMPILED);
  copyCompiled(source, compiled, dist);
  const declared = manifest.parse(JSON.parse(readFileSync(path.join(source, "package.json"), "utf8")));
  const { scripts: _scripts, devDependencies: _devDependencies, offhook: _offhook, ...published } = declared;
  const exports = packedExports(declared.exports, source, dist);
  const text = JSON.stringify({ ...published, exports, files: [COMPILED] }, null, 2);
  writeFileSync(path.join(stage, "package.json"), `${text}\n`);
  copyFileSync(path.join(root, "LICENSE"), path.join(stage, "LICENSE"));
  const readme = path.join(source, "README.md");
  if (existsSync(readme)) copyFileSync(readme, path.join(stage, "README.md"));
}

/** Copies what the compiler wrote, and beside it the files that the modules read. */
function copyCompiled(source: string, compiled: string, dist: string): void {
  for (const entry of readdirSync(compiled, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = path.relative(compiled, path.join(entry.parentPath, entry.name));
    const folder = path.dirname(file);
    mkdirSync(path.join(dist, folder), { recursive: true });
    const text = readFileSync(path.join(compiled, file), "utf8");
    const packedText = text.replace(BESIDE_MODULE, (whole, beside: string) => {
      if (beside.endsWith(".ts")) return whole.replace(/\.ts"/, '.js"');
      const asset = path.join(folder, beside);
      mkdirSync(path.dirname(path.join(dist, asset)), { recursive: true });
      copyFileSync(path.join(source, asset), path.join(dist, asset));
      return whole;
    });
    writeFileSync(path.join(dist, file), packedText);
  }
}

/** `exports` of the compiled files. What is not compiled is for this repository alone: tests, benches, comparisons. */
function packedExports(
  declared: Record<string, string>,
  source: string,
  dist: string,
): Record<string, { types: string; default: string }> {
  const compiled = Object.entries(declared).flatMap(([name, file]) => {
    if (!existsSync(path.join(source, file)))
      throw new Error(`${source} exports ${file}, which is not there`);
    const stem = file.replace(/^\.\//, "").replace(/\.ts$/, "");
    if (!existsSync(path.join(dist, `${stem}.js`))) return [];
    return [[name, { types: `./${COMPILED}/${stem}.d.ts`, default: `./${COMPILED}/${stem}.js` }]];
  });
  return Object.fromEntries(compiled);
}
