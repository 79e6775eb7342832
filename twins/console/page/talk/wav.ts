/** WAV files of mono PCM16 at the call's rate: what samples are kept and sent as. */
import { CALLER_RATE } from "@offhook/audio/signal";

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

/** A WAV file of mono PCM16 at the call's rate. */
export function wavOf(samples: Int16Array): Blob {
  const bytes = samples.length * BYTES_PER_SAMPLE;
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + bytes));
  const text = (at: number, letters: string) => {
    for (let index = 0; index < letters.length; index++) view.setUint8(at + index, letters.charCodeAt(index));
  };
  text(0, "RIFF");
  view.setUint32(4, HEADER_BYTES - 8 + bytes, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, CALLER_RATE, true);
  view.setUint32(28, CALLER_RATE * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, 8 * BYTES_PER_SAMPLE, true);
  text(36, "data");
  view.setUint32(40, bytes, true);
  for (const [index, sample] of samples.entries()) view.setInt16(HEADER_BYTES + index * 2, sample, true);
  return new Blob([view.buffer], { type: "audio/wav" });
}

/** Reads a WAV file of mono PCM16 at the call's rate, as the samples are. @throws Error for another one */
export function readSampleWav(file: ArrayBuffer): Int16Array {
  const view = new DataView(file);
  const textAt = (at: number) =>
    String.fromCharCode(...new Uint8Array(file, at, Math.min(4, file.byteLength - at)));
  let isCallersFormat = false;
  for (let at = 12; at + 8 <= file.byteLength; ) {
    const [name, length] = [textAt(at), view.getUint32(at + 4, true)];
    const start = at + 8;
    if (name === "fmt ") {
      isCallersFormat =
        view.getUint16(start, true) === 1 &&
        view.getUint16(start + 2, true) === 1 &&
        view.getUint32(start + 4, true) === CALLER_RATE &&
        view.getUint16(start + 14, true) === 8 * BYTES_PER_SAMPLE;
    }
    if (name === "data" && isCallersFormat) {
      const bytes = Math.min(length, file.byteLength - start);
      return new Int16Array(file.slice(start, start + bytes - (bytes % BYTES_PER_SAMPLE)));
    }
    at = start + length + (length % 2);
  }
  throw new Error("the twins sent a sample that is not WAV with mono PCM16 at 24 kHz");
}
