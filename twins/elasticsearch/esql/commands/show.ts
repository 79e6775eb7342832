/** SHOW INFO: version and build of the emulated Elasticsearch. */
import { raw } from "@offhook/log-store/sql";
import { BUILD_HASH, build, VERSION } from "../../vendor/node.ts";
import type { Compiler } from "../compiler.ts";
import type { Command } from "../syntax.ts";
import { constantTyped } from "../typed.ts";
import { assign } from "./eval.ts";

export function compileShowInfo(compiler: Compiler, { at }: Extract<Command, { kind: "show info" }>): void {
  compiler.pipeline.base([], raw(""), undefined);
  for (const [name, value] of Object.entries({
    version: VERSION,
    date: build.build_date,
    hash: BUILD_HASH,
  })) {
    assign(compiler, name, constantTyped({ type: "keyword", value }, at));
  }
}
