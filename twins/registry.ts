/** The twins there are: one line each. To take a twin out, remove its line here, its folder, and its service in the environment file. */
import postgres from "./database/index.ts";
import engine from "./engine/index.ts";
import splunk from "./log-query/index.ts";
import type { AnyTwinDefinition } from "./sandbox/twin.ts";
import elasticsearch from "./search/index.ts";
import vapi from "./voice-runtime/index.ts";

export const registry: readonly AnyTwinDefinition[] = [elasticsearch, engine, postgres, splunk, vapi];
