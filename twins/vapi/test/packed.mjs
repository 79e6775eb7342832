/** For test/house/pack.test.ts: the vendor's client and the installed package, run by plain Node. */
import assert from "node:assert/strict";
import { VapiClient } from "@vapi-ai/server-sdk";

export default async function ({ VAPI_API_KEY: token, VOICE_API_URL: environment }, load) {
  const client = new VapiClient({ token, environment });
  const { id } = await client.assistants.create({ name: "hotline" });
  assert.equal((await client.assistants.get({ id })).name, "hotline");

  // Speech is made in worker threads, whose files are packed as JavaScript.
  const { createFliteSynthesis } = await load("@offhook/vapi/providers/flite-synthesis");
  const synthesis = createFliteSynthesis({ threads: 1 });
  const samples = await synthesis.speak("Hello.", { provider: "", voiceId: "" }, AbortSignal.timeout(30_000));
  assert.ok(samples.length > 0);
  await synthesis.close();
}
