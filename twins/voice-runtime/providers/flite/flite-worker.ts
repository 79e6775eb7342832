/** Thread that speaks. */
import { serveTasks } from "../threads/serve-tasks.ts";
import { FliteProgram } from "./flite-program.ts";
import type { FliteVoice } from "./voices.ts";

export interface SpeakRequest {
  text: string;
  voice: FliteVoice;
}

const flite = new FliteProgram();

serveTasks(({ text, voice }: SpeakRequest) => flite.speak(text, voice));
