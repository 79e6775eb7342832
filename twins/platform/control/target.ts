/** What a control operation works on. */
import type { HostedTwin, Sandbox } from "../sandboxes/sandbox.ts";

export interface ControlTarget {
  sandbox: Sandbox;
  twin: HostedTwin;
}
