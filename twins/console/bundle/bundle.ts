/** Bundles the page from its sources. */
import path from "node:path";
import { build } from "esbuild";

const PAGE = path.join(import.meta.dirname, "..", "page");

/** The page's programs: the document's, and those that run in threads of their own. */
const PROGRAMS = { app: path.join(PAGE, "app.tsx"), worklet: path.join(PAGE, "talk", "worklet.ts") };

/** @returns the bundled files by name, each with a hash of its content in it. @throws Error naming the line that is wrong */
export async function bundlePage(): Promise<Map<string, Buffer>> {
  const { outputFiles } = await build({
    entryPoints: PROGRAMS,
    entryNames: "[name]-[hash]",
    outdir: PAGE,
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
