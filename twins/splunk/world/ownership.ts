/** Columns of what belongs to an account and an app. Whoever removes one of these through the API leaves what was theirs. */

import { identityIn, type Key } from "@offhook/platform/world/table";
import { z } from "zod";

export const ownerColumn = {
  type: z.string().default("nobody"),
  description: "Whose it is; nobody's is everybody's.",
  references: "users.name",
  builtIn: ["nobody"],
  mayDangle: true,
} as const;

export const appColumn = {
  type: z.string().default("search"),
  description: "The app it belongs to; system is the product's own.",
  references: "apps.name",
  builtIn: ["system"],
  mayDangle: true,
} as const;

/** What a name is one among: others may have the same, and so may other apps. */
export const ownedWithin = ["owner", "app"] as const;

/** A thing of somebody's, in an app: of one name each may have one. */
export interface Owned {
  readonly name: string;
  readonly owner: string;
  readonly app: string;
  readonly sharing: "user" | "app" | "global";
}

/** What the table of such things knows one by. */
export function ownedKey({ name, owner, app }: Omit<Owned, "sharing">): Key {
  return identityIn([name, owner, app]);
}

/** Where a name is looked up: what is whose there, and of which app. */
export interface Namespace {
  readonly owner: string;
  readonly app: string;
}

/** Whether a namespace shows a thing: somebody's own to them alone, what is shared with its app there, the rest everywhere. */
export function isVisibleIn({ owner, app }: Namespace, thing: Omit<Owned, "name">): boolean {
  if (thing.sharing === "user" && thing.owner !== owner) return false;
  return thing.sharing === "global" || app === "-" || app === "system" || thing.app === app;
}

const nearness = { user: 0, app: 1, global: 2 };

/** The nearest first, as a name is resolved: one's own, that of the app, that of all apps. */
export function nearestFirst<Thing extends Owned>(things: readonly Thing[], user: string): Thing[] {
  const rank = (thing: Thing) =>
    thing.sharing === "user" && thing.owner !== user ? 3 : nearness[thing.sharing];
  return things.toSorted((one, other) => rank(one) - rank(other));
}
