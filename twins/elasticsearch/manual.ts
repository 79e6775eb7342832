/** The manual of the search twin, for those who test against it. */
import type { TwinManual } from "@offhook/platform/twin/manual";

export const searchManual: TwinManual = {
  credentials: [
    {
      id: "elasticsearch.any-credentials",
      text: "Any credentials are accepted, and none are needed; they are masked in the journal.",
    },
  ],
  repeatedWrites: [
    {
      id: "elasticsearch.index-again",
      text: "Indexing under an existing id replaces the document and increments its version; indexing twice without an id makes two documents.",
    },
    {
      id: "elasticsearch.create-again",
      text: "Creating a document under an existing id is the vendor's 409, and changes nothing.",
    },
    {
      id: "elasticsearch.index-made-again",
      text: "In the fidelity specification creating or deleting an index is always acknowledged, and has no effect; in vendor creating an existing index is a 400, and deleting a missing one a 404.",
    },
  ],
  notes: [
    {
      id: "elasticsearch.specification",
      text: "In the fidelity specification, the default, unknown clauses of a query are dropped, date math in a range is plain text that matches nothing, and a missing index stands for the whole dataset.",
    },
    {
      id: "elasticsearch.vendor",
      text: "In the fidelity vendor such a clause works or is the vendor's 400, date math uses the sandbox's clock, and a missing index is a 404.",
    },
    {
      id: "elasticsearch.bulk",
      text: "update and delete in a bulk request are real in the fidelity vendor; in specification they are acknowledged without effect.",
    },
    {
      id: "elasticsearch.keyword",
      text: "In the fidelity specification f and f.keyword are one field; in vendor f is text, whose words a term query matches, and f.keyword is the whole value.",
    },
    {
      id: "elasticsearch.nominal",
      text: "In the fidelity specification an index is only a name of events; aliases, data streams, templates and settings are acknowledged and not stored.",
    },
    {
      id: "elasticsearch.mappings",
      text: "In the fidelity vendor a created index keeps its mapping: writes are checked against it, searches use it, and snapshots contain it.",
    },
    {
      id: "elasticsearch.journal",
      text: "The journal's entry of a search has notes: sql, the statements with their values, and dropped, the dropped clauses.",
    },
    {
      id: "elasticsearch.translator",
      text: "The model that the service's config names translates what the compilers do not recognise: ES|QL, queries and filters, members of the body and top-level aggregations. Without a model such a request is the vendor's 400, which in `specification` says how to configure one. In `vendor` no model sees what the vendor would refuse, nor members and aggregations.",
    },
    {
      id: "elasticsearch.refused",
      text: "Scripts, knn, rescore, suggest, runtime_mappings and inner_hits are refused by name, and so is copying an index.",
    },
  ],
};
