type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** Removes members that are `undefined`. */
export function omitUndefined<Members extends Record<string, unknown>>(members: Members): Defined<Members> {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Defined<Members>;
}
