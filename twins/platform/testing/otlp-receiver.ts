/**
 * A collector for tests: takes OTLP over HTTP in protobuf, and notes spans and metrics.
 * Source of the field numbers: https://github.com/open-telemetry/opentelemetry-proto
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Watched } from "./watched.ts";

type OtlpValue = string | number | boolean | null;
type OtlpAttributes = Record<string, OtlpValue>;

export interface OtlpSpan {
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for a root. */
  parentSpanId: string;
  name: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  startNs: bigint;
  endNs: bigint;
  attributes: OtlpAttributes;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
}

interface OtlpMetric {
  service: string;
  name: string;
  unit: string;
  type: "gauge" | "sum" | "histogram";
  points: {
    attributes: OtlpAttributes;
    value?: number;
    count?: number;
    sum?: number;
    counts?: number[];
    bounds?: number[];
  }[];
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  readonly spans: readonly OtlpSpan[];
  /** Of the last export. */
  readonly metrics: readonly OtlpMetric[];
  /** Headers of the last export. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Resolves once a condition holds; it is checked after each export. */
  until(condition: () => boolean, what: string): Promise<void>;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: OtlpSpan[] = [];
  let metrics: OtlpMetric[] = [];
  let headers: Record<string, string | string[] | undefined> = {};
  const watched = new Watched();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      headers = request.headers;
      if (request.headers["content-type"] !== "application/x-protobuf") response.statusCode = 415;
      else if (request.url === "/v1/traces") spans.push(...readSpans(body));
      else if (request.url === "/v1/metrics") metrics = readMetrics(body);
      else response.statusCode = 404;
      response.setHeader("content-type", "application/x-protobuf");
      response.end();
      watched.changed();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    get metrics() {
      return metrics;
    },
    get headers() {
      return headers;
    },
    until: (condition, what) => watched.until(condition, what),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Of a message, the values of each field, in their order. */
type Fields = Map<number, (Buffer | bigint)[]>;

function readFields(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    if (wireType === 0) values.push(varint());
    else if (wireType === 1) values.push(bytes(8));
    else if (wireType === 2) values.push(bytes(Number(varint())));
    else if (wireType === 5) values.push(bytes(4));
    else throw new Error(`protobuf has no wire type ${wireType}`);
  }
  return fields;
}

function messages(fields: Fields, field: number): Fields[] {
  return buffers(fields, field).map(readFields);
}

function buffers(fields: Fields, field: number): Buffer[] {
  return (fields.get(field) ?? []).filter((value) => Buffer.isBuffer(value));
}

function text(fields: Fields, field: number): string {
  return buffers(fields, field)[0]?.toString() ?? "";
}

function hex(fields: Fields, field: number): string {
  return buffers(fields, field)[0]?.toString("hex") ?? "";
}

function integer(fields: Fields, field: number): number {
  const value = fields.get(field)?.[0];
  return typeof value === "bigint" ? Number(value) : 0;
}

function fixed64(fields: Fields, field: number): bigint {
  return buffers(fields, field)[0]?.readBigUInt64LE() ?? 0n;
}

function double(fields: Fields, field: number): number | undefined {
  return buffers(fields, field)[0]?.readDoubleLE();
}

/** Numbers of eight bytes each. */
function packed(fields: Fields, field: number, read: (buffer: Buffer, at: number) => number): number[] {
  return buffers(fields, field).flatMap((buffer) =>
    Array.from({ length: buffer.length / 8 }, (_, index) => read(buffer, index * 8)),
  );
}

function attributesOf(fields: Fields, field: number): OtlpAttributes {
  return Object.fromEntries(
    messages(fields, field).map((pair) => [text(pair, 1), readValue(messages(pair, 2)[0])]),
  );
}

function readValue(value: Fields | undefined): OtlpValue {
  if (value === undefined) return null;
  if (value.has(1)) return text(value, 1);
  if (value.has(2)) return integer(value, 2) === 1;
  if (value.has(3)) return integer(value, 3);
  return double(value, 4) ?? null;
}

function serviceOf(ofResource: Fields): string {
  const [resource] = messages(ofResource, 1);
  return resource === undefined ? "" : String(attributesOf(resource, 1)["service.name"]);
}

function readSpans(body: Buffer): OtlpSpan[] {
  return messages(readFields(body), 1).flatMap((ofResource) =>
    messages(ofResource, 2)
      .flatMap((ofScope) => messages(ofScope, 2))
      .map((span) => ({
        service: serviceOf(ofResource),
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentSpanId: hex(span, 4),
        name: text(span, 5),
        kind: integer(span, 6),
        startNs: fixed64(span, 7),
        endNs: fixed64(span, 8),
        attributes: attributesOf(span, 9),
        status: messages(span, 15).map((status) => integer(status, 3))[0] ?? 0,
      })),
  );
}

const GAUGE = 5;
const SUM = 7;
const HISTOGRAM = 9;

function readMetrics(body: Buffer): OtlpMetric[] {
  return messages(readFields(body), 1).flatMap((ofResource) =>
    messages(ofResource, 2)
      .flatMap((ofScope) => messages(ofScope, 2))
      .map((metric) => {
        const common = { service: serviceOf(ofResource), name: text(metric, 1), unit: text(metric, 3) };
        const [histogram] = messages(metric, HISTOGRAM);
        if (histogram !== undefined) {
          const points = messages(histogram, 1).map((point) => ({
            attributes: attributesOf(point, 9),
            count: Number(fixed64(point, 4)),
            sum: double(point, 5) ?? 0,
            counts: packed(point, 6, (buffer, at) => Number(buffer.readBigUInt64LE(at))),
            bounds: packed(point, 7, (buffer, at) => buffer.readDoubleLE(at)),
          }));
          return { ...common, type: "histogram" as const, points };
        }
        const [gauge] = messages(metric, GAUGE);
        const [sum] = messages(metric, SUM);
        const points = messages(gauge ?? sum ?? new Map(), 1).map((point) => ({
          attributes: attributesOf(point, 7),
          value: double(point, 4) ?? 0,
        }));
        return { ...common, type: gauge === undefined ? ("sum" as const) : ("gauge" as const), points };
      }),
  );
}
