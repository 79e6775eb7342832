import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createMemoryWorld } from "../world/memory-world.ts";
import { defineTable, identityIn } from "../world/table.ts";
import { type Problem, type Tables, type WorldChange, WorldRefusal } from "../world/world.ts";

let ids = 0;

function createLibrary() {
  return createMemoryWorld({
    authors: defineTable({
      description: "Somebody who writes.",
      key: "id",
      columns: {
        id: { type: z.string().min(1), description: "The author's id." },
        name: { type: z.string().min(1), description: "Full name." },
      },
    }),
    books: defineTable({
      description: "Something written.",
      key: "id",
      columns: {
        id: {
          type: z.string().default(() => `book-${++ids}`),
          description: "The book's id.",
          generated: "a new id",
        },
        author_id: { type: z.string().nullable(), description: "Who wrote it.", references: "authors.id" },
        genre: { type: z.enum(["novel", "poem"]).default("novel"), description: "What kind of book it is." },
        pages: { type: z.int().min(1).optional(), description: "How long it is." },
        published_at: { type: z.iso.datetime().nullable().default(null), description: "When it came out." },
        tags: { type: z.array(z.string()).default([]), description: "Words to find it by." },
        notes: { type: z.unknown().optional(), description: "Anything." },
        in_print: { type: z.boolean().default(true), description: "Whether it can be bought." },
      },
    }),
  });
}

let world: ReturnType<typeof createLibrary>;
const ada = { id: "ada", name: "Ada" };
beforeEach(() => {
  world = createLibrary();
});

async function problemsOf(write: Promise<unknown>): Promise<Problem[]> {
  const error = await write.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof WorldRefusal)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error.problems;
}

async function expectUntouched(write: () => Promise<unknown>): Promise<void> {
  const before = { dump: await world.dump(), version: world.stateVersion };
  await write();
  expect({ dump: await world.dump(), version: world.stateVersion }).toEqual(before);
}

describe("insert", () => {
  test("fills defaults in and says how many rows each table got", async () => {
    expect(
      await world.insert({ authors: [ada], books: [{ author_id: "ada" }, { author_id: null }] }),
    ).toEqual({
      authors: 1,
      books: 2,
    });
    const [book] = (await world.rows("books", { limit: 1, offset: 0, where: {} })).rows;
    expect(book).toMatchObject({ genre: "novel", tags: [], in_print: true, published_at: null });
    expect(book).not.toHaveProperty("pages");
  });

  test("rows of one body may refer to one another, whatever the order of the tables", async () => {
    await world.insert({ books: [{ id: "b", author_id: "ada" }], authors: [ada] });
    expect(await world.counts()).toEqual({ authors: 1, books: 1 });
  });

  test("lists every problem of every row, and stores nothing", async () => {
    await expectUntouched(async () => {
      const problems = await problemsOf(
        world.insert({
          authors: [ada, { id: "ada", name: "" }, { id: "bob" }],
          books: [
            { author_id: "nobody" },
            { author_id: null, pages: 0, genre: "essay", colour: "red" },
            { author_id: null, published_at: "yesterday", tags: ["a", 1] },
          ],
          shelves: [{}],
        }),
      );
      const found = problems.map(({ table, row, column }) =>
        [table, row, column].filter((p) => p !== undefined).join("/"),
      );
      expect(found.sort()).toEqual(
        [
          "authors/1/name",
          "authors/2/name",
          "books/0/author_id",
          "books/1/colour",
          "books/1/genre",
          "books/1/pages",
          "books/2/published_at",
          "books/2/tags",
          "shelves",
        ].sort(),
      );
    });
  });

  test("refuses a key that exists, and one that comes twice in the same body", async () => {
    await world.insert({ authors: [ada] });
    const problems = await problemsOf(
      world.insert({ authors: [ada, { id: "bob", name: "Bob" }, { id: "bob", name: "Rob" }] }),
    );
    expect(problems).toMatchObject([
      { row: 0, column: "id", value: "ada" },
      { row: 2, column: "id", value: "bob" },
    ]);
    expect(await world.counts()).toEqual({ authors: 1, books: 0 });
  });

  test("ten thousand rows of which the last is bad leave nothing behind", async () => {
    const authors = Array.from({ length: 10_000 }, (_, index) => ({ id: `a${index}`, name: "x" }));
    authors.push({ id: "last", name: "" });
    await expectUntouched(async () => {
      expect(await problemsOf(world.insert({ authors }))).toMatchObject([{ row: 10_000, column: "name" }]);
    });
  });
});

