/** Requests to the Splunk twin. */

import { phrase } from "@offhook/platform/testing/fuzz/fields";
import { brokenText, encode, mutate, queryOf } from "@offhook/platform/testing/fuzz/mutation";
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import { isJson, type Shape } from "@offhook/platform/testing/fuzz/rules";
import { type ListedOperation, pathOf, requestsTo } from "@offhook/platform/testing/fuzz/targets";
import { anyOf, hostileString, hostileValue, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { spl } from "./grammar/spl.ts";
import { expression } from "./grammar/spl-expression.ts";

export const SPLUNK_TOKEN = "splunk-twin-token";
export const COLLECTOR_TOKEN = "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70";

const name = fc.oneof(words("x errors admin main a/b a+b a%2Fb _new acl nope"), hostileString);
const parameters = {
  name,
  sid: fc.oneof(words("job1 job2 nope"), hostileString),
  owner: words("- nobody admin alice"),
  app: words("- search system nope"),
  conf: words("conf-macros conf-savedsearches conf-inputs conf-nope macros"),
  file: words("macros limits nope"),
  stanza: fc.oneof(words("search default nope"), hostileString),
};
const time = fc.oneof(
  words("-1h@h now 0 1769763602 2026-01-30T09:00:00.000+00:00 rt-5m x 1e400 -9999999d @w0"),
  hostileString,
);
const number = words("0 1 10 -1 1e3 x 99999999999 50000");
const flag = words("0 1 true f x");
const outputMode = words("json json json_rows json_cols csv xml raw");
const common = {
  output_mode: fc.oneof({ weight: 12, arbitrary: outputMode }, { weight: 1, arbitrary: words("atom x") }),
  count: number,
  offset: number,
  f: words("title sid x"),
  search: spl,
  sort_key: words("name nope"),
  sort_dir: words("asc desc x"),
};
const jobArguments = {
  search: spl,
  exec_mode: words("oneshot blocking normal x"),
  earliest_time: time,
  latest_time: time,
  max_count: number,
  max_time: words("1 2 x"),
  id: words("job1 job2 a/b"),
  status_buckets: number,
  rf: words("* host x"),
  timeout: number,
  adhoc_search_level: words("fast smart verbose x"),
  output_mode: common.output_mode,
  field_list: words("* host nope"),
  segmentation: words("raw inner x"),
  action: words("pause unpause finalize cancel touch setttl setpriority enablepreview save x"),
  ttl: number,
  priority: number,
};
const objectArguments = {
  name,
  search: spl,
  definition: spl,
  args: words("a a,b x(1)"),
  iseval: flag,
  cron_schedule: words("*_*_*_*_* 0 x").map((one) => one.replaceAll("_", " ")),
  is_scheduled: flag,
  disabled: flag,
  password: phrase,
  roles: words("admin user nope"),
  datatype: words("event metric x"),
  value: phrase,
  sharing: words("app global user x"),
  owner: words("admin nobody nope"),
  "perms.read": words("* admin nope"),
  "eai:data": phrase,
  "dispatch.earliest_time": time,
  alert_type: words("always custom x"),
  alert_condition: spl,
  expiration: words("1h x"),
  severity: number,
  trigger: flag,
};

const form = (fields: Record<string, fc.Arbitrary<string>>) =>
  queryOf(fields, { max: 5 }).map((query) => query.slice(1));
/** What is taken beside a search; each at most once. */
const beside = anyOf({
  earliest_time: words("0 -1h@h 1769763602 2026-01-30T09:00:00.000+00:00"),
  latest_time: words("now 1769767202 +1d"),
  max_count: words("1 10 50000"),
  count: words("0 1 10"),
  offset: words("0 5"),
  status_buckets: words("0 10 300"),
  rf: words("* host"),
  adhoc_search_level: words("fast smart verbose"),
  field_list: words("* host,x nope"),
  segmentation: words("raw inner outer full none"),
  f: words("host x"),
});
const job = fc.record({
  search: spl,
  exec_mode: words("oneshot oneshot oneshot oneshot oneshot oneshot blocking normal"),
  output_mode: outputMode,
  given: fc.oneof(fc.constant({}), beside),
});
const jobForm = fc.oneof(
  {
    weight: 10,
    arbitrary: job.map(({ given, ...rest }) =>
      Object.entries({ ...rest, max_time: "4", ...given })
        .map(([name, value]) => `${name}=${encode(value)}`)
        .join("&"),
    ),
  },
  { weight: 1, arbitrary: form(jobArguments) },
);

const event = mutate(
  anyOf({
    event: fc.oneof<fc.Arbitrary<unknown>[]>(phrase, hostileValue),
    time: fc.oneof<fc.Arbitrary<unknown>[]>(time, fc.constantFrom(1769763602, 1769763602.5, -1, 1e300)),
    host: phrase,
    source: phrase,
    sourcetype: phrase,
    index: words("main x nope _internal"),
    fields: fc.oneof<fc.Arbitrary<unknown>[]>(
      fc.dictionary(phrase, hostileValue, { maxKeys: 3 }),
      hostileValue,
    ),
  }),
);
const events = fc
  .array(event, { maxLength: 3 })
  .chain((list) =>
    words("_ \n ,").map((between) =>
      list.map((one) => JSON.stringify(one) ?? "").join(between === "_" ? "" : between),
    ),
  );
const collected = fc.oneof({ weight: 5, arbitrary: events }, { weight: 1, arbitrary: brokenText(events) });
const model = mutate(
  fc.constant({
    modelName: "x",
    objects: [{ objectName: "o", fields: [{ fieldName: "a", type: "string" }] }],
  }),
).map((value) => `name=x&eai:data=${encode(JSON.stringify(value) ?? "")}`);

interface Body {
  type: string;
  of: fc.Arbitrary<string | Buffer>;
}
const FORM = "application/x-www-form-urlencoded";
function bodyOf(path: string): Body {
  if (path.includes("/collector")) return { type: "application/json", of: collected };
  if (path.includes("/receivers/")) return { type: "text/plain", of: phrase };
  if (path.includes("/datamodel/")) return { type: FORM, of: model };
  if (path.includes("/search/jobs") || path.includes("/v2/jobs") || path.includes("parser")) {
    return { type: FORM, of: jobForm };
  }
  const parser = path.endsWith("timeparser") ? form({ time, q: expression }) : form(objectArguments);
  return {
    type: FORM,
    of: fc.oneof({ weight: 8, arbitrary: parser }, { weight: 1, arbitrary: brokenText(parser) }),
  };
}

/** Searches that are answered at once. */
export const splQueries: fc.Arbitrary<FuzzRequest> = fc
  .record({ search: spl, output_mode: outputMode })
  .map((given) => ({
    method: "POST",
    path: "/services/search/jobs",
    headers: { authorization: `Splunk ${SPLUNK_TOKEN}`, "content-type": FORM },
    body: `search=${encode(given.search)}&output_mode=${given.output_mode}&exec_mode=oneshot&max_time=4`,
  }));

/** A restart of the server ends what others are asking. */
const weightOf = ({ method, path }: ListedOperation) => {
  if (method === "POST" && /jobs$|export$/.test(path)) return 120;
  if (path.includes("/collector")) return 4;
  return path.startsWith("/servicesNS") ? 1 : 2;
};

export const splunkRequests = (operations: readonly ListedOperation[]) =>
  requestsTo(operations, requestOf, weightOf);

function requestOf({ method, path }: ListedOperation): fc.Arbitrary<FuzzRequest> {
  const { type, of } = bodyOf(path);
  const token = path.includes("/collector") ? COLLECTOR_TOKEN : SPLUNK_TOKEN;
  const authorization = fc.oneof(
    { weight: 30, arbitrary: fc.constant(`Splunk ${token}`) },
    {
      weight: 1,
      arbitrary: words("Basic_x Bearer_x Splunk Splunk_nope").map((one) => one.replace("_", " ")),
    },
  );
  const query = path.endsWith("typeahead")
    ? queryOf({ prefix: phrase, ...common })
    : method === "POST" && /jobs$|export$/.test(path)
      ? // What stands in both is given twice.
        fc.oneof({ weight: 20, arbitrary: fc.constant("") }, { weight: 1, arbitrary: queryOf(jobArguments) })
      : queryOf(path.includes("jobs") ? { ...common, ...jobArguments } : common);
  return fc
    .record({
      path: pathOf(path, parameters, hostileString),
      query,
      authorization,
      channel: fc.option(words("0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba x"), { nil: undefined }),
      body: method === "POST" ? of : fc.constant(undefined),
    })
    .map((made) => ({
      method,
      path: `${made.path}${made.query}`,
      headers: {
        authorization: made.authorization,
        ...(made.body === undefined ? {} : { "content-type": type }),
        ...(made.channel !== undefined && path.includes("/collector")
          ? { "x-splunk-request-channel": made.channel }
          : {}),
      },
      body: made.body,
    }));
}

export const splunkShape: Shape = {
  refusal({ body, status }, { path }) {
    if (path.includes("/collector")) {
      return isJson(body) && /"code":\d+/.test(body) ? undefined : `a collector's refusal with ${status}`;
    }
    const said = /<msg type=|"messages":|"type":|<response>/.test(body) || body === "";
    return said ? undefined : `a refusal with ${status} without messages: ${body.slice(0, 80)}`;
  },
};
