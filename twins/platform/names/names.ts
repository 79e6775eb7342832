/** Where the vendors' names lead, as `npm run twins` prints it, stores it in `.offhook/twins.json` and passes it to a program. */
import { z } from "zod";

const namedHost = z.object({
  /** A host name, or `*.example.com`. */
  name: z.string(),
  sandbox: z.string(),
  twin: z.string(),
  /** Address of a twin that is not behind the gateway (a database). */
  place: z.object({ host: z.string(), port: z.number() }).optional(),
});

export const namesSchema = z.object({
  /** IP address of the gateway, to which every name resolves. */
  address: z.string(),
  http_port: z.number(),
  tls_port: z.number(),
  /** UDP and TCP. */
  dns_port: z.number(),
  /** Whether queries for other names are forwarded; else they are refused. */
  dns_forwards: z.boolean(),
  /** Certificate of the local authority, PEM. */
  ca_file: z.string(),
  hosts: z.array(namedHost),
});

export type NamedHost = z.infer<typeof namedHost>;
export type Names = z.infer<typeof namesSchema>;

/** The same as lines of text. */
export function describeNames(names: Names): string[] {
  const dns = `${names.address}:${names.dns_port} (UDP and TCP; other names are ${names.dns_forwards ? "passed on" : "refused"})`;
  return [
    `HTTP   ${names.address}:${names.http_port}`,
    `TLS    ${names.address}:${names.tls_port}`,
    `CA     ${names.ca_file}`,
    `DNS    ${dns}`,
    ...names.hosts.map(({ name, sandbox, twin, place }) => {
      const where = place ? `, at ${place.host}:${place.port}` : "";
      return `${name} -> ${twin} of ${sandbox}${where}`;
    }),
  ];
}
