import { access, writeFile } from "node:fs/promises";
import path from "node:path";
import { openHouse } from "@offhook/log-store/bench/house";
import { expect, it } from "vitest";
import { startFloor } from "../../bench/programs.ts";

it("ends every program and removes every file", async () => {
  const house = await openHouse();
  await writeFile(path.join(house.folder, "events.ndjson"), "{}\n");
  const floor = startFloor(house);
  await floor.ask("open", { database: path.join(house.folder, "open.duckdb") });
  const unanswered = expect(
    floor.ask("load", { file: "/dev/null/nothing", format: "csv", database: ":memory:" }),
  ).rejects.toThrow(/floor-program/);
  await house.close();
  await unanswered;
  await expect(access(house.folder)).rejects.toThrow("ENOENT");
  await expect(floor.ask("open", { database: ":memory:" })).rejects.toThrow();
});
