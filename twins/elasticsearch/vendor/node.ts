/** The one node of the cluster, as all routes tell of it. */
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

/** The identifier of a thing with a name, in the vendor's form; the same name has the same one. */
export function uuidOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url").slice(0, 22);
}

/** What a write says of the copies it went to: one of two, as on any single node. */
export const writeShards = { total: 2, successful: 1, failed: 0 };

/** What a search says of the shards it asked: one of each index. */
export function searchShards(indices: number) {
  return { total: indices, successful: indices, skipped: 0, failed: 0 };
}
