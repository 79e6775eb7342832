/**
 * The addresses of a recording in the vendor's API, for whoever has one: the name of the file is the secret.
 * Source: Artifact and Recording of @vapi-ai/server-sdk.
 */
import type { StoredRecording } from "./recording-store.ts";
import { CHANNELS, type Channel } from "./wav-answer.ts";

const FILE_NAME = new RegExp(`^([0-9a-f]+)-(${CHANNELS.join("|")})\\.wav$`);

/** The path of a recording's file, below the twin's `url`. */
export function recordingPath({ secret }: Pick<StoredRecording, "secret">, channel: Channel): string {
  return `/recordings/${secret}-${channel}.wav`;
}

/** What a file's name says; `undefined` for a name that no recording has. */
export function parseFileName(name: string): { secret: string; channel: Channel } | undefined {
  const [, secret, named] = FILE_NAME.exec(name) ?? [];
  const channel = CHANNELS.find((known) => known === named);
  return secret === undefined || channel === undefined ? undefined : { secret, channel };
}

/** The members of an artifact that name its recording; the mono file is both sides in one. @param url of the twin */
export function recordingMembers(stored: StoredRecording, url: string): Record<string, unknown> {
  const addressOf = (channel: Channel) => `${url}${recordingPath(stored, channel)}`;
  return {
    recordingUrl: addressOf("mono"),
    stereoRecordingUrl: addressOf("stereo"),
    recording: {
      stereoUrl: addressOf("stereo"),
      mono: {
        combinedUrl: addressOf("mono"),
        assistantUrl: addressOf("assistant"),
        customerUrl: addressOf("customer"),
      },
    },
  };
}
