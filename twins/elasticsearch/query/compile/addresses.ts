/** IP addresses and CIDR blocks. Columns hold addresses as digits that sort like the addresses. */
import type { Field } from "@offhook/log-store/fields";
import { type IpBlock, ipBlock, ipDigits, parseIp } from "@offhook/log-store/ip-address";
import { type Sql, sql } from "@offhook/log-store/sql";
import { conversionError } from "../errors.ts";
import type { Scalar } from "../syntax/query.ts";
import { between, equals, some } from "./column.ts";
import { type Matcher, nothing, uniform } from "./matcher.ts";
import { type Bounds, rangeText } from "./numbers.ts";
import type { Target } from "./target.ts";

type AddressTarget = Extract<Target, { kind: "ip" }>;

/** The highest IPv6 address. */
const MAX_ADDRESS = (1n << 128n) - 1n;

/** @throws VendorError for a value that is neither an address nor a block */
export function addressTerm({ name, field }: AddressTarget, value: Scalar, boost: number): Matcher {
  return uniform(addressIs(field, value), boost, `${name}:${String(value)}`);
}

/** Predicate: any value of the field is this address, or in this block. @throws VendorError for a value that is neither */
export function addressIs(field: Field, value: Scalar): Sql {
  const text = String(value);
  return text.includes("/") ? within(field, blockOf(text)) : equals(field, sql`${ipDigits(addressOf(text))}`);
}

/** @throws VendorError for a bound that is not an address */
export function addressRange({ name, field }: AddressTarget, bounds: Bounds, boost: number): Matcher {
  const { lower, upper } = bounds;
  const first = lower ? addressOf(String(lower.value)) + (lower.inclusive ? 0n : 1n) : 0n;
  const last = upper ? addressOf(String(upper.value)) - (upper.inclusive ? 0n : 1n) : MAX_ADDRESS;
  if (first > last || first > MAX_ADDRESS || last < 0n) return nothing;
  return uniform(within(field, { first, last }), boost, `${name}:${rangeText(bounds)}`);
}

function within(field: Field, { first, last }: IpBlock): Sql {
  return some(field, (value) =>
    between(value, [
      { operator: ">=", bound: sql`${ipDigits(first)}` },
      { operator: "<=", bound: sql`${ipDigits(last)}` },
    ]),
  );
}

function addressOf(text: string): bigint {
  const address = parseIp(text);
  if (address === undefined) {
    throw conversionError(`'${text}' is not an IP string literal.`, "illegal_argument_exception");
  }
  return address;
}

/** Source: `InetAddresses.parseCidr` of 8.15. */
function blockOf(text: string): IpBlock {
  const [written = "", length = "", ...others] = text.split("/");
  if (others.length > 0) {
    throw conversionError(`Expected [ip/prefix] but was [${text}]`, "illegal_argument_exception");
  }
  const address = addressOf(written);
  if (!/^[+-]?\d+$/.test(length)) throw conversionError(`For input string: "${length}"`);
  const bits = written.includes(":") ? 128 : 32;
  const prefix = Number(length);
  if (prefix < 0 || prefix > bits) {
    throw conversionError(
      `Illegal prefix length [${prefix}] in [${text}]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges`,
      "illegal_argument_exception",
    );
  }
  return ipBlock(address, 128 - bits + prefix);
}
