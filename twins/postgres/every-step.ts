/**
 * Takes every step, one after another, whatever becomes of those before it.
 * @throws the first error, when all steps are done
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
