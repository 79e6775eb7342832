/** For test/house/pack.test.ts: the vendor's client and the installed package, run by plain Node. */
import assert from "node:assert/strict";
import splunkjs from "splunk-sdk";

export default async function ({ SPLUNK_URL, SPLUNK_TOKEN }) {
  const { hostname, port } = new URL(SPLUNK_URL);
  const service = new splunkjs.Service({
    scheme: "http",
    host: hostname,
    port,
    sessionKey: SPLUNK_TOKEN,
    authorization: "Bearer",
    autologin: false,
  });
  service.prefix = SPLUNK_URL;
  // It reads a table of addresses that is packed beside its code.
  const search = '| makeresults | eval ip="8.8.8.8" | iplocation ip | table Country';
  const { results } = await service.oneshotSearch(search, { output_mode: "json" });
  assert.deepEqual(results, [{ Country: "United States" }]);
}
