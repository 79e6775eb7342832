/** Stored assistants. Their secrets are sealed in the world and unsealed on every read. */
import { randomUUID } from "node:crypto";
import type { Clock } from "@offhook/platform/base/clock";
import { type Assistant, assistantOverridesSchema, assistantSchema } from "../schema/assistant.ts";
import type { AssistantRow, CallRow } from "../world.ts";
import type { VoiceWorld } from "./call-store.ts";
import { withOverrides } from "./effective-assistant.ts";
import type { SecretVault } from "./secret-vault.ts";

export type StoredAssistant = Readonly<AssistantRow>;
export type AssistantStore = ReturnType<typeof createAssistantStore>;

export function createAssistantStore(world: VoiceWorld, clock: Clock, vault: SecretVault, orgId: string) {
  const table = world.table("assistants");
  const timestamp = () => new Date(clock.now()).toISOString();
  const find = (id: string) => vault.unseal(table.get(id)?.assistant);

  return {
    find,
    get: (id: string): StoredAssistant | undefined => vault.unseal(table.get(id)),
    all: (): StoredAssistant[] => table.all().map((row) => vault.unseal(row)),
    remove: (id: string) => table.remove(id),

    create(assistant: Assistant): StoredAssistant {
      const now = timestamp();
      const row = table.insert({
        id: randomUUID(),
        org_id: orgId,
        created_at: now,
        updated_at: now,
        assistant: vault.seal(assistant),
      });
      return vault.unseal(row);
    },

    /** Replaces whole members, as the vendor's PATCH does. */
    change(id: string, changes: Assistant): void {
      const assistant = vault.seal({ ...find(id), ...changes });
      table.update(id, { assistant, updated_at: timestamp() });
    },

    /** The assistant of a call, rebuilt from its row. */
    of(row: Readonly<CallRow>): Assistant {
      const inline = assistantSchema.safeParse(vault.unseal(row.assistant));
      const base = inline.success ? inline.data : (find(row.assistant_id ?? "") ?? {});
      const overrides = assistantOverridesSchema.safeParse(vault.unseal(row.assistant_overrides));
      return overrides.success ? withOverrides(base, overrides.data) : base;
    },
  };
}
