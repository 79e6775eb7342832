/** The search twin: Elasticsearch's REST API over a log dataset, with SQL on DuckDB underneath. */
import { openDatasetLibrary } from "@offhook/log-store/library/library";
import { defineTwin } from "@offhook/platform/twin/twin";
import { aliasOperations } from "./api/aliases.ts";
import { asyncSearchOperations } from "./api/async-search.ts";
import { bulkOperations } from "./api/bulk.ts";
import { byQueryOperations } from "./api/by-query.ts";
import { catOperations } from "./api/cat.ts";
import { clusterOperations } from "./api/cluster.ts";
import { documentOperations } from "./api/documents.ts";
import { esqlOperations } from "./api/esql.ts";
import { statsOperations } from "./api/index-stats.ts";
import { indexOperations } from "./api/indices.ts";
import { inspectOperations } from "./api/inspect.ts";
import { mappingOperations } from "./api/mappings.ts";
import { multiGetOperations } from "./api/multi-get.ts";
import { multiSearchOperations } from "./api/multi-search.ts";
import { nodeOperations } from "./api/nodes.ts";
import { faultStatuses, refusal } from "./api/refusal.ts";
import { scrollOperations } from "./api/scroll.ts";
import { searchOperations } from "./api/search.ts";
import { securityOperations } from "./api/security.ts";
import { templateOperations } from "./api/templates.ts";
import { searchConfig } from "./config.ts";
import { searchManual } from "./manual.ts";
import { startSearchTwin } from "./start.ts";

export default defineTwin({
  name: "elasticsearch",
  vendor: "Elasticsearch",
  versions: ["8.15.0"],
  cloudHosts: ["*.es.io", "*.elastic-cloud.com", "*.elastic.cloud", "*.found.io", "*.found.no"],
  config: searchConfig,
  operations: [
    ...clusterOperations,
    ...indexOperations,
    ...mappingOperations,
    ...aliasOperations,
    ...templateOperations,
    ...bulkOperations,
    ...documentOperations,
    ...multiGetOperations,
    ...searchOperations,
    ...multiSearchOperations,
    ...scrollOperations,
    ...asyncSearchOperations,
    ...esqlOperations,
    ...inspectOperations,
    ...byQueryOperations,
    ...nodeOperations,
    ...statsOperations,
    ...catOperations,
    ...securityOperations,
  ],
  takesDataset: openDatasetLibrary,
  manual: searchManual,
  database: "elasticsearch",
  faultStatuses,
  refusal,
  start: startSearchTwin,
  clientEnvironment: (url) => ({ ELASTICSEARCH_URL: url }),
});
