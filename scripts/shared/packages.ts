/** The packages of `twins/`, and what each declares to belong to it in the `offhook` member of its package.json. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

const manifest = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
  offhook: z
    .strictObject({
      /** Name of the service in environment files. */
      service: z.string().optional(),
      /** It can be taken away by itself, although no service is named for it. */
      removable: z.boolean().default(false),
      /** Name of the bench in its `bench/bench.ts`. */
      bench: z.string().optional(),
      /** Code for other packages: it goes with the last of them. */
      library: z.boolean().default(false),
      /** Program that adds to the packed package what is made of other sources; its argument is the folder of compiled files. */
      pack: z.string().optional(),
      /** Files and folders of the project that are of no use without the package. */
      takes: z.array(z.string()).default([]),
      /** Files of the package that the agent's tests keep when all packages go: they move to `test/support`. */
      leaves: z.array(z.string()).default([]),
    })
    .default({ removable: false, library: false, takes: [], leaves: [] }),
});

export interface Package {
  /** As on the command line: the name of its folder. */
  id: string;
  /** As it is imported: `@offhook/splunk`. */
  name: string;
  /** Relative to the project: `twins/splunk`. */
  folder: string;
  /** From subpath (`.`, `./pcm`) to file, relative to the project. */
  exports: ReadonlyMap<string, string>;
  service: string | undefined;
  /** Whether a fork can be without it, whatever else stays. */
  isRemovable: boolean;
  bench: string | undefined;
  isLibrary: boolean;
  /** Relative to the project. */
  packProgram: string | undefined;
  takes: readonly string[];
  leaves: readonly string[];
  /** Ids of the packages that its own code imports. */
  needs: readonly string[];
}

/** @throws ZodError when a package.json declares something else */
export function readPackages(root: string): Package[] {
  const twins = path.join(root, "twins");
  const entries = existsSync(twins) ? readdirSync(twins, { withFileTypes: true }) : [];
  const read = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name: id }) => {
      const text = readFileSync(path.join(root, "twins", id, "package.json"), "utf8");
      return { id, ...manifest.parse(JSON.parse(text)) };
    });
  const idOf = new Map(read.map(({ id, name }) => [name, id]));
  return read.map(({ id, name, exports, dependencies, offhook }) => ({
    id,
    name,
    folder: `twins/${id}`,
    exports: new Map(
      Object.entries(exports).map(([subpath, file]) => [subpath, path.posix.join("twins", id, file)]),
    ),
    service: offhook.service,
    isRemovable: offhook.removable || offhook.service !== undefined,
    bench: offhook.bench,
    isLibrary: offhook.library,
    packProgram: offhook.pack === undefined ? undefined : `twins/${id}/${offhook.pack}`,
    takes: offhook.takes,
    leaves: offhook.leaves,
    needs: Object.keys(dependencies).flatMap((dependency) => idOf.get(dependency) ?? []),
  }));
}
