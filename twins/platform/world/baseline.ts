/** What a twin without profiles of its own needs for `reset`. */
import { DEFAULT_PROFILE, type Tables, unknownProfile, type World } from "./world.ts";

/**
 * Remembers the world as it is now. The returned function puts it back, or loads a named profile.
 * @param profiles whole states by name.
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
