/**
 * A journal that is flooded stays as large as its limits, whatever it is flooded with.
 * Proves a part of twins/SECURITY.md.
 */

import { SandboxClock } from "@offhook/platform/base/clock";
import { defaultJournalLimits, Journal } from "@offhook/platform/journal/journal";
import { createMask } from "@offhook/platform/journal/mask";
import { heldBytes } from "@offhook/platform/testing/held-memory";
import { expect, test } from "vitest";

/** A million at full size: set JOURNAL_FLOOD=1000000. */
const requests = Number(process.env.JOURNAL_FLOOD ?? 60_000);

function flood(journal: Journal, count: number, bodyBytes: number): void {
  for (let index = 0; index < count; index++) {
    const complete = journal.record({
      tier: index % 10 === 0 ? "control" : "vendor",
      operation: "flood",
      method: "POST",
      path: `/calls/${index}`,
      query: new URLSearchParams({ page: String(index) }),
      headers: { "content-type": "application/json", authorization: `Bearer credential-${index}` },
      body: Buffer.alloc(bodyBytes, "x"),
      startedAt: 0,
    });
    // Some clients leave before they are answered.
    if (index % 7 !== 0) complete({ status: 200, headers: {}, body: Buffer.alloc(bodyBytes, "y") });
  }
}

test.each([
  ["small", 40],
  ["larger than an entry may keep", 80 * 1024],
])(
  "memory stays flat under a flood of bodies that are %s",
  { timeout: 600_000 },
  async (_name, bodyBytes) => {
    const journal = new Journal(createMask({ secretMembers: ["password"] }), new SandboxClock());
    const count = bodyBytes > 1024 ? Math.round(requests / 20) : requests;
    flood(journal, 5_000, bodyBytes);
    const before = await heldBytes();
    const startedAt = performance.now();
    flood(journal, count, bodyBytes);
    const microsecondsEach = ((performance.now() - startedAt) * 1000) / count;
    const grown = (await heldBytes()) - before;
    if (process.env.JOURNAL_FLOOD !== undefined) {
      console.log({
        count,
        bodyBytes,
        microsecondsEach,
        usedMiB: before / 2 ** 20,
        grownMiB: grown / 2 ** 20,
      });
    }
    expect(grown).toBeLessThan(4 * 1024 * 1024);
    const { vendor, control } = defaultJournalLimits;
    const kept = journal.entries().reduce((bytes, entry) => bytes + entry.bytes, 0);
    expect(kept).toBeLessThanOrEqual(vendor.bytes + control.bytes);
    const dropped = journal.dropped();
    expect(dropped.vendor + dropped.control + journal.entries().length).toBe(5_000 + count);
  },
);
