/** The address of a call in the console, as `dial` and `demo` print it: it opens that call, once. */
import { SandboxClient } from "@offhook/caller/sandbox-client";
import engine from "@offhook/engine";
import { startEnvironment } from "@offhook/platform/testing/twins";
import { describe, expect, test } from "vitest";
import { Command, run } from "../support/command.ts";
import { stage } from "../support/replay.ts";

const SCENARIO = "hang-up-mid-sentence";

/**
 * Opens a printed address as a browser does.
 * @returns where it leads, and the call of that page as the console reads it
 */
async function open(address: string): Promise<{ pathname: string; call: unknown }> {
  const opened = await fetch(address, { redirect: "manual" });
  const cookies = opened.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
  const pathname = opened.headers.get("location") ?? "";
  const [, , sandbox, , id = ""] = pathname.split("/");
  const read = await fetch(new URL(`/c/${sandbox}/vapi/sim/calls/${id}`, address), {
    headers: { cookie: cookies[0] ?? "", "sec-fetch-site": "same-origin" },
  });
  return { pathname, call: await read.json() };
}

describe("npm run dial", () => {
  async function dial(args: string[]) {
    const { house, voiceUrl } = await stage();
    const { baseUrl, apiKey } = house.twins;
    const env = { VOICE_URL: voiceUrl, TWINS_URL: baseUrl, SANDBOX_API_KEY: apiKey };
    return { baseUrl, voiceUrl, ...(await run("dial.ts", [SCENARIO, "--speed", "3", ...args], env)) };
  }

  test("prints below the verdict where a browser shows the call", async () => {
    const { baseUrl, stdout, exitCode } = await dial([]);
    expect(exitCode).toBe(0);
    const [, address = ""] =
      /\npassed {2}.*\n(?: {2}.*\n)* {2}see and hear it {2}(http:\S+)\n\n$/.exec(stdout) ?? [];
    expect(address.startsWith(`${baseUrl}/console/dev/calls/`)).toBe(true);
    const { pathname, call } = await open(address);
    expect(pathname).toBe(new URL(address).pathname);
    expect(call).toMatchObject({ id: pathname.split("/").at(-1), ended_reason: "customer-ended-call" });
    expect((await open(address)).call).toMatchObject({ error: { code: "unauthorized" } });
  });

  test("prints for several calls the address of their list, once", async () => {
    const { stdout } = await dial(["--calls", "2"]);
    expect(stdout.match(/see and hear/g)).toHaveLength(1);
    expect(stdout).toMatch(
      /2 calls in .*: all passed\n {2}see and hear them {2}http:\S+\/console\/dev\/calls\?code=\S+\n$/,
    );
  });

  test.each([["--json"], ["--no-twins"]])("prints none with %s", async (flag) => {
    const { stdout, stderr, exitCode } = await dial([flag]);
    expect(exitCode).toBe(0);
    expect(stdout + stderr).not.toMatch(/see and hear|\/console/);
  });
});

describe("npm run demo", () => {
  test("ends its twins with the call, and says how to look at one", async () => {
    const { stdout } = await run("demo.ts", [SCENARIO, "--speed", "10"]);
    expect(stdout).not.toContain("/console");
    expect(stdout).toMatch(/\n {2}npm run demo -- --keep {2}shows the call in a browser, with its sound\n$/);
  });

  test("--keep leaves twins and agent until Ctrl-C, which ends all of it with the verdict's status", async () => {
    const demo = new Command("demo.ts", [SCENARIO, "--speed", "10", "--keep"]);
    const shown = await demo.output(/stay until Ctrl-C\n/);
    const [, address = ""] = /\n {2}see and hear it {2}(http:\S+)\n/.exec(shown) ?? [];
    const { pathname, call } = await open(address);
    expect(pathname).toMatch(/^\/console\/dev\/calls\//);
    expect(call).toMatchObject({ id: pathname.split("/").at(-1), status: "ended" });
    // The page may call the agent.
    const [, agent = ""] = /agent of sandbox dev (http:\S+)/.exec(shown) ?? [];
    const { headers } = await fetch(new URL(pathname, address));
    const policy = headers.get("content-security-policy") ?? "";
    expect(/connect-src ([^;]*)/.exec(policy)?.[1]).toContain(agent.replace(/^http/, "ws"));
    demo.interrupt();
    expect((await demo.finished()).exitCode).toBe(0);
    await expect.poll(() => demo.leftSomethingRunning).toBe(false);
  });
});

test("twins without a console have no address of it", async () => {
  const twins = await startEnvironment("version: 1\nservices: []\n", { twins: [engine] });
  try {
    const sandbox = await SandboxClient.connect(twins);
    expect(await sandbox.consoleAddress("/calls")).toBeUndefined();
    sandbox.close();
  } finally {
    await twins.stop();
  }
});
