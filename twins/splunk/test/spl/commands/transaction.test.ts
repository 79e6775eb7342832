/** `transaction`: combines related rows into one. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

const at = (second: number, fields: object) => ({ _time: 1_000 + second, ...fields });

/** Newest first, in the order of events. */
const visits = [
  at(300, { user: "ann", page: "end", bytes: 5 }),
  at(60, { user: "bob", page: "b", bytes: 4 }),
  at(40, { user: "ann", page: "c", bytes: 3 }),
  at(20, { user: "ann", page: "a", bytes: 2 }),
  at(0, { user: "ann", page: "c", bytes: 1 }),
];

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const rows = async (commands: string, input: readonly object[] = visits) =>
  (await bench.searchRows(input, commands)).rows;
const shown = "table _time user duration eventcount closed_txn";

test("rule 63: transaction gives one row for each value of its fields, with duration, eventcount and closed_txn", async () => {
  expect(await rows("transaction user")).toEqual([
    {
      _time: 1060,
      user: "bob",
      page: ["b"],
      bytes: [4],
      duration: 0,
      eventcount: 1,
      closed_txn: 0,
      field_match_sum: 1,
    },
    {
      _time: 1000,
      user: "ann",
      page: ["a", "c", "end"],
      bytes: [1, 2, 3, 5],
      duration: 300,
      eventcount: 4,
      closed_txn: 0,
      field_match_sum: 4,
    },
  ]);
});

test("rule 63: maxpause ends a transaction before a longer pause", async () => {
  expect(await rows(`transaction user maxpause=20s | ${shown}`)).toEqual([
    { _time: 1300, user: "ann", duration: 0, eventcount: 1, closed_txn: 1 },
    { _time: 1060, user: "bob", duration: 0, eventcount: 1, closed_txn: 1 },
    { _time: 1000, user: "ann", duration: 40, eventcount: 3, closed_txn: 0 },
  ]);
});

test("rule 63: maxspan bounds a transaction from its newest row on", async () => {
  expect(await rows(`transaction user maxspan=30 | ${shown}`)).toEqual([
    { _time: 1300, user: "ann", duration: 0, eventcount: 1, closed_txn: 1 },
    { _time: 1060, user: "bob", duration: 0, eventcount: 1, closed_txn: 1 },
    { _time: 1020, user: "ann", duration: 20, eventcount: 2, closed_txn: 1 },
    { _time: 1000, user: "ann", duration: 0, eventcount: 1, closed_txn: 0 },
  ]);
  expect(await rows(`transaction user maxspan=1m | ${shown} | where user="ann"`)).toHaveLength(2);
});

test("rule 63: maxevents is 1,000 unless it is said; -1 is any number", async () => {
  expect(await rows(`transaction user maxevents=2 | ${shown} | where user="ann"`)).toEqual([
    { _time: 1040, user: "ann", duration: 260, eventcount: 2, closed_txn: 1 },
    { _time: 1000, user: "ann", duration: 20, eventcount: 2, closed_txn: 1 },
  ]);
  const many = Array.from({ length: 1_500 }, (_, index) => at(-index, { user: "x" }));
  expect(await rows("transaction user | table eventcount", many)).toEqual([
    { eventcount: 1000 },
    { eventcount: 500 },
  ]);
  expect(await rows("transaction user maxevents=-1 | table eventcount", many)).toEqual([
    { eventcount: 1500 },
  ]);
});

const jobs = [
  at(90, { job: 2, say: "start" }),
  at(80, { job: 1, say: "stop" }),
  at(70, { job: 1, say: "work" }),
  at(60, { job: 1, say: "start" }),
  at(50, { job: 1, say: "noise" }),
  at(40, { job: 1, say: "stop" }),
  at(30, { job: 1, say: "start" }),
];

test("rule 63: startswith and endswith keep what begins and ends so; keepevicted=t keeps the rest, with closed_txn=0", async () => {
  const found = [
    { _time: 1060, say: ["start", "stop", "work"], closed_txn: 1 },
    { _time: 1030, say: ["start", "stop"], closed_txn: 1 },
  ];
  const conditions = 'startswith="say=start" endswith=eval(say="stop")';
  expect(await rows(`transaction job ${conditions} | table _time say closed_txn`, jobs)).toEqual(found);
  expect(
    await rows(
      'transaction job startswith=(say=start) endswith=(say="stop") | table _time say closed_txn',
      jobs,
    ),
  ).toEqual(found);
  expect(
    await rows(`transaction job ${conditions} keepevicted=t | table _time say closed_txn`, jobs),
  ).toEqual([
    { _time: 1090, say: ["start"], closed_txn: 0 },
    { _time: 1060, say: ["start", "stop", "work"], closed_txn: 1 },
    { _time: 1050, say: ["noise"], closed_txn: 0 },
    { _time: 1030, say: ["start", "stop"], closed_txn: 1 },
  ]);
});

test("startswith or endswith alone bounds transactions on one side", async () => {
  expect(await rows('transaction startswith=eval(say="start") | table _time eventcount', jobs)).toEqual([
    { _time: 1090, eventcount: 1 },
    { _time: 1060, eventcount: 3 },
    { _time: 1030, eventcount: 3 },
  ]);
  expect(await rows('transaction job endswith=eval(say="stop") | table _time eventcount', jobs)).toEqual([
    { _time: 1050, eventcount: 4 },
    { _time: 1030, eventcount: 2 },
  ]);
});

