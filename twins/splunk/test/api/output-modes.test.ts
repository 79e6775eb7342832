/** The bodies of answers in every form that there is, byte by byte where clients read them that way. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
  await splunk.add(
    // A field is what its first value is: a number with a fraction.
    { _id: "2", _raw: "second line=2\nof two", "@timestamp": "2026-01-31T09:00:01.000Z", n: 2.5 },
    {
      _id: "1",
      _raw: 'a "quoted" <tag> & more',
      "@timestamp": "2026-01-31T09:00:00.250Z",
      n: 5,
      tag: ["x", "y z"],
    },
  );
});
afterAll(() => splunk.stop());

const REPORT = "search * | table n tag";
const EMPTY = "search n=99 | table n tag";

async function jobOf(search: string, more: Parameters = {}): Promise<string> {
  const answer = await splunk.ask("POST", "/services/search/jobs", {
    output_mode: "json",
    exec_mode: "blocking",
    search,
    ...more,
  });
  return answer.body.sid;
}

async function results(search: string, parameters: Parameters, of = "results") {
  const sid = await jobOf(search);
  return splunk.ask("POST", `/services/search/v2/jobs/${sid}/${of}`, parameters);
}

describe("results of a report", () => {
  test("as XML", async () => {
    const { text, headers } = await results(REPORT, {});
    expect(headers.get("content-type")).toBe("text/xml; charset=UTF-8");
    expect(text).toBe(`<?xml version='1.0' encoding='UTF-8'?>

<results preview='0'>
<meta>
<fieldOrder>
<field>n</field>
<field>tag</field>
</fieldOrder>
</meta>
	<result offset='0'>
		<field k='n'>
			<value><text>2.5</text></value>
		</field>
	</result>
	<result offset='1'>
		<field k='n'>
			<value><text>5</text></value>
		</field>
		<field k='tag'>
			<value><text>x</text></value>
			<value><text>y z</text></value>
		</field>
	</result>
</results>
`);
  });

  test("as JSON, in one line", async () => {
    const { text, headers } = await results(REPORT, { output_mode: "json" });
    expect(headers.get("content-type")).toBe("application/json; charset=UTF-8");
    expect(text).toBe(
      '{"preview":false,"init_offset":0,"messages":[],"fields":[{"name":"n"},{"name":"tag"}],"results":[{"n":"2.5"},{"n":"5","tag":["x","y z"]}],"highlighted":{}}',
    );
  });

  test("as rows and as columns", async () => {
    expect((await results(REPORT, { output_mode: "json_rows" })).body).toEqual({
      preview: false,
      init_offset: 0,
      messages: [],
      fields: ["n", "tag"],
      rows: [
        ["2.5", null],
        ["5", ["x", "y z"]],
      ],
    });
    expect((await results(REPORT, { output_mode: "json_cols" })).body).toMatchObject({
      fields: ["n", "tag"],
      columns: [
        ["2.5", "5"],
        [null, ["x", "y z"]],
      ],
    });
  });

  test("as CSV: bare when it is letters and digits alone, else in quotes", async () => {
    const { text, headers } = await results(REPORT, { output_mode: "csv" });
    expect(headers.get("content-type")).toBe("text/csv; charset=UTF-8");
    expect(text).toBe('n,tag\n"2.5",\n5,"x\ny z"\n');
  });

  test("a multi-value of one value is a text in every form, whatever made it", async () => {
    const search =
      '| makeresults | eval one=split("a",","), made="b" | makemv delim="," made | eval two=split("a,b",",") | stats values(one) as values list(made) as list values(two) as two';
    const row = { values: "a", list: "b", two: ["a", "b"] };
    expect((await results(search, { output_mode: "json" })).body.results).toEqual([row]);
    expect((await results(search, { output_mode: "json_rows" })).body.rows).toEqual([Object.values(row)]);
    expect((await results(search, { output_mode: "json_cols" })).body.columns).toEqual([
      ["a"],
      ["b"],
      [["a", "b"]],
    ]);
    expect((await results(search, { output_mode: "csv" })).text).toBe('values,list,two\na,b,"a\nb"\n');
    expect((await results(search, {})).text).toContain(
      "<field k='values'>\n\t\t\t<value><text>a</text></value>\n\t\t</field>",
    );
    expect((await results(search, { output_mode: "atom" })).text).toContain('<s:key name="values">a</s:key>');
  });

  test("as Atom", async () => {
    const { text } = await results(REPORT, { output_mode: "atom" });
    expect(text).toContain('<s:key name="n">2.5</s:key>');
    expect(text).toMatch(/<s:key name="tag">\s*<s:list>\s*<s:item>x<\/s:item>/);
  });

  test("as raw text", async () => {
    const { text } = await results("search *", { output_mode: "raw" });
    expect(text).toBe('second line=2\nof two\na "quoted" <tag> & more\n');
  });

  test("with the BY fields ranked, and the columns that top makes named", async () => {
    const by = await results("search * | stats count by n", { output_mode: "json" });
    expect(by.body.fields).toEqual([{ name: "n", groupby_rank: "0" }, { name: "count" }]);
    expect(by.body.results).toEqual([
      { n: "2.5", count: "1" },
      { n: "5", count: "1" },
    ]);
    expect((await results("search * | stats count by n", {})).text).toContain(
      '<field groupby_rank="0">n</field>',
    );
  });
});

describe("results without rows", () => {
  test.each([
    ["json", '{"preview":false,"init_offset":0,"post_process_count":0,"messages":[],"results":[]}'],
    ["json_rows", '{"preview":false,"init_offset":0,"messages":[],"fields":[],"rows":[]}'],
    ["json_cols", '{"preview":false,"init_offset":0,"messages":[],"fields":[],"columns":[]}'],
    ["xml", "<?xml version='1.0' encoding='UTF-8'?>\n\n<results preview='0'/>"],
    ["csv", ""],
    ["raw", ""],
  ])("as %s", async (output_mode, body) => {
    expect((await results(EMPTY, { output_mode })).text).toBe(body);
  });
});

describe("events", () => {
  test("have their default fields by name, times in ISO 8601, and text as it was written", async () => {
    const { body } = await results("search *", { output_mode: "json", count: 1, offset: 1 });
    const names = body.fields.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...names].sort());
    for (const name of [
      "_bkt",
      "_cd",
      "_indextime",
      "_raw",
      "_serial",
      "_si",
      "_time",
      "host",
      "index",
      "linecount",
    ]) {
      expect(names).toContain(name);
    }
    expect(body.results).toMatchObject([
      {
        _raw: 'a "quoted" <tag> & more',
        _time: "2026-01-31T09:00:00.250+00:00",
        _serial: "1",
        index: "main",
        n: "5",
      },
    ]);
    expect(body.init_offset).toBe(1);
  });

  test("are escaped in XML, and marked in segments when that is asked for", async () => {
    const plain = await results("search quoted", {}, "events");
    expect(plain.text).toContain(
      "<field k='_raw'><v xml:space='preserve' trunc='0'>a \"quoted\" &lt;tag&gt; &amp; more</v></field>",
    );
    const marked = await results("search quoted", { segmentation: "full", f: "_raw" }, "events");
    expect(marked.text).toContain('a</sg> "<sg>quoted</sg>" &lt;<sg>tag</sg>&gt; &amp; <sg>more</sg>');
    expect((await results("search quoted", { segmentation: "odd" }, "events")).status).toBe(400);
  });

  test("are cut to the lines that are asked for, and their times written in the format asked for", async () => {
    const { body } = await results(
      "search line",
      { output_mode: "json", max_lines: 1, output_time_format: "%d/%m/%Y %H:%M:%S" },
      "events",
    );
    expect(body.results).toMatchObject([{ _raw: "second line=2", _time: "31/01/2026 09:00:01" }]);
  });

  test("are those of the time that is asked for, the earliest included and the latest not", async () => {
    for (const search of ["search *", "search * | stats count"]) {
      const sid = await jobOf(search);
      const within = async (range: Parameters) => {
        const path = `/services/search/v2/jobs/${sid}/events`;
        const { status, body } = await splunk.ask("GET", path, { output_mode: "json", ...range });
        return status === 200 ? body.results.map(({ n }: { n: string }) => n) : status;
      };
      expect(await within({ earliest_time: "2026-01-31T09:00:01.000Z" })).toEqual(["2.5"]);
      expect(await within({ latest_time: "2026-01-31T09:00:01.000Z" })).toEqual(["5"]);
      expect(await within({ earliest_time: "1769850000.250", latest_time: "1769850000.251" })).toEqual(["5"]);
      expect(await within({ latest_time: "1769850000.250" })).toEqual([]);
      expect(await within({ earliest_time: "yesterday-ish" })).toBe(400);
      expect(await within({ earliest_time: "rt" })).toBe(400);
    }
  });

  test("of a report are those before it", async () => {
    const { body } = await results("search * | stats count", { output_mode: "json" }, "events");
    expect(body.results.map(({ n }: { n: string }) => n)).toEqual(["2.5", "5"]);
  });
});

describe("a part of the results", () => {
  const numbers = async (parameters: Parameters) =>
    (
      await results("search * | sort n", { output_mode: "json_rows", f: "n", ...parameters })
    ).body.rows.flat();

  test("is a page, counted from the end too", async () => {
    expect(await numbers({ count: 1 })).toEqual(["2.5"]);
    expect(await numbers({ count: 1, offset: 1 })).toEqual(["5"]);
    expect(await numbers({ offset: -1 })).toEqual(["5"]);
    expect(await numbers({ count: 0 })).toEqual(["2.5", "5"]);
    expect(await numbers({ offset: 9 })).toEqual([]);
    expect((await results("search *", { count: "many" })).status).toBe(400);
  });

  test("has the fields that are asked for", async () => {
    const fields = async (parameters: Parameters) =>
      (await results("search *", { output_mode: "json_rows", ...parameters })).body.fields;
    expect(await fields({ f: ["n", "_raw"] })).toEqual(["_raw", "n"]);
    expect(await fields({ field_list: "tag,n" })).toEqual(["n", "tag"]);
    expect(await fields({ f: "_s*" })).toEqual(["_serial", "_si", "_sourcetype"]);
  });

  test("is what a search over the results finds, which says how much that is", async () => {
    const found = await results("search *", { output_mode: "json", search: "search n>3 | fields n" });
    expect(found.body).toMatchObject({ post_process_count: 1, results: [{ n: "5" }] });
    const none = await results("search *", { output_mode: "json", search: "search n>99" });
    expect(none.body).toMatchObject({ post_process_count: 0, results: [] });
    const wrong = await results("search *", { output_mode: "json", search: "nosuch" });
    expect([wrong.status, wrong.body.messages[0].text]).toEqual([400, "Unknown search command 'nosuch'."]);
  });

  test("has statistics of its fields when they are asked for", async () => {
    const { body } = await results(REPORT, { output_mode: "json", add_summary_to_metadata: 1 });
    expect(body.fields[0]).toMatchObject({
      name: "n",
      "summary.count": "2",
      "summary.distinct_count": "2",
      "summary.numeric_count": "2",
      "summary.max": "5",
      "summary.mean": "3.75",
    });
  });
});

describe("an export", () => {
  const exported = (parameters: Parameters) =>
    splunk.ask("POST", "/services/search/v2/jobs/export", { search: REPORT, ...parameters });

  test("is one object a line in JSON, the last of them said to be so", async () => {
    const { text } = await exported({ output_mode: "json" });
    expect(text).toBe(
      '{"preview":false,"offset":0,"result":{"n":"2.5"}}\n{"preview":false,"offset":1,"lastrow":true,"result":{"n":"5","tag":["x","y z"]}}\n',
    );
    expect((await exported({ output_mode: "json", search: EMPTY })).text).toBe(
      '{"preview":false,"lastrow":true}\n',
    );
  });

  test("is one document of rows or of columns when those are asked for", async () => {
    const of = async (output_mode: string, search = REPORT) => (await exported({ output_mode, search })).text;
    const head = '{"preview":false,"init_offset":0,"messages":[],"fields":';
    expect(await of("json_rows")).toBe(`${head}["n","tag"],"rows":[["2.5",null],["5",["x","y z"]]]}\n`);
    expect(await of("json_cols")).toBe(`${head}["n","tag"],"columns":[["2.5","5"],[null,["x","y z"]]]}\n`);
    expect(await of("json_rows", EMPTY)).toBe(`${head}[],"rows":[]}\n`);
  });

  test("is a document in XML, and rows in CSV and as raw text", async () => {
    const xml = (await exported({})).text;
    expect(xml.startsWith("<?xml version='1.0' encoding='UTF-8'?>\n<results preview='0'>\n<meta>")).toBe(
      true,
    );
    expect(xml.match(/<result offset=/g)).toHaveLength(2);
    expect(xml.endsWith("</results>\n")).toBe(true);
    expect((await exported({ output_mode: "csv" })).text).toBe('n,tag\n"2.5",\n5,"x\ny z"\n');
    expect((await exported({ output_mode: "raw", search: "search quoted" })).text).toBe(
      'a "quoted" <tag> & more\n',
    );
  });

  test("leaves no job, and says what is wrong with a search", async () => {
    const before = (await splunk.ask("GET", "/services/search/jobs", { output_mode: "json" })).body.paging
      .total;
    await exported({ output_mode: "json" });
    const after = (await splunk.ask("GET", "/services/search/jobs", { output_mode: "json" })).body.paging
      .total;
    expect(after).toBe(before);
    const wrong = await exported({ search: "search * | nosuch", output_mode: "json" });
    expect([wrong.status, wrong.body.messages[0]]).toEqual([
      400,
      { type: "FATAL", text: "Unknown search command 'nosuch'." },
    ]);
  });
});

describe("a job", () => {
  test("is an entry of its own in Atom, with truth values as 1 and 0", async () => {
    const sid = await jobOf("search * | stats count");
    const { text } = await splunk.ask("GET", `/services/search/jobs/${sid}`);
    expect(text).toMatch(
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<\?xml-stylesheet[^\n]*\n<entry xmlns=/,
    );
    expect(text).toContain("<title>search * | stats count</title>");
    expect(text).toContain('<s:key name="isDone">1</s:key>');
    expect(text).toContain('<s:key name="eventCount">2</s:key>');
    expect(text).toContain(`<link href="/services/search/jobs/${sid}/search.log" rel="search.log"/>`);
    expect(text).toMatch(/<s:key name="eai:acl">\s*<s:dict>/);
  });

  test("is one of a feed in JSON, where the list has no messages and no links", async () => {
    const { body } = await splunk.ask("GET", "/services/search/jobs", { output_mode: "json", count: 1 });
    expect(body.links).toEqual({});
    expect(body).not.toHaveProperty("messages");
    expect(body.paging).toMatchObject({ perPage: 1, offset: 0 });
    expect(body.generator.version).toBe("10.4.2");
    expect(body.entry[0]).toMatchObject({ author: "admin", acl: { sharing: "global", ttl: "600" } });
  });

  test("is started with a sid in an element, and a place to look for it", async () => {
    const { status, text, headers } = await splunk.ask("POST", "/services/search/jobs", {
      search: "search *",
    });
    expect(status).toBe(201);
    const [, sid = ""] = /<sid>(\d+\.\d+)<\/sid>/.exec(text) ?? [];
    expect(text).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<response>\n  <sid>${sid}</sid>\n</response>\n`,
    );
    expect(headers.get("location")).toBe(`/services/search/jobs/${sid}`);
  });

  test("is answered at once with its results: XML unless said otherwise, CSV after an empty line", async () => {
    const ask = (parameters: Parameters) =>
      splunk.ask("POST", "/services/search/jobs", { exec_mode: "oneshot", search: REPORT, ...parameters });
    expect((await ask({})).text).toMatch(
      /^<\?xml version='1\.0' encoding='UTF-8'\?>\n\n<results preview='0'>/,
    );
    expect((await ask({ output_mode: "csv" })).text).toBe('\nn,tag\n"2.5",\n5,"x\ny z"\n');
    expect((await ask({ output_mode: "json", count: 1 })).body.results).toEqual([{ n: "2.5" }]);
  });

  test("has no form that is none of its own", async () => {
    const sid = await jobOf("search *");
    const messages = async (output_mode: string) =>
      (await splunk.ask("GET", `/services/search/jobs/${sid}`, { output_mode })).text;
    expect(await messages("json_rows")).toContain("Invalid output_mode.");
    expect(await messages("csv")).toContain("Output mode 'csv' is not supported for this endpoint.");
    expect(await messages("yaml")).toContain('<msg type="ERROR">Invalid output mode specified (yaml).</msg>');
  });

  test.each([
    ['rex "(?<x>["', "Encountered the following error while compiling the regex '(?<x>[': Regex: missing"],
    ["eval x=nosuch(1)", "The 'nosuch' function is unsupported or undefined."],
    ["search earliest=-30x", `Invalid value "-30x" for time term 'earliest'`],
    ["search earliest=now latest=-1d", "Unable to parse the search: Invalid time bounds in search: start="],
  ])("that fails at work says so once, with 200 when it is answered at once: %s", async (command, text) => {
    const { status, body } = await splunk.ask("POST", "/services/search/jobs", {
      exec_mode: "oneshot",
      output_mode: "json",
      search: command.startsWith("search") ? command : `search * | ${command}`,
    });
    expect([status, body.results]).toEqual([200, []]);
    expect(body.messages).toEqual([{ type: "FATAL", text: expect.stringContaining(text) }]);
    // A job is made of it all the same.
    const sid = await jobOf(command.startsWith("search") ? command : `search * | ${command}`);
    const job = await splunk.ask("GET", `/services/search/jobs/${sid}`, { output_mode: "json" });
    expect(job.body.entry[0].content).toMatchObject({ dispatchState: "FAILED", isFailed: true });
  });

  test("that fails answers with its messages instead of results", async () => {
    const sid = await jobOf("search * | eval x=tonumber(n) | where nosuch(x)").catch(() => undefined);
    if (sid === undefined) return;
    const { status, body } = await splunk.ask("GET", `/services/search/jobs/${sid}/results`, {
      output_mode: "json",
    });
    expect(status).toBe(400);
    expect(body.messages[0].type).toBe("FATAL");
  });
});

describe("figures", () => {
  test("a summary in XML and in JSON", async () => {
    const sid = await jobOf("search *", { status_buckets: 10 });
    const path = `/services/search/jobs/${sid}/summary`;
    const { text } = await splunk.ask("GET", path, { f: "n", top_count: 1 });
    expect(text).toMatch(
      /^<\?xml[^\n]*\n<summary earliest_time='2026-01-31T09:00:00.250\+00:00'.* c='2'>\n {2}<field k='n' c='2' nc='2' dc='2' exact='1'>/,
    );
    const { body } = await splunk.ask("GET", path, { f: "tag", output_mode: "json" });
    expect(body.fields.tag).toMatchObject({ count: 2, distinct_count: 2, numeric_count: 0 });
  });

  test("a timeline in XML and in JSON, with its empty buckets", async () => {
    const sid = await jobOf("search *", {
      status_buckets: 10,
      earliest_time: "1769850000",
      latest_time: "1769850004",
    });
    const path = `/services/search/jobs/${sid}/timeline`;
    const { body } = await splunk.ask("GET", path, { output_mode: "json" });
    expect(body.event_count).toBe(2);
    expect(body.buckets.map(({ total_count }: { total_count: number }) => total_count)).toEqual([1, 1, 0, 0]);
    expect(body.buckets[0]).toMatchObject({
      duration: 1,
      earliest_time: 1_769_850_000,
      earliest_strftime: "2026-01-31T09:00:00.000+00:00",
    });
    expect((await splunk.ask("GET", path)).text).toContain(
      "<bucket c='1' a='1' t='1769850000' d='1' f='1' etz='0' ltz='0'>",
    );
  });
});

describe("the rest of the API", () => {
  test("errors are JSON for who asks for JSON, and XML otherwise", async () => {
    const path = "/services/saved/searches/none";
    expect((await splunk.ask("GET", path, { output_mode: "json" })).body).toEqual({
      messages: [{ type: "ERROR", text: "Could not find object id=none" }],
    });
    expect((await splunk.ask("GET", path)).text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<response>\n  <messages>\n    <msg type="ERROR">Could not find object id=none</msg>\n  </messages>\n</response>\n',
    );
  });

  test("a collection is sorted, searched, cut into pages, and takes no argument that it does not know", async () => {
    const names = async (parameters: Parameters) =>
      (
        await splunk.ask("GET", "/services/apps/local", { output_mode: "json", ...parameters })
      ).body.entry.map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(["launcher", "search", "splunk_httpinput"]);
    expect(await names({ sort_dir: "desc" })).toEqual(["splunk_httpinput", "search", "launcher"]);
    expect(await names({ search: "name=sea*" })).toEqual(["search"]);
    expect(await names({ search: "reporting" })).toEqual(["search"]);
    expect(await names({ count: 1, offset: 1 })).toEqual(["search"]);
    const refusal = async (parameters: Parameters) =>
      (await splunk.ask("GET", "/services/apps/local", { output_mode: "json", ...parameters })).body
        .messages[0];
    expect(await refusal({ colour: "red" })).toEqual({
      type: "ERROR",
      text: 'Argument "colour" is not supported by this handler.',
    });
    expect(await refusal({ sort_dir: "up" })).toEqual({ type: "ERROR", text: 'Unknown sort order "up".' });
  });

  test("an index says what is in it, and no message waits", async () => {
    const { body } = await splunk.ask("GET", "/services/data/indexes/main", { output_mode: "json" });
    expect(body.entry[0].content).toMatchObject({
      totalEventCount: 2,
      minTime: "2026-01-31T09:00:00.250+00:00",
    });
    expect(body.entry[0].links).toMatchObject({ alternate: "/servicesNS/nobody/system/data/indexes/main" });
    expect((await splunk.ask("GET", "/services/messages")).text).not.toContain("<entry");
  });

  test("times are told", async () => {
    const path = "/services/search/timeparser";
    const { body } = await splunk.ask("GET", path, {
      output_mode: "json",
      time: ["-1d@d", "1"],
      now: "1769850000",
    });
    expect(body).toEqual({ "-1d@d": "2026-01-30T00:00:00.000+00:00", "1": "1970-01-01T00:00:01.000+00:00" });
    expect((await splunk.ask("GET", path, { time: "soon" })).status).toBe(400);
  });

  test("what is not there is said to be so", async () => {
    const text = async (method: string, path: string) => (await splunk.ask(method, path)).text;
    expect(await text("GET", "/services/search/nothing")).toContain(
      '<msg type="FATAL">Unknown endpoint.</msg>',
    );
    expect(await text("GET", "/services/nothing")).toContain('<msg type="ERROR">Not Found</msg>');
    const parser = await splunk.ask("GET", "/services/search/parser", { q: "search *" });
    expect([parser.status, parser.headers.get("allow")]).toEqual([405, "POST"]);
    expect(parser.text).toContain('<msg type="FATAL">The method is not allowed.</msg>');
    const asked = async (path: string) =>
      (await splunk.ask("GET", path, { output_mode: "json" })).body.messages;
    expect(await asked("/services/search/nothing")).toEqual([{ type: "FATAL", text: "Unknown endpoint." }]);
    expect(await asked("/services/nothing")).toEqual([{ type: "ERROR", text: "Not Found" }]);
    expect(await asked("/services/search/parser")).toEqual([
      { type: "FATAL", text: "The method is not allowed." },
    ]);
  });

  test("a method that is not there is refused in the words of what it is asked of", async () => {
    const sid = await jobOf("search * | head 1");
    const said = async (method: string, path: string, more: Parameters = {}) => {
      const { status, body } = await splunk.ask(method, `/services/${path}`, {
        output_mode: "json",
        ...more,
      });
      return [status, ...body.messages.flatMap(({ type, text }: Record<string, string>) => [type, text])];
    };
    for (const part of ["control", "results", "events", "summary", "timeline"]) {
      const refused = [405, "FATAL", "Method Not Allowed"];
      expect(await said("DELETE", `search/jobs/${sid}/${part}`)).toEqual(refused);
    }
    for (const path of [
      "search/jobs/export",
      "search/v2/jobs/export",
      "search/parser",
      "search/timeparser",
    ]) {
      expect(await said("DELETE", path)).toEqual([405, "FATAL", "The method is not allowed."]);
    }
    // Of a job that is not there its control says so first, what only reads says it never.
    for (const path of ["search/jobs/none/control", "search/v2/jobs/none/control"]) {
      expect(await said("DELETE", path)).toEqual([404, "FATAL", "Unknown sid."]);
    }
    for (const part of ["results", "events", "summary", "timeline"]) {
      expect(await said("DELETE", `search/jobs/none/${part}`)).toEqual([405, "FATAL", "Method Not Allowed"]);
    }
    for (const method of ["DELETE", "PUT"]) {
      const { headers } = await splunk.ask(method, `/services/search/jobs/${sid}/control`);
      expect(headers.get("allow")).toBe("POST");
    }
    expect(await said("PUT", "search/jobs/none/control")).toEqual([405, "ERROR", "Method Not Allowed"]);
    expect(await said("DELETE", "saved/searches/none/dispatch")).toEqual([
      404,
      "ERROR",
      "Invalid custom action for this internal handler (handler: savedsearch, custom action: dispatch, eai action: remove).",
    ]);
    const sorted = async (more: Parameters) =>
      (await splunk.ask("GET", "/services/saved/searches", { output_mode: "json", ...more })).status;
    expect([await sorted({ sort_mode: "1" }), await sorted({ sort_dir: "x" })]).toEqual([200, 400]);
    expect(await said("GET", "search/jobs", { sort_dir: "asc" })).toEqual([
      400,
      "FATAL",
      "Number of sort_key and sort_dir arguments do not match.",
    ]);
  });

  test("a form that asks for JSON gets what the platform refuses, and what a fault answers, as JSON", async () => {
    const asked = async (path: string, parameters: Parameters, headers = {}) =>
      splunk.ask("POST", path, { output_mode: "json", ...parameters }, headers);
    const nowhere = await asked("/services/search/nothing", {});
    expect([nowhere.status, nowhere.body]).toEqual([
      404,
      { messages: [{ type: "FATAL", text: "Unknown endpoint." }] },
    ]);
    const method = await asked("/services/search/timeparser", { time: "now" });
    expect([method.status, method.body.messages[0].text]).toEqual([405, "The method is not allowed."]);
    const armed = await splunk.control("POST", "/faults", {
      effect: "status",
      status: 503,
      operation: "job.create",
    });
    expect(armed.status, armed.text).toBeLessThan(300);
    const failing = await asked("/services/search/jobs", { search: "search *" });
    expect([failing.status, failing.body.messages[0].type]).toEqual([503, "WARN"]);
    const xml = await asked("/services/search/jobs", { search: "search *", output_mode: "xml" });
    expect([xml.status, xml.headers.get("content-type")]).toEqual([503, "text/xml; charset=UTF-8"]);
    await splunk.control("DELETE", "/faults");
  });
});
