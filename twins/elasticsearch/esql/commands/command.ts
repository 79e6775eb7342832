/** Dispatches commands to their compilers. */
import type { Compiler } from "../compiler.ts";
import { UnrecognisedEsql } from "../errors.ts";
import type { Command } from "../syntax.ts";
import { compileEval, compileRow } from "./eval.ts";
import { compileDissect, compileGrok } from "./extract.ts";
import { compileFrom, type Source } from "./from.ts";
import { compileMvExpand } from "./mv-expand.ts";
import { compileDrop, compileKeep, compileRename } from "./project.ts";
import { compileLimit, compileSort, compileWhere } from "./rows.ts";
import { compileShowInfo } from "./show.ts";
import { compileStats } from "./stats.ts";

export function compileCommand(compiler: Compiler, command: Command, source: Source): void {
  switch (command.kind) {
    case "from":
      compileFrom(compiler, command, source);
      break;
    case "row":
      compileRow(compiler, command);
      break;
    case "where":
      compileWhere(compiler, command);
      break;
    case "eval":
      compileEval(compiler, command);
      break;
    case "stats":
      compileStats(compiler, command);
      break;
    case "sort":
      compileSort(compiler, command);
      break;
    case "limit":
      compileLimit(compiler, command);
      break;
    case "keep":
      compileKeep(compiler, command);
      break;
    case "drop":
      compileDrop(compiler, command);
      break;
    case "rename":
      compileRename(compiler, command);
      break;
    case "dissect":
      compileDissect(compiler, command);
      break;
    case "grok":
      compileGrok(compiler, command);
      break;
    case "mv_expand":
      compileMvExpand(compiler, command);
      break;
    case "show info":
      compileShowInfo(compiler, command);
      break;
    case "unserved":
      throw new UnrecognisedEsql(command.at, command.what);
  }
}
