/**
 * Runs every step, one after another, even when earlier ones fail.
 * @throws the first error, after the last step
 */
export async function everyStep(steps: readonly (() => Promise<void> | undefined)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
