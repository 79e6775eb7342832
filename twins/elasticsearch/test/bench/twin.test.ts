import path from "node:path";
import { writeDatasets, writeEnvironment } from "@offhook/log-store/bench/files";
import { type House, openHouse } from "@offhook/log-store/bench/house";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { difference, questionsOf } from "../../bench/asked.ts";
import { TwinClient, upload } from "../../bench/http.ts";
import { startFloor, startTwin } from "../../bench/programs.ts";

const EVENTS = 20_000;

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

describe("the search twin", () => {
  it("answers every question of the bench as SQL by hand does", async () => {
    const { files, facts } = await writeDatasets(house.folder, EVENTS);
    const floor = startFloor(house);
    const database = path.join(house.folder, "ndjson.duckdb");
    await floor.ask("load", { file: files.ndjson, format: "ndjson", database });
    await floor.ask("extend", { database });
    await floor.ask("open", { database });

    const { datasetFolder } = house;
    const environmentFile = await writeEnvironment(house.folder, "empty.yaml");
    const twin = await startTwin(house).ask("start", { environmentFile, datasetFolder });
    await upload(twin, files.ndjson, "ndjson");
    const client = await TwinClient.connect(twin);
    for (const { name, variants } of questionsOf(facts)) {
      for (const [variant, { path: asked, body, read }] of variants.entries()) {
        const { answer } = await floor.ask("ask", { question: name, variant, facts });
        const answered = read(JSON.parse(await client.post(asked, JSON.stringify(body))));
        expect(difference(answered, answer), `${name}, variant ${variant}`).toBeUndefined();
      }
    }
    client.close();
  });

  it("refuses an upload that is no dataset, and the bench says so", async () => {
    const { datasetFolder } = house;
    const environmentFile = await writeEnvironment(house.folder, "refused.yaml");
    const twin = await startTwin(house).ask("start", { environmentFile, datasetFolder });
    await expect(upload(twin, environmentFile, "csv")).rejects.toThrow(/the upload was refused/);
  });
});
