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
  const bundles = Object.entries(PROGRAMS).map(([name, file]) => bundle(page, name, file));
  const files = (await Promise.all(bundles)).flatMap(({ outputFiles }) => outputFiles);
  return new Map(files.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)]));
}

function bundle(page: string, name: string, file: string) {
  return build({
    entryPoints: { [name]: path.join(page, file) },
    entryNames: "[name]-[hash]",
    outdir: page,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    // Calls of `h` are shorter than those of the JSX runtime: 600 bytes of the compressed page.
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: file.endsWith(".tsx") ? [path.join(import.meta.dirname, "jsx.js")] : [],
    // The page's own is for the type checker.
    tsconfigRaw: {},
    legalComments: "none",
    logLevel: "silent",
  });
}