test("mvlist lists values row by row, the oldest first; nullstr says what is missing", async () => {
  const some = [at(2, { user: "ann", page: "b" }), at(1, { user: "ann" }), at(0, { user: "ann", page: "b" })];
  expect(await rows("transaction user mvlist=t | table user page", some)).toEqual([
    { user: ["ann", "ann", "ann"], page: ["b", "NULL", "b"] },
  ]);
  expect(await rows('transaction user mvlist="page" nullstr="-" | table user page', some)).toEqual([
    { user: "ann", page: ["b", "-", "b"] },
  ]);
});

test("_raw is that of all rows, the oldest first, by lines, by delim, or as a list", async () => {
  const raw = [at(1, { user: "ann", _raw: "two" }), at(0, { user: "ann", _raw: "one" })];
  expect(await rows("transaction user | table _raw", raw)).toEqual([{ _raw: "one\ntwo" }]);
  expect(await rows('transaction user delim=" + " | table _raw', raw)).toEqual([{ _raw: "one + two" }]);
  expect(await rows("transaction user mvraw=t | table _raw", raw)).toEqual([{ _raw: ["one", "two"] }]);
});

test("rows without the fields are in no transaction; keeporphans=t keeps them, marked", async () => {
  const some = [at(2, { user: "ann" }), at(1, { page: "x" }), at(0, { user: "ann" })];
  expect(await rows("transaction user | table _time eventcount", some)).toEqual([
    { _time: 1000, eventcount: 2 },
  ]);
  expect(
    await rows("transaction user keeporphans=t | table _time eventcount page _txn_orphan", some),
  ).toEqual([
    { _time: 1001, page: ["x"], _txn_orphan: 1 },
    { _time: 1000, eventcount: 2 },
  ]);
});

const mail = [
  at(4, { to: "eve", msg: "m1" }),
  at(3, { msg: "m1", qid: "q1" }),
  at(2, { qid: "q2" }),
  at(1, { qid: "q1", from: "ann" }),
];

test("rows that have some of the fields belong to those that share a value and have none that differs", async () => {
  expect(await rows("transaction msg qid | table _time msg qid eventcount field_match_sum", mail)).toEqual([
    { _time: 1002, qid: "q2", eventcount: 1, field_match_sum: 1 },
    { _time: 1001, msg: "m1", qid: "q1", eventcount: 3, field_match_sum: 4 },
  ]);
});

test("connected=f lets a row join a transaction whose fields do not differ, though it shares none", async () => {
  const some = [at(2, { host: "a" }), at(1, { user: "ann" }), at(0, { host: "a", user: "ann" })];
  expect(await rows("transaction host user connected=f | table eventcount", some)).toEqual([
    { eventcount: 3 },
  ]);
  expect(await rows("transaction host user | table eventcount", some)).toEqual([
    { eventcount: 1 },
    { eventcount: 2 },
  ]);
});

test("maxopentxn and maxopenevents bound what is open: what was added to longest ago is evicted", async () => {
  const some = [at(3, { k: "a" }), at(2, { k: "b" }), at(1, { k: "c" }), at(0, { k: "a" })];
  expect(await rows("transaction k maxopentxn=2 | table _time k eventcount", some)).toEqual([
    { _time: 1001, k: "c", eventcount: 1 },
    { _time: 1000, k: "a", eventcount: 1 },
  ]);
  expect(await rows("transaction k maxopenevents=2 keepevicted=t | table k closed_txn", some)).toHaveLength(
    4,
  );
});

test("what SQL says of random rows is what a look at one row after the other says", async () => {
  const option = fc.constantFrom(
    "",
    "maxspan=10",
    "maxpause=4",
    "maxspan=9 maxpause=5",
    "maxevents=3",
    "maxspan=12 maxevents=4",
  );
  const boundary = fc.constantFrom(
    "",
    'startswith="flag=s"',
    'endswith="flag=e"',
    'startswith="flag=s" endswith="flag=e"',
  );
  const row = fc.record({
    pause: fc.integer({ min: 0, max: 8 }),
    k: fc.constantFrom("a", "b"),
    flag: fc.constantFrom("s", "e", "-"),
  });
  const cases = fc.tuple(option, boundary, fc.boolean(), fc.array(row, { minLength: 1, maxLength: 25 }));
  await fc.assert(
    fc.asyncProperty(cases, async ([limits, ends, evicted, steps]) => {
      let second = 0;
      const given = steps.map(({ pause, ...fields }, id) => {
        second -= pause;
        return at(second, { ...fields, id });
      });
      const search = `transaction k ${limits} ${ends} keepevicted=${evicted} mvlist=id`;
      const inSql = await rows(search, given);
      expect(await rows(`${search} maxopentxn=1000`, given)).toEqual(inSql);
    }),
    { numRuns: 60 },
  );
});

test("an option that transaction has not, or one that needs a configuration, is refused", async () => {
  expect(await bench.refusal("search x | transaction name=purchase")).toContain(
    "transactiontypes.conf is not served here",
  );
  expect(await bench.refusal("search x | transaction user maxspam=3")).toContain("Invalid option 'maxspam'");
  expect(await bench.refusal("search x | transaction user maxspan=3y")).toContain("Invalid option value");
});
