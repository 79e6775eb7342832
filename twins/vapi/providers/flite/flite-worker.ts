/** Worker thread that synthesises speech. */
import { serveTasks } from "../threads/serve-tasks.ts";
import { FliteProgram } from "./flite-program.ts";
import type { FliteVoice } from "./voices.ts";

export interface SpeakRequest {
  text: string;
  voice: FliteVoice;
  /** Parent folder for the run's files. */
  folder: string;
}

const flite = new FliteProgram();

serveTasks(({ text, voice, folder }: SpeakRequest) => flite.speak(text, voice, folder));
