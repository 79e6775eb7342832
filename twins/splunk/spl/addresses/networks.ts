/** Networks of addresses, IPv4 and IPv6. */
import { BlockList, isIP } from "node:net";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";

/** `1` when the address is in the network, `0` when it is not; both VARCHAR. */
export const inNetwork = defineRowFunction("spl.cidrmatch", (network, address) => {
  if (network === null || address === null) return null;
  const list = networkOf(network);
  const version = isIP(address);
  return version !== 0 && list?.check(address, version === 4 ? "ipv4" : "ipv6") ? "1" : "0";
});

const networks = new Map<string, BlockList | undefined>();

/** The addresses of `10.0.0.0/8`; `undefined` for what is no network. */
export function networkOf(text: string): BlockList | undefined {
  if (networks.has(text)) return networks.get(text);
  const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  const list = version === 0 || prefix > most ? undefined : new BlockList();
  list?.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
  if (networks.size >= 1_000) networks.clear();
  networks.set(text, list);
  return list;
}