describe("update", () => {
  beforeEach(() => world.insert({ authors: [ada], books: [{ id: "b", author_id: "ada", pages: 3 }] }));

  test("changes every row that matches, and says how many", async () => {
    await world.insert({
      books: [
        { id: "c", author_id: "ada" },
        { id: "d", author_id: null },
      ],
    });
    expect(await world.update("books", { author_id: "ada" }, { genre: "poem" })).toBe(2);
    expect((await world.rows("books", { limit: 10, offset: 0, where: { genre: "poem" } })).total).toBe(2);
  });

  test("a match by a JSON column compares by value", async () => {
    await world.update("books", { id: "b" }, { tags: ["x", "y"] });
    expect(await world.update("books", { tags: ["x", "y"] }, { pages: 9 })).toBe(1);
    expect(await world.update("books", { tags: ["y", "x"] }, { pages: 1 })).toBe(0);
  });

  test("lists every problem, and changes nothing", async () => {
    await expectUntouched(async () => {
      const problems = await problemsOf(
        world.update("books", { colour: "red" }, { id: "z", pages: -1, author_id: "nobody", size: 1 }),
      );
      expect(problems.map(({ column }) => column).sort()).toEqual(["colour", "id", "pages", "size"]);
      expect(await problemsOf(world.update("books", { id: "b" }, { author_id: "nobody" }))).toMatchObject([
        { table: "books", column: "author_id", value: "nobody" },
      ]);
    });
  });
});

describe("remove", () => {
  beforeEach(() => world.insert({ authors: [ada], books: [{ id: "b", author_id: "ada" }] }));

  test("refuses a row that others refer to, naming where", async () => {
    await expectUntouched(async () => {
      const [problem] = await problemsOf(world.remove("authors", { id: "ada" }));
      expect(problem).toMatchObject({ table: "authors", column: "id", value: "ada" });
      expect(problem?.rule).toContain("books.author_id");
    });
  });

  test("removes it once nothing refers to it", async () => {
    expect(await world.remove("books", { author_id: "ada" })).toBe(1);
    expect(await world.remove("authors", { id: "ada" })).toBe(1);
    expect(await world.counts()).toEqual({ authors: 0, books: 0 });
  });

  test("a reference that was changed away no longer holds a row", async () => {
    await world.update("books", { id: "b" }, { author_id: null });
    expect(await world.remove("authors", { id: "ada" })).toBe(1);
  });
});

describe("reading", () => {
  test("pages, filters by column and reports the total", async () => {
    await world.insert({
      books: Array.from({ length: 25 }, (_, index) => ({
        id: `b${index}`,
        author_id: null,
        pages: 1 + (index % 5),
      })),
    });
    const page = await world.rows("books", { limit: 3, offset: 1, where: { pages: "2" } });
    expect(page.total).toBe(5);
    expect(page.rows.map(({ id }) => id)).toEqual(["b6", "b11", "b16"]);
    expect((await world.rows("books", { limit: 9, offset: 0, where: { in_print: "false" } })).total).toBe(0);
    expect((await world.rows("books", { limit: 9, offset: 0, where: { id: "b3", pages: "4" } })).total).toBe(
      1,
    );
  });

  test("a filter on an unknown column, or with text that cannot be such a value, is refused", async () => {
    const problems = await problemsOf(
      world.rows("books", {
        limit: 1,
        offset: 0,
        where: { colour: "red", pages: "many", in_print: "maybe" },
      }),
    );
    expect(problems.map(({ column }) => column)).toEqual(["colour", "pages", "in_print"]);
    expect(await problemsOf(world.rows("shelves", { limit: 1, offset: 0, where: {} }))).toMatchObject([
      { table: "shelves" },
    ]);
  });

  test("the schema says in words what each column is", async () => {
    const tables = await world.schema();
    const columns = Object.fromEntries(
      (tables.find(({ name }) => name === "books")?.columns ?? []).map((column) => [column.name, column]),
    );
    expect(columns.id).toMatchObject({ type: "text", required: false, default: "a new id" });
    expect(columns.author_id).toMatchObject({ type: "text", required: true, references: "authors.id" });
    expect(columns.genre).toMatchObject({ type: "text", allowed: ["novel", "poem"], default: "novel" });
    expect(columns.pages).toMatchObject({ type: "integer", required: false });
    expect(columns.published_at).toMatchObject({ type: "timestamp", default: null });
    expect(columns.tags).toMatchObject({ type: "json" });
    expect(columns.in_print).toMatchObject({ type: "boolean", default: true });
  });
});

