/** For test/house/pack.test.ts: the installed package, run by plain Node. */
import assert from "node:assert/strict";

export default async function ({ DATABASE_URL }, load) {
  const [{ CallQueue }, { CampaignStore }, { Worker }, { specSchema }, { reportOf }, { toText }] =
    await Promise.all(
      ["queue", "store", "worker", "records", "report", "report/text"].map((name) =>
        load(`@offhook/campaign/${name}`),
      ),
    );
  const spec = specSchema.parse({ scenarios: ["one"], repeat: 2, variants: [{ name: "v" }] });
  // A fork may have no postgres twin.
  if (DATABASE_URL === undefined) return;
  const store = await CampaignStore.open(DATABASE_URL);
  const scenarios = new Map([["one", "text"]]);
  const campaign = await store.createCampaign({ name: "packed", spec, scenarios });
  const queue = await CallQueue.open(store, assert.fail);
  await queue.offer(campaign);
  const worker = await Worker.start({
    databaseUrl: DATABASE_URL,
    name: "packed",
    concurrency: 2,
    campaign: campaign.id,
    place: async ({ scenarioText }) => ({
      verdict: "passed",
      failures: [],
      outcome: scenarioText,
      durationMs: 1_000,
      responseMs: [700],
      heldUp: false,
      toolCalls: [],
      keepable: { report: null, trace: null, audio: null },
    }),
  });
  await worker.ended;
  const report = await reportOf(await store.readCampaign(campaign.id), store.records(campaign.id));
  assert.match(toText(report), /packed: 2 of 2 calls passed/);
  await queue.close();
  await store.close();
}
