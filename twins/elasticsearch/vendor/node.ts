/** The one node of the cluster: its names, identifiers and shards. */
import { createHash } from "node:crypto";

export const VERSION = "8.15.0";
export const BUILD_HASH = "1a77947f34deddb41af25e6f0ddb8e830159c179";
export const CLUSTER_NAME = "docker-cluster";
export const CLUSTER_UUID = uuidOf("cluster");
export const NODE_NAME = "offhook";
export const NODE_ID = uuidOf("node");
export const ROLES = ["data", "ingest", "master"];

export const build = {
  build_flavor: "default",
  build_type: "docker",
  build_hash: BUILD_HASH,
  build_date: "2024-08-05T10:05:34.233336849Z",
  build_snapshot: false,
};

/** A stable identifier in the vendor's form, derived from the name. */
export function uuidOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url").slice(0, 22);
}

/** `_shards` of a write: one of two copies, as on any single node. */
export const writeShards = { total: 2, successful: 1, failed: 0 };

/** `_shards` of a search: one shard for each index. */
export function searchShards(indices: number) {
  return { total: indices, successful: indices, skipped: 0, failed: 0 };
}
