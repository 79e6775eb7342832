/** Converts between the audio format a client negotiated and the runtime's own (mono PCM16 at `INTERNAL_RATE`). */
import { decodeMulaw, encodeMulaw } from "@offhook/audio/mulaw";
import { SampleAligner, samplesToBytes } from "@offhook/audio/pcm";
import { createResampler, type Resampler } from "@offhook/audio/resample";
import { INTERNAL_RATE } from "../providers/provider.ts";
import type { AudioFormat } from "../schema/call.ts";

/** Decodes the client's audio; chunks may be cut anywhere. */
export class UplinkDecoder {
  readonly #toSamples: (bytes: Uint8Array) => Int16Array;
  readonly #resampler: Resampler;

  constructor({ format, sampleRate }: AudioFormat) {
    const aligner = new SampleAligner();
    this.#toSamples = format === "mulaw" ? decodeMulaw : (bytes) => aligner.push(bytes);
    this.#resampler = createResampler(sampleRate, INTERNAL_RATE);
  }

  decode(bytes: Uint8Array): Int16Array {
    return this.#resampler.push(this.#toSamples(bytes));
  }
}

/** Encodes the audio for the client. */
export class DownlinkEncoder {
  readonly #toBytes: (samples: Int16Array) => Uint8Array;
  readonly #resampler: Resampler;

  constructor({ format, sampleRate }: AudioFormat) {
    this.#toBytes = format === "mulaw" ? encodeMulaw : samplesToBytes;
    this.#resampler = createResampler(INTERNAL_RATE, sampleRate);
  }

  encode(samples: Int16Array): Uint8Array {
    return this.#toBytes(this.#resampler.push(samples));
  }

  /** The samples that the resampler still holds at the end of speech. */
  flush(): Uint8Array {
    return this.#toBytes(this.#resampler.flush());
  }
}
