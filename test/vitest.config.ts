import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that start the project's programs and have whole calls: each has a process of its own. */
const ALONE = [
  "test/{house,scenarios,scripts,twins/exec}/**/*.test.ts",
  "twins/platform/test/names/**/*.test.ts",
];

/** These take longest, and so does what compares much audio; begun last, one of them would run alone. */
const LONG =
  /^(test\/(house|scenarios|scripts|twins)|twins\/platform\/test\/names|twins\/vapi\/test\/speech)\//;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ project, moduleId }: TestSpecification) =>
      LONG.test(moduleId.slice(project.config.root.length).replace(/^\//, ""));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    // Ends what hangs; a machine that is slow or has much else to do needs many times what a quiet one does.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ["twins/platform/testing/property-seed.ts"],
    pool: "forks",
    // `npm run coverage`; without `include` a file that no test loads would not count.
    coverage: {
      provider: "v8",
      include: ["{agent,tools,twins,scripts}/**/*.ts"],
      exclude: ["twins/*/{test,testing,bench,compare,coverage}/**", "**/*.d.ts"],
      reporter: ["text-summary", "html"],
      reportsDirectory: ".offhook/coverage",
    },
    // Some tests wait for audio or a timer: one more at work than the smallest machine has cores.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: "alone", include: ALONE } },
      // The modules that they share are loaded once for all of them.
      {
        extends: true,
        test: { name: "together", include: ["{test,twins}/**/*.test.ts"], exclude: ALONE, isolate: false },
      },
    ],
  },
});
