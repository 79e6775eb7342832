/** The apps that there are. Nothing can be installed: what belongs to an app is a row that names it. */
import type { Entry } from "../output/entry.ts";
import { VERSION } from "../product.ts";
import { systemAcl } from "./acl.ts";
import { type CollectionDeclaration, collectionRoutes } from "./collection.ts";

const apps = [
  { name: "launcher", label: "Home", description: "Where to begin." },
  { name: "search", label: "Search & Reporting", description: "Searches, reports and alerts." },
];

export const appCollection: CollectionDeclaration = {
  id: "app",
  title: "localapps",
  path: "/apps/local",
  what: "the apps",
  links: { create: "_new", _reload: "_reload" },
  parameters: ["refresh"],
  entries: ({ twin }) =>
    apps.map(
      ({ name, label, description }): Entry => ({
        name,
        path: `/servicesNS/nobody/system/apps/local/${name}`,
        author: "nobody",
        updatedMs: twin.startedMs,
        links: { list: "", _reload: "_reload", edit: "" },
        acl: { ...systemAcl, sharing: "app" },
        fields: {
          optional: [
            "author",
            "check_for_updates",
            "configured",
            "description",
            "label",
            "version",
            "visible",
          ],
          required: [],
          wildcard: [],
        },
        content: {
          author: "",
          check_for_updates: true,
          configured: true,
          core: true,
          description,
          details: "",
          disabled: false,
          label,
          managed_by_deployment_client: false,
          show_in_nav: true,
          state_change_requires_restart: false,
          version: VERSION,
          visible: true,
        },
      }),
    ),
};

export const appOperations = collectionRoutes(appCollection);
