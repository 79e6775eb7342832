/** Ownership of objects by an account and an app. Removing the account or the app through the API leaves its objects. */

import { identityIn, type Key } from "@offhook/platform/world/table";
import { z } from "zod";

export const ownerColumn = {
  type: z.string().default("nobody"),
  description: "The owner; an object of nobody is shared.",
  references: "users.name",
  builtIn: ["nobody"],
  mayDangle: true,
} as const;

export const appColumn = {
  type: z.string().default("search"),
  description: "The app it belongs to; system is the product itself.",
  references: "apps.name",
  builtIn: ["system"],
  mayDangle: true,
} as const;

/** The columns within which a name is unique: other accounts and apps may use the same name. */
export const ownedWithin = ["owner", "app"] as const;

/** An object with an owner and an app. */
export interface Owned {
  readonly name: string;
  readonly owner: string;
  readonly app: string;
  readonly sharing: "user" | "app" | "global";
}

/** The key of an owned object in its table. */
export function ownedKey({ name, owner, app }: Omit<Owned, "sharing">): Key {
  return identityIn([name, owner, app]);
}

/** Where a name is looked up; `-` as app stands for all apps. */
export interface Namespace {
  readonly owner: string;
  readonly app: string;
}

/** Whether a namespace shows an object: a private one to its owner, an app's in the app, a global one everywhere. */
export function isVisibleIn({ owner, app }: Namespace, thing: Omit<Owned, "name">): boolean {
  if (thing.sharing === "user" && thing.owner !== owner) return false;
  return thing.sharing === "global" || app === "-" || app === "system" || thing.app === app;
}

const precedence = { user: 0, app: 1, global: 2 };

/** Sorts objects by precedence in name resolution: one's own, then the app's, then global ones. */
export function sortByPrecedence<Thing extends Owned>(things: readonly Thing[], user: string): Thing[] {
  const rank = (thing: Thing) =>
    thing.sharing === "user" && thing.owner !== user ? 3 : precedence[thing.sharing];
  return things.toSorted((one, other) => rank(one) - rank(other));
}
