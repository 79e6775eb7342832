/** Networks of IPv4 and IPv6 addresses. */
import { BlockList, isIP } from "node:net";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { memoize } from "@offhook/platform/base/memoize";

/** `1` if the address is in the network, else `0`. VARCHAR. */
export const inNetwork = defineRowFunction("spl.cidrmatch", (network, address) => {
  if (network === null || address === null) return null;
  const list = networkOf(network);
  const version = isIP(address);
  return version !== 0 && list?.check(address, version === 4 ? "ipv4" : "ipv6") ? "1" : "0";
});

/** The addresses of `10.0.0.0/8`; `undefined` if the text is no network. */
export const networkOf = memoize((text): BlockList | undefined => {
  const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const version = isIP(address);
  const maxPrefix = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? maxPrefix : Number(bits);
  const list = version === 0 || prefix > maxPrefix ? undefined : new BlockList();
  list?.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
  return list;
}, 1_000);
