/** Bundles the page from its sources. */
import path from "node:path";
import { build } from "esbuild";

/** The page's programs below its folder: the document's, and those that run in threads of their own. */
const PROGRAMS = { app: "app.tsx", worklet: "talk/worklet.ts" };

/**
 * @param page folder of the sources
 * @returns the bundled files by name, each with a hash of its content in it. @throws Error naming the line that is wrong
 */
export async function bundlePage(page: string): Promise<Map<string, Buffer>> {
  const programs = Object.entries(PROGRAMS).map(([name, file]) => [name, path.join(page, file)]);
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(programs),
    entryNames: "[name]-[hash]",
    outdir: page,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "silent",
  });
  return new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)]));
}
