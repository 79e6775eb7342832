/** Waits for a signal; says which one came, and ends with a status of its own. */
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => process.stdout.write(`${signal}\n`, () => process.exit(42)));
}
setInterval(() => undefined, 60_000);
process.stdout.write(`waiting ${process.env.TWINS_NAMES}\n`);
