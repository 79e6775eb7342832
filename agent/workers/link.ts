/** Messages between the primary process and one of its workers: notices, and questions with their answers. */
import { Socket } from "node:net";
import { z } from "zod";
import { DeadlineExceeded } from "../deadline.ts";
import { messageOf } from "../log.ts";

/** Questions that wait for their answers; the next one fails at once. */
const MAX_OPEN_QUESTIONS = 4_096;

const messageSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("notice"), about: z.string(), body: z.unknown() }),
  z.object({ kind: z.literal("question"), id: z.number(), about: z.string(), body: z.unknown() }),
  z.object({ kind: z.literal("answer"), id: z.number(), body: z.unknown() }),
  z.object({ kind: z.literal("failure"), id: z.number(), reason: z.string() }),
]);

/** One message as the channel carries it. */
export type LinkMessage = z.infer<typeof messageSchema>;

/**
 * Handles what the other side sends under one name.
 * @param socket a connection that came along
 * @returns the answer, when it was a question
 */
export type LinkHandler = (body: unknown, socket: Socket | undefined) => unknown;

interface OpenQuestion {
  resolve(body: unknown): void;
  reject(error: Error): void;
}

export interface LinkParts {
  /** Puts a message on the channel; a connection that goes along belongs to the other process from then on. */
  send(message: LinkMessage, socket?: Socket): void;
  handlers: Readonly<Record<string, LinkHandler>>;
  /** A notice could not be handled, or a message not be read. */
  onError(error: unknown): void;
}

/** One end of the channel. */
export class Link {
  readonly #parts: LinkParts;
  readonly #open = new Map<number, OpenQuestion>();
  #nextId = 0;
  #closed: string | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Sends a notice; after `close` it is lost. */
  tell(about: string, body: unknown = null, socket?: Socket): void {
    if (this.#closed === undefined) this.#parts.send({ kind: "notice", about, body }, socket);
    else socket?.destroy();
  }

  /**
   * Asks a question and validates the answer.
   * @throws Error when the other side fails, is gone, or does not answer in time
   */
  async ask<Answer>(
    about: string,
    body: unknown,
    { answer, timeoutMs }: { answer: z.ZodType<Answer>; timeoutMs: number },
  ): Promise<Answer> {
    if (this.#closed !== undefined) throw new Error(this.#closed);
    if (this.#open.size >= MAX_OPEN_QUESTIONS)
      throw new Error("too many questions to another process are open");
    this.#nextId += 1;
    const id = this.#nextId;
    let timer: NodeJS.Timeout | undefined;
    try {
      const given = await new Promise<unknown>((resolve, reject) => {
        timer = setTimeout(
          () =>
            reject(
              new DeadlineExceeded(`another process of the agent did not answer within ${timeoutMs} ms`),
            ),
          timeoutMs,
        );
        this.#open.set(id, { resolve, reject });
        this.#parts.send({ kind: "question", id, about, body });
      });
      return answer.parse(given);
    } finally {
      clearTimeout(timer);
      this.#open.delete(id);
    }
  }

  /** Takes what came over the channel. */
  receive(content: unknown, handle: unknown): void {
    const socket = handle instanceof Socket ? handle : undefined;
    // It may be reset while it waits to be passed on; without a listener that would end this process.
    socket?.on("error", () => socket.destroy());
    const message = messageSchema.safeParse(content);
    if (!message.success) {
      socket?.destroy();
      this.#parts.onError(message.error);
      return;
    }
    switch (message.data.kind) {
      case "notice":
        void this.#handle(message.data, socket).catch((error) => this.#parts.onError(error));
        return;
      case "question":
        void this.#answer(message.data, socket);
        return;
      case "answer":
        this.#open.get(message.data.id)?.resolve(message.data.body);
        return;
      case "failure":
        this.#open.get(message.data.id)?.reject(new Error(message.data.reason));
        return;
    }
  }

  /** The other side is gone: open questions fail, and so do later ones. */
  close(reason: string): void {
    this.#closed ??= reason;
    for (const { reject } of this.#open.values()) reject(new Error(reason));
  }

  async #handle({ about, body }: { about: string; body?: unknown }, socket: Socket | undefined) {
    const handler = this.#parts.handlers[about];
    if (handler === undefined) {
      socket?.destroy();
      throw new Error(`this process knows nothing about ${about}`);
    }
    return handler(body, socket);
  }

  async #answer(question: { id: number; about: string; body?: unknown }, socket: Socket | undefined) {
    const { id } = question;
    try {
      const body = (await this.#handle(question, socket)) ?? null;
      if (this.#closed === undefined) this.#parts.send({ kind: "answer", id, body });
    } catch (error) {
      if (this.#closed === undefined) this.#parts.send({ kind: "failure", id, reason: messageOf(error) });
    }
  }
}
