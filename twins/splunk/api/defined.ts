type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** Changes of a row: what a request says nothing of is not among them. */
export function defined<Members extends Record<string, unknown>>(members: Members): Defined<Members> {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<Members>;
}
