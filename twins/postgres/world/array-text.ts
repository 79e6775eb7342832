/** Postgres' text form of an array: `{1,NULL,"a \"b\""}`, nested braces for further dimensions. */

/** Nested lists are the dimensions of an array. */
export type Nested<Item> = (Item | Nested<Item>)[];

/** `undefined` for an array with explicit bounds (`[0:1]={a,b}`), which lists cannot express. */
export function parseArrayText(text: string): Nested<string | null> | undefined {
  if (!text.startsWith("{")) return undefined;
  let at = 0;

  const quoted = (): string => {
    let item = "";
    for (at++; text[at] !== '"'; at++) {
      if (text[at] === "\\") at++;
      item += text.charAt(at);
    }
    at++;
    return item;
  };
  const bare = (): string | null => {
    const start = at;
    while (text[at] !== "," && text[at] !== "}") at++;
    const item = text.slice(start, at);
    return item === "NULL" ? null : item;
  };
  const list = (): Nested<string | null> => {
    const items: Nested<string | null> = [];
    at++;
    while (text[at] !== "}") {
      if (text[at] === ",") at++;
      if (text[at] === "{") items.push(list());
      else items.push(text[at] === '"' ? quoted() : bare());
    }
    at++;
    return items;
  };
  return list();
}

export function writeArrayText(items: Nested<string | null>): string {
  const texts = items.map((item) => {
    if (item === null) return "NULL";
    if (Array.isArray(item)) return writeArrayText(item);
    return `"${item.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  });
  return `{${texts.join(",")}}`;
}
