/** Converts between the audio format a client negotiated and the runtime's own (mono PCM16 at `INTERNAL_RATE`). */
import { decodeMulaw, encodeMulaw } from "@offhook/audio/mulaw";
import { bytesToSamples, SampleAligner, samplesToBytes, samplesToMs } from "@offhook/audio/pcm";
import { createResampler, type Resampler } from "@offhook/audio/resample";
import { INTERNAL_RATE } from "../providers/provider.ts";
import type { AudioFormat } from "../schema/call.ts";

/** Decodes the client's audio; chunks may be cut anywhere. */
export class UplinkDecoder {
  /** The samples a chunk completes, at the client's rate. */
  readonly samplesOf: (bytes: Uint8Array) => Int16Array;
  readonly #resampler: Resampler;

  constructor({ format, sampleRate }: AudioFormat) {
    const aligner = new SampleAligner();
    this.samplesOf = format === "mulaw" ? decodeMulaw : (bytes) => aligner.push(bytes);
    this.#resampler = createResampler(sampleRate, INTERNAL_RATE);
  }

  decode(bytes: Uint8Array): Int16Array {
    return this.resample(this.samplesOf(bytes));
  }

  /** Converts the client's next samples to the internal rate. */
  resample(samples: Int16Array): Int16Array {
    return this.#resampler.push(samples);
  }
}

/** Encodes the audio for the client. */
export class DownlinkEncoder {
  readonly #toBytes: (samples: Int16Array) => Uint8Array;
  /** Converts encoded audio to the samples that the client makes of it. */
  readonly samplesOf: (bytes: Uint8Array) => Int16Array;
  readonly #resampler: Resampler;
  readonly #sampleRate: number;
  #takenSamples = 0;
  #givenSamples = 0;

  constructor({ format, sampleRate }: AudioFormat) {
    this.#toBytes = format === "mulaw" ? encodeMulaw : samplesToBytes;
    this.samplesOf = format === "mulaw" ? decodeMulaw : bytesToSamples;
    this.#resampler = createResampler(INTERNAL_RATE, sampleRate);
    this.#sampleRate = sampleRate;
  }

  /** Length of the audio that the resampler still holds. */
  get heldMs(): number {
    return samplesToMs(this.#takenSamples, INTERNAL_RATE) - samplesToMs(this.#givenSamples, this.#sampleRate);
  }

  encode(samples: Int16Array): Uint8Array {
    const encoded = this.#resampler.push(samples);
    this.#takenSamples += samples.length;
    this.#givenSamples += encoded.length;
    return this.#toBytes(encoded);
  }

  /** The samples that the resampler still holds at the end of speech. */
  flush(): Uint8Array {
    this.#takenSamples = this.#givenSamples = 0;
    return this.#toBytes(this.#resampler.flush());
  }
}
