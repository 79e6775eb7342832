/** Worker thread that synthesises speech. */
import { serveTasks } from "../threads/serve-tasks.ts";
import { FliteProgram } from "./flite-program.ts";
import type { FliteVoice } from "./voices.ts";

export interface Sentence {
  text: string;
  voice: FliteVoice;
}

const flite = new FliteProgram();

serveTasks(({ text, voice }: Sentence) => flite.speak(text, voice));
