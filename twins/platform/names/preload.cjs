/**
 * Loaded into a Node program (`NODE_OPTIONS=--require`, which unlike `--import` reaches every worker thread) so that the vendors' host names reach the twins. Whatever opens a
 * connection (fetch, http, https, ws, pg, net, tls) goes through `net.Socket.connect`; there the address and port
 * are changed, and nothing else: `Host` and the TLS server name stay the vendor's.
 *
 * Reads `TWINS_NAMES` (JSON, written by `npm run twins -- exec`) and `TWINS_STRICT`. Needs no packages and no build.
 */
const dns = require("node:dns");
const { syncBuiltinESMExports } = require("node:module");
const net = require("node:net");
const tls = require("node:tls");
const { promisify } = require("node:util");

/** Ports that speak TLS from the first byte, for sockets that are opened bare and wrapped later. */
const TLS_PORTS = new Set([443, 8443]);

/**
 * @typedef {{ host: string, port: number }} Place
 * @typedef {object} Settings
 * @property {string} address where the gateway listens
 * @property {number} http_port of the gateway
 * @property {number} tls_port of the TLS listener
 * @property {number} dns_port of the DNS responder
 * @property {boolean} dns_forwards whether the responder passes on what it does not know
 * @property {{ name: string, place?: Place }[]} hosts names and `*.` patterns; `place` is where a twin listens that is not behind the gateway
 */

const text = process.env.TWINS_NAMES;
if (text) install(readSettings(text), process.env.TWINS_STRICT === "1");

/** @returns {Settings} */
function readSettings(json) {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(
      `TWINS_NAMES is no JSON (${error.message}); it is set by: npm run twins -- exec -- <command>`,
    );
  }
}

/** @param {Settings} settings */
function install(settings, strict) {
  const find = createFinder(settings.hosts);
  const isHere = createLocalCheck(settings);
  patchConnect(settings, find, strict ? isHere : () => true);
  patchLookup(settings, find);
  if (strict || settings.dns_forwards) useResponder(settings);
  syncBuiltinESMExports();
}

function patchConnect(settings, find, mayReach) {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    const { options, rest } = readArguments(args);
    if (options === undefined || options.path) return connect.apply(this, args);
    const host = normal(options.host ?? "localhost");
    const encrypted = this instanceof tls.TLSSocket;
    // A client that has looked the name up by itself still says over TLS whom it means.
    const rule = find(host) ?? (encrypted ? find(normal(options.servername ?? "")) : undefined);
    if (rule) {
      // Over TLS the twin is told by the server name, so there must be one.
      if (encrypted && !options.servername && net.isIP(host) === 0) this.setServername(host);
      return connect.call(
        this,
        { ...options, ...placeOf(rule, settings, encrypted, options), ...anyway },
        ...rest,
      );
    }
    if (mayReach(host)) return connect.apply(this, args);
    const refusal = refused(host, options.port);
    const lookup = (_host, _options, callback) => process.nextTick(callback, refusal);
    return connect.call(this, { ...options, ...anyway, host: "refused.invalid", lookup }, ...rest);
  };
}

/** What a client may have set to reach the vendor, and what would keep it from reaching this machine. */
const anyway = { localAddress: undefined, localPort: undefined, family: undefined };

/** The forms of `socket.connect`: options, port and host, a path, and the list that Node's own callers hand over. */
function readArguments(args) {
  const list = Array.isArray(args[0]) ? args[0] : args;
  const [first, second] = list;
  const callback = list.findLast((argument) => typeof argument === "function");
  const rest = callback ? [callback] : [];
  if (typeof first === "object" && first !== null) return { options: first, rest };
  // Neither a path nor a port that is one: Node knows what to say.
  if (first === undefined || first === null || !Number.isInteger(Number(first))) return { rest };
  return { options: { port: Number(first), ...(typeof second === "string" ? { host: second } : {}) }, rest };
}

function placeOf(rule, settings, encrypted, options) {
  if (rule.place) return rule.place;
  const secure = encrypted || TLS_PORTS.has(Number(options.port));
  return { host: settings.address, port: secure ? settings.tls_port : settings.http_port };
}

function patchLookup(settings, find) {
  const { lookup } = dns;
  const lookupPromise = dns.promises.lookup;
  const addressOf = (host) => {
    const rule = typeof host === "string" ? find(normal(host)) : undefined;
    return rule ? (rule.place?.host ?? settings.address) : host;
  };
  dns.lookup = (host, ...rest) => lookup(addressOf(host), ...rest);
  dns.promises.lookup = (host, ...rest) => lookupPromise(addressOf(host), ...rest);
  Object.defineProperty(dns.lookup, promisify.custom, { value: dns.promises.lookup });
}

/** `dns.resolve…` asks a server, which then is ours. */
function useResponder(settings) {
  const server = net.isIPv6(settings.address) ? `[${settings.address}]` : settings.address;
  dns.setServers([`${server}:${settings.dns_port}`]);
  dns.promises.setServers([`${server}:${settings.dns_port}`]);
}

/** The same rules as the gateway's: an exact name wins over a pattern, a longer pattern over a shorter. */
function createFinder(hosts) {
  const rules = new Map(hosts.map((rule) => [rule.name, rule]));
  return (host) => {
    if (rules.has(host)) return rules.get(host);
    for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
      const rule = rules.get(`*${host.slice(dot)}`);
      if (rule) return rule;
    }
    return undefined;
  };
}

function createLocalCheck(settings) {
  const loopback = new net.BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("0.0.0.0", "ipv4");
  loopback.addAddress("::1", "ipv6");
  loopback.addAddress("::", "ipv6");
  const places = new Set([settings.address, ...settings.hosts.flatMap(({ place }) => place?.host ?? [])]);
  return (host) => {
    if (host === "localhost" || host.endsWith(".localhost") || places.has(host)) return true;
    const version = net.isIP(host);
    return version !== 0 && loopback.check(host, `ipv${version}`);
  };
}

function refused(host, port) {
  const message =
    `TWINS_STRICT=1: the connection to ${host}:${port} was refused, since it is no twin's name and not on this machine. ` +
    "Name it under dns_aliases in the environment file, or run without TWINS_STRICT.";
  return Object.assign(new Error(message), { code: "ERR_TWINS_STRICT", host, port });
}

function normal(host) {
  const name = String(host).toLowerCase();
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
