/**
 * Property tests draw the same cases in every run, so that one fails for what was changed since it passed.
 * PROPERTY_SEED=random draws others, and so does any other whole number.
 */
import fc from "fast-check";

const given = process.env.PROPERTY_SEED ?? "1";

if (given !== "random") {
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new Error(`PROPERTY_SEED is "random" or a whole number, not "${given}"`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
