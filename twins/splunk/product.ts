/** The product that the twin presents itself as. */

/** Clients use the v2 paths of search jobs from version 9.0.2 on. */
export const VERSION = "10.4.2";
export const BUILD = "f6d2c9a5f1b7";
export const SERVER_NAME = "splunk";
/** Fixed, as an instance's id never changes. */
export const SERVER_GUID = "6B1F4E2A-93C5-4D0B-8E77-2A5C19D3F084";
/** Splunkd's default port, which its session cookie is named after. */
export const MANAGEMENT_PORT = 8089;
