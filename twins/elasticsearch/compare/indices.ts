/** The indices that are compared: with explicit mappings, and with what dynamic mapping makes of the same documents. */

const keyword = { type: "keyword" };
const textAndKeyword = { type: "text", fields: { keyword } };

const mappings = {
  properties: {
    at: { type: "date" },
    message: { type: "text" },
    title: textAndKeyword,
    level: textAndKeyword,
    host: textAndKeyword,
    tags: textAndKeyword,
    code: { type: "integer" },
    took: { type: "float" },
    sizes: { type: "short" },
    ok: { type: "boolean" },
    user: { properties: { name: textAndKeyword, age: { type: "byte" } } },
    service: keyword,
    zone: { ...keyword, normalizer: "lowercase" },
    status: { type: "integer" },
    rank: { type: "short" },
    bytes: { type: "long" },
    ratio: { type: "half_float" },
    load: { type: "double" },
    day: { type: "date", format: "dd.MM.yyyy" },
    client: { type: "ip" },
    active: { type: "boolean" },
  },
};

/** A refresh amid the writing makes two segments, and merging puts the larger first: documents would change their order. */
const settings = { number_of_shards: 1, number_of_replicas: 0, refresh_interval: "-1" };

/** What each index is made with; a request's path begins with its name. */
export const indices: Readonly<Record<string, object>> = {
  mapped: { settings, mappings },
  dynamic: { settings },
};
