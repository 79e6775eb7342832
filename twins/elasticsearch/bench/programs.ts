/** The programs that this bench compares: the twin, and plain DuckDB. */
import type { House } from "@offhook/log-store/bench/house";
import type { FloorQuestions, TwinQuestions } from "@offhook/log-store/bench/questions";
import type { Child } from "@offhook/platform/testing/bench/child";

export function startTwin(house: House): Child<TwinQuestions> {
  return house.start(new URL("./twin-program.ts", import.meta.url));
}

export function startFloor(house: House): Child<FloorQuestions> {
  return house.start(new URL("./floor-program.ts", import.meta.url));
}
