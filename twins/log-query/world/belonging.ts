/** Columns of what belongs to an account and an app. Whoever removes one of these through the API leaves what was theirs. */
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
