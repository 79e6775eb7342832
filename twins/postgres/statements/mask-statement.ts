/** Masks passwords in a statement before it is recorded: `PASSWORD '…'`, `password = $1`, `'… password=…'`. */
import { type Token, tokensOf } from "./tokens.ts";

const MASKED = "'***'";

export interface MaskedStatement {
  text: string;
  /** Numbers of the parameters (from 1) that hold a password. */
  secretParameters: ReadonlySet<number>;
}

const none: ReadonlySet<number> = new Set();

export function maskStatement(text: string): MaskedStatement {
  if (!text.toLowerCase().includes("password")) return { text, secretParameters: none };
  const secretParameters = new Set<number>();
  let masked = "";
  let copied = 0;
  let expected = false;
  for (const { kind, start, end } of tokensOf(text)) {
    const token = text.slice(start, end);
    if (kind === "parameter" && expected) secretParameters.add(Number(token.slice(1)));
    if (kind === "literal" && (expected || token.toLowerCase().includes("password="))) {
      masked += text.slice(copied, start) + MASKED;
      copied = end;
    }
    expected = isPassword(kind, token) || (expected && kind === "sign" && "=:".includes(token));
  }
  return { text: masked + text.slice(copied), secretParameters };
}

function isPassword(kind: Token["kind"], token: string): boolean {
  return kind === "word" && token.toLowerCase().replaceAll('"', "").endsWith("password");
}
