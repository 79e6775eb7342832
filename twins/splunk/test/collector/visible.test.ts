/** An event can be found as soon as its request is answered. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Collector, startCollector } from "../../testing/collector.ts";

let collector: Collector;
beforeAll(async () => {
  collector = await startCollector();
});
beforeEach(async () => {
  await collector.splunk.control("POST", "/reset", {});
});
afterAll(() => collector.stop());

const send = async (batch: string, count: number): Promise<void> => {
  const events = Array.from({ length: count }, (_, n) => JSON.stringify({ event: `batch=${batch} n=${n}` }));
  const answer = await collector.send("", events.join("\n"));
  if (answer.status !== 200) throw new Error(answer.text);
};
const countOf = async (search: string) =>
  Number((await collector.found(`${search} | stats count`))[0]?.count);

test("by a search of its own client, of eight that send at once", async () => {
  await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      for (let batch = 0; batch < 5; batch++) {
        const name = `c${client}b${batch}`;
        await send(name, 50);
        expect(await countOf(name)).toBe(50);
      }
    }),
  );
  expect(await countOf("batch=*")).toBe(2000);
});

test("in a snapshot, in the counts of the world, and among the indexes; after a reset it is gone", async () => {
  await send("kept", 30);
  const { body: counts } = await collector.splunk.control("GET", "/data");
  expect(counts.counts.events).toBe(30);
  await send("more", 5);
  const { body: snapshot } = await collector.splunk.control("POST", "/snapshot");
  expect(snapshot.tables.events).toHaveLength(35);
  await send("lost", 10);
  await collector.splunk.control("POST", "/reset", { data: snapshot.tables });
  expect(await countOf("batch=*")).toBe(35);
  await send("lost", 10);
  await collector.splunk.control("POST", "/reset", {});
  expect(await countOf("batch=*")).toBe(0);
});

test("in the order in which it was sent, when all are of one time", async () => {
  for (let batch = 0; batch < 4; batch++) await send(`b${batch}`, 40);
  const texts = await collector.texts();
  expect(texts).toEqual(
    Array.from({ length: 160 }, (_, index) => `batch=b${Math.floor(index / 40)} n=${index % 40}`),
  );
});

test("what stands before an event that is wrong is found, what others send is not touched by it", async () => {
  const [good, bad] = await Promise.all([
    collector.send("", '{"event":"batch=good"}'),
    collector.send(
      "",
      '{"event":"batch=first"}{"event":"batch=second","time":"never"}{"event":"batch=third"}',
    ),
  ]);
  expect([good.status, bad.status]).toEqual([200, 400]);
  expect((await collector.texts()).sort()).toEqual(["batch=first", "batch=good"]);
});