describe("nobody holds state that they could change", () => {
  test("what was given can be changed afterwards without changing the world", async () => {
    const given = { id: "b", author_id: null, notes: { deep: [1] } };
    await world.insert({ books: [given] });
    given.notes.deep.push(2);
    expect(world.table("books").get("b")?.notes).toEqual({ deep: [1] });
  });

  test("what was read can be changed without changing the world", async () => {
    await world.insert({ books: [{ id: "b", author_id: null, tags: ["x"] }] });
    const dump = await world.dump();
    dump.books?.push({});
    const [book] = dump.books ?? [];
    if (book) book.tags = ["y"];
    const { rows } = await world.rows("books", { limit: 1, offset: 0, where: {} });
    (rows[0] as { tags: string[] }).tags.push("z");
    expect(world.table("books").get("b")?.tags).toEqual(["x"]);
  });

  test("a row from a typed handle is frozen to its depths", async () => {
    await world.insert({ books: [{ id: "b", author_id: null, tags: ["x"] }] });
    const row = world.table("books").get("b");
    expect(() => row?.tags.push("y")).toThrow(TypeError);
  });

  test("a member named __proto__ stays a member", async () => {
    await world.insert({
      books: [{ id: "b", author_id: null, notes: JSON.parse('{"__proto__": {"a": 1}}') }],
    });
    expect(JSON.stringify((await world.dump()).books?.[0]?.notes)).toBe('{"__proto__":{"a":1}}');
    expect(Object.getPrototypeOf(world.table("books").get("b")?.notes)).toBeNull();
  });
});

describe("typed handles", () => {
  test("insert, get, find, update, remove", () => {
    const authors = world.table("authors");
    const books = world.table("books");
    authors.insert(ada);
    const book = books.insert({ author_id: "ada", pages: 7 });
    expect(book.genre).toBe("novel");
    expect(books.find({ author_id: "ada" })).toEqual([book]);
    expect(books.update(book.id, { pages: 8 })?.pages).toBe(8);
    expect(books.update(book.id, { pages: undefined })).not.toHaveProperty("pages");
    expect(books.update("none", { pages: 8 })).toBeUndefined();
    expect(() => authors.remove("ada")).toThrow(WorldRefusal);
    expect(books.remove(book.id)).toBe(true);
    expect(books.remove(book.id)).toBe(false);
    expect(books.size).toBe(0);
  });

  test("a handle stays good after the whole state is replaced", async () => {
    const authors = world.table("authors");
    await world.load({ authors: [ada] });
    expect(authors.get("ada")).toEqual(ada);
  });
});

describe("watching", () => {
  test("every committed change is told once, with the version it made", async () => {
    const changes: WorldChange[] = [];
    const unwatch = world.watch((change) => changes.push(change));
    await world.insert({ authors: [ada], books: [{ id: "b", author_id: "ada" }] });
    await world.update("books", { id: "b" }, { pages: 2 });
    await world.remove("books", { id: "b" });
    await world.load({});
    await problemsOf(world.insert({ authors: [{}] }));
    unwatch();
    await world.insert({ authors: [ada] });
    expect(changes.map(({ stateVersion, table, change }) => `${stateVersion} ${change} ${table}`)).toEqual([
      "1 insert authors",
      "1 insert books",
      "2 update books",
      "3 remove books",
      "4 reset authors",
      "4 reset books",
    ]);
    expect(changes[2]?.row).toMatchObject({ id: "b", pages: 2 });
  });

  test("a listener that writes does not make others hear things out of order", async () => {
    world.watch(({ change, row }) => {
      if (change === "insert" && row?.id === "ada") world.table("authors").insert({ id: "bob", name: "Bob" });
    });
    const heard: unknown[] = [];
    world.watch(({ row }) => heard.push(row?.id));
    await world.insert({ authors: [ada] });
    expect(heard).toEqual(["ada", "bob"]);
  });
});

