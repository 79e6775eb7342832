/** Implements `reset` for a twin whose profiles are whole states. */
import { DEFAULT_PROFILE, type Tables, unknownProfile, type World } from "./world.ts";

/**
 * Captures the world's current state. @returns a function that restores it, or loads a named profile
 * @param profiles whole states by name
 */
export async function createReset(
  world: World,
  profiles: Readonly<Record<string, Tables>> = {},
): Promise<(profile?: string) => Promise<void>> {
  const baseline = await world.dump();
  return async (profile) => {
    if (profile === undefined) return world.load(baseline);
    const tables = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
    if (tables) return world.load(tables);
    if (profile === DEFAULT_PROFILE) return world.load(baseline);
    throw unknownProfile(profile, Object.keys(profiles));
  };
}
