/** Secrets of assistants are sealed. Proves a part of twins/SECURITY.md. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretVault } from "../../calls/secret-vault.ts";

const secret = fc.uuid().map((id) => `hush-${id}`);
const assistant = fc.record({
  firstMessage: fc.string(),
  server: fc.record({
    url: fc.webUrl(),
    secret,
    headers: fc.dictionary(fc.string(), secret, { maxKeys: 3 }),
  }),
  credentials: fc.array(fc.record({ provider: fc.string(), apiKey: secret, deep: fc.array(secret) }), {
    maxLength: 2,
  }),
  metadata: fc.dictionary(fc.string(), fc.jsonValue()),
});

test("sealing hides every secret, and unsealing restores it", () => {
  const vault = createSecretVault();
  fc.assert(
    fc.property(assistant, (whole) => {
      const sealed = vault.seal(whole);
      expect(JSON.stringify(sealed)).not.toContain("hush-");
      expect(sealed.firstMessage).toBe(whole.firstMessage);
      expect(vault.unseal(sealed)).toEqual(whole);
      expect(vault.seal(sealed)).toEqual(sealed);
    }),
    { numRuns: 60 },
  );
});

test("another process cannot resolve a reference", () => {
  const sealed = createSecretVault().seal({ secret: "hush-1" });
  expect(createSecretVault().unseal(sealed)).toEqual(sealed);
});
