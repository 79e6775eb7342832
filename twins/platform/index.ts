/** What one needs to start twins and to write one. Everything else is exported by its path. */
export { errorResponse, ownRefusal, readBodyAs, readQueryAs } from "./http/errors.ts";
export {
  type Operation,
  operation,
  type PlatformRefusal,
  type SocketOperation,
  socketOperation,
  type VendorRequest,
  type VendorResponse,
} from "./http/operation.ts";
export { type RunningTwins, type StartOptions, startTwins, type TwinAddresses } from "./server/start.ts";
export {
  type AnyTwinDefinition,
  defineTwin,
  type RunningTwin,
  type TwinContext,
  type TwinDefinition,
} from "./twin/twin.ts";
export { packagedTwin, type TwinEntry } from "./twin/twin-entry.ts";
export { createReset } from "./world/baseline.ts";
export { createMemoryWorld } from "./world/memory-world.ts";
export { defineTable } from "./world/table.ts";
export type { World } from "./world/world.ts";
