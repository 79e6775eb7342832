/** Bench programs in child processes, with a question-and-answer protocol. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { guardChild } from "../../base/child-guard.ts";
import { reasonOf } from "../../base/reason.ts";

/** Questions by name, each with its answer. */
export type Questions<Q> = { [Name in keyof Q]: { ask: object; answer: unknown } };

interface Envelope {
  id: number;
  name: string;
  ask: object;
}

type Reply = { id: number; answer: unknown } | { id: number; problem: string };

export interface Child<Q extends Questions<Q>> {
  ask<Name extends keyof Q & string>(name: Name, ask: Q[Name]["ask"]): Promise<Q[Name]["answer"]>;
  stop(): Promise<void>;
}

/**
 * Starts a TypeScript program that calls `answerQuestions`.
 * @param program path of its file
 * @param nodeOptions further options of Node, such as `--expose-gc`
 * @param temporaryFolder where it keeps its temporary files; the machine's when absent
 */
export function startChild<Q extends Questions<Q>>(
  program: URL,
  nodeOptions: string[] = [],
  temporaryFolder = tmpdir(),
): Child<Q> {
  const child = fork(fileURLToPath(program), {
    cwd: temporaryFolder,
    env: { ...process.env, TMPDIR: temporaryFolder },
    execArgv: ["--import", import.meta.resolve("tsx"), ...nodeOptions],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  guardChild(child, { reach: "child" });
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  child.on("message", (reply: Reply) => {
    const question = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("problem" in reply) question?.reject(new Error(`${program.pathname}: ${reply.problem}`));
    else question?.resolve(reply.answer);
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values())
      reject(new Error(`${program.pathname} ended (${signal ?? code}) before it answered`));
    waiting.clear();
  });
  return {
    ask: (name, ask) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, { resolve, reject });
        const envelope: Envelope = { id, name, ask };
        child.send(envelope, (error) => {
          if (error) reject(error);
        });
      }),
    stop: () => stopChild(child),
  };
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** The child's side of the protocol. It ends with its parent. */
export function answerQuestions<Q extends Questions<Q>>(
  answers: {
    [Name in keyof Q]: (ask: Q[Name]["ask"]) => Promise<Q[Name]["answer"]>;
  },
): void {
  process.on("message", async ({ id, name, ask }: Envelope) => {
    const reply: Reply = await answers[name as keyof Q](ask).then(
      (answer) => ({ id, answer }),
      (error: unknown) => ({ id, problem: reasonOf(error) }),
    );
    process.send?.(reply);
  });
  process.on("disconnect", () => process.exit(0));
}
