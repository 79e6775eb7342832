/** For test/house/pack.test.ts: the installed package, run by plain Node. */
import assert from "node:assert/strict";

export default async function (_variables, load) {
  const { readWav, writeWav } = await load("@offhook/audio/wav");
  const { createSpeechDetector } = await load("@offhook/audio/speech-detector");
  const { samples, sampleRate } = readWav(writeWav({ samples: new Int16Array(480), sampleRate: 24_000 }));
  const detector = await createSpeechDetector({ sampleRate, startMs: 60, endMs: 500 });
  assert.deepEqual(detector.push(samples), []);
  detector.close();
}
