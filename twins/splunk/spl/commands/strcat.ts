/** `strcat`: concatenates fields and texts. */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { nullValue, textOf } from "../relation/typed.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { boolean } from "../syntax/option-types.ts";

type Piece = { kind: "text"; text: string } | { kind: "field"; name: string };

export const strcat = defineCommand({
  name: "strcat",
  kind: "streaming",
  parse(reader) {
    const { allrequired: allRequired = false } = reader.options({ allrequired: boolean });
    const pieces = readPieces(reader);
    const destination = pieces.pop();
    if (destination === undefined || pieces.length === 0) {
      return reader.fail(
        "There are not enough fields. Usage: strcat srcfield1 srcfield2 ... srcfieldn dest_field.",
      );
    }
    const field = destination.kind === "field" ? destination.name : destination.text;
    return { allRequired, pieces, field };
  },
  compile({ allRequired, pieces, field }, input) {
    const texts = pieces.map((piece) => {
      const value = pieceText(piece, input);
      return allRequired ? value : sql`coalesce(${value}, '')`;
    });
    const value = { type: "text", multi: false, sql: sql`(${joined(texts, " || ")})` } as const;
    return extend(input, new Map([[field, value]]));
  },
});

function readPieces(reader: ArgumentReader): Piece[] {
  const pieces: Piece[] = [];
  while (!reader.atEnd()) {
    if (reader.symbol(",")) continue;
    const { type, text } = reader.peek();
    if (type === "string") {
      reader.next();
      pieces.push({ kind: "text", text });
    } else {
      pieces.push({ kind: "field", name: reader.field() });
    }
  }
  return pieces;
}

/** The text of a piece; values of a multi-value are joined by blanks. */
function pieceText(piece: Piece, input: Relation): Sql {
  if (piece.kind === "text") return sql`CAST(${piece.text} AS VARCHAR)`;
  const column = columnOf(input, piece.name);
  if (column === undefined) return nullValue.sql;
  const text = textOf(fieldValue(column));
  return column.multi ? sql`list_aggregate(${text}, 'string_agg', ' ')` : text;
}
