/** The first packets of a connection, which have no message type. */
import type { Socket } from "node:net";
import { FieldReader } from "./message-reader.ts";

/** Source: "Message Formats" of the Postgres manual. */
const SSL_REQUEST = 80877103;
const GSS_ENCRYPTION_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
const LENGTH_BYTES = 8;
/** What Postgres itself accepts. */
const MAX_PACKET_BYTES = 10_000;

export type Opening =
  | { kind: "cancel"; packet: Buffer; rest: Buffer }
  | { kind: "session"; packet: Buffer; rest: Buffer; parameters: Map<string, string> };

/**
 * Reads up to the packet that opens a session or requests a cancellation. Declines encryption, as a server without certificates does.
 * @returns `undefined` when the client disconnects, ends its side before the packet is whole, or does not speak the protocol
 */
export function readOpening(client: Socket): Promise<Opening | undefined> {
  return new Promise((resolve) => {
    let arrived: Buffer = Buffer.alloc(0);
    const done = (opening: Opening | undefined) => {
      client.off("data", read);
      client.off("end", leave);
      client.off("close", leave);
      client.pause();
      resolve(opening);
    };
    const leave = () => done(undefined);
    const read = (chunk: Buffer) => {
      arrived = Buffer.concat([arrived, chunk]);
      while (arrived.length >= LENGTH_BYTES) {
        const bytes = arrived.readUInt32BE(0);
        if (bytes < LENGTH_BYTES || bytes > MAX_PACKET_BYTES) return done(undefined);
        if (arrived.length < bytes) return;
        const packet = arrived.subarray(0, bytes);
        const rest = arrived.subarray(bytes);
        const code = packet.readUInt32BE(4);
        if (code === CANCEL_REQUEST) return done({ kind: "cancel", packet, rest });
        if (code !== SSL_REQUEST && code !== GSS_ENCRYPTION_REQUEST) {
          return done({ kind: "session", packet, rest, parameters: parametersOf(packet) });
        }
        client.write("N");
        arrived = rest;
      }
    };
    client.on("data", read);
    client.once("end", leave);
    client.once("close", leave);
  });
}

function parametersOf(packet: Buffer): Map<string, string> {
  const fields = new FieldReader(packet.subarray(LENGTH_BYTES));
  const parameters = new Map<string, string>();
  for (let name = fields.text(); name !== ""; name = fields.text()) parameters.set(name, fields.text());
  return parameters;
}
