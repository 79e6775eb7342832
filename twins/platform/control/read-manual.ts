/** `/sim/manual` of one twin: its own sentences and those common to all twins. */
import type { AnyTwinDefinition } from "../twin/twin.ts";
import { commonManual } from "./common-manual.ts";

/** @param url what the code under test uses. */
export function readManual(definition: AnyTwinDefinition, url: string) {
  const { manual } = definition;
  return {
    twin: definition.name,
    vendor: definition.vendor,
    versions: definition.versions,
    environment: definition.clientEnvironment(url),
    credentials: manual?.credentials ?? [],
    fault_statuses: definition.faultStatuses ?? [],
    repeated_writes: manual?.repeatedWrites ?? [],
    notes: manual?.notes ?? [],
    control_plane: commonManual,
  };
}
