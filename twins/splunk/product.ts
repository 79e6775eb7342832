/** What the twin says that it is. */

/** From 9.0.2 on, clients take the v2 paths of search jobs. */
export const VERSION = "10.4.2";
export const BUILD = "f6d2c9a5f1b7";
export const SERVER_NAME = "splunk";
/** Made up once: an instance has the same one all its life. */
export const SERVER_GUID = "6B1F4E2A-93C5-4D0B-8E77-2A5C19D3F084";
/** The port that splunkd has when nobody says otherwise; its cookie is named after it. */
export const MANAGEMENT_PORT = 8089;
