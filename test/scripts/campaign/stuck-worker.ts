/** A worker whose calls never end. Its arguments: the database's address, and the campaign. */
import { Worker } from "@offhook/campaign/worker";

const [databaseUrl = "", campaign = ""] = process.argv.slice(2);
const worker = await Worker.start({
  ...{ databaseUrl, campaign, name: "stuck", concurrency: 4 },
  place: () => new Promise(() => undefined),
});
await worker.ended;