describe("limits", () => {
  function createCalls() {
    return createMemoryWorld({
      calls: defineTable({
        description: "A call.",
        key: "id",
        columns: {
          id: { type: z.string(), description: "Its id." },
          status: { type: z.enum(["live", "ended"]), description: "Where it stands." },
        },
        limit: { rows: 3, mayEvict: (row) => row.status === "ended" },
      }),
      messages: defineTable({
        description: "Something said.",
        key: "id",
        columns: {
          id: { type: z.string(), description: "Its id." },
          call_id: { type: z.string(), description: "In which call.", references: "calls.id" },
          text: { type: z.string().default(""), description: "The words." },
        },
        limit: { bytes: 4000 },
      }),
    });
  }

  test("the oldest rows that may go make room, and rows that refer to them go along", () => {
    const calls = createCalls();
    const table = calls.table("calls");
    table.insert({ id: "1", status: "live" });
    table.insert({ id: "2", status: "ended" });
    table.insert({ id: "3", status: "ended" });
    calls.table("messages").insert({ id: "m", call_id: "2" });
    const changes: string[] = [];
    calls.watch(({ change, table: name, row }) => changes.push(`${change} ${name} ${row?.id}`));
    table.insert({ id: "4", status: "live" });
    expect(table.all().map(({ id }) => id)).toEqual(["1", "3", "4"]);
    expect(calls.table("messages").size).toBe(0);
    expect(changes.sort()).toEqual(["insert calls 4", "remove calls 2", "remove messages m"]);
  });

  test("when nothing may go the write is refused and nothing goes", () => {
    const calls = createCalls();
    const table = calls.table("calls");
    for (const id of ["1", "2", "3"]) table.insert({ id, status: "live" });
    expect(() => table.insert({ id: "4", status: "live" })).toThrow(/is full/);
    expect(table.size).toBe(3);
  });

  test("a state larger than the limit is refused whole", async () => {
    const calls = createCalls();
    const rows = ["1", "2", "3", "4"].map((id) => ({ id, status: "ended" }));
    expect(await problemsOf(calls.load({ calls: rows }))).toMatchObject([{ table: "calls" }]);
    expect(await calls.counts()).toEqual({ calls: 0, messages: 0 });
  });

  test("a table stays within its bytes however many rows come", () => {
    const calls = createCalls();
    calls.table("calls").insert({ id: "1", status: "live" });
    const messages = calls.table("messages");
    for (let index = 0; index < 500; index++)
      messages.insert({ id: `m${index}`, call_id: "1", text: "x".repeat(100) });
    expect(messages.size).toBeLessThan(40);
    expect(messages.all().at(-1)?.id).toBe("m499");
  });
});

describe("limits on changes", () => {
  function createNotes() {
    return createMemoryWorld({
      notes: defineTable({
        description: "A note.",
        key: "id",
        columns: {
          id: { type: z.string(), description: "Its id." },
          text: { type: z.string(), description: "The words." },
        },
        limit: { bytes: 3000 },
      }),
    });
  }

  test("a row that grows makes the oldest others leave, never itself", () => {
    const notes = createNotes().table("notes");
    for (const id of ["1", "2", "3"]) notes.insert({ id, text: "x".repeat(500) });
    notes.update("1", { text: "x".repeat(1900) });
    expect(notes.all().map(({ id }) => id)).toEqual(["1", "3"]);
  });

  test("a row that would outgrow its table is refused, and nothing leaves", () => {
    const notes = createNotes().table("notes");
    for (const id of ["1", "2"]) notes.insert({ id, text: "short" });
    expect(() => notes.update("1", { text: "x".repeat(5000) })).toThrow(/is full/);
    expect(notes.all().map(({ text }) => text)).toEqual(["short", "short"]);
  });
});

describe("declarations that contradict themselves fail at once", () => {
  test.each([
    ["a type JSON cannot carry", { id: { type: z.date(), description: "" } }, "carried by JSON"],
    ["a key that is no column", { name: { type: z.string(), description: "" } }, "not a column"],
    [
      "a reference to nothing",
      {
        id: { type: z.string(), description: "" },
        other: { type: z.string(), description: "", references: "none.id" },
      },
      "not the key of a table",
    ],
  ])("%s", (_name, columns, message) => {
    const declare = () => createMemoryWorld({ things: { description: "Things.", key: "id", columns } });
    expect(declare).toThrow(message);
  });
});

