/** Whether the browser has a session; how one is begun and ended. */
import { signal } from "@preact/signals";

export type Session =
  | { state: "unknown" }
  | { state: "signed-out" }
  | { state: "signed-in"; organisation: string; hasCampaigns: boolean };

export const session = signal<Session>({ state: "unknown" });

const PATH = "/console/session";

/** Asks whether there is a session. */
export async function startSession(): Promise<void> {
  const response = await fetch(PATH).catch(() => undefined);
  if (!response?.ok) {
    session.value = { state: "signed-out" };
    return;
  }
  const { organisation, project_routes = [] } = (await response.json()) as {
    organisation: string;
    project_routes?: readonly string[];
  };
  session.value = { state: "signed-in", organisation, hasCampaigns: project_routes.includes("/campaigns") };
}

/** Begins a session with a key of the control plane. @returns what is wrong with it, if anything */
export async function signIn(apiKey: string): Promise<string | undefined> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ api_key: apiKey });
  const response = await fetch(PATH, { method: "POST", headers, body }).catch(() => undefined);
  if (response === undefined) return "The twins do not answer.";
  if (response.ok) {
    await startSession();
    return undefined;
  }
  const answer = (await response.json().catch(() => undefined)) as
    | { error?: { message?: string } }
    | undefined;
  return answer?.error?.message ?? `The twins answered ${response.status}.`;
}

/** Notes that the session has ended: the control plane refused it. */
export function signOut(): void {
  session.value = { state: "signed-out" };
}

/** Ends the session here and removes its cookie. */
export async function endSession(): Promise<void> {
  await fetch(PATH, { method: "DELETE" }).catch(() => undefined);
  signOut();
}
