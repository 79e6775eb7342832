import { existsSync, readdirSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = new URL("..", import.meta.url).pathname;
const twins = existsSync(`${root}/twins`) ? readdirSync(`${root}/twins`, { withFileTypes: true }) : [];
const packages = twins.filter((entry) => entry.isDirectory()).map(({ name }) => name);

/** Start programs of their own or compare much audio. They begin first: begun last, one of them would run alone. */
const LONG =
  /^(test\/(console|house|scenarios|scripts|twins)|twins\/platform\/test\/names|twins\/vapi\/test\/speech)\//;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ project, moduleId }: TestSpecification) =>
      LONG.test(moduleId.slice(project.config.root.length).replace(/^\//, ""));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Ends what hangs. A test that takes longer on a quiet machine says so itself. */
const LIMIT_MS = 60_000;
/** For tests of whole programs, on a machine that has much else to do. */
const PROGRAM_LIMIT_MS = 300_000;

/** What runs once before a package's tests. */
function setupOf(name: string): string[] {
  const file = `${root}twins/${name}/testing/setup.ts`;
  return existsSync(file) ? [file] : [];
}

const limits = (ms: number) => ({ testTimeout: ms, hookTimeout: ms });

export default defineConfig({
  test: {
    root,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: packages.includes("platform") ? ["twins/platform/testing/property-seed.ts"] : [],
    pool: "forks",
    // Some tests wait for audio or a timer: one more at work than the smallest machine has cores.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    // `npm run coverage`; without `include` a file that no test loads would not count.
    coverage: {
      provider: "v8",
      include: ["{agent,tools,twins,scripts}/**/*.ts"],
      exclude: ["twins/*/{test,testing,bench,compare,coverage}/**", "**/*.d.ts"],
      reporter: ["text-summary", "html"],
      reportsDirectory: ".offhook/coverage",
    },
    projects: [
      // What a fork edits.
      {
        extends: true,
        test: { name: "app", include: ["test/{agent,tools,scenarios}/**/*.test.ts"], ...limits(LIMIT_MS) },
      },
      // What holds the whole together: commands, walls, several twins at once.
      {
        extends: true,
        test: {
          name: "house",
          include: ["test/{console,house,samples,scripts,twins}/**/*.test.ts"],
          ...limits(PROGRAM_LIMIT_MS),
        },
      },
      // The modules that a package's tests share are loaded once for all of them.
      ...packages.map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`twins/${name}/test/**/*.test.ts`],
          globalSetup: setupOf(name),
          isolate: false,
          ...limits(LIMIT_MS),
        },
      })),
    ],
  },
});