describe("dump and load are inverse", () => {
  const name = fc.string({ minLength: 1 });
  const author = fc.record({ id: name, name });
  const book = fc.record(
    {
      author_id: fc.constantFrom(null),
      genre: fc.constantFrom("novel", "poem"),
      pages: fc.integer({ min: 1 }),
      published_at: fc.option(
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((d) => d.toISOString()),
      ),
      tags: fc.array(fc.string()),
      notes: fc.jsonValue(),
      in_print: fc.boolean(),
    },
    { requiredKeys: ["author_id"] },
  );
  const state = fc.record({
    authors: fc.uniqueArray(author, { selector: ({ id }) => id }),
    books: fc.array(book),
    owners: fc.array(fc.nat()),
  });

  /** Gives some books an author, so that references are part of every state. */
  function tablesOf({
    authors,
    books,
    owners,
  }: {
    authors: { id: string }[];
    books: object[];
    owners: number[];
  }): Tables {
    return {
      authors,
      books: books.map((row, index) => {
        const owner = authors.length > 0 ? authors[(owners[index] ?? 0) % authors.length] : undefined;
        return owner && index % 2 === 0 ? { ...row, author_id: owner.id } : { ...row };
      }),
    };
  }

  test("load(dump()) changes no row, through JSON as well", async () => {
    await fc.assert(
      fc.asyncProperty(state, async (generated) => {
        const library = createLibrary();
        await library.insert(tablesOf(generated));
        const dump = await library.dump();
        await library.load(dump);
        expect(await library.dump()).toStrictEqual(dump);
        const wire = JSON.stringify(dump);
        await library.load(JSON.parse(wire));
        expect(JSON.stringify(await library.dump())).toBe(wire);
      }),
      { numRuns: 200 },
    );
  });

  test("whatever is written afterwards, loading the dump brings it back", async () => {
    await fc.assert(
      fc.asyncProperty(state, state, async (before, after) => {
        const library = createLibrary();
        await library.insert(tablesOf(before));
        const dump = await library.dump();
        await library.load(tablesOf(after));
        await library.load(dump);
        expect(await library.dump()).toStrictEqual(dump);
      }),
      { numRuns: 100 },
    );
  });
});

test("a world takes more rows at once than a call takes arguments", async () => {
  const many = createMemoryWorld({
    numbers: defineTable({
      description: "Numbers.",
      key: "id",
      columns: { id: { type: z.int(), description: "The number." } },
      limit: { rows: 200_000 },
    }),
  });
  await many.load({ numbers: Array.from({ length: 200_000 }, (_, id) => ({ id })) });
  expect(await many.counts()).toEqual({ numbers: 200_000 });
});

describe("a key of several columns", () => {
  const shelf = () =>
    createMemoryWorld({
      things: defineTable({
        description: "What somebody has.",
        key: "name",
        within: ["owner"],
        columns: {
          name: { type: z.string(), description: "Its name." },
          owner: { type: z.string().default("nobody"), description: "Whose it is." },
          size: { type: z.number().default(0), description: "How large it is." },
        },
      }),
    });
  const keyOf = (name: string, owner: string) => identityIn([name, owner]);

  test("is described, and rows are told apart by all of it", async () => {
    const world = shelf();
    const things = world.table("things");
    things.insert({ name: "a" });
    things.insert({ name: "a", owner: "ann", size: 1 });
    expect(() => things.insert({ name: "a", owner: "ann" })).toThrow("exists already");
    expect((await world.schema())[0]).toMatchObject({ key: "name", key_columns: ["name", "owner"] });
    expect(things.get(keyOf("a", "ann"))?.size).toBe(1);
    expect(things.update(keyOf("a", "ann"), { size: 2 })).toMatchObject({ owner: "ann", size: 2 });
    expect(things.update(keyOf("a", "bob"), { size: 2 })).toBeUndefined();
    expect(things.find({ name: "a" }).map(({ size }) => size)).toEqual([0, 2]);
    await world.updateEach([
      { table: "things", row: 0, key: { name: "a", owner: "nobody" }, changes: { size: 7 } },
    ]);
    expect(things.get(keyOf("a", "nobody"))?.size).toBe(7);
    const copy = shelf();
    await copy.load(await world.dump());
    expect(await copy.dump()).toEqual(await world.dump());
    expect([things.remove(keyOf("a", "nobody")), things.size]).toEqual([true, 1]);
  });

  test("changes with a column of it, unless another row has it then", () => {
    const world = shelf();
    const things = world.table("things");
    const changes: string[] = [];
    things.insert({ name: "a" });
    things.insert({ name: "a", owner: "ann" });
    world.watch(({ change, row }) => changes.push(`${change} ${row?.owner}`));
    expect(() => things.update(keyOf("a", "ann"), { owner: "nobody" })).toThrow("exists already");
    expect(things.update(keyOf("a", "ann"), { owner: "bob" })).toMatchObject({ owner: "bob" });
    expect(things.get(keyOf("a", "ann"))).toBeUndefined();
    expect(things.get(keyOf("a", "bob"))).toMatchObject({ name: "a", owner: "bob" });
    expect(changes).toEqual(["remove ann", "update bob"]);
  });
});
