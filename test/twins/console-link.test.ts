/** The console's address as the programs print it: it opens the console once, and no file has it. */
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { request } from "@offhook/platform/testing/http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Command, makeFolder } from "../support/command.ts";

const environment = `version: 1
services: []
actor: { channels: [{ type: voice_ws, url: "ws://192.0.2.7:8008/voice" }] }
`;

let folder: string;
let command: Command;
beforeEach(async () => {
  folder = makeFolder();
  await writeFile(path.join(folder, "environment.yaml"), environment);
});
afterEach(async () => {
  command.interrupt();
  await command.finished();
  await rm(folder, { recursive: true });
});

function startTwins(...args: string[]): Command {
  const all = ["--environment", "environment.yaml", ...args];
  return new Command("../twins/main.ts", all, { TWINS_PORT: "0" }, undefined, folder);
}

/** Whether a link opens a session. */
async function signsIn(link: string): Promise<boolean> {
  const { headers } = await fetch(link, { redirect: "manual" });
  const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const answer = await request("GET", new URL("/sandboxes", link).href, {
    headers: { cookie, "sec-fetch-site": "same-origin" },
  });
  return answer.status === 200;
}

describe("npm run twins", () => {
  test("--json has the address with a code, the file for other programs the one without", async () => {
    command = startTwins("--json");
    const { base_url, console_url } = JSON.parse(await command.output(/\n/));
    expect(console_url).toMatch(/\?code=./);
    const file = JSON.parse(await readFile(path.join(folder, ".offhook/twins.json"), "utf8"));
    expect(file.console_url).toBe(`${base_url}/console`);
    expect(await signsIn(console_url)).toBe(true);
    expect(await signsIn(console_url)).toBe(false);
  });

  test("prints the address for people", async () => {
    command = startTwins();
    const printed = await command.output(/Ctrl-C/);
    const [, link = ""] = /^console +(http:\S+)$/m.exec(printed) ?? [];
    expect(await signsIn(link)).toBe(true);
  });

  test("the page may call the agents of the environment file, and the one that runs in the folder", async () => {
    command = startTwins("--json");
    const { base_url } = JSON.parse(await command.output(/\n/));
    const policy = async () => {
      const { headers } = await request("GET", `${base_url}/console`);
      return / connect-src ([^;]*)/.exec(headers.get("content-security-policy") ?? "")?.[1]?.split(" ");
    };
    const named = ["'self'", "ws://192.0.2.7:8008"];
    expect(await policy()).toEqual(named);
    const agent = path.join(folder, ".offhook/agent.json");
    await writeFile(agent, JSON.stringify({ url: "http://127.0.0.1:4242", pid: process.pid }));
    expect(await policy()).toEqual([...named, "ws://127.0.0.1:4242"]);
    // An agent that was killed has left its file.
    await writeFile(agent, JSON.stringify({ url: "http://127.0.0.1:4242", pid: 2 ** 22 + 1 }));
    expect(await policy()).toEqual(named);
    await writeFile(agent, "{");
    expect(await policy()).toEqual(named);
  });
});

test("npm run dev prints the address", async () => {
  command = new Command("dev.ts", [], { TWINS_PORT: "0", PORT: "0" }, undefined, folder);
  const printed = await command.output(/from elsewhere: .*\n/);
  const [, link = ""] = /^console +(http:\S+)$/m.exec(printed) ?? [];
  expect(await signsIn(link)).toBe(true);
});
